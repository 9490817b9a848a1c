#include "tests/sim/fourth_draws.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lab/check/check_rules.h"
#include "lab/fabric/build_topology.h"
#include "lb/members.h"
#include "lb/registry.h"
#include "net/assert.h"
#include "tests/sim/lab_draws.h"
#include "tests/sim/second_draws.h"

namespace eddy::test {
namespace {

using namespace eddy::literals;

constexpr uint32_t kPurpose = 0x666f7572;  // "four"
enum class Group : uint32_t { rlb, isolation, reloads, faults, incasts, long_flows };

class Drawer : public LabDraws {
 public:
  Drawer(const Lab& lab, Group group)
      : LabDraws(lab.seed, static_cast<uint32_t>(group), kPurpose) {}
};

// RLB as it is by default, whose guard keeps order, and warnings that name their culprits.
void draw_rlb(Lab& lab) {
  Drawer draw(lab, Group::rlb);
  constexpr config::Heed kHeeds[] = {config::Heed::local, config::Heed::relayed,
                                     config::Heed::predicted};
  config::RlbConfig& rlb = lab.experiment.switches.rlb;
  rlb = config::rlb_preset(config::RlbPreset::standard);
  rlb.culprits = true;
  rlb.heed = draw.one_of(kHeeds);
  if (draw.chance(2)) rlb.placement = config::Placement::least_delay;
  if (draw.chance(2)) rlb.predictor.threshold = Bytes::kib(draw.between(2, 60));
  if (draw.chance(2)) rlb.warning.life = 1_us * draw.between(10, 200);
  if (draw.chance(4)) rlb.recirculation.enabled = false;
}

void draw_isolation(Lab& lab) {
  Drawer draw(lab, Group::isolation);
  constexpr int kHosts[] = {16, 64, 256};
  config::IsolationConfig& isolation = lab.experiment.switches.isolation;
  isolation.enabled = true;
  isolation.threshold = Bytes(draw.between(2'000, 60'000));
  isolation.refresh = 1_us * draw.between(2, 20);
  isolation.life = isolation.refresh * draw.between(2, 5);
  isolation.stay = 1_us * draw.between(5, 1'000);
  isolation.hosts = draw.one_of(kHosts);
  isolation.relays = draw.between(0, 3);
  isolation.most_hot = draw.between(10, 100);
}

// In every other lab flows are long soon, in a third of the others never.
void draw_long_flows(Lab& lab) {
  Drawer draw(lab, Group::long_flows);
  config::IsolationConfig& isolation = lab.experiment.switches.isolation;
  if (draw.chance(2)) {
    isolation.crowded = Bytes(draw.between(1'000, 40'000));
    isolation.long_flow = Bytes(draw.between(2'000, 40'000));
  } else {
    isolation.long_flows = !draw.chance(3);
  }
}

// One or two hosts that more is sent to than their lines take: nearly all others, a few times,
// begin at once or one after the other.
void draw_incasts(Lab& lab) {
  Drawer draw(lab, Group::incasts);
  const auto hosts = static_cast<int>(std::move(*lab::build_topology(lab.experiment)).hosts.size());
  for (int i = draw.between(1, 2); i > 0; --i) {
    const auto to = static_cast<uint32_t>(draw.between(0, hosts - 1));
    const int start = draw.between(0, 100'000);
    const int spread = draw.chance(2) ? 0 : draw.between(1, 40'000);
    for (uint32_t from = 0; from < static_cast<uint32_t>(hosts); ++from)
      for (int k = from == to ? 0 : draw.between(1, 3); k > 0; --k)
        lab.flows.push_back({.source = from,
                             .destination = to,
                             .size = Bytes(draw.between(1'000, 150'000)),
                             .start = Instant() + 1_ns * (start + draw.between(0, spread)),
                             .source_port = static_cast<uint16_t>(draw.between(49'152, 65'535))});
  }
  std::ranges::stable_sort(lab.flows, {}, &lab::Flow::start);
  // Of so much, switches that read one frame of a port in 2 us have tens of thousands unread.
  lab.experiment.host.queue_pairs = std::min(lab.experiment.host.queue_pairs, 4);
  lab.experiment.run.poll_burst = std::max(lab.experiment.run.poll_burst, 4);
}

// Any switches, each by itself.
std::vector<std::string> some_switches(const Lab& lab, Drawer& draw) {
  std::vector<std::string> some;
  const lab::Topology topology = std::move(*lab::build_topology(lab.experiment));
  for (const config::SwitchConfig& config : topology.switches)
    if (some.empty() || draw.chance(2)) some.push_back(config.name);
  return some;
}

// In three of four labs isolation goes off and on again at some switches, often while it has work;
// at every other of these others go off at other times.
void draw_reloads(Lab& lab) {
  Drawer draw(lab, Group::reloads);
  if (draw.chance(4)) return;
  for (int i = draw.between(1, 2); i > 0; --i) {
    config::FaultConfig fault{.type = config::FaultType::reconfigure,
                              .switches = some_switches(lab, draw),
                              .set = {{"isolation.enabled", "false"}}};
    fault.start = draw.chance(3) ? 0_ns : 1_ns * draw.between(0, 200'000);
    fault.duration = 1_ns * draw.between(1'000, 100'000);
    fault.period = fault.duration + 1_ns * draw.between(1'000, 100'000);
    lab.experiment.faults.push_back(fault);
  }
}

bool is_harmless(const config::FaultConfig& fault) {
  config::Experiment with;
  with.faults = {fault};
  const lab::CheckRules rules = lab::CheckRules::of(with);
  return rules.lossless && rules.in_order;
}

// In three of four labs nothing else breaks that would end a promise: there nothing lossless is to
// be lost.
void leave_out_faults(Lab& lab) {
  Drawer draw(lab, Group::faults);
  if (draw.chance(4)) return;
  std::erase_if(lab.experiment.faults,
                [](const config::FaultConfig& fault) { return !is_harmless(fault); });
  config::FabricSwitchConfig& switches = lab.experiment.switches;
  switches.pfc = true;
  switches.pfc_port = {};
  switches.allow_overcommit = false;
  lab.experiment.host.pfc_honour = true;
  if (draw.chance(2)) switches.resequence.enabled = false;
}

// Those that RLB goes around and that need no channels of their own, by turns.
std::string_view scheme_of(uint64_t seed) {
  std::vector<std::string_view> names;
  for (const lb::SchemeInfo& scheme : lb::schemes())
    if (!scheme.grouped.detours && scheme.grouped.channels == 0) names.push_back(scheme.name);
  return names[seed % names.size()];
}

Lab lab_with(std::string_view scheme, uint64_t seed, MakeFirstLab first) {
  Lab lab = first(seed);
  take_scheme(lab, scheme);
  std::erase_if(lab.experiment.faults, [](const config::FaultConfig& fault) {
    return fault.type == config::FaultType::reconfigure;
  });
  leave_out_faults(lab);
  draw_beside_scheme(lab, 4);
  draw_incasts(lab);
  draw_rlb(lab);
  draw_isolation(lab);
  draw_long_flows(lab);
  draw_reloads(lab);
  return lab;
}

}  // namespace

Lab make_fourth_lab(uint64_t seed, MakeFirstLab first) {
  constexpr uint64_t kAttempts = 1'000;
  const std::string_view scheme = scheme_of(seed);
  for (uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    Lab lab = lab_with(scheme, lb::mix64(seed * kAttempts + attempt + 1) >> 1, first);
    const config::TopologyConfig& topology = lab.experiment.topology;
    const bool alone = topology.kind == config::TopologyKind::leaf_spine && topology.leaves == 1;
    if (!alone && lab.experiment.load_balancer.scheme == scheme &&
        lab::check_scheme(lab.experiment).empty() && can_isolate(lab.experiment))
      return lab;
  }
  ASSERT(false);
}

}  // namespace eddy::test
