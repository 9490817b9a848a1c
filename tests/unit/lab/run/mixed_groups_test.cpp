// Fabrics in which some switches take another scheme than the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/set_key.h"
#include "lab/fabric/build_topology.h"
#include "lab/run/run.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;

// Four groups of two switches with two hosts. The first sends to the second alone, and the third to
// the fourth.
config::Experiment two_groups_send() {
  config::Experiment experiment;
  experiment.topology.kind = config::TopologyKind::dragonfly;
  experiment.topology.groups = 4;
  experiment.topology.routers = 2;
  experiment.topology.hosts_per_router = 2;
  experiment.topology.global_links = 1;
  experiment.switches.buffer.size = 64_MiB;
  experiment.host.reorder_buffer = true;
  experiment.load_balancer.scheme = "ugal";
  experiment.run.warmup = Duration{};
  experiment.run.duration = 1_ms;
  const auto burst = [](const char* from, const char* to) {
    config::TrafficConfig item;
    item.type = config::TrafficType::burst;
    item.size = 100_KiB;
    item.count = 6;
    item.sources = {from};
    item.destinations = {to};
    return item;
  };
  experiment.traffic = {burst("leaf1-2", "leaf3-4"), burst("leaf5-6", "leaf7-8")};
  return experiment;
}

RunResult checked_run(const config::Experiment& experiment) {
  const auto set_key = [](config::SwitchConfig& config, const std::string& key,
                          const std::string& value) { return config::set_key(config, key, value); };
  auto result = run_experiment(experiment, {.check = true, .set_key = set_key});
  for (const std::string& problem : result ? result->violations : result.problems())
    ADD_FAILURE() << problem;
  return result ? std::move(*result) : RunResult{};
}

// Octets that a group sent to others but one, by 0; what goes there goes a detour.
uint64_t detoured(const config::Experiment& experiment, const RunResult& result, size_t group,
                  size_t to) {
  const Topology topology = std::move(*build_topology(experiment));
  const auto group_of = [](size_t switch_index) { return switch_index / 2; };
  uint64_t bytes = 0;
  for (const LinkSent& sent : result.links) {
    const Topology::Link& link = topology.links[sent.link];
    const size_t other =
        link.a.switch_index == sent.switch_index ? link.b.switch_index : link.a.switch_index;
    if (group_of(sent.switch_index) == group && group_of(other) != group && group_of(other) != to)
      bytes += sent.bytes;
  }
  return bytes;
}

uint64_t counted(const RunResult& result, const char* name) {
  const auto found = result.counters.find(name);
  return found == result.counters.end() ? 0 : found->second;
}

void expect_all_arrived(const RunResult& result) {
  EXPECT_EQ(result.unfinished, 0u);
  EXPECT_EQ(result.lossless_drops, 0u);
  EXPECT_EQ(counted(result, "drops_no_channel"), 0u);
  EXPECT_EQ(counted(result, "path_deviated_packets"), 0u);
}

// A group that speaks minimal carries others' detours, and takes none itself: which is said.
TEST(MixedGroups, OneThatTakesNoDetoursCarriesThoseOfOthers) {
  config::Experiment experiment = two_groups_send();
  const RunResult alike = checked_run(experiment);
  expect_all_arrived(alike);
  EXPECT_THAT(alike.warnings, testing::IsEmpty());
  EXPECT_GT(detoured(experiment, alike, 0, 1), 100'000u);
  EXPECT_GT(detoured(experiment, alike, 2, 3), 100'000u);

  experiment.faults = {{.type = config::FaultType::reconfigure,
                        .switches = {"leaf1", "leaf2"},
                        .set = {{"load_balancer.scheme", "minimal"}}}};
  const RunResult mixed = checked_run(experiment);
  expect_all_arrived(mixed);
  EXPECT_THAT(mixed.warnings,
              testing::Contains(testing::HasSubstr("hosts of leaf1, leaf2 have shortest paths "
                                                   "alone while 'minimal' is there")));
  EXPECT_GT(detoured(experiment, mixed, 2, 3), 100'000u);
  EXPECT_GT(mixed.fct_us.mean, alike.fct_us.mean);
}

// Of two leaves behind spines one has another scheme: what the first says is used up there, and the
// result says so.
TEST(MixedLeaves, FramesOfASchemeThatALeafDoesNotSpeakAreCountedAndSaid) {
  config::Experiment experiment;
  experiment.topology.leaves = 2;
  experiment.topology.spines = 2;
  experiment.topology.hosts_per_leaf = 2;
  experiment.load_balancer.scheme = "hula";
  experiment.run.warmup = Duration{};
  experiment.run.duration = 1_ms;
  config::TrafficConfig item;
  item.type = config::TrafficType::burst;
  item.size = 100_KiB;
  item.count = 6;
  experiment.traffic = {item};
  const RunResult alike = checked_run(experiment);
  EXPECT_EQ(counted(alike, "agent_frames_unspoken"), 0u);

  experiment.faults = {{.type = config::FaultType::reconfigure,
                        .switches = {"leaf2"},
                        .set = {{"load_balancer.scheme", "letflow"}}}};
  const RunResult mixed = checked_run(experiment);
  expect_all_arrived(mixed);
  EXPECT_GT(counted(mixed, "agent_frames_unspoken"), 10u);
}

}  // namespace
}  // namespace eddy::lab
