#include "tests/sim/third_draws.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lab/fabric/build_topology.h"
#include "lb/members.h"
#include "lb/registry.h"
#include "net/assert.h"
#include "pfc/buffer_plan.h"
#include "pfc/class_pair.h"
#include "tests/sim/lab_draws.h"
#include "tests/sim/second_draws.h"

namespace eddy::test {
namespace {

using namespace eddy::literals;

constexpr uint32_t kPurpose = 0x74686972;  // "thir"
enum class Group : uint32_t { mixture, choices, isolation };

class Drawer : public LabDraws {
 public:
  Drawer(const Lab& lab, Group group)
      : LabDraws(lab.seed, static_cast<uint32_t>(group), kPurpose) {}
};

// A lab of the first generator on a topology that the scheme covers.
Lab lab_with(std::string_view scheme, uint64_t seed, MakeFirstLab first) {
  constexpr uint64_t kAttempts = 1'000;
  for (uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    Lab lab = first(lb::mix64(seed * kAttempts + attempt) >> 1);
    take_scheme(lab, scheme);
    if (lab.experiment.load_balancer.scheme == scheme && lab::check_scheme(lab.experiment).empty())
      return lab;
  }
  ASSERT(false);
}

// Leaves in a row; of a dragonfly a group.
std::vector<std::string> some_leaves(const Lab& lab, Drawer& draw) {
  std::vector<std::string> leaves;
  const lab::Topology topology = std::move(*lab::build_topology(lab.experiment));
  for (const config::SwitchConfig& config : topology.switches)
    if (!config.leaf.is_none()) leaves.push_back(config.name);
  const auto count = static_cast<int>(leaves.size());
  const bool grouped = lab.experiment.topology.kind == config::TopologyKind::dragonfly;
  const int each = grouped ? lab.experiment.topology.routers : draw.between(1, count);
  const int from =
      grouped ? draw.between(0, count / each - 1) * each : draw.between(0, count - each);
  return {leaves.begin() + from, leaves.begin() + from + each};
}

// In every third lab some leaves speak another scheme, from the beginning or for a while.
void mix_schemes(Lab& lab) {
  Drawer draw(lab, Group::mixture);
  if (!draw.chance(3)) return;
  config::FaultConfig fault{.type = config::FaultType::reconfigure,
                            .switches = some_leaves(lab, draw)};
  if (draw.chance(2)) {
    fault.start = 1_ns * draw.between(0, 200'000);
    fault.duration = 1_ns * draw.between(1'000, 200'000);
  }
  const auto schemes = lb::schemes();
  const auto last = static_cast<int>(schemes.size()) - 1;
  config::Experiment mixed = lab.experiment;
  mixed.faults.push_back(fault);
  for (size_t attempt = 0; attempt < schemes.size(); ++attempt) {
    const std::string_view name = schemes[static_cast<size_t>(draw.between(0, last))].name;
    mixed.faults.back().set = {{"load_balancer.scheme", std::string(name)}};
    if (name == lab.experiment.load_balancer.scheme || !lab::check_scheme(mixed).empty()) continue;
    lab.experiment.faults = mixed.faults;
    return;
  }
}

// Of the scheme: modes and switches, each as often as the others in every other lab.
void draw_choices(Lab& lab) {
  Drawer draw(lab, Group::choices);
  for (const lb::ParameterInfo& info : parameters_of(lab)) {
    if (info.kind != lb::ParameterKind::choice && info.kind != lb::ParameterKind::flag) continue;
    if (!draw.chance(2)) continue;
    const int last = std::max(1, static_cast<int>(info.choices.size()) - 1);
    lab.experiment.load_balancer.parameters[std::string(info.name)] =
        lb::value_text(info, draw.between(0, last));
  }
}

// A window of a thousandth of a packet is one packet in some 50 ms, as long as a lab lasts.
void keep_going(Lab& lab) {
  config::HostConfig& host = lab.experiment.host;
  if (host.congestion_control == "swift") host.law_parameters["swift.smallest_window"] = 500;
}

// In every third lab congested hosts are isolated, and in every other of these some leaves stop it,
// for good or for a while.
void draw_isolation(Lab& lab) {
  Drawer draw(lab, Group::isolation);
  if (!draw.chance(3)) return;
  config::Experiment with = lab.experiment;
  config::IsolationConfig& isolation = with.switches.isolation;
  isolation.enabled = true;
  isolation.threshold = Bytes(draw.between(2'000, 60'000));
  isolation.refresh = 1_us * draw.between(2, 20);
  isolation.life = isolation.refresh * draw.between(2, 5);
  isolation.stay = 1_us * draw.between(5, 1'000);
  isolation.hosts = 16;
  isolation.relays = draw.between(0, 3);
  isolation.most_hot = draw.between(10, 100);
  if (!can_isolate(with)) return;
  if (draw.chance(2)) {
    config::FaultConfig fault{.type = config::FaultType::reconfigure,
                              .switches = some_leaves(lab, draw),
                              .set = {{"isolation.enabled", "false"}}};
    fault.start = 1_ns * draw.between(0, 200'000);
    if (draw.chance(2)) fault.duration = 1_ns * draw.between(1'000, 200'000);
    with.faults.push_back(fault);
  }
  lab.experiment = with;
}

}  // namespace

bool can_isolate(const config::Experiment& experiment) {
  const auto topology = lab::build_topology(experiment);
  return topology.ok() &&
         std::ranges::all_of(topology.value().switches, [](const config::SwitchConfig& config) {
           return pfc::plan_buffer(config).ok() && pfc::class_pair_of(config).ok();
         });
}

Lab make_third_lab(uint64_t seed, MakeFirstLab first) {
  const auto schemes = lb::schemes();
  Lab lab = lab_with(schemes[seed % schemes.size()].name, seed, first);
  mix_schemes(lab);
  draw_beside_scheme(lab, 2);
  draw_choices(lab);
  keep_going(lab);
  draw_isolation(lab);
  return lab;
}

}  // namespace eddy::test
