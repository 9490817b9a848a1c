// TrafficItem: one entry of an experiment's traffic while it is turned into flows. Private to
// make_traffic.
//
// Collects flows in the order of their start, warnings and problems. Refers to the experiment and
// the topology. Each kind of draw has a stream of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/traffic/flow.h"
#include "lab/traffic/waits.h"
#include "lab/traffic/wire_cost.h"
#include "net/random.h"

namespace eddy::lab {

// The third key of a stream; the second is the number of the traffic item.
enum class TrafficDraw : uint32_t {
  gap = 0x74726100,  // "tra" and a number: apart from every other user of the run's seed
  size,
  source,
  destination,
  port,
  senders,
  pairs,
};

class TrafficItem {
 public:
  struct Run {
    const config::Experiment& experiment;
    const Topology& topology;
    uint64_t seed = 0;
    size_t max_flows = 0;  // 0: as many as kMaxFlows; more are a problem
  };

  TrafficItem(const Run& run, uint16_t index);

  const config::TrafficConfig& config() const { return config_; }
  const Topology& topology() const { return run_.topology; }
  const config::Experiment& experiment() const { return run_.experiment; }
  std::string prefix() const { return "traffic." + std::to_string(index_); }
  RandomStream stream(TrafficDraw draw) const {
    return RandomStream(run_.seed, index_, static_cast<uint32_t>(draw));
  }
  size_t leaf_of(uint32_t host) const { return run_.topology.hosts[host].switch_index; }
  // Whether the item may have a flow between the two.
  bool may_pair(uint32_t source, uint32_t destination) const {
    if (source == destination) return false;
    return !config_.remote_only || leaf_of(source) != leaf_of(destination);
  }
  WireCost wire_cost() const;

  // Flows start in [begin, end).
  Instant begin() const { return Instant::at(config_.start.value_or(Duration{})); }
  Instant end() const { return end_; }
  // Calls `at(start)` for each burst or request by period and repeat, while there is room.
  template <class At>
  void at_each_period(At at) const;
  // How often that is.
  int64_t periods() const;

  // Fills in what the item knows: a port, too, unless the flow has one.
  void add(const Flow& flow);
  uint16_t draw_port();
  bool full() const { return flows.size() >= limit_; }
  void problem(const std::string& key, const std::string& text) {
    problems.push_back(prefix() + key + ": " + text);
  }
  void warning(const std::string& key, const std::string& text) {
    warnings.push_back(prefix() + key + ": " + text);
  }
  // False, and a problem, when so many flows are too many; of what a limit of the user's cuts off,
  // any number is fine.
  bool fits(__int128 flows);
  // The same, of flows that are all needed.
  bool fits_whole(__int128 flows);

  std::vector<uint32_t> ranks;    // collective: hosts, as named
  std::vector<uint32_t> sources;  // hosts
  std::vector<uint32_t> destinations;
  std::vector<Flow> flows;
  std::vector<FlowWait> waits;  // by numbers in `flows`
  TrafficSummary summary;
  std::optional<Duration> file_origin;  // trace: the time in its file that is the run's beginning
  Problems problems;
  std::vector<std::string> warnings;

 private:
  const Run& run_;
  const config::TrafficConfig& config_;
  uint16_t index_;
  Instant end_;
  size_t limit_;
  RandomStream ports_;
};

template <class At>
void TrafficItem::at_each_period(At at) const {
  for (int64_t i = 0; i < periods() && !full(); ++i) at(begin() + config_.period * i);
}

// The types, each in the file of its name.
void add_poisson(TrafficItem& item, const ReadTrafficFile& read);
void add_burst(TrafficItem& item);
void add_incast(TrafficItem& item);
void add_permutation(TrafficItem& item);
void add_all_to_all(TrafficItem& item);
void add_long_flows(TrafficItem& item);
void add_trace(TrafficItem& item, const ReadTrafficFile& read);
void add_collective(TrafficItem& item);

// What is wrong with the items that wait for others.
Problems after_problems(const config::Experiment& experiment);

// The mean gap between arrivals that offer `rate` with `mean_wire` octets (Q16) each, in Q16
// picoseconds.
int64_t mean_gap_q16(int64_t mean_wire_q16, BitRate rate);

// Poisson arrivals: times that are never before `begin`.
class PoissonClock {
 public:
  PoissonClock(Instant begin, int64_t mean_gap, RandomStream stream)
      : now_q16_(static_cast<__int128>(begin.ps()) << 16), mean_gap_(mean_gap), stream_(stream) {}
  Instant next();

 private:
  __int128 now_q16_;
  int64_t mean_gap_;
  RandomStream stream_;
};

}  // namespace eddy::lab
