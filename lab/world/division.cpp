#include "lab/world/division.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace eddy::lab {
namespace {

using Grain = DivisionOptions::Grain;

// What a window brings a partition, at least, to be worth its cost: frames of kFrame octets that
// its lines can carry. Measured: docs/adr/0029.
constexpr int64_t kWorthwhile = 20;
constexpr int64_t kFrame = 1'024;
// And what it brings each thread, to be worth a meeting of threads.
constexpr int64_t kWorthAThread = 2'000;
// Fabrics of fewer switches stay in the cache as they are.
constexpr size_t kFewSwitches = 12;
// Of partitions that no line joins.
constexpr Duration kLongestWindow = Duration::microseconds(1'000);

// Sets of nodes; each is known by one of them.
class Sets {
 public:
  explicit Sets(size_t nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0U); }

  uint32_t of(uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  // The lesser number stands for both, so that sets are numbered by their first nodes.
  void join(uint32_t a, uint32_t b) {
    a = of(a);
    b = of(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }
  size_t size() const { return parent_.size(); }

 private:
  std::vector<uint32_t> parent_;
};

struct Edge {
  uint32_t a;
  uint32_t b;
  BitRate rate;
  Duration delay;
};

std::vector<Edge> edges_of(const Topology& topology) {
  std::vector<Edge> edges;
  for (const Topology::Link& link : topology.links)
    edges.push_back({static_cast<uint32_t>(link.a.switch_index),
                     static_cast<uint32_t>(link.b.switch_index), link.rate, link.delay});
  for (size_t i = 0; i < topology.hosts.size(); ++i) {
    const Topology::Host& host = topology.hosts[i];
    edges.push_back({static_cast<uint32_t>(topology.switches.size() + i),
                     static_cast<uint32_t>(host.switch_index), host.rate, host.delay});
  }
  return edges;
}

// Of the sets, and the shortest line between any two.
Division number(Sets& sets, const std::vector<Edge>& edges) {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  constexpr size_t kMost = std::numeric_limits<uint16_t>::max();
  std::vector<uint32_t> numbers(sets.size(), kNone);
  Division division{.partition_of = std::vector<uint16_t>(sets.size()),
                    .partitions = 0,
                    .window = kLongestWindow};
  for (uint32_t node = 0; node < sets.size(); ++node) {
    uint32_t& number = numbers[sets.of(node)];
    if (number == kNone) number = static_cast<uint32_t>(division.partitions++);
    division.partition_of[node] = static_cast<uint16_t>(number);
  }
  if (division.partitions > kMost) return {.partition_of = std::vector<uint16_t>(sets.size())};
  for (const Edge& edge : edges)
    if (sets.of(edge.a) != sets.of(edge.b)) division.window = std::min(division.window, edge.delay);
  return division;
}

Division divide_by(const Topology& topology, const std::vector<Edge>& edges,
                   const DivisionOptions& options) {
  Sets sets(topology.switches.size() + topology.hosts.size());
  if (options.grain == Grain::one)
    for (uint32_t node = 1; node < sets.size(); ++node) sets.join(0, node);
  const auto together = static_cast<uint32_t>(std::max<size_t>(options.together, 1));
  for (uint32_t node = 0; node < topology.switches.size(); ++node)
    sets.join(node, node - node % together);
  for (const Edge& edge : edges) {
    const bool host = edge.a >= topology.switches.size();
    if ((host && options.grain != Grain::node) || edge.delay < options.shortest ||
        edge.delay <= Duration{})
      sets.join(edge.a, edge.b);
  }
  Division division = number(sets, edges);
  division.window = std::min(division.window, options.longest);
  return division;
}

// Frames that lines can carry in a window.
int64_t frames_of(const Division& division, const std::vector<Edge>& edges) {
  int64_t octets = 0;
  for (const Edge& edge : edges) octets += 2 * bytes_in(division.window, edge.rate).count();
  return octets / kFrame;
}

bool is_worthwhile(const Division& division, const std::vector<Edge>& edges) {
  return frames_of(division, edges) >= kWorthwhile * static_cast<int64_t>(division.partitions);
}

size_t threads_of(const Division& division, const std::vector<Edge>& edges,
                  const DivisionOptions& options) {
  size_t threads = std::min(options.threads, division.partitions);
  if (options.as_worthwhile)
    threads = std::min(threads, static_cast<size_t>(frames_of(division, edges) / kWorthAThread));
  return std::max<size_t>(threads, 1);
}

// Automatic: the finest one whose windows are worth their cost.
Division divide(const Topology& topology, const std::vector<Edge>& edges,
                const DivisionOptions& options) {
  if (options.grain != Grain::automatic) return divide_by(topology, edges, options);
  DivisionOptions tried = options;
  tried.grain = Grain::one;
  const Division one = divide_by(topology, edges, tried);
  const bool many_threads = options.threads > 1 && !options.as_worthwhile;
  if (topology.switches.size() < kFewSwitches && !many_threads) return one;
  tried.grain = Grain::rack;
  std::set<Duration> delays;
  for (const Edge& edge : edges) delays.insert(std::max(edge.delay, options.shortest));
  for (const Duration shortest : delays) {
    tried.shortest = shortest;
    Division division = divide_by(topology, edges, tried);
    if (division.partitions == 1) break;
    if (is_worthwhile(division, edges)) return division;
  }
  return one;
}

}  // namespace

Division divide(const Topology& topology, const DivisionOptions& options) {
  const std::vector<Edge> edges = edges_of(topology);
  Division division = divide(topology, edges, options);
  division.threads = threads_of(division, edges, options);
  return division;
}

}  // namespace eddy::lab
