// Every kind of fault shows its effect, and the same run without it does not.
#include "lab/faults/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/fabric/build_topology.h"
#include "lab/world/packet_pool.h"
#include "net/byte_order.h"
#include "net/protocols.h"
#include "net/quantity.h"
#include "tests/unit/lab/check/checked_fabric.h"

namespace eddy::test {
namespace {

using config::FaultConfig;
using config::FaultType;

constexpr Bytes kMebibyte = 1_MiB;

// Host 0 sends to host 1 behind the other leaf, over one spine.
config::Experiment one_way() {
  return plain_experiment(2, 1, 1);
}
std::vector<lab::Flow> one_flow(Bytes size = kMebibyte) {
  return {flow_of(0, 1, size)};
}

// Three hosts send to the fourth at line rate; thresholds so low that the leaf pauses them.
config::Experiment incast() {
  config::Experiment experiment = plain_experiment(1, 1, 4);
  experiment.host.window = false;
  experiment.switches.buffer = config::default_switch("").buffer;
  experiment.switches.buffer.profiles["lossless"].xoff = 64_KiB;
  return experiment;
}
std::vector<lab::Flow> incast_flows() {
  return {flow_of(0, 3, kMebibyte), flow_of(1, 3, kMebibyte), flow_of(2, 3, kMebibyte)};
}

Duration at_rate(Bytes size, BitRate rate) {
  return LineRate(rate).time_of(size);
}

TEST(Faults, AFlappingLinkLosesFramesThatAreSentAgain) {
  config::Experiment experiment = one_way();
  CheckedFabric whole(experiment, one_flow());
  whole.complete();
  EXPECT_EQ(whole.lost_on_lines(), 0u);
  EXPECT_EQ(whole.world->send_outcome(0).retransmitted_packets, 0u);

  experiment.faults = {{.type = FaultType::link_flap,
                        .links = {"leaf1-spine1"},
                        .start = 50_us,
                        .duration = 100_us}};
  CheckedFabric flapping(experiment, one_flow());
  flapping.complete();
  EXPECT_GT(flapping.lost_on_lines(), 0u);
  EXPECT_GT(flapping.world->send_outcome(0).retransmitted_packets, 0u);
  EXPECT_GE(flapping.fct(0), whole.fct(0) + 100_us);
}

TEST(Faults, AFlapRepeatsByItsPeriodAndALinkIsDownWhileAnyFaultHasItSo) {
  config::Experiment experiment = one_way();
  experiment.faults = {
      {.type = FaultType::link_flap,
       .links = {"leaf1-spine1"},
       .start = 10_us,
       .duration = 20_us,
       .period = 100_us},
      {.type = FaultType::link_flap, .hosts = {"host1"}, .start = 1_ms, .duration = 5_us},
      {.type = FaultType::link_flap, .links = {"leaf1-spine1"}, .start = 20_us, .duration = 20_us}};
  CheckedFabric fabric(experiment, {});
  const lab::Line& line = fabric.world->lines()[fabric.world->line_of(0, PortId(1))];
  const auto up_at = [&](Duration when) {
    fabric.world->run_until(Instant() + when);
    return line.up;
  };
  EXPECT_TRUE(up_at(9_us));
  EXPECT_FALSE(up_at(15_us));
  EXPECT_FALSE(up_at(35_us));
  EXPECT_TRUE(up_at(45_us));
  EXPECT_FALSE(up_at(115_us));
  EXPECT_TRUE(up_at(135_us));
  EXPECT_FALSE(up_at(215_us));
  EXPECT_EQ(fabric.faults->report()[0].begun, 3u);
}

TEST(Faults, ASlowLinkHasTheGivenRateAndThenItsOwnAgain) {
  config::Experiment experiment = one_way();
  experiment.host.window = false;
  CheckedFabric whole(experiment, one_flow());
  whole.complete();
  ASSERT_LT(whole.fct(0), at_rate(kMebibyte, 30_Gbps));

  for (const bool host : {false, true}) {
    FaultConfig fault{.type = FaultType::slow_link, .rate = 10_Gbps};
    (host ? fault.hosts : fault.links) = {host ? "host1" : "leaf1-spine1"};
    experiment.faults = {fault};
    CheckedFabric slow(experiment, one_flow());
    slow.complete();
    EXPECT_GE(slow.fct(0), at_rate(kMebibyte, 10_Gbps));
    EXPECT_LE(slow.fct(0), at_rate(kMebibyte * 11 / 10, 10_Gbps) + 100_us);
    EXPECT_EQ(slow.lost_on_lines() + slow.dropped(DropReason::headroom_full), 0u);

    experiment.faults[0].duration = 200_us;
    CheckedFabric passing(experiment, one_flow());
    passing.complete();
    EXPECT_GE(passing.fct(0), whole.fct(0) + 100_us);
    EXPECT_LE(passing.fct(0), whole.fct(0) + 200_us);
  }
}

TEST(Faults, ABlackHoleTakesOnlyPacketsOfTheChosenPairs) {
  config::Experiment experiment = plain_experiment(2, 2, 2);
  experiment.load_balancer.scheme = "spray";
  experiment.host.recovery = "irn";
  experiment.faults = {{.type = FaultType::black_hole,
                        .switches = {"spine1"},
                        .pairs = {"leaf1.host1>leaf2.host1"},
                        .probability = 0.5}};
  CheckedFabric fabric(experiment, {flow_of(0, 2, 100_KiB), flow_of(1, 3, 100_KiB)});
  fabric.complete();
  EXPECT_GT(fabric.frames(), 10u);
  EXPECT_EQ(fabric.lost_on_lines(), fabric.frames());
  EXPECT_GE(fabric.world->send_outcome(0).retransmitted_packets, fabric.frames());
  const auto received = fabric.world->receive_outcome(1);
  EXPECT_EQ(received.received_packets, fabric.world->send_outcome(1).sent_packets);
}

// The names that a world would refuse, and the keys that its switches would.
TEST(Faults, AreLookedUpWithoutAWorld) {
  config::Experiment experiment = plain_experiment(2, 2, 1);
  const auto topology = lab::build_topology(experiment);
  ASSERT_TRUE(topology.ok());
  const lab::SetKey refuse_all = [](config::SwitchConfig&, const std::string& key,
                                    const std::string&) { return Problems{key + ": no"}; };
  EXPECT_THAT(lab::fault_problems(experiment, topology.value(), 1, refuse_all), testing::IsEmpty());
  experiment.faults = {
      {.type = FaultType::reconfigure, .switches = {"spine2"}, .set = {{"a.b", "1"}}},
      {.type = FaultType::link_flap, .links = {"leaf1-spine1"}, .duration = 1_ms}};
  EXPECT_THAT(lab::fault_problems(experiment, topology.value(), 1, refuse_all),
              testing::ElementsAre("faults.0.set: spine2: a.b: no"));
  experiment.faults[1].links = {"leaf1-spine9"};
  EXPECT_THAT(lab::fault_problems(experiment, topology.value(), 1, refuse_all),
              testing::ElementsAre(testing::StartsWith("faults.1.links.0: no link")));
}

TEST(Faults, ABlackHoleWithoutNamesIsAtOneSwitchThatHasNoHosts) {
  config::Experiment experiment = plain_experiment(2, 4, 1);
  experiment.faults = {{.type = FaultType::black_hole, .fraction = 1, .probability = 1}};
  CheckedFabric fabric(experiment, one_flow());
  const auto plans =
      lab::plan_faults(experiment, fabric.topology, *fabric.world, CheckedFabric::kSeed);
  ASSERT_TRUE(plans.ok());
  ASSERT_EQ(plans.value()[0].switches.size(), 1u);
  EXPECT_GE(plans.value()[0].switches[0], 2u);
  std::vector<uint32_t> chosen;
  for (uint64_t seed = 1; seed <= 20; ++seed)
    chosen.push_back(
        lab::plan_faults(experiment, fabric.topology, *fabric.world, seed).value()[0].switches[0]);
  EXPECT_THAT(chosen, testing::Contains(2u));
  EXPECT_THAT(chosen, testing::Contains(5u));
}

TEST(Faults, RandomDropsAreCountedOnTheLines) {
  config::Experiment experiment = one_way();
  experiment.host.recovery = "irn";
  experiment.faults = {
      {.type = FaultType::random_drop, .switches = {"spine1"}, .probability = 0.02}};
  CheckedFabric fabric(experiment, one_flow());
  fabric.complete();
  EXPECT_EQ(fabric.lost_on_lines(), fabric.frames());
  // 2,048 hops of 1,024 packets and their ACKs: 41 of them, give or take four deviations.
  EXPECT_GT(fabric.frames(), 15u);
  EXPECT_LT(fabric.frames(), 80u);
  EXPECT_GT(fabric.world->send_outcome(0).retransmitted_packets, 0u);
}

TEST(Faults, SomebodyNoticesEveryFlippedBit) {
  for (const bool icrc : {false, true}) {
    config::Experiment experiment = one_way();
    experiment.host.icrc_check = icrc;
    experiment.host.recovery = "irn";
    experiment.faults = {{.type = FaultType::corruption, .hosts = {"host1"}, .probability = 0.05}};
    CheckedFabric fabric(experiment, one_flow());
    fabric.complete();
    EXPECT_GT(fabric.frames(), 20u);
    uint64_t noticed = fabric.nic_sum(host::NicCounter::malformed_packets) +
                       fabric.nic_sum(host::NicCounter::not_for_us_packets);
    const uint64_t by_nics = noticed;
    for (size_t reason = 0; reason < kDropReasons; ++reason)
      noticed += fabric.dropped(static_cast<DropReason>(reason));
    EXPECT_EQ(noticed, fabric.frames()) << icrc;
    // Behind the IP header only the ICRC tells, and only at the far NIC.
    if (icrc) {
      EXPECT_GT(by_nics, 0u);
    }
    EXPECT_EQ(fabric.lost_on_lines(), 0u);
  }
}

TEST(Faults, LostPausesLetALosslessGroupOverflow) {
  config::Experiment experiment = incast();
  CheckedFabric whole(experiment, incast_flows());
  whole.complete();
  EXPECT_GT(whole.nic_sum(host::NicCounter::rx_pfc_packets), 0u);
  EXPECT_EQ(whole.dropped(DropReason::headroom_full), 0u);

  experiment.faults = {{.type = FaultType::pfc_loss, .hosts = {"host1-3"}, .probability = 1}};
  CheckedFabric deaf(experiment, incast_flows());
  deaf.complete();
  EXPECT_GT(deaf.frames(), 0u);
  EXPECT_EQ(deaf.lost_on_lines(), deaf.frames());
  EXPECT_EQ(deaf.nic_sum(host::NicCounter::rx_pfc_packets), 0u);
  EXPECT_GT(deaf.dropped(DropReason::headroom_full), 0u);
}

TEST(Faults, DoubledPausesArriveTwiceAndHarmNothing) {
  config::Experiment experiment = incast();
  experiment.faults = {{.type = FaultType::pfc_duplicate, .hosts = {"host1-3"}, .probability = 1}};
  CheckedFabric fabric(experiment, incast_flows());
  fabric.complete();
  EXPECT_GT(fabric.frames(), 0u);
  EXPECT_EQ(fabric.nic_sum(host::NicCounter::rx_pfc_packets), 2 * fabric.frames());
  EXPECT_EQ(fabric.dropped(DropReason::headroom_full), 0u);
}

TEST(Faults, LatePausesOverrunTheHeadroom) {
  config::Experiment experiment = incast();
  experiment.faults = {
      {.type = FaultType::pfc_delay, .hosts = {"host1-3"}, .probability = 1, .delay = 200_us}};
  CheckedFabric fabric(experiment, incast_flows());
  fabric.complete();
  EXPECT_GT(fabric.frames(), 0u);
  EXPECT_GT(fabric.nic_sum(host::NicCounter::rx_pfc_packets), 0u);
  EXPECT_GT(fabric.dropped(DropReason::headroom_full), 0u);
}

// Two leaves crowd the spine's way to the third; it warns them.
config::Experiment warned_leaves() {
  config::Experiment experiment = plain_experiment(3, 1, 1);
  experiment.host.window = false;
  experiment.switches.buffer = config::default_switch("").buffer;
  experiment.switches.buffer.profiles["lossless"].xoff = 64_KiB;
  experiment.switches.rlb = config::rlb_preset(config::RlbPreset::standard);
  return experiment;
}
const std::vector<std::string> kWarnedLinks = {"leaf1-spine1", "leaf2-spine1"};

TEST(Faults, LostWarningsAreNotHeardAndHarmNothing) {
  config::Experiment experiment = warned_leaves();
  const std::vector<lab::Flow> flows = {flow_of(0, 2, kMebibyte), flow_of(1, 2, kMebibyte)};
  CheckedFabric whole(experiment, flows);
  whole.complete();
  EXPECT_GT(whole.port_sum(PortCounter::cnm_rx_packets), 0u);

  experiment.faults = {{.type = FaultType::cnm_loss, .links = kWarnedLinks, .probability = 1}};
  CheckedFabric deaf(experiment, flows);
  deaf.complete();
  EXPECT_GT(deaf.frames(), 0u);
  EXPECT_EQ(deaf.lost_on_lines(), deaf.frames());
  EXPECT_EQ(deaf.port_sum(PortCounter::cnm_tx_packets), deaf.frames());
  EXPECT_EQ(deaf.port_sum(PortCounter::cnm_rx_packets), 0u);
  EXPECT_EQ(deaf.dropped(DropReason::headroom_full), 0u);
}

TEST(Faults, DoubledWarningsAreStaleTheSecondTime) {
  config::Experiment experiment = warned_leaves();
  experiment.faults = {{.type = FaultType::cnm_duplicate, .links = kWarnedLinks, .probability = 1}};
  CheckedFabric fabric(experiment, {flow_of(0, 2, kMebibyte), flow_of(1, 2, kMebibyte)});
  fabric.complete();
  EXPECT_GT(fabric.frames(), 0u);
  EXPECT_EQ(fabric.port_sum(PortCounter::cnm_rx_packets), 2 * fabric.frames());
  EXPECT_EQ(fabric.port_sum(PortCounter::cnm_stale_packets), fabric.frames());
  EXPECT_EQ(fabric.dropped(DropReason::headroom_full), 0u);
}

TEST(Faults, TheWatchdogFindsAPauseStormInItsTime) {
  config::Experiment experiment = one_way();
  experiment.switches.watchdog = {
      .detection_time = 2_ms, .restoration_time = 2_ms, .poll_interval = 1_ms};
  CheckedFabric calm(experiment, one_flow());
  calm.complete();
  EXPECT_EQ(calm.pfc_sum(PfcCounter::pfcwd_storms), 0u);

  experiment.faults = {{.type = FaultType::pause_storm,
                        .hosts = {"leaf2.host1"},
                        .start = 20_us,
                        .duration = 8_ms,
                        .period = 100_us}};
  CheckedFabric fabric(experiment, one_flow());
  fabric.world->run_until(Instant() + 10_ms);
  EXPECT_EQ(fabric.frames(), 80u);
  EXPECT_EQ(fabric.pfc_sum(PfcCounter::pfcwd_storms), 1u);
  Event event;
  while (fabric.world->switch_at(1).events(ShardId(0)).pop(event) &&
         event.kind != EventKind::pfcwd_storm) {
  }
  ASSERT_EQ(event.kind, EventKind::pfcwd_storm);
  EXPECT_GE(event.at, Instant() + 2_ms);
  EXPECT_LE(event.at, Instant() + 20_us + 2_ms + 1_ms + 100_us);
  fabric.complete();
  EXPECT_EQ(fabric.pfc_sum(PfcCounter::pfcwd_restored), 1u);
}

TEST(Faults, ASlowReceiverHoldsBackTheSenderAndLosesNothing) {
  config::Experiment experiment = one_way();
  experiment.host.window = false;
  CheckedFabric fast(experiment, one_flow(4_MiB));
  fast.complete();
  EXPECT_EQ(fast.nic_sum(host::NicCounter::rx_pfc_packets), 0u);

  experiment.faults = {
      {.type = FaultType::slow_receiver, .hosts = {"leaf2.host1"}, .rate = 5_Gbps}};
  CheckedFabric slow(experiment, one_flow(4_MiB));
  slow.complete();
  EXPECT_GT(slow.world->nic(0).counter(host::NicCounter::rx_pfc_packets), 0u);
  EXPECT_GT(slow.frames(), 0u);
  EXPECT_EQ(slow.faults->report()[0].lost, 0u);
  EXPECT_EQ(slow.dropped(DropReason::headroom_full), 0u);
  EXPECT_EQ(slow.world->send_outcome(0).retransmitted_packets, 0u);
  EXPECT_GE(slow.fct(0), at_rate(4_MiB, 5_Gbps));
  EXPECT_LE(slow.fct(0), at_rate(4_MiB * 11 / 10, 5_Gbps) + 100_us);
}

TEST(Faults, OfTwoSlowReceiversAtOneHostTheSlowerOneHolds) {
  config::Experiment experiment = one_way();
  experiment.host.window = false;
  experiment.faults = {{.type = FaultType::slow_receiver, .hosts = {"leaf2.host1"}, .rate = 2_Gbps},
                       {.type = FaultType::slow_receiver,
                        .hosts = {"leaf2.host1"},
                        .rate = 5_Gbps,
                        .start = 100_us,
                        .duration = 200_us}};
  CheckedFabric fabric(experiment, one_flow());
  fabric.complete();
  EXPECT_EQ(fabric.faults->report()[0].lost, 0u);
  EXPECT_GE(fabric.fct(0), at_rate(kMebibyte, 2_Gbps));
}

TEST(Faults, ASlowReceiverIsFastAgainWhenTheFaultIsOver) {
  config::Experiment experiment = one_way();
  experiment.host.window = false;
  experiment.faults = {{.type = FaultType::slow_receiver,
                        .hosts = {"leaf2.host1"},
                        .rate = 1_Gbps,
                        .start = 50_us,
                        .duration = 200_us}};
  CheckedFabric fabric(experiment, one_flow());
  fabric.complete();
  EXPECT_GE(fabric.fct(0), 250_us);
  EXPECT_LE(fabric.fct(0), 250_us + at_rate(kMebibyte * 11 / 10, 40_Gbps) + 100_us);
}

// Far from its switch, whose pauses it does not hear in time unless the buffer has room for them.
TEST(Faults, ASlowReceiversBufferHoldsWhatComesAfterThePause) {
  config::Experiment experiment = one_way();
  experiment.host.window = false;
  experiment.topology.host_delay = 50_us;
  experiment.faults = {
      {.type = FaultType::slow_receiver, .hosts = {"leaf2.host1"}, .rate = 1_Gbps}};
  CheckedFabric fabric(experiment, one_flow());
  fabric.complete();
  EXPECT_GT(fabric.frames(), 0u);
  EXPECT_EQ(fabric.faults->report()[0].lost, 0u);
}

TEST(Faults, AStalledSwitchHoldsEverythingUp) {
  config::Experiment experiment = one_way();
  CheckedFabric whole(experiment, one_flow(100_KiB));
  whole.complete();
  experiment.faults = {{.type = FaultType::switch_stall,
                        .switches = {"spine1"},
                        .start = 20_us,
                        .duration = 200_us}};
  CheckedFabric stalled(experiment, one_flow(100_KiB));
  stalled.complete();
  EXPECT_GE(stalled.fct(0), whole.fct(0) + 150_us);
  EXPECT_LE(stalled.fct(0), whole.fct(0) + 250_us);
}

TEST(Faults, AStarvedSwitchCannotPause) {
  config::Experiment experiment = incast();
  experiment.faults = {{.type = FaultType::pool_exhaustion, .switches = {"leaf1"}}};
  CheckedFabric fabric(experiment, incast_flows());
  fabric.complete();
  EXPECT_GT(fabric.port_sum(PortCounter::no_control_buffer), 0u);
  EXPECT_EQ(fabric.nic_sum(host::NicCounter::rx_pfc_packets), 0u);
  EXPECT_GT(fabric.dropped(DropReason::headroom_full), 0u);
}

TEST(Faults, AnExhaustedPoolStopsHostsUntilItIsBack) {
  config::Experiment experiment = one_way();
  CheckedFabric whole(experiment, one_flow(100_KiB));
  whole.complete();
  EXPECT_EQ(whole.world->counts().blank_missing, 0u);
  experiment.faults = {{.type = FaultType::pool_exhaustion, .duration = 300_us}};
  CheckedFabric fabric(experiment, one_flow(100_KiB));
  fabric.complete();
  EXPECT_GT(fabric.world->counts().blank_missing, 0u);
  EXPECT_GE(fabric.fct(0), 300_us);
}

TEST(Faults, AReconfigurationIsInForceForItsDuration) {
  const lab::SetKey set_xoff = [](config::SwitchConfig& config, const std::string& key,
                                  const std::string& value) -> Problems {
    const auto size = parse_bytes(value);
    if (key != "buffer.profiles.lossless.xoff" || !size) return {key + ": not known here"};
    config.buffer.profiles["lossless"].xoff = size.value();
    return {};
  };
  config::Experiment experiment = incast();
  experiment.switches.buffer.profiles["lossless"].xoff = 1_MiB;
  CheckedFabric whole(experiment, incast_flows());
  whole.complete();
  EXPECT_EQ(whole.nic_sum(host::NicCounter::rx_pfc_packets), 0u);

  experiment.faults = {{.type = FaultType::reconfigure,
                        .switches = {"leaf1"},
                        .start = 20_us,
                        .duration = 100_us,
                        .set = {{"buffer.profiles.lossless.xoff", "20KiB"}}}};
  CheckedFabric fabric(experiment, incast_flows(), set_xoff);
  fabric.complete();
  EXPECT_GT(fabric.nic_sum(host::NicCounter::rx_pfc_packets), 0u);
  EXPECT_EQ(fabric.world->switch_at(0).config().buffer.profiles.at("lossless").xoff, 1_MiB);

  experiment.faults[0].set = {{"buffer.profiles.lossless.xon", "20KiB"}};
  const auto refused =
      lab::Faults::install(experiment, fabric.topology, *fabric.world, 1, set_xoff);
  EXPECT_THAT(
      refused.problems(),
      testing::ElementsAre("faults.0.set: leaf1: buffer.profiles.lossless.xon: not known here"));
  EXPECT_THAT(lab::Faults::install(experiment, fabric.topology, *fabric.world, 1).problems(),
              testing::ElementsAre("faults.0.set: this program cannot reconfigure switches"));
}

// A frame that a fault of PFC concerns, and nothing else.
Packet* pause_from(lab::PacketPool& pool) {
  constexpr uint32_t kType = 12;
  Packet* packet = pool.get();
  packet->held_len = 60;
  store_be16(packet->data() + kType, kEtherTypeMacControl);
  return packet;
}

TEST(Faults, WhatALineLosesDoesNotDependOnOtherLines) {
  lab::PacketPool pool(1);
  Packet* pause = pause_from(pool);
  const lab::FaultPlan plan{.config = {.type = FaultType::pfc_loss, .probability = 0.5},
                            .lines = {3, 4}};
  lab::LineFault alone(plan, {}, 1, false);
  lab::LineFault between(plan, {}, 1, false);
  int lost = 0, unlike = 0;
  for (int frame = 0; frame < 64; ++frame) {
    const bool lose = alone.judge(4, *pause).lose;
    const bool other = between.judge(3, *pause).lose;
    EXPECT_EQ(between.judge(4, *pause).lose, lose) << frame;
    lost += lose ? 1 : 0;
    unlike += lose != other ? 1 : 0;
  }
  EXPECT_GT(lost, 16);
  EXPECT_LT(lost, 48);
  EXPECT_GT(unlike, 16);  // lines draw for themselves
}

TEST(Faults, MistakesAreAllReportedByKeyWithWhatIsValid) {
  config::Experiment experiment = plain_experiment(2, 2, 2);
  experiment.faults = {
      {.type = FaultType::link_flap, .links = {"leaf1-spine1", "leaf1-spine9"}},
      {.type = FaultType::random_drop, .switches = {"spine7"}},
      {.type = FaultType::slow_link},
      {.type = FaultType::black_hole, .pairs = {"host1", "host1>host9"}, .probability = 2},
      {.type = FaultType::pause_storm, .links = {"leaf1-spine1"}, .hosts = {"leaf9"}},
      {.type = FaultType::switch_stall, .switches = {"leaf1"}},
      {.type = FaultType::link_flap, .fraction = 0.01, .duration = 2_us, .period = 1_us},
  };
  const auto topology = lab::build_topology(experiment);
  auto world =
      lab::World::create(topology.value(), {}, [](uint32_t, uint32_t) { return 10_us; }, {});
  const auto result = lab::Faults::install(experiment, topology.value(), **world, 1);
  ASSERT_FALSE(result.ok());
  const std::string hosts =
      ", valid are all, host1 to host4, leaf1 and other switches with hosts, leaf1.host1 to "
      "leaf1.host2, ranges such as host1-2";
  EXPECT_THAT(result.problems(),
              testing::ElementsAre(
                  "faults.0.links.1: no link 'leaf1-spine9'; there are 4 from leaf1-spine1 to "
                  "leaf2-spine2",
                  "faults.1.probability: must be above 0 and at most 1",
                  "faults.1.switches.0: no switch 'spine7'; there are 4 from leaf1 to spine2",
                  "faults.2: no rate, give the key 'rate', such as 1Gbps",
                  "faults.2: aimed at nothing, give links, hosts or a fraction",
                  "faults.3.probability: must be above 0 and at most 1",
                  "faults.3.pairs.0: 'host1' is no pair, write source>destination",
                  "faults.3.pairs.1: unknown host 'host9'" + hosts,
                  "faults.4.links: such a fault has none, hosts or a fraction are valid",
                  "faults.4: no period, give the key 'period', the time between pause frames",
                  "faults.4.hosts.0: unknown host 'leaf9'" + hosts,
                  "faults.5: no duration, give the key 'duration', such as 100us",
                  "faults.6.period: not longer than duration, it would never end",
                  "faults.6.fraction: means 0 of 4"));
}

}  // namespace
}  // namespace eddy::test
