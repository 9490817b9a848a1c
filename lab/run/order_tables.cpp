#include "lab/run/order_tables.h"

#include <algorithm>
#include <vector>

#include "lb/stages/resequence_plan.h"

namespace eddy::lab {
namespace {

constexpr int64_t kPlacesAFlow = 8;
constexpr int64_t kAges = 4;
constexpr int64_t kMostPlaces = 16'777'216;

// When flows that end here and cross the fabric start.
std::vector<std::vector<Instant>> starts_by_switch(std::span<const Flow> flows,
                                                   const Topology& topology) {
  std::vector<std::vector<Instant>> starts(topology.switches.size());
  for (const Flow& flow : flows) {
    const size_t to = topology.hosts[flow.destination].switch_index;
    if (topology.hosts[flow.source].switch_index != to) starts[to].push_back(flow.start);
  }
  for (auto& each : starts) std::ranges::sort(each);
  return starts;
}

int64_t most_within(std::span<const Instant> starts, Duration span) {
  int64_t most = 0;
  size_t first = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    while (starts[i] - starts[first] > span) ++first;
    most = std::max(most, static_cast<int64_t>(i - first + 1));
  }
  return most;
}

}  // namespace

void size_order_tables(const config::Experiment& experiment, std::span<const Flow> flows,
                       Topology& topology) {
  if (!experiment.switches.resequence.enabled || experiment.switches.resequence.flows) return;
  const auto starts = starts_by_switch(flows, topology);
  for (size_t i = 0; i < topology.switches.size(); ++i) {
    config::ResequenceConfig& config = topology.switches[i].resequence;
    const Duration base_rtt = topology.switches[i].path_service.base_rtt.value_or(Duration{});
    const Duration age = lb::ResequencePlan::of(config, base_rtt, Bytes(0)).age();
    const int64_t pairs = most_within(starts[i], age * kAges) * experiment.host.queue_pairs;
    config.flows = std::clamp(pairs * kPlacesAFlow, config.places(), kMostPlaces);
  }
}

}  // namespace eddy::lab
