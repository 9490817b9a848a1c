// What a scheme's keys change in a whole fabric, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lab/run/run.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;

RunResult outcome_of(const config::Experiment& experiment) {
  RunOptions options;
  options.check = true;
  auto result = run_experiment(experiment, options);
  for (const std::string& problem : result ? Problems{} : result.problems())
    ADD_FAILURE() << problem;
  if (!result) return {};
  EXPECT_EQ(result->violations, Problems{});
  return std::move(*result);
}

config::TrafficConfig one_burst(const std::string& from, const std::string& to, Bytes size,
                                Duration start = {}) {
  config::TrafficConfig item;
  item.type = config::TrafficType::burst;
  item.size = size;
  item.sources = {from};
  item.destinations = {to};
  item.start = start;
  return item;
}

config::Experiment leaves_and_spines(int spines, int hosts_per_leaf) {
  config::Experiment experiment;
  experiment.topology.leaves = 2;
  experiment.topology.spines = spines;
  experiment.topology.hosts_per_leaf = hosts_per_leaf;
  experiment.run.warmup = Duration{};
  experiment.run.duration = 1_ms;
  return experiment;
}

// By how many of its lines to the spines a switch has sent more than so many octets.
size_t lines_used(const RunResult& result, size_t switch_index, uint64_t more_than) {
  return static_cast<size_t>(std::ranges::count_if(result.links, [&](const auto& line) {
    return line.switch_index == switch_index && line.bytes > more_than;
  }));
}

// One packet at a time, each to another host of leaf 2, while all queues are empty: equals stay
// with what is remembered. A memory for the leaf sends all by one uplink; each host's own memory
// is its own first draw.
TEST(SchemeKeys, DrillRemembersByLeafOrByHost) {
  constexpr int kHosts = 24;
  config::Experiment experiment = leaves_and_spines(8, kHosts);
  for (int host = 1; host <= kHosts; ++host)
    for (int round = 0; round < 3; ++round)
      experiment.traffic.push_back(one_burst("leaf1.host1", "leaf2.host" + std::to_string(host),
                                             500_B, 20_us * (host + round * kHosts)));
  experiment.run.duration = 20_us * (kHosts * 3 + 2);
  experiment.load_balancer = {.scheme = "drill", .parameters = {{"d", "1"}}};
  const RunResult by_leaf = outcome_of(experiment);
  EXPECT_EQ(by_leaf.unfinished, 0u);
  EXPECT_EQ(lines_used(by_leaf, 0, 0), 1u);
  experiment.load_balancer.parameters["memory"] = "destination_host";
  const RunResult by_host = outcome_of(experiment);
  EXPECT_EQ(by_host.unfinished, 0u);
  EXPECT_GE(lines_used(by_host, 0, 0), 5u) << "24 draws of 8";
  EXPECT_EQ(by_host.trace_digest, by_leaf.trace_digest);
}

// A sender on a line four times as fast as each of the uplinks finds them with a frame on the line
// and nothing that waits: equals, if the line does not count.
TEST(SchemeKeys, DrillTellsABusyLineFromAnIdleOneUnlessOnlyWhatWaitsCounts) {
  config::Experiment experiment = leaves_and_spines(8, 1);
  experiment.topology.host_rate = 40_Gbps;
  experiment.topology.fabric_rate = 10_Gbps;
  experiment.traffic = {one_burst("leaf1.host1", "leaf2.host1", 64_KiB)};
  experiment.load_balancer = {.scheme = "drill", .parameters = {{"d", "8"}}};
  const RunResult with_line = outcome_of(experiment);
  experiment.load_balancer.parameters["queue"] = "waiting";
  const RunResult waiting = outcome_of(experiment);
  EXPECT_EQ(with_line.unfinished + waiting.unfinished, 0u);
  EXPECT_EQ(with_line.ooo_ratio, 0) << "each packet has found an idle line";
  EXPECT_GT(waiting.ooo_ratio, 0.1) << "every other one has stood behind the frame on a busy one";
}

// From each odd leaf two flows go to the next one, by one of two spines, the second flow 3 us after
// the first: that is within a look of 5 us, and its line shows what the first one sends.
size_t leaves_that_spread(const std::string& hold) {
  constexpr size_t kPairs = 8;
  config::Experiment experiment = leaves_and_spines(2, 2);
  experiment.topology.leaves = 2 * kPairs;
  for (size_t pair = 0; pair < kPairs; ++pair)
    for (const int host : {1, 2}) {
      const std::string name = ".host" + std::to_string(host);
      experiment.traffic.push_back(one_burst("leaf" + std::to_string(2 * pair + 1) + name,
                                             "leaf" + std::to_string(2 * pair + 2) + name, 64_KiB,
                                             3_us * host));
    }
  experiment.load_balancer = {.scheme = "conga", .parameters = {{"q", "8"}, {"hold", hold}}};
  const RunResult result = outcome_of(experiment);
  EXPECT_EQ(result.unfinished, 0u);
  size_t spread = 0;
  for (size_t pair = 0; pair < kPairs; ++pair)
    spread += lines_used(result, 2 * pair, 10'000) == 2 ? 1 : 0;
  return spread;
}

TEST(SchemeKeys, CongasNewFlowsHerdForAsLongAsALookHolds) {
  EXPECT_EQ(leaves_that_spread("0s"), 8u);
  EXPECT_EQ(leaves_that_spread("2us"), 8u) << "the second one looks again";
  const size_t by_chance = leaves_that_spread("auto");
  EXPECT_GE(by_chance, 1u);
  EXPECT_LE(by_chance, 7u) << "it draws from what was equal before the first one began";
  EXPECT_EQ(leaves_that_spread("5us"), by_chance);
}

// Leaf 2 sends nothing but acknowledgements, by one of its four uplinks or by all.
TEST(SchemeKeys, ControlPacketsGoByEcmpOrByTheScheme) {
  for (const bool rlb : {false, true}) {
    config::Experiment experiment = leaves_and_spines(4, 1);
    experiment.traffic = {one_burst("leaf1.host1", "leaf2.host1", 64_KiB)};
    experiment.load_balancer.scheme = "spray";
    experiment.switches.path_service = {.shim = config::ShimUse::off, .probe = 0_us};
    if (rlb) experiment.switches.rlb.preset = config::RlbPreset::standard;
    experiment.switches.rlb.guard.mode = config::GuardMode::off;  // it would keep a flow's path
    EXPECT_EQ(lines_used(outcome_of(experiment), 1, 0), 1u);
    experiment.load_balancer.control = config::ControlBy::scheme;
    EXPECT_EQ(lines_used(outcome_of(experiment), 1, 0), 4u);
  }
}

// One path: whatever the scheme decides, all goes as it would without one, but for its header.
TEST(SchemeKeys, AFreeShimLeavesASchemesDecisionsAlone) {
  config::Experiment experiment = leaves_and_spines(1, 2);
  experiment.traffic = {one_burst("leaf1.host1", "leaf2.host1", 64_KiB),
                        one_burst("leaf1.host2", "leaf2.host2", 64_KiB, 5_us),
                        one_burst("leaf2.host1", "leaf1.host2", 64_KiB, 2_us)};
  experiment.switches.path_service.probe = 0_us;
  const auto outcome_with = [&](const char* scheme, config::ShimUse use) {
    experiment.load_balancer.scheme = scheme;
    experiment.switches.path_service.shim = use;
    return outcome_of(experiment);
  };
  const auto times = [](const RunResult& result) {
    std::vector<Duration> times;
    for (const FlowResult& flow : result.flows) times.push_back(flow.fct);
    return times;
  };
  const RunResult ecmp = outcome_with("ecmp", config::ShimUse::automatic);
  const RunResult free = outcome_with("conga", config::ShimUse::free);
  const RunResult paid = outcome_with("conga", config::ShimUse::automatic);
  EXPECT_EQ(times(free), times(ecmp)) << "to the picosecond";
  EXPECT_GT(free.counters.at("shim_tx_packets"), 3u * 64);
  EXPECT_EQ(free.counters.at("shim_tx_packets"), paid.counters.at("shim_tx_packets"));
  for (size_t i = 0; i < 3; ++i) EXPECT_GT(times(paid)[i], times(ecmp)[i]);
}

}  // namespace
}  // namespace eddy::lab
