#include "switch/dataplane/state/path_plan.h"

#include <algorithm>

#include "pfc/class_pair.h"

namespace eddy {
namespace {

constexpr int64_t kCables = 8;       // of two tiers, from host to host and back
constexpr int64_t kSampleAfter = 4;  // base round trips
constexpr int64_t kProbeAfter = 8;   // base round trips
constexpr size_t kHopByHop = 0xff;

// Which channel a packet is in stands in its shim, and that it has one says that it is on its way.
bool needs_channels(const config::SwitchConfig& config) {
  const lb::SchemeInfo* scheme = lb::scheme_of(config.load_balancer);
  if (scheme != nullptr && scheme->grouped.channels != 0) return true;
  return std::ranges::any_of(config.ports, [](const config::PortConfig& port) {
    return port.maps.tc_to_next != config::QosMaps::sonic_defaults().tc_to_next;
  });
}

lb::ShimNeed need_of(const config::SwitchConfig& config) {
  if (config.leaf.is_none()) return lb::ShimNeed::none;
  switch (config.path_service.shim) {
    case config::ShimUse::automatic:
    case config::ShimUse::free:
      return needs_channels(config) ? lb::ShimNeed::every
                                    : lb::shim_need(config.load_balancer, config.rlb.enabled());
    case config::ShimUse::off:
      return lb::ShimNeed::none;
    case config::ShimUse::sampled:
      return lb::ShimNeed::sampled;
    case config::ShimUse::every:
      return lb::ShimNeed::every;
  }
  __builtin_unreachable();
}

// Whoever asks for shims by configuration asks for what is measured by them.
bool has_idle_paths_probed(const config::SwitchConfig& config) {
  const config::ShimUse shim = config.path_service.shim;
  return shim == config::ShimUse::sampled || shim == config::ShimUse::every ||
         lb::probes_idle(config.load_balancer, config.rlb.enabled());
}

// A software switch answers when it polls.
Duration base_rtt_of(const config::SwitchConfig& config) {
  Duration longest = Duration::nanoseconds(100);
  for (const config::PortConfig& port : config.ports)
    if (port.role == config::PortRole::fabric) longest = std::max(longest, port.cable_delay);
  return config.path_service.base_rtt.value_or(longest * kCables + config.effective_poll_gap());
}

bool is_lossless(const config::SwitchConfig& config, const config::PortConfig& port,
                 PriorityGroupId pg) {
  const auto profile = config.buffer.profiles.find(port.pg_profiles[pg.index()]);
  return profile != config.buffer.profiles.end() && profile->second.lossless;
}

// As the first fabric port has it: a fabric treats a class alike everywhere.
MeasuredClass measured_class(const config::SwitchConfig& config) {
  const auto port =
      std::ranges::find(config.ports, config::PortRole::fabric, &config::PortConfig::role);
  if (port == config.ports.end()) return {};
  const config::QosMaps& maps = port->maps;
  size_t chosen = 0;
  while (chosen < kPriorities && !is_lossless(config, *port, maps.tc_to_pg[chosen])) ++chosen;
  if (chosen == kPriorities) chosen = 0;
  chosen =
      static_cast<size_t>(config.path_service.traffic_class.value_or(static_cast<int>(chosen)));
  return {TrafficClass(chosen), maps.tc_to_pg[chosen], maps.tc_to_queue[chosen]};
}

// The isolated class, where its packets' arrival matters to the order guard and can be proven: of
// several shards one does not see what others have isolated.
std::optional<MeasuredClass> swept_class(const config::SwitchConfig& config,
                                         const MeasuredClass& measured, size_t shards) {
  const config::RlbConfig& rlb = config.rlb;
  if (!config.isolation.enabled || !rlb.enabled() || shards != 1) return std::nullopt;
  if (rlb.guard.mode != config::GuardMode::strict) return std::nullopt;
  auto classes = pfc::class_pair_of(config);
  if (!classes || classes->normal.queue != measured.queue) return std::nullopt;
  const pfc::ClassPair::Class& isolated = classes->isolated;
  return MeasuredClass{isolated.traffic_class, isolated.pg, isolated.queue};
}

bool is_pinned(const lb::PathSet& set) {
  for (size_t i = 0; i < set.count; ++i)
    if ((set.members[i].path.index() & 0xff) != kHopByHop) return true;
  return false;
}

}  // namespace

PathPlan PathPlan::of(const config::SwitchConfig& config, std::span<const lb::PathSet> sets,
                      std::span<const LeafId> leaves, size_t shards) {
  const config::PathServiceConfig& service = config.path_service;
  PathPlan plan;
  plan.need = need_of(config);
  if (service.shim == config::ShimUse::free) plan.shim_octets = 0;
  plan.one_way = service.common_clock && service.delay == config::DelayMetric::one_way;
  plan.base_rtt = base_rtt_of(config);
  plan.sample = service.sample.value_or(plan.base_rtt * kSampleAfter);
  plan.echo = service.echo.value_or(plan.base_rtt / 2);
  plan.probe = service.probe.value_or(plan.base_rtt * kProbeAfter);
  plan.probes_idle = plan.need != lb::ShimNeed::none && has_idle_paths_probed(config);
  plan.tells_loads = plan.need == lb::ShimNeed::every && service.shim == config::ShimUse::every;
  // One that is in use is stamped in time by its packets.
  plan.rest = std::clamp(plan.sample + plan.sample / 2, plan.probe / 2, plan.probe);
  plan.proof_lag = shards == 1 ? Duration{} : plan.base_rtt / 4;
  plan.smoothing = service.smoothing;
  plan.measured = measured_class(config);
  plan.swept = swept_class(config, plan.measured, shards);
  plan.detector = config.rlb.failure_detector;
  if (!config.rlb.enabled()) plan.detector = {.mode = config::DetectorMode::off};
  plan.leaf_of_set.assign(leaves.begin(), leaves.end());
  for (size_t i = 0; i < sets.size(); ++i) {
    const size_t leaf = sets[i].leaf.index();
    if (leaf >= plan.set_of_leaf.size()) plan.set_of_leaf.resize(leaf + 1, kNoSet);
    if (leaves[i] == sets[i].leaf) plan.set_of_leaf[leaf] = static_cast<uint16_t>(i);
    plan.pinned.push_back(is_pinned(sets[i]) ? 1 : 0);
    plan.pins |= plan.pinned.back() != 0;
  }
  plan.pins &= !config.leaf.is_none() && service.shim != config::ShimUse::off;
  return plan;
}

lb::PathTable::Parameters PathPlan::table_parameters() const {
  return {.base_rtt = base_rtt,
          .proof_lag = proof_lag,
          .one_way = one_way,
          .smoothing = static_cast<uint8_t>(smoothing),
          .measured = {.queues = static_cast<uint8_t>(1u << measured.queue.index()),
                       .swept_queues = static_cast<uint8_t>(swept ? 1u << swept->queue.index() : 0),
                       .swept_group = measured.pg}};
}

}  // namespace eddy
