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

  // All that is wrong is said at once, also where it is not known at which switch the packet
  // begins.
  Result<Question> read() {
    for (const std::string& word : arguments_.packet) add(word);
    const std::optional<size_t> at = named_switch();
    check_address(source_word_);
    check_address(destination_word_);
    const bool known = at || (source_ != nullptr && arguments_.switch_name.empty());
    if (!known && problems_.empty()) problems_.push_back(no_source());
    Question question{.at_switch = at.value_or(source_ == nullptr ? 0 : source_->switch_index),
                      .packet = {}};
    Result<explain::Description> packet = explain::read_description(
        description(question.at_switch, known), topology_.switches[question.at_switch]);
    if (packet.ok())
      question.packet = *packet;
    else
      problems_.insert(problems_.end(), packet.problems().begin(), packet.problems().end());
    if (!problems_.empty()) return problems_;
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
    if (source_word_.empty() && word.starts_with("src=")) {
      source_word_ = word;
      const Topology::Host* host = host_named(topology_, value_of(word));
      source_ = host != nullptr ? host : host_of(value_of(word));
    } else if (destination_word_.empty() && word.starts_with("dst=")) {
      destination_word_ = word;
    } else if (port_word_.empty() && word.starts_with("port=")) {
      port_word_ = word;
    } else {
      others_ += " " + std::string(word);
    }
  }
  static std::string_view value_of(std::string_view word) {
    constexpr size_t kKey = 4;  // "src="
    return word.substr(kKey);
  }
  std::optional<IpAddress> address_of(std::string_view word) const {
    if (word.empty()) return std::nullopt;
    const Topology::Host* host = host_named(topology_, value_of(word));
    return host != nullptr ? host->address : parse_ip(value_of(word));
  }
  void check_address(const std::string& word) {
    if (!word.empty() && !address_of(word))
      problems_.push_back(printable(word) + " is none, valid is " + valid_address());
  }
  // With addresses for names. What has been complained of has something valid in its place, so that
  // of the rest all is said that is wrong, and nothing else.
  std::string description(size_t at_switch, bool known) const {
    const config::SwitchConfig& config = topology_.switches[at_switch];
    const std::optional<IpAddress> source = address_of(source_word_);
    const std::optional<IpAddress> destination = address_of(destination_word_);
    const IpAddress any = source.value_or(destination.value_or(topology_.hosts.front().address));
    std::string text;
    if (!known || !source_word_.empty()) text += " src=" + to_string(source.value_or(any));
    if (!destination_word_.empty()) text += " dst=" + to_string(destination.value_or(any));
    if (known && !port_word_.empty())
      text += " " + port_word_;
    else if (source_ != nullptr && source_->switch_index == at_switch)
      text += " port=" + config.ports[source_->port.index()].name;
    else if (!known || !source)
      text += " port=" + config.ports.front().name;
    return text + others_;
  }
  std::string valid_address() const {
    return "a host of the fabric such as " + topology_.hosts.front().name + ", or an address";
  }
  // Why it is not known at which switch the packet begins.
  std::string no_source() const {
    if (source_word_.empty()) return "src is missing, valid is " + valid_address();
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
  std::string source_word_;  // "src=..."
  std::string destination_word_;
  std::string port_word_;
  std::string others_;
  const Topology::Host* source_ = nullptr;
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
