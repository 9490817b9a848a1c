#include "lab/world/division.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "lab/world/shares.h"

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
  const bool shared = (options.threads > 1 && !options.as_worthwhile) || options.ranks > 1;
  if (topology.switches.size() < kFewSwitches && !shared) return one;
  tried.grain = Grain::rack;
  std::set<Duration> delays;
  for (const Edge& edge : edges) delays.insert(std::max(edge.delay, options.shortest));
  Division enough = one;  // for all ranks, whatever its windows are worth
  for (const Duration shortest : delays) {
    tried.shortest = shortest;
    Division division = divide_by(topology, edges, tried);
    if (division.partitions == 1) break;
    const bool suffices = division.partitions >= options.ranks;
    if (suffices && is_worthwhile(division, edges)) return division;
    if (options.ranks > 1 && (suffices || enough.partitions == 1)) enough = std::move(division);
    if (!suffices) break;
  }
  return enough;
}

// How far each partition is from the hosts: 0 has some.
std::vector<size_t> tiers_of(const Topology& topology, const std::vector<Edge>& edges,
                             const Division& division) {
  std::vector<size_t> tiers(division.partitions, division.partitions);
  for (const Topology::Host& host : topology.hosts)
    tiers[division.partition_of[host.switch_index]] = 0;
  for (bool more = true; more;) {
    more = false;
    for (const Edge& edge : edges) {
      size_t& a = tiers[division.partition_of[edge.a]];
      size_t& b = tiers[division.partition_of[edge.b]];
      more |= std::max(a, b) > std::min(a, b) + 1;
      a = std::min(a, b + 1);
      b = std::min(b, a + 1);
    }
  }
  return tiers;
}

// What lines can carry into and out of each partition.
std::vector<int64_t> weights_of(const std::vector<Edge>& edges, const Division& division) {
  std::vector<int64_t> weights(division.partitions, 1);
  constexpr Duration kWhile = Duration::microseconds(1'000);
  for (const Edge& edge : edges)
    for (const uint32_t node : {edge.a, edge.b})
      weights[division.partition_of[node]] += bytes_in(kWhile, edge.rate).count();
  return weights;
}

// The next heaviest goes to whoever has least: none is empty, if there are enough.
std::vector<uint16_t> heaviest_first(const std::vector<int64_t>& weights, size_t shares) {
  std::vector<uint16_t> share_of(weights.size());
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  std::vector<int64_t> loads(shares);
  for (const size_t partition : order) {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += weights[partition];
    share_of[partition] = static_cast<uint16_t>(least - loads.begin());
  }
  return share_of;
}

// What each rank has, among its threads. One that has nothing of a tier waits while that runs; one
// that had all of it would have the others wait.
void share_among_threads(const SharedOut& all, size_t ranks, Division& division) {
  const std::vector<double> alike(division.threads, 1.0);
  division.thread_of.resize(division.partitions);
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::vector<size_t> partitions;
    SharedOut own;
    for (size_t i = 0; i < division.partitions; ++i) {
      if (!division.rank_of.empty() && division.rank_of[i] != rank) continue;
      partitions.push_back(i);
      own.tiers.push_back(all.tiers[i]);
      own.weights.push_back(all.weights[i]);
    }
    const std::vector<uint16_t> share_of = stretches_of(own, alike);
    for (size_t i = 0; i < partitions.size(); ++i) division.thread_of[partitions[i]] = share_of[i];
  }
}

void share_among_ranks(const SharedOut& all, const std::vector<Edge>& edges, size_t ranks,
                       Division& division) {
  division.rank_of = stretches_of(all, std::vector<double>(ranks, 1.0));
  if (std::set(division.rank_of.begin(), division.rank_of.end()).size() < ranks)
    division.rank_of = heaviest_first(all.weights, ranks);
  division.rank_window = kLongestWindow;
  for (const Edge& edge : edges)
    if (division.rank_of_node(edge.a) != division.rank_of_node(edge.b))
      division.rank_window = std::min(division.rank_window, edge.delay);
}

// By partition; empty where two hosts, or a circle of an odd number of partitions, forbid it.
std::vector<uint8_t> sides_of(const Topology& topology, const std::vector<Edge>& edges,
                              const Division& division) {
  constexpr uint8_t kUnknown = 2;
  std::vector<std::vector<uint16_t>> neighbors(division.partitions);
  for (const Edge& edge : edges) {
    const uint16_t a = division.partition_of[edge.a];
    const uint16_t b = division.partition_of[edge.b];
    if (a == b) continue;
    neighbors[a].push_back(b);
    neighbors[b].push_back(a);
  }
  std::vector<uint8_t> sides(division.partitions, kUnknown);
  std::vector<uint16_t> found;
  const auto put = [&](uint16_t partition, uint8_t side) {
    if (sides[partition] == kUnknown) found.push_back(partition);
    if (sides[partition] == kUnknown) sides[partition] = side;
    return sides[partition] == side;
  };
  const auto spread = [&] {
    while (!found.empty()) {
      const uint16_t from = found.back();
      found.pop_back();
      for (const uint16_t to : neighbors[from])
        if (!put(to, sides[from] ^ 1)) return false;
    }
    return true;
  };
  for (size_t host = 0; host < topology.hosts.size(); ++host)
    if (!put(division.partition_of[topology.switches.size() + host], 0)) return {};
  if (!spread()) return {};
  for (size_t i = 0; i < sides.size(); ++i)
    if (!put(static_cast<uint16_t>(i), sides[i] == kUnknown ? uint8_t{0} : sides[i]) || !spread())
      return {};
  return sides;
}

}  // namespace

Division divide(const Topology& topology, const DivisionOptions& options) {
  const std::vector<Edge> edges = edges_of(topology);
  Division division = divide(topology, edges, options);
  division.side_of = sides_of(topology, edges, division);
  division.threads = threads_of(division, edges, options);
  division.windows_a_look = options.windows_a_look;
  division.tier_of = tiers_of(topology, edges, division);
  const SharedOut all{division.tier_of, weights_of(edges, division)};
  if (options.ranks > 1) share_among_ranks(all, edges, options.ranks, division);
  share_among_threads(all, std::max<size_t>(options.ranks, 1), division);
  return division;
}

}  // namespace eddy::lab
