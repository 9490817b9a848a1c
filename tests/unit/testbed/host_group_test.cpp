#include "testbed/host_group.h"

#include <gtest/gtest.h>

#include "lab/fabric/build_topology.h"
#include "lab/run/flow_results.h"
#include "lab/traffic/traffic.h"
#include "net/ethernet.h"
#include "tests/unit/testbed/test_wire.h"

namespace eddy::testbed {
namespace {

using namespace eddy::literals;
using test::PacketPool;
using test::TestWire;

config::Experiment two_hosts() {
  config::Experiment experiment;
  experiment.topology.leaves = experiment.topology.spines = 1;
  experiment.topology.hosts_per_leaf = 2;
  experiment.topology.host_rate = BitRate::gbps(1);
  experiment.topology.host_delay = 1_us;
  experiment.host.congestion_control = "none";
  experiment.run.warmup = Duration{};
  experiment.run.duration = 1_ms;
  config::TrafficConfig burst;
  burst.type = config::TrafficType::all_to_all;
  burst.size = Bytes(20'000);
  burst.count = 3;
  experiment.traffic.push_back(burst);
  return experiment;
}

// Both hosts of one switch, whose part the cable plays: it puts the receiver's MAC in.
struct Group {
  explicit Group(const config::Experiment& given, uint64_t seed = 1)
      : experiment(config::scaled(given)), pool(8'192), wires{TestWire(pool), TestWire(pool)} {
    auto built = lab::build_topology(experiment);
    for (const std::string& problem : built ? Problems{} : built.problems())
      ADD_FAILURE() << problem;
    topology = std::move(*built);
    auto made = lab::make_traffic(experiment, topology, seed, nullptr);
    for (const std::string& problem : made ? Problems{} : made.problems()) ADD_FAILURE() << problem;
    trace = std::move(*made);
    paths.emplace(topology);
    wires[0].join(wires[1]);
    for (size_t i = 0; i < 2; ++i)
      wires[i].lose = [mac = topology.hosts[1 - i].mac](Packet& frame) {
        store_mac(frame.data(), mac);
        return false;
      };
    HostWire* const both[] = {&wires[0], &wires[1]};
    group.emplace(HostGroupOptions{.experiment = experiment,
                                   .topology = topology,
                                   .paths = *paths,
                                   .flows = trace.flows,
                                   .waits = &trace.waits,
                                   .catch_up = 20_us * given.run.time_dilation},
                  both);
  }
  void run(Instant from, Instant to, Duration step) {
    for (Instant now = from; now < to; now = now + step) group->poll(now);
  }

  config::Experiment experiment;
  lab::Topology topology;
  lab::Trace trace;
  std::optional<lab::FabricPaths> paths;
  PacketPool pool;
  TestWire wires[2];
  std::optional<HostGroup> group;
};

TEST(HostGroup, EveryFlowOfTheExperimentEnds) {
  Group of(two_hosts());
  ASSERT_EQ(of.group->flow_count(), 6u);
  of.run(Instant(), Instant() + 5_ms, 1_us);
  EXPECT_EQ(of.group->progress().flows_ended.load(), 6u);
  EXPECT_TRUE(of.group->book().all_ended());
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(of.group->book().receive_outcome(i).delivered_bytes, 20'000u);
}

// Two rounds of an all-reduce, and another when they have ended.
TEST(HostGroup, FlowsBeginWhenWhatTheyWaitForHasCome) {
  config::Experiment experiment = two_hosts();
  config::TrafficConfig& first = experiment.traffic[0];
  first = {.type = config::TrafficType::collective, .name = "first", .size = Bytes(20'000)};
  first.chunks = 3;
  first.repeat = 2;
  config::TrafficConfig second = first;
  second.name = "second";
  second.after = "first";
  experiment.traffic.push_back(second);
  Group of(experiment);
  ASSERT_EQ(of.group->flow_count(), 48u);
  of.run(Instant(), Instant() + 5_ms, 1_us);
  EXPECT_EQ(of.group->progress().flows_started.load(), 48u);
  ASSERT_TRUE(of.group->book().all_ended());
  Instant first_ends;
  Instant second_begins = Instant::never();
  for (size_t i = 0; i < 48; ++i) {
    const lab::Flow& flow = of.group->book().flows()[i];
    if (flow.traffic == 0)
      first_ends = std::max(first_ends, of.group->book().records()[i].receiver_done);
    else
      second_begins = std::min(second_begins, flow.start);
  }
  EXPECT_EQ(second_begins, first_ends + 2_us);  // the links between switches are longer than ours
}

TEST(HostGroup, NothingStartsBeforeTimeZero) {
  Group of(two_hosts());
  of.run(Instant() - 3'600_s, Instant() - 3'599_s, 100_ms);
  EXPECT_EQ(of.group->progress().flows_started.load(), 0u);
  EXPECT_EQ(of.group->progress().transmitted.load(), 0u);
  EXPECT_EQ(of.group->next_deadline(), of.trace.flows.front().start);
  of.run(Instant(), Instant() + 5_ms, 1_us);
  EXPECT_TRUE(of.group->book().all_ended());
  EXPECT_GE(of.group->book().records()[0].sender_done, Instant());
}

// With time stretched, rates are divided: in the experiment's own time the outcome is the same.
TEST(HostGroup, DilationChangesNothingInTheExperimentsTime) {
  const auto slowest = [](int64_t dilation) {
    config::Experiment experiment = two_hosts();
    experiment.run.time_dilation = dilation;
    Group of(experiment);
    of.run(Instant(), Instant() + 5_ms * dilation, 1_us * dilation);
    lab::RunResult result;
    result.simulated = 5_ms;
    const Instant now = Instant() + 5_ms * dilation;
    lab::NicTotals totals;
    for (const host::Nic* nic : of.group->nics())
      totals.add(*nic, of.experiment.host.priority, now);
    const lab::FlowAccount account{.experiment = of.experiment,
                                   .dilation = dilation,
                                   .topology = of.topology,
                                   .paths = *of.paths,
                                   .book = of.group->book(),
                                   .nics = totals,
                                   .now = now};
    lab::add_flow_results(account, result);
    EXPECT_EQ(result.unfinished, 0u);
    EXPECT_EQ(result.flows.size(), 6u);
    return result.fct_us.max;
  };
  EXPECT_NEAR(slowest(1), slowest(100), 2);  // two polls' worth
}

// Whoever computes the flows of the same seed finds the same queue pairs.
TEST(HostGroup, TheSameSeedGivesTheSameFlows) {
  Group one(two_hosts(), 7);
  Group other(two_hosts(), 7);
  EXPECT_EQ(one.trace.digest(), other.trace.digest());
  EXPECT_TRUE(std::ranges::equal(one.group->book().flows(), other.group->book().flows()));
}

}  // namespace
}  // namespace eddy::testbed
