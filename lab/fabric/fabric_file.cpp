#include "lab/fabric/fabric_file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lab/fabric/path_sets.h"
#include "lab/fabric/word_lines.h"
#include "net/ids.h"
#include "net/quantity.h"
#include "net/text/plain_name.h"
#include "net/text/printable.h"

namespace eddy::lab {
namespace {

using Line = WordLines::Line;
using Word = WordLines::Word;

constexpr int64_t kMostSwitches = 65'534;
constexpr int64_t kMostNodes = int64_t{1} << 24;
constexpr BitRate kLeastRate = BitRate::mbps(1);

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

// A rate that a port can have.
std::optional<BitRate> rate_of(WordLines& file, const Word& word) {
  const auto rate = file.quantity(word, &parse_bit_rate);
  if (rate && *rate < kLeastRate) {
    file.problem(word, quoted(word.text) + " is too slow, at least 1Mbps would be valid");
    return std::nullopt;
  }
  return rate;
}

std::optional<Duration> delay_of(WordLines& file, const Word& word) {
  const auto delay = file.quantity(word, &parse_duration);
  if (delay && *delay < Duration{}) {
    file.problem(word, quoted(word.text) + " is negative");
    return std::nullopt;
  }
  return delay;
}

// Reads our own description.
class OurReader {
 public:
  OurReader(WordLines& file, const config::TopologyConfig& config) : file_(file), config_(config) {}

  FabricPlan read() {
    for (const Line& line : file_.lines()) read_line(line);
    if (plan_.hosts.empty()) file_.problem(file_.last_line(), "no hosts, write 'hosts SWITCH'");
    return std::move(plan_);
  }

 private:
  struct Options {
    int64_t count = 1;
    BitRate rate;
    Duration delay;
  };

  void read_line(const Line& line) {
    const std::string_view word = line.front().text;
    if (word == "switch") return read_switches(line);
    if (word == "hosts") return read_hosts(line);
    if (word == "link") return read_link(line);
    file_.problem(line.front(), "unknown " + quoted(word) + ", valid are switch, hosts, link");
  }

  void read_switches(const Line& line) {
    if (line.size() < 2) file_.problem(line.front(), "a name is missing, write 'switch NAME'");
    for (size_t i = 1; i < line.size(); ++i) {
      const std::string name(line[i].text);
      if (!is_plain_name(name) || name.find_first_of("-.") != std::string::npos)
        file_.problem(line[i], quoted(printable(name.substr(0, kLongestPlainName))) +
                                   " is no name, write letters, digits and '_'");
      else if (!switches_.emplace(name, plan_.switches.size()).second)
        file_.problem(line[i], "switch " + quoted(name) + " stands twice");
      else if (plan_.switches.size() >= kMostSwitches)
        return file_.problem(line[i], "more than " + std::to_string(kMostSwitches) + " switches");
      else
        plan_.add_switch(name, 0);
    }
  }

  void read_hosts(const Line& line) {
    constexpr int64_t kMostHosts = 255;
    if (line.size() < 2)
      return file_.problem(line.front(), "a switch is missing, write 'hosts SWITCH'");
    const auto at = switch_named(line[1]);
    const auto options =
        read_options(line, 2, {1, config_.host_rate, config_.host_delay}, kMostHosts);
    if (!at || !options) return;
    for (int64_t i = 0; i < options->count; ++i)
      plan_.hosts.push_back({*at, options->rate, options->delay, 0});
  }

  void read_link(const Line& line) {
    if (line.size() < 3)
      return file_.problem(line.front(), "two switches are needed, write 'link SWITCH SWITCH'");
    const auto a = switch_named(line[1]);
    const auto b = switch_named(line[2]);
    const auto options =
        read_options(line, 3, {1, config_.fabric_rate, config_.fabric_delay}, kMaxPaths);
    if (!a || !b || !options) return;
    if (*a == *b)
      return file_.problem(line[2], "a link from " + quoted(line[1].text) + " to itself");
    for (int64_t i = 0; i < options->count; ++i)
      plan_.cables.push_back({*a, *b, options->rate, options->delay, true, {}});
  }

  std::optional<size_t> switch_named(const Word& word) {
    const auto found = switches_.find(word.text);
    if (found != switches_.end()) return found->second;
    file_.problem(word, "no switch " + quoted(word.text) + ", write 'switch " +
                            std::string(word.text) + "' above");
    return std::nullopt;
  }

  std::optional<Options> read_options(const Line& line, size_t first, Options options,
                                      int64_t most) {
    bool good = true;
    for (size_t i = first; i < line.size(); ++i) good &= read_option(line[i], most, options);
    if (!good) return std::nullopt;
    return options;
  }

  bool read_option(const Word& word, int64_t most, Options& options) {
    const size_t equals = word.text.find('=');
    const std::string_view key = word.text.substr(0, equals);
    Word value = word;
    value.text = equals == std::string_view::npos ? "" : word.text.substr(equals + 1);
    value.column += static_cast<int>(key.size()) + 1;
    if (key == "count") return take(file_.number(value, 1, most), options.count);
    if (key == "rate") return take(rate_of(file_, value), options.rate);
    if (key == "delay") return take(delay_of(file_, value), options.delay);
    file_.problem(word, "unknown " + quoted(word.text) + ", valid are count=, rate=, delay=");
    return false;
  }

  template <class T>
  static bool take(const std::optional<T>& from, T& to) {
    if (from) to = *from;
    return from.has_value();
  }

  WordLines& file_;
  const config::TopologyConfig& config_;
  FabricPlan plan_;
  std::map<std::string, size_t, std::less<>> switches_;
};

// Reads HPCC's files.
class HpccReader {
 public:
  explicit HpccReader(WordLines& file) : file_(file) {}

  FabricPlan read() {
    if (!read_counts() || !read_switches()) return std::move(plan_);
    const std::vector<Line>& lines = file_.lines();
    for (size_t i = kHeaderLines; i < lines.size(); ++i) read_link(lines[i]);
    const auto links = static_cast<int64_t>(lines.size() - kHeaderLines);
    if (links != links_)
      file_.problem(lines[0][2], "there are " + std::to_string(links) + " lines of links, not " +
                                     std::to_string(links_));
    add_hosts();
    return std::move(plan_);
  }

 private:
  static constexpr size_t kHeaderLines = 2;
  static constexpr size_t kColumns = 5;

  struct HostLink {
    size_t at;
    BitRate rate;
    Duration delay;
  };

  bool read_counts() {
    if (file_.lines().empty() || file_.lines()[0].size() != 3) {
      file_.problem(1, "the first line says how many: nodes switches links");
      return false;
    }
    const Line& line = file_.lines()[0];
    const auto nodes = file_.number(line[0], 1, kMostNodes);
    const auto switches = file_.number(line[1], 1, kMostSwitches);
    const auto links = file_.number(line[2], 0, kMostNodes);
    if (!nodes || !switches || !links) return false;
    nodes_ = *nodes;
    switches_count_ = *switches;
    links_ = *links;
    return true;
  }

  bool read_switches() {
    if (file_.lines().size() < kHeaderLines) {
      file_.problem(file_.last_line(), "the second line gives the numbers of the switches");
      return false;
    }
    const Line& line = file_.lines()[1];
    if (static_cast<int64_t>(line.size()) != switches_count_)
      file_.problem(line.front(), std::to_string(line.size()) + " switches, the first line says " +
                                      std::to_string(switches_count_));
    for (const Word& word : line) {
      const auto number = file_.number(word, 0, nodes_ - 1);
      if (!number) continue;
      if (!switches_.emplace(*number, plan_.switches.size()).second) {
        file_.problem(word, "switch " + std::string(word.text) + " stands twice");
        continue;
      }
      const size_t added = plan_.add_switch("switch" + std::to_string(*number), 0);
      plan_.switches[added].number = static_cast<uint32_t>(*number);
    }
    return true;
  }

  void read_link(const Line& line) {
    if (line.size() != kColumns)
      return file_.problem(line.front(), std::to_string(line.size()) +
                                             " words, a link has 5: source destination rate delay "
                                             "error-rate");
    const auto from = file_.number(line[0], 0, nodes_ - 1);
    const auto to = file_.number(line[1], 0, nodes_ - 1);
    const auto rate = rate_of(file_, line[2]);
    const auto delay = delay_of(file_, line[3]);
    const auto error = file_.quantity(line[4], &parse_decimal);
    if (error && *error != 0)
      file_.problem(line[4], "error rate " + std::string(line[4].text) +
                                 ", 0 would be valid; faults of the experiment drop packets");
    if (!from || !to || !rate || !delay) return;
    const auto a = switches_.find(*from);
    const auto b = switches_.find(*to);
    if (*from == *to) return file_.problem(line[1], "a link from a node to itself");
    if (a != switches_.end() && b != switches_.end())
      plan_.cables.push_back({a->second, b->second, *rate, *delay, true, {}});
    else if (a != switches_.end())
      add_host_link(line[1], *to, {a->second, *rate, *delay});
    else if (b != switches_.end())
      add_host_link(line[0], *from, {b->second, *rate, *delay});
    else
      file_.problem(line[0], "a link between two hosts, one end must be a switch");
  }

  void add_host_link(const Word& word, int64_t host, const HostLink& link) {
    if (!hosts_.emplace(host, link).second)
      file_.problem(word, "host " + std::string(word.text) + " has a second link, it may have one");
  }

  void add_hosts() {
    for (const auto& [number, link] : hosts_)
      plan_.hosts.push_back({link.at, link.rate, link.delay, static_cast<uint32_t>(number)});
    const int64_t hosts = nodes_ - static_cast<int64_t>(switches_.size());
    if (file_.problems().empty() && static_cast<int64_t>(hosts_.size()) != hosts)
      file_.problem(file_.lines()[0][0], std::to_string(hosts) + " hosts, but " +
                                             std::to_string(hosts_.size()) + " have a link");
  }

  WordLines& file_;
  FabricPlan plan_;
  int64_t nodes_ = 0;
  int64_t switches_count_ = 0;
  int64_t links_ = 0;
  std::map<int64_t, size_t> switches_;  // number -> position
  std::map<int64_t, HostLink> hosts_;   // by number
};

// Tiers by the distance from the nearest host; false when a cable does not climb.
bool find_tiers(FabricPlan& plan) {
  constexpr int kUnknown = -1;
  for (FabricPlan::Node& node : plan.switches) node.tier = kUnknown;
  for (const FabricPlan::Host& host : plan.hosts) plan.switches[host.at].tier = 0;
  for (int tier = 0, found = 1; found > 0; ++tier) {
    found = 0;
    for (const FabricPlan::Cable& cable : plan.cables)
      for (const size_t end : {cable.a, cable.b}) {
        int& beyond = plan.switches[cable.other(end)].tier;
        if (plan.switches[end].tier != tier || beyond != kUnknown) continue;
        beyond = tier + 1;
        ++found;
      }
  }
  return std::none_of(plan.cables.begin(), plan.cables.end(), [&](const FabricPlan::Cable& cable) {
    return plan.switches[cable.a].tier == plan.switches[cable.b].tier;
  });
}

bool all_reached(const FabricPlan& plan) {
  const PathFinder finder(plan);
  for (size_t leaf = 0; leaf < plan.switches.size(); ++leaf) {
    if (plan.switches[leaf].tier != 0) continue;
    const PathFinder::NextHops next = finder.towards(leaf);
    for (size_t from = 0; from < next.size(); ++from)
      if (from != leaf && plan.switches[from].tier == 0 && next[from].empty()) return false;
  }
  return true;
}

void choose_routing(FabricPlan& plan) {
  plan.routing = FabricRouting::up_down;
  if (!find_tiers(plan) || !all_reached(plan)) plan.routing = FabricRouting::shortest;
  for (FabricPlan::Cable& cable : plan.cables)  // names begin at the lower end
    if (plan.switches[cable.a].tier > plan.switches[cable.b].tier) std::swap(cable.a, cable.b);
}

}  // namespace

Result<FabricPlan> read_fabric(const config::TopologyConfig& config) {
  if (config.file.empty()) return Problems{"topology.file: missing, a topology file is needed"};
  auto text = read_text_file(config.file);
  if (!text) return Problems{"topology.file: " + text.problems().front()};
  return parse_fabric(config.file, std::move(text.value()), config);
}

Result<FabricPlan> parse_fabric(const std::string& name, std::string text,
                                const config::TopologyConfig& config) {
  WordLines file(name, std::move(text));
  const bool hpcc = config.kind == config::TopologyKind::hpcc;
  FabricPlan plan = hpcc ? HpccReader(file).read() : OurReader(file, config).read();
  if (!file.problems().empty()) return file.problems();
  plan.name = name.substr(name.rfind('/') + 1);
  choose_routing(plan);
  name_cables(plan);
  if (!hpcc) number_nodes(plan);
  return plan;
}

}  // namespace eddy::lab
