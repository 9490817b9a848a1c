// PFC is predicted, told upstream, heard, and passed on to the switches that can choose.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "switch/dataplane/paths/path_warnings.h"
#include "tests/support/manual_io.h"
#include "tests/unit/dataplane/warnings.h"

namespace eddy::test {
namespace {

TEST(PathWarnings, ASpinePassesAWarningOnToThoseThatFedThePort) {
  OneSwitch rig(spine());
  cross(rig, 0, 1);
  cross(rig, 2, 0);
  rig.run_for(10_us);
  rig.inject(1, frame_of(warning(1)));
  rig.run_for(10_us);
  const auto relayed = cnms(rig, 0);
  ASSERT_EQ(relayed.size(), 1u);
  EXPECT_EQ(relayed[0].header.destination, *rig.config.ports[0].peer_mac);
  EXPECT_EQ(relayed[0].header.tag_count, 1);
  EXPECT_EQ(relayed[0].header.tags[0].pcp, 7);
  Cnm expected = warning(1);
  expected.warning.hops_left = 0;
  expected.warning.flags = kCnmRelayed;
  EXPECT_EQ(relayed[0].message, expected);
  EXPECT_TRUE(cnms(rig, 1).empty()) << "where it came from";
  EXPECT_TRUE(cnms(rig, 2).empty()) << "it sent nothing there";
  EXPECT_EQ(count(rig.object(), 0, PortCounter::cnm_relayed_packets), 1u);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_rx_packets), 1u);
  EXPECT_TRUE(rig.object().balance().holds());
}

// In one poll: the second burst finds the queue's row open.
TEST(PathWarnings, AllThatFedAPortByBurstsAreTold) {
  const config::SwitchConfig config = spine(4);
  auto object = Switch::create(config, {.shards = 1});
  ASSERT_TRUE(object.ok());
  PacketPool pool(256, 512);
  ManualIo io(pool);
  for (size_t port = 0; port < 4; ++port) io.links.push_back({PortId(port), true});
  Instant now = Instant::at(1_ms);
  const auto poll = [&] {
    now = now + 10_us;
    io.complete(now);
    (*object)->shard(ShardId(0)).poll(io, now);
  };
  poll();
  constexpr std::pair<size_t, size_t> kRuns[] = {{3, 0}, {0, 1}, {2, 1}};
  for (const auto& [from, to] : kRuns)
    for (int i = 0; i < 6; ++i) io.arrive(PortId(from), crossing(config, from, to), 1000);
  poll();
  io.sent.clear();
  io.arrive(PortId(1), frame_of(warning(1)));
  poll();
  std::vector<size_t> told;
  for (const Sent& sent : io.sent)
    if (load_be16(sent.frame.data() + 2 * sizeof(MacAddress) + kVlanTag) == kEtherTypeCnm)
      told.push_back(sent.port.index());
  EXPECT_EQ(told, (std::vector<size_t>{0, 2}));
}

TEST(PathWarnings, EachMessageIsPassedOnOnceAndOldFeedsAreForgotten) {
  OneSwitch rig(spine());
  cross(rig, 0, 1);
  rig.run_for(10_us);
  for (const uint32_t sequence : {5u, 5u, 4u, 6u}) {
    rig.inject(1, frame_of(warning(sequence)));
    rig.run_for(3_us);
  }
  EXPECT_EQ(cnms(rig, 0).size(), 2u);
  rig.run_for(100_us);
  rig.inject(1, frame_of(warning(7)));
  rig.run_for(10_us);
  EXPECT_EQ(cnms(rig, 0).size(), 2u);
}

// A leaf that heeds a warning sends nothing more to the port. It hears all the same that the danger
// lasts, and that it is over; the next danger is not its concern.
TEST(PathWarnings, WhoWasToldIsToldUntilItIsCleared) {
  for (const bool until_cleared : {true, false}) {
    config::SwitchConfig config = spine();
    config.rlb.warning.until_cleared = until_cleared;
    OneSwitch rig(config);
    cross(rig, 0, 1);
    rig.run_for(5_us);
    uint32_t sequence = 0;
    const auto tell = [&](uint8_t severity) {
      rig.inject(1, frame_of(warning(++sequence, severity)));
      rig.run_for(8_us);
    };
    for (int i = 0; i < 20; ++i) tell(20);
    EXPECT_EQ(cnms(rig, 0).size(), until_cleared ? 20u : 8u) << "it fed the port for 64 us";
    tell(kCnmClear);
    tell(kCnmClear);
    const auto relayed = cnms(rig, 0);
    const auto clears = std::ranges::count_if(
        relayed, [](const SeenCnm& seen) { return seen.message.feedback == kCnmClear; });
    EXPECT_EQ(clears, until_cleared ? 2 : 0);
    tell(20);
    EXPECT_EQ(cnms(rig, 0).size(), relayed.size()) << "it has not fed the port since";
    EXPECT_TRUE(cnms(rig, 2).empty()) << "it never did";
    EXPECT_TRUE(rig.object().balance().holds());
  }
}

// Sequence numbers go on after 2^32 - 1: what comes behind the wrap is newer, what came before is
// not.
TEST(PathWarnings, TheSequencesOfASourceMayWrap) {
  OneSwitch rig(spine());
  cross(rig, 0, 1);
  rig.run_for(10_us);
  for (const uint32_t sequence : {0xffff'fffeu, 0xffff'ffffu, 0u, 0xffff'ffffu, 2u, 1u}) {
    rig.inject(1, frame_of(warning(sequence)));
    rig.run_for(3_us);
  }
  std::vector<uint32_t> relayed;
  for (const SeenCnm& seen : cnms(rig, 0)) relayed.push_back(seen.message.warning.sequence);
  EXPECT_EQ(relayed, (std::vector<uint32_t>{0xffff'fffe, 0xffff'ffff, 0, 2}));
}

TEST(PathWarnings, WithoutHopsLeftOrOfThisSwitchItStaysHere) {
  OneSwitch rig(spine());
  cross(rig, 0, 1);
  Cnm spent = warning(1);
  spent.warning.hops_left = 0;
  rig.inject(1, frame_of(spent));
  Cnm own = warning(1);
  own.congestion_point = {rig.config.mac, 0};
  rig.inject(1, frame_of(own));
  rig.run_for(1_us);
  Cnm foreign = warning(1);
  foreign.congestion_point.port = 8;
  Frame frame = frame_of(foreign);
  frame.back() = 1;  // of an encapsulated frame, not of our warning
  rig.inject(1, frame);
  rig.run_for(10_us);
  EXPECT_TRUE(cnms(rig, 0).empty());
  EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_forged_packets), 1u);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_foreign_packets), 1u);
}

TEST(PathWarnings, WhatIsNoNewerIsStaleAndIsNotPassedOn) {
  OneSwitch rig(spine());
  cross(rig, 0, 1);
  rig.run_for(10_us);
  for (const uint32_t sequence : {9u, 9u, 8u, 0x80000010u, 10u}) {
    rig.inject(1, frame_of(warning(sequence)));
    rig.run_for(3_us);
  }
  EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_stale_packets), 3u);
  EXPECT_EQ(cnms(rig, 0).size(), 2u);
  Cnm other = warning(1, 5);  // less severe
  other.congestion_point.port = 9;
  rig.inject(1, frame_of(other));
  rig.run_for(3_us);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_ignored_packets), 1u);
}

TEST(PathWarnings, WhatIsTooLongIsMalformed) {
  OneSwitch rig(spine());
  cross(rig, 0, 1);
  Frame frame = frame_of(warning(1));
  constexpr size_t kEncapsulatedLength = 18 + 22;  // behind a tagged header
  for (const uint8_t length : {65, 255}) {
    frame[kEncapsulatedLength + 1] = length;
    rig.inject(1, frame);
    rig.run_for(1_us);
  }
  EXPECT_EQ(drops(rig.object(), DropReason::control_malformed), 2u);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_rx_packets), 0u);
  EXPECT_TRUE(rig.object().balance().holds());
}

TEST(PathWarnings, AHostMayNotWarn) {
  OneSwitch rig(leaf());
  rig.inject(0, frame_of(warning(1)));
  rig.run_for(1_us);
  EXPECT_EQ(drops(rig.object(), DropReason::control_on_host_port), 1u);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::path_warnings_begun), 0u);
}

// A port that brings a burst of them gets few read; those of another port are heard all the same.
TEST(PathWarnings, OfAStormAPollReadsLittleAndNotAtOthersCost) {
  OneSwitch rig(spine());
  cross(rig, 0, 1);
  rig.run_for(30_us);
  for (uint32_t i = 1; i <= 20; ++i) rig.inject(1, frame_of(warning(i)));
  Cnm other = warning(1);
  other.congestion_point = {{{0x02, 0xed, 0, 3, 0, 0}}, 2};
  rig.inject(2, frame_of(other));
  rig.run_for(1_us);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_rx_packets), PathWarnings::kMostHeard);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_storm_packets), 20 - PathWarnings::kMostHeard);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_begun), 1u);
  EXPECT_TRUE(rig.object().balance().holds());
  rig.inject(1, frame_of(warning(50)));
  rig.run_for(1_us);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_rx_packets), PathWarnings::kMostHeard + 1);
}

TEST(PathWarnings, AStormIsPassedOnWithinTheBudgetOfThePort) {
  OneSwitch rig(spine());
  cross(rig, 0, 1);
  rig.run_for(30_us);  // the bucket is full
  for (uint32_t i = 1; i <= 100; ++i) {
    Cnm message = warning(i);
    message.congestion_point.port = static_cast<uint16_t>(i);
    rig.inject(1, frame_of(message));
    rig.run_for(10_ns);
  }
  const auto burst = static_cast<size_t>(PathWarnings::kRelayBurst);
  EXPECT_LE(cnms(rig, 0).size(), burst + 1);
  EXPECT_GE(cnms(rig, 0).size(), burst);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::cnm_over_budget) + cnms(rig, 0).size(), 100u);
}

TEST(PathWarnings, ALeafMarksThePathAndForgetsItInTime) {
  for (const bool clears : {false, true}) {
    OneSwitch rig(leaf());
    Cnm relayed = warning(1);
    relayed.warning.hops_left = 0;
    relayed.warning.flags = kCnmRelayed;
    rig.inject(2, frame_of(relayed));
    rig.run_for(1_us);
    EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_begun), 1u);
    if (clears) {
      relayed.feedback = kCnmClear;
      relayed.warning.sequence = 2;
      rig.inject(2, frame_of(relayed));
    }
    rig.run_for(30_us);
    EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_cleared), clears ? 1u : 0u);
    EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_expired), clears ? 0u : 1u);
    EXPECT_TRUE(cnms(rig, 0).empty()) << "nothing goes to hosts";
  }
}

TEST(PathWarnings, NoMessageLastsLongerThanTheLongestLife) {
  OneSwitch rig(leaf());
  Cnm forged = warning(1);
  forged.warning.expiry_ns = UINT32_MAX;
  rig.inject(2, frame_of(forged));
  rig.run_for(PathWarnings::kLongestLife + 1_us);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_expired), 1u);
}

// Where warnings live long by configuration, as on slow ports, peers are trusted as much longer.
TEST(PathWarnings, ALongOwnLifeLengthensWhatIsBelieved) {
  config::SwitchConfig slow = leaf();
  slow.rlb.warning.life = 10_ms;
  OneSwitch rig(slow);
  Cnm forged = warning(1);
  forged.warning.expiry_ns = UINT32_MAX;
  rig.inject(2, frame_of(forged));
  rig.run_for(slow.rlb.warning.life * PathWarnings::kTrust - 1_us);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_expired), 0u);
  rig.run_for(2_us);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_expired), 1u);
}

// A host pauses, so what came for it by the uplink stays and nears XOFF.
TEST(PathWarnings, ALeafWarnsBeforeItSendsPfc) {
  OneSwitch rig(leaf());
  rig.inject(0, pause_frame(bit(kLossless), 0xffff));
  rig.run_for(1_us);
  UdpSpec spec{.destination_mac = port_mac(rig.config, 2),
               .source_mac = host_mac(9, 9),
               .source = host_ip(2, 1),
               .destination = host_ip(1, 1),
               .dscp = kLosslessDscp};
  spec.frame_len = 1000;
  spec.readable_len = 128;
  for (int i = 0; i < 300; ++i) {
    rig.inject(2, udp_frame(spec), 1000);
    rig.run_for(820_ns);
  }
  const auto told = cnms(rig, 2);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0].message.congestion_point, (CongestionPointId{rig.config.mac, 2}));
  EXPECT_EQ(told[0].message.warning.destination_leaf, LeafId(1));
  EXPECT_EQ(told[0].message.warning.hops_left, 1);
  EXPECT_EQ(told[0].message.priority, kLossless);
  EXPECT_EQ(told[0].message.warning.sequence, 1u);
  EXPECT_GT(told[0].message.warning.time_to_pfc_ns, 0u);
  ASSERT_GT(count(rig.object(), 2, kLossless, PfcCounter::pfc_tx_xoff), 0u) << "it did come";
  Instant first_pfc = Instant::never();
  for (const Event& event : only(take_events(rig.object()), EventKind::pfc_sent))
    first_pfc = std::min(first_pfc, event.at);
  EXPECT_GT(first_pfc - told[0].at, 2_us);
  EXPECT_EQ(told.back().message.feedback, kCnmPfcSent);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::cnm_tx_packets), told.size());
  EXPECT_EQ(count(rig.object(), 2, PortCounter::pfc_predicted), 1u);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::pfc_predictions_right), 1u);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::pfc_predictions_wrong), 0u);
  EXPECT_GT(count(rig.object(), 2, PortCounter::pfc_foreseen), 0u);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::pfc_unforeseen), 0u);
  const auto lead = count(rig.object(), 2, PortCounter::pfc_prediction_lead_ps);
  EXPECT_GT(lead, static_cast<uint64_t>((first_pfc - told[0].at).ps()));
}

// The receiver goes on before the group is full: nothing is paused.
TEST(PathWarnings, APredictionWithoutPfcIsCountedAsWrong) {
  OneSwitch rig(leaf());
  rig.inject(0, pause_frame(bit(kLossless), 0xffff));
  rig.run_for(1_us);
  UdpSpec spec{.destination_mac = port_mac(rig.config, 2),
               .source_mac = host_mac(9, 9),
               .source = host_ip(2, 1),
               .destination = host_ip(1, 1),
               .dscp = kLosslessDscp};
  spec.frame_len = 1000;
  spec.readable_len = 128;
  while (count(rig.object(), 2, PortCounter::pfc_predicted) == 0) {
    rig.inject(2, udp_frame(spec), 1000);
    rig.run_for(820_ns);
  }
  rig.inject(0, pause_frame(bit(kLossless), 0));
  rig.run_for(1_ms);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::pfc_predictions_wrong), 1u);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::pfc_predictions_right), 0u);
  EXPECT_EQ(count(rig.object(), 2, kLossless, PfcCounter::pfc_tx_xoff), 0u);
}

// Where warnings are not taken back they just expire; but they are told all the same.
TEST(PathWarnings, TheEndOfAWarningIsToldOnlyWhereThatIsWanted) {
  for (const bool clear : {true, false}) {
    config::SwitchConfig config = leaf();
    config.rlb.warning.clear = clear;
    OneSwitch rig(config);
    rig.inject(0, pause_frame(bit(kLossless), 0xffff));
    rig.run_for(1_us);
    UdpSpec spec{.destination_mac = port_mac(config, 2),
                 .source_mac = host_mac(9, 9),
                 .source = host_ip(2, 1),
                 .destination = host_ip(1, 1),
                 .dscp = kLosslessDscp};
    spec.frame_len = 1000;
    spec.readable_len = 128;
    while (count(rig.object(), 2, PortCounter::pfc_predicted) == 0) {
      rig.inject(2, udp_frame(spec), 1000);
      rig.run_for(820_ns);
    }
    rig.inject(0, pause_frame(bit(kLossless), 0));
    rig.run_for(1_ms);
    const auto told = cnms(rig, 2);
    const auto clears = static_cast<size_t>(std::ranges::count_if(
        told, [](const SeenCnm& seen) { return seen.message.feedback == kCnmClear; }));
    EXPECT_GT(told.size(), clears);
    EXPECT_EQ(clears, clear ? 2u : 0u) << "twice, in case that one is lost";
    EXPECT_EQ(count(rig.object(), 2, PortCounter::cnm_tx_packets), told.size());
    EXPECT_EQ(count(rig.object(), 2, PortCounter::pfc_predictions_wrong), 1u);
  }
}

TEST(PathWarnings, ThePauseItselfWarnsOfThePortAndOutlastsItByTwoCableDelays) {
  OneSwitch rig(leaf());
  rig.inject(2, pause_frame(bit(kLossless), 0xffff));
  rig.run_for(1_us);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_begun), 1u);
  rig.run_for(100_us);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_cleared), 0u);
  rig.inject(2, pause_frame(bit(kLossless), 0));
  rig.run_for(3_us);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_cleared), 0u);
  rig.run_for(2_us);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_cleared), 1u);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_expired), 0u);
}

constexpr Priority kOther(4);

// A pause and a worse warning of one priority leave the warning of the other where it is.
TEST(PathWarnings, PrioritiesDoNotHideEachOther) {
  OneSwitch rig(leaf());
  uint32_t sequence = 0;
  const auto warn = [&](Priority priority, uint8_t severity, uint16_t port) {
    Cnm message = warning(++sequence, severity);
    message.priority = priority;
    message.congestion_point.port = port;
    rig.inject(2, frame_of(message));
    rig.run_for(1_us);
  };
  warn(kLossless, 5, 7);
  warn(kOther, 50, 8);
  EXPECT_EQ(warned_queues(rig, 2), bit(kLossless) | bit(kOther));
  rig.inject(2, pause_frame(bit(kOther), 0xffff));
  rig.run_for(1_us);
  warn(kLossless, 5, 7);
  EXPECT_EQ(warned_queues(rig, 2), bit(kLossless) | bit(kOther));
  EXPECT_EQ(warned_queues(rig, 3), 0);
  rig.inject(2, pause_frame(bit(kOther), 0));
  rig.run_for(22_us);
  EXPECT_EQ(warned_queues(rig, 2), bit(kLossless)) << "the other's was not refreshed";
  EXPECT_EQ(count(rig.object(), 2, PortCounter::cnm_ignored_packets), 0u);
}

TEST(PathWarnings, AResumedPriorityIsFreeAlthoughAnotherIsPaused) {
  OneSwitch rig(leaf());
  rig.inject(2, pause_frame(bit(kLossless) | bit(kOther), 0xffff));
  rig.run_for(1_us);
  EXPECT_EQ(warned_queues(rig, 2), bit(kLossless) | bit(kOther));
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_begun), 2u);
  rig.inject(2, pause_frame(bit(kLossless), 0));
  rig.run_for(3_us);
  EXPECT_EQ(warned_queues(rig, 2), bit(kLossless) | bit(kOther)) << "two cable delays";
  rig.run_for(2_us);
  EXPECT_EQ(warned_queues(rig, 2), bit(kOther));
  EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_cleared), 1u);
}

TEST(PathWarnings, APauseInForceIsKnownToATableThatIsNew) {
  OneSwitch rig(leaf());
  rig.inject(2, pause_frame(bit(kLossless), 0xffff));
  rig.run_for(1_us);
  rig.config.rlb.warning.beside_pause = false;
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  rig.run_for(1_us);
  EXPECT_EQ(warned_queues(rig, 2), bit(kLossless));
  EXPECT_EQ(warned_queues(rig, 3), 0);
  rig.inject(2, pause_frame(bit(kLossless), 0));
  rig.run_for(5_us);
  EXPECT_EQ(warned_queues(rig, 2), 0);
}

// While the port is paused its peer goes on to warn of it; that is still known after XON.
TEST(PathWarnings, AWarningOutlastsThePauseOfItsPort) {
  for (const bool beside_pause : {true, false}) {
    config::SwitchConfig config = leaf();
    config.rlb.warning.beside_pause = beside_pause;
    OneSwitch rig(config);
    rig.inject(2, frame_of(warning(1)));
    rig.inject(2, pause_frame(bit(kLossless), 0xffff));
    rig.run_for(10_us);
    rig.inject(2, frame_of(warning(2)));
    rig.run_for(1_us);
    rig.inject(2, pause_frame(bit(kLossless), 0));
    rig.run_for(6_us);
    EXPECT_EQ(warned_queues(rig, 2), beside_pause ? bit(kLossless) : 0);
    rig.run_for(20_us);
    EXPECT_EQ(warned_queues(rig, 2), 0);
  }
}

TEST(PathWarnings, OfAQueueThatCarriesNothingLosslessAreNotHeard) {
  OneSwitch rig(leaf());
  Cnm lossy = warning(1);
  lossy.priority = Priority(1);
  rig.inject(2, frame_of(lossy));
  rig.run_for(1_us);
  EXPECT_EQ(warned_queues(rig, 2), 0);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::cnm_ignored_packets), 1u);
}

TEST(PathWarnings, WithoutRlbNothingIsPredictedTellsOrPassedOn) {
  config::SwitchConfig config = spine();
  config.rlb = {};
  OneSwitch rig(config);
  cross(rig, 0, 1);
  rig.inject(1, frame_of(warning(1)));
  rig.run_for(10_us);
  EXPECT_TRUE(cnms(rig, 0).empty());
  EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_rx_packets), 1u);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::path_warnings_begun), 0u);
}

// With a worker a port the message is heard on one shard, and the ports that fed are others'.
TEST(PathWarnings, CrossBetweenShards) {
  config::SwitchConfig config = spine();
  spread_over_workers(config, 3);
  OneSwitch rig(config, 3);
  cross(rig, 0, 1);
  rig.run_for(10_us);
  rig.inject(1, frame_of(warning(1)));
  rig.run_for(10_us);
  const auto relayed = cnms(rig, 0);
  ASSERT_EQ(relayed.size(), 1u);
  EXPECT_EQ(relayed[0].header.destination, *rig.config.ports[0].peer_mac);
  EXPECT_TRUE(rig.object().balance().holds());
  EXPECT_EQ(count(rig.object(), 1, PortCounter::path_warnings_begun), 1u);
}

}  // namespace
}  // namespace eddy::test
