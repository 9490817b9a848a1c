#include "lab/reference/own_queues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "lab/fabric/build_topology.h"
#include "lab/run/run.h"
#include "lab/world/world.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using config::FaultType;
using config::FlowQueues;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

config::TrafficConfig burst(const std::string& from, const std::string& to, Bytes size) {
  config::TrafficConfig item;
  item.type = config::TrafficType::burst;
  item.size = size;
  item.sources = {from};
  item.destinations = {to};
  return item;
}

config::Experiment fabric_of(int leaves, int spines, int hosts) {
  config::Experiment experiment;
  experiment.topology.leaves = leaves;
  experiment.topology.spines = spines;
  experiment.topology.hosts_per_leaf = hosts;
  experiment.host.congestion_control = "none";
  experiment.host.window = false;
  experiment.load_balancer.scheme = "ecmp";
  experiment.run.warmup = Duration{};
  experiment.run.duration = 1_ms;
  experiment.run.sample_period = Duration{};
  return experiment;
}

RunResult run(config::Experiment experiment, FlowQueues queues) {
  experiment.run.flow_queues = queues;
  auto result = run_experiment(experiment, {});
  for (const std::string& problem : result ? Problems{} : result.problems())
    ADD_FAILURE() << problem;
  return result ? std::move(*result) : RunResult{};
}

// The same links, hosts, packets and paths: a flow that is alone does not notice who switches.
TEST(OwnQueues, AFlowThatIsAloneTakesAsLongAsThroughSwitches) {
  for (const int hosts : {1, 2, 3, 4}) {
    config::Experiment experiment = fabric_of(2, 3, 4);
    const std::string to = "leaf2.host" + std::to_string(hosts);
    experiment.traffic = {burst("leaf1.host1", to, 300_KiB)};
    const RunResult switches = run(experiment, FlowQueues::off);
    const RunResult reference = run(experiment, FlowQueues::marked_by_port);
    ASSERT_EQ(reference.flows.size(), 1u);
    EXPECT_EQ(reference.flows[0].fct, switches.flows[0].fct);
    EXPECT_EQ(reference.flows[0].receiver_fct, switches.flows[0].receiver_fct);
    EXPECT_EQ(reference.packet_hops, switches.packet_hops) << "nobody was stopped";
    std::vector<uint64_t> by_link;
    std::vector<uint64_t> in_reference;
    for (const LinkSent& link : switches.links) by_link.push_back(link.packets);
    for (const LinkSent& link : reference.links) in_reference.push_back(link.packets);
    EXPECT_EQ(in_reference, by_link) << "it takes the same path, and so do its ACKs";
  }
}

// Within a rack and between racks, at two rates.
TEST(OwnQueues, AFlowThatIsAloneIsIdealOnEveryLine) {
  config::Experiment experiment = fabric_of(2, 1, 2);
  experiment.topology.fabric_rate = 10_Gbps;
  for (const char* to : {"leaf1.host2", "leaf2.host1"}) {
    experiment.traffic = {burst("leaf1.host1", to, 300_KiB)};
    const RunResult reference = run(experiment, FlowQueues::marked_by_flow);
    EXPECT_NEAR(reference.flows[0].slowdown, 1, 0.05) << to;
    EXPECT_EQ(reference.ooo_ratio, 0);
  }
}

config::Experiment two_incasts() {
  config::Experiment experiment = fabric_of(4, 2, 4);
  for (int leaf = 1; leaf <= 4; ++leaf)
    for (int host = 2; host <= 4; ++host)
      for (const char* to : {"leaf1.host1", "leaf3.host1"})
        experiment.traffic.push_back(
            burst("leaf" + std::to_string(leaf) + ".host" + std::to_string(host), to, 400_KiB));
  return experiment;
}

TEST(OwnQueues, NothingIsLostOrOutOfOrderWhereManyMeet) {
  for (const FlowQueues queues : {FlowQueues::marked_by_port, FlowQueues::marked_by_flow}) {
    const RunResult result = run(two_incasts(), queues);
    EXPECT_EQ(result.unfinished, 0u);
    EXPECT_EQ(result.ooo_ratio, 0);
    EXPECT_EQ(result.counters.at("nic_retransmitted_packets"), 0u);
    EXPECT_EQ(result.pfc_events, 0u) << "flows are stopped, and no priority";
    for (const auto& [name, count] : result.counters)
      EXPECT_TRUE(count == 0 || !name.starts_with("drops_")) << name;
    for (const FlowResult& flow : result.flows) {
      EXPECT_EQ(flow.received.delivered_bytes, 400u * 1024);
      EXPECT_EQ(flow.received.out_of_order_packets, 0u);
    }
    EXPECT_THAT(result.warnings, Contains(StartsWith("run.flow_queues: a reference ran")));
  }
}

// A world with the reference in it, to be looked at.
struct Fabric {
  Fabric(const config::Experiment& of, std::vector<Flow> flows) : experiment(of) {
    auto built = build_topology(experiment);
    EXPECT_TRUE(built);
    topology = std::move(*built);
    queues = std::make_unique<OwnQueues>(experiment, topology);
    WorldOptions options;
    options.host = experiment.host;
    options.instead = [this](size_t index, Switch& object) { return queues->make(index, object); };
    auto made = World::create(
        topology, flows, [](uint32_t, uint32_t) { return 20_us; }, options);
    EXPECT_TRUE(made);
    world = std::move(*made);
  }
  const OwnQueueSwitch& at(size_t index) {
    return dynamic_cast<const OwnQueueSwitch&>(*world->switch_node(index).shard);
  }
  config::Experiment experiment;
  Topology topology;
  std::unique_ptr<OwnQueues> queues;
  std::unique_ptr<World> world;
};

Flow flow(uint32_t source, uint32_t destination, Bytes size) {
  return {.source = source,
          .destination = destination,
          .size = size,
          .source_port = static_cast<uint16_t>(50'000 + source)};
}

TEST(OwnQueues, EveryPacketIsSomewhereAtAnyTimeAndAllAreGoneAtTheEnd) {
  Fabric fabric(fabric_of(2, 1, 3), {flow(0, 3, 1_MiB), flow(1, 3, 1_MiB), flow(2, 4, 1_MiB)});
  for (int step = 1; step <= 50; ++step) {
    fabric.world->run_until(Instant() + Duration::microseconds(10) * step);
    uint64_t entered = 0;
    uint64_t left = 0;
    uint64_t made = 0;
    uint64_t used_up = 0;
    for (size_t i = 0; i < fabric.world->switch_count(); ++i)
      for (size_t port = 0; port < fabric.topology.switches[i].ports.size(); ++port) {
        const PortCounters of = std::as_const(fabric.world->counters_of(i))[PortId(port)];
        entered += of.port.read(PortCounter::rx_packets);
        left += of.port.read(PortCounter::tx_packets);
        made += of.port.read(PortCounter::originated_packets);
        used_up += of.port.read(PortCounter::consumed_packets);
      }
    const size_t in_pool = fabric.world->pool().used() - fabric.world->frames_in_flight();
    EXPECT_EQ(entered + made - left - used_up, in_pool) << step;
  }
  ASSERT_TRUE(fabric.world->run_to_completion(Instant() + 20_ms));
  fabric.world->run_until(Instant() + 20_ms);
  EXPECT_EQ(fabric.world->pool().used(), 0u);
  for (size_t i = 0; i < fabric.world->switch_count(); ++i) EXPECT_EQ(fabric.at(i).waiting(), 0);
}

// 40 Gb/s, 2 us: 20 kB on the way there and back, and three frames. What comes before the stop has
// got there is as much again.
TEST(OwnQueues, AQueueHoldsNoMoreThanItsThresholdAndWhatIsOnItsWay) {
  Fabric fabric(fabric_of(2, 1, 3), {flow(0, 3, 1_MiB), flow(1, 3, 1_MiB), flow(2, 3, 1_MiB)});
  const int64_t threshold = fabric.at(0).threshold(PortId(0));
  EXPECT_NEAR(static_cast<double>(threshold), 20'000 + 3 * 1'200, 400);
  ASSERT_TRUE(fabric.world->run_to_completion(Instant() + 20_ms));
  const OwnQueueSwitch::Use use = fabric.queues->use();
  EXPECT_GT(use.most_of_flow, threshold);
  EXPECT_LE(use.most_of_flow, 2 * threshold);
  EXPECT_GT(use.stops, 3u);
  EXPECT_EQ(use.most_flows, 3u);
}

// Two flows share their rack's only uplink. One goes to a host that takes a tenth of the line, so
// that switches stop the uplink for both; here the other has what the first leaves of it.
TEST(OwnQueues, AStoppedFlowStopsNoOther) {
  config::Experiment experiment = fabric_of(2, 1, 2);
  experiment.traffic = {burst("leaf1.host1", "leaf2.host1", 4_MiB),
                        burst("leaf1.host2", "leaf2.host2", 4_MiB)};
  experiment.faults = {
      {.type = FaultType::slow_receiver, .hosts = {"leaf2.host1"}, .rate = 1_Gbps}};
  experiment.run.drain = 50_ms;
  const RunResult switches = run(experiment, FlowQueues::off);
  const RunResult reference = run(experiment, FlowQueues::marked_by_port);
  EXPECT_GT(switches.flows[1].slowdown, 5);
  EXPECT_LT(reference.flows[1].slowdown, 1.3);
  EXPECT_NEAR(reference.flows[0].slowdown, switches.flows[0].slowdown, 1);
  EXPECT_EQ(switches.faults[0].lost, 0u);
  EXPECT_EQ(reference.faults[0].lost, 0u) << "the host's pauses are obeyed";
  EXPECT_GT(reference.counters.at("nic_rx_flow_stop_packets"), 0u);
}

// Three flows share a line of which each can have a third.
TEST(OwnQueues, FlowsThatMeetShareALineEvenly) {
  config::Experiment experiment = fabric_of(2, 1, 3);
  for (const char* from : {"leaf1.host1", "leaf1.host2", "leaf1.host3"})
    experiment.traffic.push_back(burst(from, "leaf2.host1", 8_MiB));
  const RunResult reference = run(experiment, FlowQueues::marked_by_port);
  for (const FlowResult& each : reference.flows) EXPECT_NEAR(each.slowdown, 3, 0.05);
}

TEST(OwnQueues, MarksByWhatWaitsAtThePortOrOfTheFlow) {
  config::Experiment experiment = two_incasts();
  auto& wred = experiment.switches.buffer.wred["default"];
  wred.kmin = 100_KiB;  // more than a flow ever has in a queue, less than all have
  wred.kmax = 400_KiB;
  EXPECT_GT(run(experiment, FlowQueues::marked_by_port).counters.at("ecn_marked_packets"), 0u);
  EXPECT_EQ(run(experiment, FlowQueues::marked_by_flow).counters.at("ecn_marked_packets"), 0u);
}

// It runs in windows and on threads as switches do.
TEST(OwnQueues, SameSeedSameDigestOnThreadsToo) {
  config::Experiment experiment = two_incasts();
  experiment.run.flow_queues = FlowQueues::marked_by_port;
  auto one = run_experiment(experiment, {});
  auto two = run_experiment(experiment, {.threads = 2});
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->digest, two->digest);
}

TEST(OwnQueues, WhatItHasNotIsRefusedAllAtOnce) {
  config::Experiment experiment = two_incasts();
  experiment.run.flow_queues = FlowQueues::marked_by_port;
  experiment.load_balancer.scheme = "drill";
  experiment.switches.resequence.enabled = true;
  experiment.switches.buffer.wred["default"].mark = config::WredMark::dequeue;
  experiment.faults = {{.type = FaultType::link_flap, .links = {"leaf1-spine1"}}};
  auto result = run_experiment(experiment, {.check = true});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.problems(),
              ElementsAre(StartsWith("load_balancer.scheme: "), StartsWith("resequence.enabled: "),
                          StartsWith("wred: "), StartsWith("faults: "), HasSubstr("the checker")));
}

}  // namespace
}  // namespace eddy::lab
