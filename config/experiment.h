// One experiment as plain values: a fabric, its hosts, the traffic, the faults and how long it
// runs.
//
// One variant at one size; a file's `matrix` and `sizes` are expanded by the loader before this is
// filled in. Units are in the types. Nothing is scaled. Owner: whoever loaded it. Source: reference
// E.0, E.7; architecture, section 11.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/host.h"
#include "net/units.h"

namespace eddy::config {

enum class TopologyKind : uint8_t { leaf_spine, fat_tree, dragonfly, file, hpcc };
enum class LinkTier : uint8_t { host, fabric };

// Links that are not as the others. Chosen by name ("leaf1-spine2", "leaf1-spine2.2" for the second
// of parallel links) or as a seeded fraction of the fabric's links.
struct LinkChoice {
  std::vector<std::string> links;
  double fraction = 0;
  std::optional<BitRate> rate;  // degraded: what they have instead; otherwise not used
  int weight = 1;               // weighted: of the paths that begin with them; otherwise not used
  bool operator==(const LinkChoice&) const = default;
};

struct TopologyConfig {
  TopologyKind kind = TopologyKind::leaf_spine;
  int leaves = 4;  // leaf_spine
  int spines = 4;
  int hosts_per_leaf = 8;
  int parallel_links = 1;    // between a leaf and a spine
  int k = 4;                 // fat_tree
  int oversubscription = 1;  // fat_tree: hosts an edge switch = oversubscription * k / 2
  int groups = 4;            // dragonfly
  int routers = 4;           // a group
  int hosts_per_router = 8;
  int global_links = 2;  // between each pair of groups
  std::string file;      // file, hpcc: relative to the experiment's
  bool pinned = false;   // paths say which way the second switch takes, too
  BitRate host_rate = 40_Gbps;
  BitRate fabric_rate = 40_Gbps;
  Duration host_delay = 2_us;  // one way, a link
  Duration fabric_delay = 2_us;
  int line_overhead = 24;  // of every link: octets of line time a frame takes besides its own
  std::vector<LinkChoice> degraded;
  std::vector<LinkChoice> failed;
  std::vector<LinkChoice> weighted;
  uint64_t seed = 1;  // of seeded choices of links; the run's seed does not change the fabric
  bool operator==(const TopologyConfig&) const = default;
};

// What ports of one rate have in the place of the profiles of all ports, "default" and "lossless".
struct PortsOfRate {
  BitRate rate;
  std::optional<std::string> wred;      // name of a WRED profile
  std::optional<std::string> lossless;  // name of a buffer profile
  bool operator==(const PortsOfRate&) const = default;
};

// What every switch of the fabric is configured with.
struct FabricSwitchConfig {
  BufferConfig buffer;     // profiles "lossless" and "lossy", WRED "default"
  bool pfc = true;         // false: no PFC is sent or obeyed; PGs are as configured
  PfcPortConfig pfc_port;  // of every port
  WatchdogConfig watchdog;
  DreConfig dre;
  RlbConfig rlb;
  PathServiceConfig path_service{.common_clock = true};
  ResequenceConfig resequence;
  IsolationConfig isolation;
  bool allow_overcommit =
      false;  // run a lossless configuration that does not fit its buffer, with a warning
  Duration poll_gap = 1_ns;                        // headroom's share for the poll loop
  std::vector<Priority> lossless = {Priority(3)};  // these pause their senders, others may drop
  SharedList<std::array<QueueConfig, 8>> queues = default_queues();  // of every port
  std::vector<PortsOfRate> by_rate;                                  // each rate once
  int mtu = 0;  // layer-3 octets; 0 = what the hosts send
  bool operator==(const FabricSwitchConfig&) const = default;
};

enum class TrafficType : uint8_t {
  poisson,
  burst,
  incast,
  permutation,
  all_to_all,
  long_flow,
  trace,
  collective
};
// By TrafficType, as in files and results.
inline constexpr std::array<std::string_view, 8> kTrafficTypeNames = {
    "poisson", "burst", "incast", "permutation", "all_to_all", "long_flow", "trace", "collective"};
inline std::string_view name_of(TrafficType type) {
  return kTrafficTypeNames[static_cast<size_t>(type)];
}
enum class CollectiveOp : uint8_t { all_reduce_ring, all_reduce_tree, all_to_all, all_gather };
enum class LoadReference : uint8_t { core, host };

// Flows by one rule.
//
// Hosts are named by "all", a host ("leaf1.host3"), a switch ("leaf2": all its hosts),
// "leaf2.host5" (the fifth of leaf2), "host12" (the twelfth of all), and by ranges of these:
// "leaf1.host1-8", "host3-6". `source`, `destination`: those that the two lists name.
//   poisson       a source and one of its destinations, both uniform; exponential gaps
//   burst         `count` flows from every source to every destination, all at once
//   incast        a destination, uniform, asks `degree` random sources for size / degree each
//   permutation   every source sends `count` flows to one other source and receives from one other
//   all_to_all    `count` flows from every source to every destination
//   long_flow     `count` flows from the i-th source to the i-th destination, where the shorter
//                 of the two lists repeats
//   trace         the flows of a file
//   collective    what `ranks` do together, in their order; a rank sends on what it was waiting for
//                 when that has arrived, and to each peer one flow after the other
struct TrafficConfig {
  TrafficType type = TrafficType::poisson;
  std::string name;               // label in results; empty = the type
  std::string cdf;                // poisson: a workload's name, or a path
  std::optional<Bytes> truncate;  // poisson: what would be a longer flow is so long
  double load = 0.5;              // poisson: of the reference, wire octets of data packets
  LoadReference reference = LoadReference::core;
  bool paired = false;               // poisson: the i-th source sends to the i-th destination alone
  bool remote_only = true;           // poisson, incast, permutation: the two have different leaves
  std::vector<std::string> sources;  // host selectors; empty = all
  std::vector<std::string> destinations;
  Bytes size{0};   // of a flow; incast: of a whole response; collective: of a rank's data
  int count = 1;   // burst, permutation, all_to_all, long_flow: flows a pair
  int degree = 0;  // incast: senders a request
  CollectiveOp op = CollectiveOp::all_reduce_ring;  // collective, as are these three
  std::vector<std::string> ranks;                   // host selectors; empty = all
  int chunks = 1;     // that what a rank sends at once is divided into
  std::string after;  // the item that has to end first, by its name, or by its type if it has none
  // From the run's beginning; nullopt = at once. With `after`: from the end of that item. trace:
  // the time in its file that is the run's beginning; nullopt = that of the first flow.
  std::optional<Duration> start;
  Duration stop{};    // no flow starts from here on; 0 = the end of traffic
  Duration period{};  // burst, incast: between consecutive ones; 0 = there is one
  // burst, incast: at most so many; 0 = until stop. collective: one after the other; 0 = once.
  int repeat = 0;
  std::optional<BitRate> rate;  // poisson: instead of load; incast: Poisson requests of this load
  std::vector<std::string> paths;  // spines that these flows may use; empty = all
  std::string file;                // trace
  int64_t file_dilation = 1;       // trace: times of its file are multiplied by it; by scaled()
  bool measured = true;            // false: load only, in no statistic of flows
  bool operator==(const TrafficConfig&) const = default;
};

enum class FaultType : uint8_t {
  link_flap,
  slow_link,
  black_hole,
  random_drop,
  corruption,
  pfc_loss,
  pfc_duplicate,
  pfc_delay,
  cnm_loss,
  cnm_duplicate,
  pause_storm,
  slow_receiver,
  switch_stall,
  pool_exhaustion,
  reconfigure,
};
// By FaultType, as in files and results.
inline constexpr std::array<std::string_view, 15> kFaultTypeNames = {
    "link_flap",   "slow_link",     "black_hole",   "random_drop",     "corruption",
    "pfc_loss",    "pfc_duplicate", "pfc_delay",    "cnm_loss",        "cnm_duplicate",
    "pause_storm", "slow_receiver", "switch_stall", "pool_exhaustion", "reconfigure"};
inline std::string_view name_of(FaultType type) {
  return kFaultTypeNames[static_cast<size_t>(type)];
}

struct FaultConfig {
  FaultType type = FaultType::link_flap;
  std::vector<std::string> links;  // by name
  std::vector<std::string> switches;
  std::vector<std::string> hosts;
  std::vector<std::string> pairs;  // black_hole: "leaf1.host2>leaf3.host1"
  double fraction = 0;             // seeded choice instead of names
  double probability = 0;          // per packet
  std::optional<BitRate> rate;     // slow_link, slow_receiver
  Duration start{};
  Duration duration{};                     // 0 = to the end
  Duration period{};                       // repeats; 0 = once
  Duration delay{};                        // pfc_delay
  std::map<std::string, std::string> set;  // reconfigure: keys of the switch and their values
  bool operator==(const FaultConfig&) const = default;
};

enum class PollModel : uint8_t { exact, busy_poll };
// A reference in the place of the switches (lab/reference): every flow has a queue of its own.
enum class FlowQueues : uint8_t { off, marked_by_port, marked_by_flow };

// 2^63 - 1: what SQLite and most readers of JSON take for an integer.
inline constexpr uint64_t kLargestSeed = INT64_MAX;

struct RunConfig {
  std::vector<uint64_t> seeds = {1, 2, 3, 4, 5};
  Duration warmup = 5_ms;     // flows that start before are not measured
  Duration duration = 20_ms;  // traffic starts within warmup + duration
  Duration drain = 50_ms;     // then at most so long until all have finished
  uint64_t max_flows = 0;     // 0 = no limit
  PollModel poll_model = PollModel::exact;
  Duration poll_period = 1_us;  // busy_poll
  Duration poll_jitter{};
  int poll_burst = 32;
  size_t packets = 0;              // of the pool; 0 = computed from buffers and links
  Duration sample_period = 10_us;  // of queues, for figures; 0 = none
  int64_t time_dilation = 1;
  FlowQueues flow_queues = FlowQueues::off;
  bool operator==(const RunConfig&) const = default;
};

struct Experiment {
  std::string id;
  std::string title;
  std::string source;  // paper and figure
  TopologyConfig topology;
  FabricSwitchConfig switches;
  HostConfig host;
  std::optional<DcqcnPreset> dcqcn;  // which preset host.dcqcn began from
  LoadBalancerConfig load_balancer;
  std::vector<TrafficConfig> traffic;
  std::vector<FaultConfig> faults;
  RunConfig run;
  bool operator==(const Experiment&) const = default;
};

// The experiment with every rate divided and every time multiplied by run.time_dilation, which
// becomes 1; but the time between polls is the machine's own.
Experiment scaled(const Experiment& experiment);

// What the item is called: by its name, or by its type.
std::string_view name_of(const TrafficConfig& traffic);
// By Experiment::traffic: the item that has to end before this one begins; kNoItem: none, or there
// is no such one.
inline constexpr size_t kNoItem = SIZE_MAX;
std::vector<size_t> predecessors(const std::vector<TrafficConfig>& traffic);

// Which keys of the traffic are missing or contradict each other: "traffic.0.size: what, what would
// be valid".
std::vector<std::string> traffic_problems(const Experiment& experiment);

}  // namespace eddy::config
