// The PFC watchdog in the switch: it fires between detection and detection + one poll, does what it
// was told, counts every packet, and lets go.
#include <gtest/gtest.h>

#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr Duration kDetection = 1_ms;
constexpr Duration kPoll = 300_us;
constexpr Duration kRestoration = 2_ms;

config::SwitchConfig watched(config::WatchdogAction action,
                             config::WatchdogDetect detect = config::WatchdogDetect::stalled) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[1].watchdog = {true, kDetection, kRestoration, kPoll, detect, action};
  return config;
}

// The peer of port 1 pauses the priority again and again, every 200 us from now to `end`.
void storm_until(OneSwitch& rig, Instant end, Priority priority = kLossless) {
  while (rig.fabric.now() < end) {
    rig.inject(1, pause_frame(bit(priority), kLongestPause));
    rig.fabric.run_until(std::min(end, rig.fabric.now() + 200_us));
  }
}

uint64_t pfc(OneSwitch& rig, PfcCounter which) {
  return count(rig.object(), 1, kLossless, which);
}

class Detection : public testing::TestWithParam<config::WatchdogDetect> {};

TEST_P(Detection, FallsBetweenDetectionTimeAndOnePollMore) {
  for (const Duration start : {0_us, 130_us, 299_us, 777_us}) {
    OneSwitch rig(watched(config::WatchdogAction::alert, GetParam()));
    rig.fabric.run_until(Instant::at(start));
    rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
    rig.send(0, 1, kLosslessDscp);
    storm_until(rig, Instant::at(start + 4_ms));
    const auto storms = only(take_events(rig.object()), EventKind::pfcwd_storm);
    ASSERT_EQ(storms.size(), 1u);
    EXPECT_EQ(storms[0].port, PortId(1));
    EXPECT_EQ(storms[0].priority, kLossless);
    EXPECT_GE(storms[0].at, Instant::at(start + kDetection));
    EXPECT_LE(storms[0].at, Instant::at(start + kDetection + kPoll));
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, Detection,
                         testing::Values(config::WatchdogDetect::stalled,
                                         config::WatchdogDetect::paused));

TEST(Watchdog, DropDiscardsTheQueueAndWhatComesAndCountsEach) {
  OneSwitch rig(watched(config::WatchdogAction::drop));
  rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
  for (int i = 0; i < 7; ++i) rig.send(0, 1, kLosslessDscp);
  storm_until(rig, Instant::at(2_ms));
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_storms), 1u);
  EXPECT_TRUE(rig.object().queue_status(PortId(1), QueueId(3)).storm);
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_dropped_packets), 7u);
  for (int i = 0; i < 5; ++i) rig.send(0, 1, kLosslessDscp);       // to the stormy queue
  for (int i = 0; i < 3; ++i) rig.send(1, 0, kLosslessDscp);       // from the stormy port
  for (int i = 0; i < 2; ++i) rig.send(0, 1, kOtherLosslessDscp);  // another priority
  storm_until(rig, Instant::at(3_ms));
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_dropped_packets), 15u);
  EXPECT_EQ(drops(rig.object(), DropReason::watchdog), 15u);
  EXPECT_EQ(rig.seen(1).size(), 2u);
  EXPECT_EQ(rig.seen(0).size(), 0u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(Watchdog, ForwardSendsAgainstThePause) {
  OneSwitch rig(watched(config::WatchdogAction::forward));
  rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
  for (int i = 0; i < 4; ++i) rig.send(0, 1, kLosslessDscp);
  storm_until(rig, Instant::at(2_ms));
  EXPECT_EQ(rig.seen(1).size(), 4u);
  rig.send(0, 1, kLosslessDscp);
  storm_until(rig, Instant::at(3_ms));
  EXPECT_EQ(rig.seen(1).size(), 5u);
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_forwarded_packets), 5u);
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_dropped_packets), 0u);
}

// SONiC's `show pfcwd stats`: what one storm and another did to packets of the queue, and to those
// of its priority group on the same port.
StormPackets stormed(OneSwitch& rig) {
  const auto of = [&](QueueCounter which) { return count(rig.object(), 1, QueueId(3), which); };
  return {of(QueueCounter::pfcwd_tx_packets), of(QueueCounter::pfcwd_tx_dropped_packets),
          of(QueueCounter::pfcwd_rx_packets), of(QueueCounter::pfcwd_rx_dropped_packets)};
}
std::array<uint64_t, 4> as_list(const StormPackets& packets) {
  return {packets.tx, packets.tx_dropped, packets.rx, packets.rx_dropped};
}
using FourCounts = std::array<uint64_t, 4>;

TEST(Watchdog, StormsAreCountedByQueueAsSonicDoes) {
  OneSwitch rig(watched(config::WatchdogAction::drop));
  const auto of_queue = [&](QueueCounter which) {
    return count(rig.object(), 1, QueueId(3), which);
  };
  rig.send(0, 1, kLosslessDscp);  // before any storm
  rig.send(1, 0, kLosslessDscp);
  rig.run_for(100_us);
  rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
  for (int i = 0; i < 7; ++i) rig.send(0, 1, kLosslessDscp);
  storm_until(rig, Instant::at(2_ms));
  for (int i = 0; i < 3; ++i) rig.send(1, 0, kLosslessDscp);
  EXPECT_EQ(as_list(stormed(rig)), (FourCounts{0, 7, 0, 3}));
  rig.inject(1, pause_frame(bit(kLossless), 0));
  rig.fabric.run_until(Instant::at(6_ms));
  EXPECT_EQ(of_queue(QueueCounter::pfcwd_deadlock_restored), 1u);
  rig.send(0, 1, kLosslessDscp);  // between the storms
  rig.run_for(1_ms);
  rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
  for (int i = 0; i < 2; ++i) rig.send(0, 1, kLosslessDscp);
  storm_until(rig, Instant::at(10_ms));
  EXPECT_EQ(of_queue(QueueCounter::pfcwd_deadlock_detected), 2u);
  EXPECT_EQ(as_list(stormed(rig)), (FourCounts{0, 9, 0, 3}));
  EXPECT_EQ(as_list(rig.object().queue_status(PortId(1), QueueId(3)).last_storm),
            (FourCounts{0, 7, 0, 3}))
      << "when the second began";
}

TEST(Watchdog, WhatPassesInAStormIsCountedOnceItIsLookedAt) {
  OneSwitch rig(watched(config::WatchdogAction::forward));
  rig.send(1, 0, kLosslessDscp);
  rig.run_for(100_us);
  rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
  for (int i = 0; i < 4; ++i) rig.send(0, 1, kLosslessDscp);
  storm_until(rig, Instant::at(2_ms));
  for (int i = 0; i < 5; ++i) rig.send(1, 0, kLosslessDscp);
  for (int i = 0; i < 2; ++i) rig.send(1, 0, kOtherLosslessDscp);  // of another group
  storm_until(rig, Instant::at(2_ms + kPoll + kPoll));
  EXPECT_EQ(as_list(stormed(rig)), (FourCounts{4, 0, 5, 0}));
  rig.send(0, 1, kLosslessDscp);  // after the last look of this storm
  rig.inject(1, pause_frame(bit(kLossless), 0));
  rig.fabric.run_until(Instant::at(6_ms));
  EXPECT_EQ(as_list(stormed(rig)), (FourCounts{5, 0, 5, 0}));
  rig.send(0, 1, kLosslessDscp);
  rig.send(1, 0, kLosslessDscp);
  rig.run_for(1_ms);
  EXPECT_EQ(as_list(stormed(rig)), (FourCounts{5, 0, 5, 0})) << "the storm is over";
}

TEST(Watchdog, AlertOnlyTells) {
  OneSwitch rig(watched(config::WatchdogAction::alert));
  rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
  rig.send(0, 1, kLosslessDscp);
  storm_until(rig, Instant::at(3_ms));
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_storms), 1u);
  EXPECT_TRUE(rig.seen(1).empty());
  EXPECT_EQ(rig.object().balance().dropped, 0u);
}

TEST(Watchdog, RestoresWhenNoPauseCameForTheRestorationTime) {
  OneSwitch rig(watched(config::WatchdogAction::drop));
  rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
  rig.send(0, 1, kLosslessDscp);
  storm_until(rig, Instant::at(2_ms));
  rig.inject(1, pause_frame(bit(kLossless), 1));  // the last of them, at 2 ms
  rig.fabric.run_until(Instant::at(6_ms));
  const auto ends = only(take_events(rig.object()), EventKind::pfcwd_restored);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_GE(ends[0].at, Instant::at(2_ms + kRestoration));
  EXPECT_LE(ends[0].at, Instant::at(2_ms + kRestoration + kPoll));
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_restored), 1u);
  EXPECT_FALSE(rig.object().queue_status(PortId(1), QueueId(3)).storm);
  rig.send(0, 1, kLosslessDscp);
  rig.send(1, 0, kLosslessDscp);
  rig.run_for(10_us);
  EXPECT_EQ(rig.seen(1).size(), 1u);
  EXPECT_EQ(rig.seen(0).size(), 1u);
}

TEST(Watchdog, IsQuietWhileTheQueueMovesOrIsEmpty) {
  OneSwitch rig(watched(config::WatchdogAction::drop));
  storm_until(rig, Instant::at(3_ms));  // paused, but there is nothing to send
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_storms), 0u);
  for (int i = 0; i < 20; ++i) rig.send(0, 1, kLosslessDscp);
  for (int i = 0; i < 10; ++i) {  // paused for most of the time, but a packet leaves now and then
    rig.inject(1, pause_frame(bit(kLossless), 0));
    rig.run_for(1_us);
    rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
    rig.run_for(500_us);
  }
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_storms), 0u);
  EXPECT_EQ(rig.object().balance().dropped, 0u);
}

// The pause lets go for a moment now and then, but the device refuses what is tried then.
TEST(Watchdog, ARefusedTryIsNoProgress) {
  for (const bool refuses : {false, true}) {
    const config::SwitchConfig config = watched(config::WatchdogAction::alert);
    auto made = Switch::create(config, {.shards = 1});
    ASSERT_TRUE(made.ok());
    Switch& object = **made;
    PacketPool pool(256, 256);
    ManualIo io(pool);
    io.links = {{PortId(0), true}, {PortId(1), true}};
    for (int i = 0; i < 20; ++i)
      io.arrive(PortId(0), udp_frame(between(config, 0, 1, kLosslessDscp)));
    Instant now;
    const auto pause_for = [&](uint16_t quanta, Duration time) {
      io.transmit_limit = refuses ? 0 : 1;
      io.arrive(PortId(1), pause_frame(bit(kLossless), quanta));
      object.shard(ShardId(0)).poll(io, now);
      now = now + time;
      io.complete(now);
    };
    for (int i = 0; i < 10; ++i) {
      pause_for(kLongestPause, 400_us);
      pause_for(0, 1_us);
    }
    EXPECT_EQ(count(object, 1, kLossless, PfcCounter::pfcwd_storms), refuses ? 1u : 0u);
    EXPECT_TRUE(object.balance().holds());
  }
}

// 65,535 quanta last 336 ms at 100 Mb/s: longer than a detection time.
TEST(Watchdog, OneLongPauseIsNoStorm) {
  for (const config::WatchdogDetect detect :
       {config::WatchdogDetect::stalled, config::WatchdogDetect::paused}) {
    config::SwitchConfig config = hosts_switch(2, 100_Mbps);
    config.ports[1].watchdog.detect = detect;
    OneSwitch rig(config);
    rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
    for (int i = 0; i < 3; ++i) rig.send(0, 1, kLosslessDscp);
    rig.run_for(1_s);
    EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_storms), 0u);
    EXPECT_EQ(rig.seen(1).size(), 3u);
  }
}

// Under asymmetric PFC a peer can stop lossy queues, too, and would for ever.
TEST(Watchdog, WatchesLossyQueuesThatAsymmetricPfcStops) {
  config::SwitchConfig config = watched(config::WatchdogAction::drop);
  config.ports[1].pfc.asymmetric = true;
  OneSwitch rig(config);
  rig.inject(1, pause_frame(bit(Priority(0)), kLongestPause));
  rig.send(0, 1, kLossyDscp);
  storm_until(rig, Instant::at(3_ms), Priority(0));
  EXPECT_EQ(count(rig.object(), 1, Priority(0), PfcCounter::pfcwd_storms), 1u);
  EXPECT_EQ(count(rig.object(), 1, Priority(0), PfcCounter::pfcwd_dropped_packets), 1u);
}

// Priority 3 stops queue 4 and the other way round: what happens to a queue is told under the
// priority that stops it, in one row.
TEST(Watchdog, AStormIsOneRowUnderItsPriorityWhateverTheMap) {
  config::SwitchConfig config = watched(config::WatchdogAction::drop);
  for (config::PortConfig& port : config.ports) {
    port.maps.pfc_to_queue[3] = QueueId(4);
    port.maps.pfc_to_queue[4] = QueueId(3);
    port.maps.tc_to_queue[3] = QueueId(4);
    port.maps.tc_to_queue[4] = QueueId(3);
  }
  OneSwitch rig(config);
  rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
  rig.send(0, 1, kLosslessDscp);
  storm_until(rig, Instant::at(3_ms));
  rig.send(0, 1, kLosslessDscp);  // to the queue in the storm
  rig.send(1, 0, kLosslessDscp);  // from the port in the storm
  rig.run_for(10_us);
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_storms), 1u);
  EXPECT_EQ(pfc(rig, PfcCounter::pfcwd_dropped_packets), 3u);
  for (const EventKind kind : {EventKind::pfc_received, EventKind::pfcwd_storm})
    for (const Event& event : only(take_events(rig.object()), kind))
      EXPECT_EQ(event.priority, kLossless);
  for (const PfcCounter which : {PfcCounter::pfcwd_storms, PfcCounter::pfcwd_dropped_packets})
    EXPECT_EQ(count(rig.object(), 1, Priority(4), which), 0u);
}

TEST(Watchdog, TurnedOffInAStormLetsGoAtOnceWhicheverThePriority) {
  for (const Priority priority : {kLossless, Priority(7)}) {
    config::SwitchConfig config = watched(config::WatchdogAction::drop);
    for (config::PortConfig& port : config.ports) {
      port.pg_profiles[7] = "lossless";
      port.maps.dscp_to_tc[7] = TrafficClass(7);
    }
    OneSwitch rig(config);
    const auto dscp = static_cast<uint8_t>(priority.index());
    rig.inject(1, pause_frame(bit(priority), kLongestPause));
    rig.send(0, 1, dscp);
    storm_until(rig, Instant::at(2_ms), priority);
    ASSERT_EQ(count(rig.object(), 1, priority, PfcCounter::pfcwd_storms), 1u);
    config.ports[1].watchdog.enabled = false;
    ASSERT_TRUE(rig.object().reconfigure(config).ok());
    rig.fabric.poll(rig.node);
    EXPECT_EQ(count(rig.object(), 1, priority, PfcCounter::pfcwd_restored), 1u);
    EXPECT_FALSE(rig.object().queue_status(PortId(1), QueueId(priority.index())).storm);
    rig.send(1, 0, dscp);
    rig.run_for(10_us);
    EXPECT_EQ(rig.seen(0).size(), 1u);
  }
}

}  // namespace
}  // namespace eddy::test
