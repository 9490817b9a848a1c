#include "lab/program/explain_command.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "lab/program/run_command.h"
#include "net/text/printable.h"
#include "switch/dataplane/object/explain.h"
#include "switch/explain/description.h"
#include "switch/explain/loose_packet.h"
#include "switch/explain/story.h"

namespace eddy::lab {
namespace {

const Topology::Host* host_named(const Topology& topology, std::string_view name) {
  const auto found = std::ranges::find(topology.hosts, name, &Topology::Host::name);
  return found == topology.hosts.end() ? nullptr : &*found;
}

// A packet at a switch, in the words of the run's fabric.
struct Question {
  size_t at_switch = 0;
  explain::Description packet;
};

// Hosts may be named instead of their addresses; a host's packet comes by its port, and to its
// switch unless another is said.
class QuestionReader {
 public:
  QuestionReader(const ExplainArguments& arguments, const Topology& topology)
      : arguments_(arguments), topology_(topology) {}

  Result<Question> read() {
    for (const std::string& word : arguments_.packet) add(word);
    std::optional<size_t> at = named_switch();
    if (!problems_.empty()) return problems_;
    if (!at && source_ == nullptr) return Result<Question>::failure(no_source());
    Question question{.at_switch = at.value_or(source_ == nullptr ? 0 : source_->switch_index),
                      .packet = {}};
    const config::SwitchConfig& config = topology_.switches[question.at_switch];
    if (source_ != nullptr && source_->switch_index == question.at_switch && !has_port_)
      text_ += " port=" + config.ports[source_->port.index()].name;
    Result<explain::Description> packet = explain::read_description(text_, config);
    if (!packet.ok()) return packet.problems();
    question.packet = *packet;
    return question;
  }

 private:
  void add(std::string_view words) {
    while (!words.empty()) {
      const size_t end = std::min(words.find(' '), words.size());
      if (end != 0) add_word(words.substr(0, end));
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  }
  void add_word(std::string_view word) {
    has_port_ |= word.starts_with("port=");
    const bool source = word.starts_with("src=");
    if (source) said_source_ = word;
    if (!source && !word.starts_with("dst=")) {
      text_ += " " + std::string(word);
      return;
    }
    constexpr size_t kKey = 4;
    const Topology::Host* host = host_named(topology_, word.substr(kKey));
    if (source) source_ = host != nullptr ? host : host_of(word.substr(kKey));
    text_ += " " + std::string(word.substr(0, kKey)) +
             (host != nullptr ? to_string(host->address) : std::string(word.substr(kKey)));
  }
  // Why it is not known at which switch the packet begins.
  std::string no_source() const {
    const std::string valid =
        "a host of the fabric such as " + topology_.hosts.front().name + ", or an address";
    if (said_source_.empty()) return "src is missing, valid is " + valid;
    constexpr size_t kKey = 4;
    if (!parse_ip(std::string_view(said_source_).substr(kKey)))
      return said_source_ + " is none, valid is " + valid;
    return "--switch is missing, as src is no host of the fabric; switches are " +
           switch_names(topology_);
  }
  const Topology::Host* host_of(std::string_view text) const {
    const std::optional<IpAddress> address = parse_ip(text);
    if (!address) return nullptr;
    const auto found = std::ranges::find(topology_.hosts, *address, &Topology::Host::address);
    return found == topology_.hosts.end() ? nullptr : &*found;
  }
  std::optional<size_t> named_switch() {
    if (arguments_.switch_name.empty()) return std::nullopt;
    const Result<size_t> found = find_switch(topology_, arguments_.switch_name);
    if (found.ok()) return found.value();
    problems_.push_back(found.problems().front());
    return std::nullopt;
  }

  const ExplainArguments& arguments_;
  const Topology& topology_;
  std::string text_;
  const Topology::Host* source_ = nullptr;
  std::string said_source_;  // "src=..."
  bool has_port_ = false;
  Problems problems_;
};

Explanation ask(World& world, const Topology& topology, const Question& question) {
  const config::SwitchConfig& config = topology.switches[question.at_switch];
  const explain::LoosePacket packet(explain::frame_of(question.packet, config),
                                    question.packet.length);
  Explanation out{.port = question.packet.port, .packet = packet.get()};
  Switch& object = world.switch_at(question.at_switch);
  (void)explain_packet(object.shard(ShardId(0)), out, world.now());
  out.packet = nullptr;
  return out;
}

// The run, as far as the instant.
Result<explain::Json> run_and_ask(const WatchedRun& run, const ExplainArguments& arguments,
                                  Duration at) {
  const Topology& topology = run.topology();
  const Result<Question> question = QuestionReader(arguments, topology).read();
  if (!question.ok()) return question.problems();
  std::optional<Explanation> said;
  Problems problems = run.go([&](World& begun) -> Watcher* {
    begun.at(run.in_world(at), [&](World& world) {
      said = ask(world, topology, question.value());
      world.stop();
    });
    return nullptr;
  });
  if (!problems.empty()) return problems;
  if (!said)
    return Result<explain::Json>::failure("--at " + arguments.at +
                                          ": the run has ended before that");
  const config::SwitchConfig& config = topology.switches[question.value().at_switch];
  explain::Json story = explain::story_of(*said, explain::Names::of(config));
  story["at_ns"] = at.ns();
  return story;
}

}  // namespace

void declare_explain(CLI::App& app, ExplainArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "explain", "what a switch would do with a packet at an instant of a run, step by step");
  declare_experiment(*command, arguments.choice);
  command
      ->add_option("packet", arguments.packet,
                   "such as \"src=leaf1.host1 dst=leaf2.host1 dport=4791 dscp=26\"")
      ->required();
  command->add_option("--at", arguments.at, "the instant, such as 1.5ms")->required();
  command->add_option("--switch", arguments.switch_name,
                      "which; default: the one of the host that sends");
  declare_choice(*command, arguments.choice);
  command->add_flag("--json", arguments.json, "the same as JSON");
}

int explain_command(const ExplainArguments& arguments) {
  const Result<Duration> at = read_instant(arguments.at);
  if (!at.ok()) return complain(kUsage, at.problems());
  const auto run = WatchedRun::load(arguments.choice);
  if (!run.ok()) return complain(kUsage, run.problems());
  const auto story = run_and_ask(*run.value(), arguments, at.value());
  if (!story.ok()) return complain(kUsage, story.problems());
  constexpr int kIndent = 1;
  std::cout << (arguments.json ? story.value().dump(kIndent, ' ', true) + "\n"
                               : printable_lines(explain::lines_of(story.value())));
  return kDone;
}

}  // namespace eddy::lab
