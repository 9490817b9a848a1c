#include "lab/import/ns3_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lab/fabric/fabric_file.h"
#include "lab/fabric/text_table.h"
#include "lab/import/ns3_units.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

using Line = WordLines::Line;
using Word = WordLines::Word;

constexpr int64_t kMostNodes = int64_t{1} << 24;
constexpr size_t kColumns = 5;
constexpr BitRate kSlowestLink = BitRate::mbps(1);

class Reader {
 public:
  Reader(WordLines& file, const std::string& name, ImportReport& report)
      : file_(file), name_(name), report_(report) {
    out_.name = name;
  }

  std::optional<Ns3Topology> read() {
    if (!read_counts() || !read_switches()) return std::nullopt;
    read_links();
    if (!file_.problems().empty()) return std::nullopt;
    check_hosts();
    if (!file_.problems().empty()) return std::nullopt;
    note_rest();
    join_host_links();
    note_doubles();
    make_over();
    if (!file_.problems().empty()) return std::nullopt;
    return std::move(out_);
  }

 private:
  bool read_counts() {
    if (file_.lines().empty() || file_.lines()[0].size() != 3) {
      file_.problem(file_.lines().empty() ? 1 : file_.lines()[0].front().line,
                    "the first line says how many: nodes switches links");
      return false;
    }
    const Line& line = file_.lines()[0];
    const auto nodes = file_.number(line[0], 1, kMostNodes);
    const auto switches = file_.number(line[1], 1, kMostNodes);
    const auto links = file_.number(line[2], 1, kMostNodes);
    if (!nodes || !switches || !links) return false;
    out_.nodes = *nodes;
    switches_ = *switches;
    links_ = *links;
    next_ = 1;
    return true;
  }

  // They may stand on several lines. False: where the links begin is not known.
  bool read_switches() {
    int64_t left = switches_;
    for (; left > 0 && next_ < file_.lines().size(); ++next_) {
      const Line& line = file_.lines()[next_];
      if (static_cast<int64_t>(line.size()) > left) {
        file_.problem(line[static_cast<size_t>(left)],
                      fmt::format("the first line says that there are {} switches; a line ends "
                                  "with the last of them",
                                  switches_));
        return false;
      }
      for (const Word& word : line) {
        const auto number = file_.number(word, 0, out_.nodes - 1);
        if (number && !out_.switches.insert(*number).second)
          file_.problem(word, "switch " + std::string(word.text) + " stands twice");
      }
      left -= static_cast<int64_t>(line.size());
    }
    if (left > 0)
      file_.problem(file_.last_line(),
                    fmt::format("the file ends {} switches before the {} that its first line says",
                                left, switches_));
    return left == 0;
  }

  void read_links() {
    for (; static_cast<int64_t>(read_) < links_ && next_ < file_.lines().size(); ++next_, ++read_)
      read_link(file_.lines()[next_]);
    if (static_cast<int64_t>(read_) < links_)
      file_.problem(file_.last_line(),
                    fmt::format("the file ends {} links before the {} that its first line says",
                                links_ - static_cast<int64_t>(read_), links_));
  }

  void read_link(const Line& line) {
    if (line.size() != kColumns)
      return file_.problem(line.front(),
                           fmt::format("{} words, a link has 5: source destination rate delay "
                                       "error-rate",
                                       line.size()));
    const auto a = file_.number(line[0], 0, out_.nodes - 1);
    const auto b = file_.number(line[1], 0, out_.nodes - 1);
    auto rate = file_.quantity(line[2], &parse_ns3_rate);
    if (rate && *rate < kSlowestLink) {
      file_.problem(line[2], in_quotes(line[2].text) + " is too slow, at least " +
                                 to_string(kSlowestLink) + " would be valid");
      rate.reset();
    }
    const auto delay = file_.quantity(line[3], &parse_ns3_time);
    const auto error = file_.quantity(line[4], &parse_real);
    if (error && (*error < 0 || *error > 1))
      return file_.problem(line[4], in_quotes(line[4].text) +
                                        " is no error rate, 0 to 1 would be "
                                        "valid");
    if (!a || !b || !rate || !delay || !error) return;
    if (*a == *b) return file_.problem(line[1], "a link from a node to itself");
    if (!out_.switches.contains(*a) && !out_.switches.contains(*b))
      return file_.problem(line[0], "a link between two hosts, one end must be a switch");
    for (const int64_t end : {*a, *b})
      if (!out_.switches.contains(end)) links_of_[end].push_back(out_.links.size());
    out_.links.push_back({*a, *b, *rate, *delay, *error, line.front().line});
  }

  // The first line may say millions of nodes of which the file has no word.
  void check_hosts() {
    const auto more_can_be_told = [&] { return file_.problems().size() < WordLines::kMaxProblems; };
    for (int64_t node = 0; node < out_.nodes && more_can_be_told(); ++node)
      if (!out_.switches.contains(node) && !links_of_.contains(node))
        file_.problem(1, fmt::format("host {} has no link", node));
  }

  // A host has one link here.
  void join_host_links() {
    std::map<int64_t, size_t> rates;
    std::vector<bool> dropped(out_.links.size());
    size_t joined = 0;
    int first_line = 0;
    for (const auto& [host, links] : links_of_) {
      int64_t sum = 0;
      for (const size_t link : links) {
        ++rates[out_.links[link].rate.bps()];
        sum += out_.links[link].rate.bps();
        dropped[link] = true;
      }
      const size_t kept = links[joined % links.size()];
      dropped[kept] = false;
      out_.links[kept].rate = BitRate::bits_per_second(sum);
      if (links.size() == 1) continue;
      out_.links[kept].is_joined = true;
      if (joined++ == 0) first_line = out_.links[links[1]].line;
    }
    out_.host_link_rate = BitRate::bits_per_second(
        std::ranges::max_element(rates, {}, [](const auto& rate) { return rate.second; })->first);
    if (joined == 0) return;
    size_t at = 0;
    std::erase_if(out_.links, [&](const Ns3Topology::Link&) { return dropped[at++]; });
    report_.add({Treatment::approximated, name_, first_line,
                 fmt::format("{} hosts with several links", joined),
                 "each has one, to its switches in turn, as fast as all of them"});
  }

  void note_rest() {
    if (next_ >= file_.lines().size()) return;
    report_.add({Treatment::ignored, name_, file_.lines()[next_].front().line,
                 fmt::format("{} lines from here on", file_.lines().size() - next_),
                 "behind the links that the first line counts"});
  }

  // Those programs keep one link between two nodes, the last; here there are as many as stand
  // there.
  void note_doubles() {
    std::map<std::pair<int64_t, int64_t>, int> seen;
    for (const Ns3Topology::Link& link : out_.links) {
      const auto [at, fresh] = seen.emplace(std::minmax(link.a, link.b), link.line);
      if (!fresh)
        report_.add({Treatment::approximated, name_, link.line,
                     fmt::format("{} {}", link.a, link.b),
                     fmt::format("a second link between the two (line {}): both carry packets, "
                                 "where that program routes over the last alone",
                                 at->second)});
    }
  }

  void make_over() {
    std::string numbers;
    for (const int64_t number : out_.switches)
      numbers += (numbers.empty() ? "" : " ") + std::to_string(number);
    out_.text =
        fmt::format("{} {} {}\n{}\n", out_.nodes, out_.switches.size(), out_.links.size(), numbers);
    for (const Ns3Topology::Link& link : out_.links)
      out_.text += fmt::format("{} {} {} {} 0\n", link.a, link.b, to_string(link.rate),
                               to_string(link.delay));
    config::TopologyConfig config;
    config.kind = config::TopologyKind::hpcc;
    Result<FabricPlan> plan = parse_fabric("topology.txt", out_.text, config);
    if (plan)
      out_.plan = std::move(*plan);
    else  // a rate that no port has
      for (const std::string& problem : plan.problems()) file_.problem(1, "made over, " + problem);
  }

  WordLines& file_;
  const std::string& name_;
  ImportReport& report_;
  Ns3Topology out_;
  int64_t switches_ = 0;
  int64_t links_ = 0;
  size_t next_ = 0;                                  // line
  size_t read_ = 0;                                  // links
  std::map<int64_t, std::vector<size_t>> links_of_;  // by host
};

// Of one leaf: the hosts' links that differ, and the ways from it.
struct Way {
  int hops = -1;
  Duration delay;
  Duration serial;
  int64_t slowest = INT64_MAX;
};

Duration packet_time(Bytes payload, BitRate rate) {
  constexpr int64_t kBits = 8;
  constexpr int64_t kPicoseconds = 1'000'000'000'000;
  return Duration::picoseconds(static_cast<int64_t>(
      __int128{payload.count()} * kBits * kPicoseconds / std::max<int64_t>(rate.bps(), 1)));
}

std::vector<Way> ways_from(const FabricPlan& plan, const std::vector<std::vector<size_t>>& cables,
                           size_t leaf, Bytes payload) {
  std::vector<Way> ways(plan.switches.size());
  ways[leaf].hops = 0;
  std::vector<size_t> queue = {leaf};
  for (size_t i = 0; i < queue.size(); ++i) {
    const Way from = ways[queue[i]];
    for (const size_t cable : cables[queue[i]]) {
      const FabricPlan::Cable& by = plan.cables[cable];
      Way& to = ways[by.other(queue[i])];
      if (to.hops >= 0) continue;
      to = {from.hops + 1, from.delay + by.delay, from.serial + packet_time(payload, by.rate),
            std::min(from.slowest, by.rate.bps())};
      queue.push_back(by.other(queue[i]));
    }
  }
  return ways;
}

}  // namespace

Ns3Topology Ns3Topology::unread(const std::string& name) {
  Ns3Topology out;
  out.name = name;
  out.nodes = kMostNodes;
  out.is_read = false;
  return out;
}

std::optional<Ns3Topology::Target> Ns3Topology::target(int64_t a, int64_t b) const {
  for (size_t i = 0; i < links.size(); ++i)
    if (std::minmax(links[i].a, links[i].b) == std::minmax(a, b)) return target_of(i);
  for (size_t i = 0; i < links.size(); ++i)  // one that was joined with another
    for (const int64_t host : {a, b})
      if (is_host(host) && (links[i].a == host || links[i].b == host)) {
        Target joined = target_of(i);
        joined.is_joined = true;
        return joined;
      }
  return std::nullopt;
}

Ns3Topology::Target Ns3Topology::target_of(size_t link) const {
  const auto& [a, b] = std::minmax(links[link].a, links[link].b);
  for (const int64_t node : {a, b})
    if (is_host(node)) {
      const auto found =
          std::ranges::find(plan.hosts, static_cast<uint32_t>(node), &FabricPlan::Host::number);
      const auto here = std::count_if(plan.hosts.begin(), found + 1,
                                      [&](const auto& host) { return host.at == found->at; });
      return {fmt::format("{}.host{}", plan.switches[found->at].name, here), true};
    }
  size_t cable = 0;  // the plan has the cables in the order of their lines
  for (size_t i = 0; i < link; ++i) cable += !is_host(links[i].a) && !is_host(links[i].b) ? 1 : 0;
  return {plan.cables[cable].name, false};
}

std::vector<BitRate> Ns3Topology::rates() const {
  std::set<BitRate> out;
  for (const Link& link : links)
    if (!link.is_joined) out.insert(link.rate);
  return {out.begin(), out.end()};
}

bool Ns3Topology::joins_to(BitRate rate) const {
  return std::ranges::any_of(links,
                             [&](const Link& link) { return link.is_joined && link.rate == rate; });
}

size_t Ns3Topology::most_ports() const {
  std::map<int64_t, size_t> ports;
  for (const Link& link : links)
    for (const int64_t end : {link.a, link.b}) ports[end] += switches.contains(end) ? 1 : 0;
  size_t most = 0;
  for (const auto& [node, count] : ports) most = std::max(most, count);
  return most;
}

std::optional<Ns3Topology> read_ns3_topology(WordLines& file, const std::string& name,
                                             ImportReport& report) {
  return Reader(file, name, report).read();
}

Ns3Reach ns3_reach(const FabricPlan& plan, Bytes payload) {
  std::vector<std::vector<size_t>> cables(plan.switches.size());
  for (size_t i = 0; i < plan.cables.size(); ++i) {
    cables[plan.cables[i].a].push_back(i);
    cables[plan.cables[i].b].push_back(i);
  }
  std::map<size_t, std::set<std::pair<BitRate, Duration>>> hosts;  // by leaf: links that differ
  for (const FabricPlan::Host& host : plan.hosts) hosts[host.at].emplace(host.rate, host.delay);
  Ns3Reach reach;
  for (const auto& [from, sources] : hosts) {
    const std::vector<Way> ways = ways_from(plan, cables, from, payload);
    for (const auto& [to, destinations] : hosts) {
      const Way& way = ways[to];
      if (way.hops < 0) continue;
      reach.between_leaves = std::max(reach.between_leaves, way.delay);
      for (const auto& [rate_a, delay_a] : sources)
        for (const auto& [rate_b, delay_b] : destinations) {
          const Duration rtt = (delay_a + way.delay + delay_b) * 2 + packet_time(payload, rate_a) +
                               way.serial + packet_time(payload, rate_b);
          const BitRate slowest =
              BitRate::bits_per_second(std::min({way.slowest, rate_a.bps(), rate_b.bps()}));
          reach.rtt = std::max(reach.rtt, rtt);
          constexpr int64_t kBitsTimesPs = 8 * int64_t{1'000'000'000'000};
          reach.bdp = std::max(
              reach.bdp,
              Bytes(static_cast<int64_t>(__int128{rtt.ps()} * slowest.bps() / kBitsTimesPs)));
        }
    }
  }
  return reach;
}

}  // namespace eddy::lab
