// Shims and echoes that are forged, stale, replayed, broken or out of place change nothing that is
// known of paths, and are counted by reason.
#include <gtest/gtest.h>

#include <vector>

#include "net/shim.h"
#include "switch/dataplane/paths/path_service.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr LeafId kUs(1);
constexpr LeafId kThem(2);
constexpr size_t kHost = 0;
constexpr size_t kUplink = 1;
constexpr PathId kPath(0x00ff);  // by the uplink

Frame control_frame(const ShimControl& message, uint8_t tags = 0) {
  Frame frame(128);
  const EthernetHeader header{host_mac(1, 1), host_mac(9, 9), kEtherTypeShim, tags, {}};
  size_t length = encode(header, frame);
  length += encode(message, Octets(frame).subspan(length));
  frame.resize(pad_frame(frame, length));
  return frame;
}
Frame control_frame(const Shim& shim, uint8_t tags = 0) {
  return control_frame(ShimControl{.shim = shim}, tags);
}

// A leaf with one uplink to one other leaf; nothing is probed.
struct Rig {
  explicit Rig(const config::SwitchConfig& config = leaf()) : rig(config) { rig.run_for(10_us); }
  static config::SwitchConfig leaf() {
    config::SwitchConfig config = leaf_spine({.leaves = 2, .spines = 1, .hosts = 1}).leaves[0];
    config.path_service = {.shim = config::ShimUse::sampled,
                           .common_clock = true,
                           .base_rtt = 8_us,
                           .probe = Duration{}};
    return config;
  }
  const lb::PathRecord& record() { return rig.object().paths()->at(0, 0); }
  uint64_t count(PortCounter which) { return test::count(rig.object(), kUplink, which); }
  // The stamp of a packet that goes out now.
  uint32_t stamp() {
    UdpSpec spec{.destination_mac = port_mac(rig.config, kHost),
                 .source_mac = host_mac(1, 1),
                 .source = host_ip(1, 1),
                 .destination = host_ip(2, 1),
                 .dscp = kLosslessDscp};
    rig.inject(kHost, udp_frame(spec));
    rig.run_for(2_us);
    Shim shim;
    EXPECT_EQ(decode(ConstOctets(rig.seen(kUplink).back().frame).subspan(14), shim),
              CodecVerdict::ok);
    EXPECT_EQ(shim.flags, kShimRttRequest | kShimSampled | kShimPinned);
    EXPECT_EQ(shim.path, kPath);
    return shim.sent_ns;
  }
  uint32_t now_ns() const { return static_cast<uint32_t>(rig.fabric.now().ps() / 1'000); }
  // Says that the stamp came just now.
  Shim echo_of(uint32_t stamp) const {
    return {.kind = ShimKind::feedback,
            .flags = kShimRttEcho | kShimFeedback,
            .source_leaf = kThem,
            .destination_leaf = kUs,
            .feedback_path = kPath,
            .feedback_congestion = 100,
            .sent_ns = now_ns(),
            .echoed_ns = stamp,
            .feedback_packets = 1};
  }
  // As the other leaf tells of a stamp that may have overtaken isolated packets.
  void hear_that_nothing_is_proven() {
    rig.run_for(40_us);  // until the next stamp is due
    Shim echo = echo_of(stamp());
    echo.hold_ns = PathService::kDeviated | 500;
    hear(echo);
  }
  // Of what left by the uplink.
  std::vector<Shim> sweeps() {
    std::vector<Shim> all;
    for (const Arrival& arrival : rig.seen(kUplink)) {
      Shim shim;
      const bool sound = decode(ConstOctets(arrival.frame).subspan(14), shim) == CodecVerdict::ok;
      if (sound && shim.kind == ShimKind::sweep) all.push_back(shim);
    }
    return all;
  }
  void hear(const Shim& shim) {
    rig.inject(kUplink, control_frame(shim));
    rig.run_for(100_ns);
  }
  OneSwitch rig;
};

TEST(PathForgery, AnEchoIsBelievedOnce) {
  Rig rig;
  const Shim echo = rig.echo_of(rig.stamp());
  rig.hear(echo);
  EXPECT_EQ(rig.count(PortCounter::path_samples), 1u);
  EXPECT_EQ(rig.record().delay_ns, 2'000u);
  EXPECT_EQ(rig.record().congestion, 100);
  Shim again = echo;
  again.feedback_congestion = 200;
  again.feedback_marked = 1;
  rig.hear(again);
  EXPECT_EQ(rig.count(PortCounter::path_samples), 1u);
  EXPECT_EQ(rig.count(PortCounter::path_reports_stale), 1u);
  EXPECT_EQ(rig.record().delay_ns, 2'000u);
  EXPECT_EQ(rig.record().congestion, 100) << "nor anything else that it says";
  EXPECT_EQ(rig.record().marked, 0);
}

TEST(PathForgery, AStampThatWasNeverSentIsStale) {
  Rig rig;
  const uint32_t sent = rig.stamp();
  const uint32_t first_possible = sent - 10'000;  // before anything was measured
  for (const uint32_t stamp :
       {sent + 1, sent + 0x8000'0000, first_possible - 5, sent - 500'000'000})
    rig.hear(rig.echo_of(stamp));
  EXPECT_EQ(rig.count(PortCounter::path_reports_stale), 4u);
  EXPECT_EQ(rig.count(PortCounter::path_samples), 0u);
  EXPECT_FALSE(rig.record().known());
  EXPECT_EQ(rig.record().arrived_before(), Instant{});
}

TEST(PathForgery, TimesThatCannotBeAreImpossible) {
  Rig rig;
  const uint32_t stamp = rig.stamp();
  Shim echo = rig.echo_of(stamp);
  echo.hold_ns = 2'500;  // it is 2 us old
  rig.hear(echo);
  echo = rig.echo_of(stamp);
  echo.sent_ns = stamp - 1;  // there before it was sent
  rig.hear(echo);
  echo.sent_ns = rig.now_ns() + 1'000;  // there after we hear of it
  rig.hear(echo);
  EXPECT_EQ(rig.count(PortCounter::path_reports_impossible), 3u);
  EXPECT_FALSE(rig.record().known());
  rig.hear(rig.echo_of(stamp));
  EXPECT_EQ(rig.count(PortCounter::path_samples), 1u) << "which does not spoil the true one";
}

// The other leaf may have held the stamp all the time, but for less than a nanosecond.
TEST(PathForgery, AnEchoMayBeHeldForAsLongAsItsStampIsOld) {
  Rig rig;
  const uint32_t stamp = rig.stamp();
  Shim echo = rig.echo_of(stamp);
  echo.hold_ns = rig.now_ns() - stamp;
  rig.hear(echo);
  EXPECT_EQ(rig.count(PortCounter::path_reports_impossible), 0u);
  EXPECT_EQ(rig.count(PortCounter::path_samples), 1u);
}

TEST(PathForgery, AnUnknownLeafOrPathIsCounted) {
  Rig rig;
  Shim echo = rig.echo_of(rig.stamp());
  echo.source_leaf = LeafId(77);
  rig.hear(echo);
  echo = rig.echo_of(echo.echoed_ns);
  echo.feedback_path = PathId(0x05ff);
  rig.hear(echo);
  Shim probe{.kind = ShimKind::probe,
             .flags = kShimRttRequest,
             .source_leaf = LeafId(77),
             .destination_leaf = kUs};
  rig.hear(probe);
  probe.source_leaf = kUs;  // our own
  rig.hear(probe);
  EXPECT_EQ(rig.count(PortCounter::path_reports_unknown), 4u);
  EXPECT_FALSE(rig.record().known());
  rig.rig.run_for(100_us);
  EXPECT_EQ(rig.count(PortCounter::path_feedback_frames), 0u);
}

TEST(PathForgery, AnEchoThatSaysTheStampLeftItsWayProvesNothing) {
  Rig rig;
  Shim echo = rig.echo_of(rig.stamp());
  echo.hold_ns = PathService::kDeviated | 500;
  rig.hear(echo);
  EXPECT_EQ(rig.count(PortCounter::path_samples), 1u);
  EXPECT_EQ(rig.record().delay_ns, 1'500u);
  EXPECT_EQ(rig.record().arrived_before(), Instant{});
}

// Where isolated packets may be on the way a sweep asks for them, one at a time.
config::SwitchConfig sweeping_leaf() {
  config::SwitchConfig config = Rig::leaf();
  config.isolation.enabled = true;
  config.rlb = config::rlb_preset(config::RlbPreset::standard);
  return config;
}
constexpr QueueId kIsolatedQueue(4);
constexpr PriorityGroupId kGroup(3);
Shim answer_to(const Shim& sweep) {
  return {.kind = ShimKind::swept,
          .source_leaf = kThem,
          .destination_leaf = kUs,
          .feedback_path = sweep.path,
          .echoed_ns = sweep.sent_ns};
}

TEST(PathSweeps, FollowAnEchoThatProvesNothing) {
  Rig rig(sweeping_leaf());
  rig.hear_that_nothing_is_proven();
  rig.rig.run_for(2_us);
  ASSERT_EQ(rig.sweeps().size(), 1u);
  const Shim sweep = rig.sweeps()[0];
  EXPECT_EQ(sweep.path, kPath);
  EXPECT_EQ(sweep.flags, kShimPinned);
  EXPECT_EQ(sweep.source_leaf, kUs);
  EXPECT_EQ(sweep.destination_leaf, kThem);
  EXPECT_EQ(sweep.traffic_class, TrafficClass(4));
  rig.hear_that_nothing_is_proven();
  EXPECT_EQ(rig.count(PortCounter::path_sweeps), 1u) << "while it waits for the answer";
  rig.hear(answer_to(sweep));
  EXPECT_EQ(rig.count(PortCounter::path_swept), 1u);
  const lb::PathTable& paths = *rig.rig.object().paths();
  const Instant proven = paths.arrived_before(0, 0, kIsolatedQueue, kGroup);
  EXPECT_EQ(static_cast<uint32_t>(proven.ps() / 1'000), sweep.sent_ns);
  EXPECT_EQ(paths.arrived_before(0, 0, QueueId(3)), proven);
  EXPECT_EQ(rig.count(PortCounter::path_samples), 2u) << "which is no measure of the path";
  rig.hear_that_nothing_is_proven();
  EXPECT_EQ(rig.count(PortCounter::path_sweeps), 2u);
  EXPECT_EQ(paths.arrived_before(0, 0, QueueId(3)), proven) << "it stays proven";
}

// One that stands behind a pause for long, or is lost.
TEST(PathSweeps, ComeAgainAfterAWhile) {
  Rig rig(sweeping_leaf());
  rig.hear_that_nothing_is_proven();
  rig.rig.run_for(70_us);
  rig.hear_that_nothing_is_proven();
  EXPECT_EQ(rig.count(PortCounter::path_sweeps), 2u);
  rig.rig.run_for(2_us);
  ASSERT_EQ(rig.sweeps().size(), 2u);
  rig.hear(answer_to(rig.sweeps()[0]));
  EXPECT_EQ(rig.count(PortCounter::path_swept), 1u) << "the first one may come late";
  rig.hear(answer_to(rig.sweeps()[1]));
  EXPECT_EQ(rig.count(PortCounter::path_swept), 2u);
}

TEST(PathSweeps, AnswersThatAreForgedOrOldAreStale) {
  Rig rig(sweeping_leaf());
  Shim none = answer_to({.path = kPath, .sent_ns = rig.now_ns() - 500});
  rig.hear(none);
  EXPECT_EQ(rig.count(PortCounter::path_reports_stale), 1u) << "nothing was asked";
  rig.hear_that_nothing_is_proven();
  rig.rig.run_for(2_us);
  ASSERT_EQ(rig.sweeps().size(), 1u);
  Shim answer = answer_to(rig.sweeps()[0]);
  answer.echoed_ns += 1;
  rig.hear(answer);
  EXPECT_EQ(rig.count(PortCounter::path_reports_stale), 2u) << "later than it was asked";
  EXPECT_EQ(rig.rig.object().paths()->arrived_before(0, 0), Instant{});
  answer.echoed_ns -= 1;
  rig.hear(answer);
  rig.hear(answer);
  EXPECT_EQ(rig.count(PortCounter::path_swept), 1u);
  EXPECT_EQ(rig.count(PortCounter::path_reports_stale), 3u) << "heard before";
  answer.source_leaf = LeafId(77);
  rig.hear(answer);
  EXPECT_EQ(rig.count(PortCounter::path_reports_unknown), 1u);
}

// Half a turn of the stamps later, too.
TEST(PathSweeps, AnAnswerToOneThatWasNeverSentIsStaleHoweverLongAgoTheLastWas) {
  Rig rig(sweeping_leaf());
  rig.hear_that_nothing_is_proven();
  rig.rig.run_for(3_s);
  ASSERT_EQ(rig.sweeps().size(), 1u);
  Shim answer = answer_to(rig.sweeps()[0]);
  answer.echoed_ns = rig.now_ns() - 1'000'000;
  rig.hear(answer);
  EXPECT_EQ(rig.count(PortCounter::path_swept), 0u);
  EXPECT_EQ(rig.count(PortCounter::path_reports_stale), 1u);
}

// Also to a leaf that has nothing to sweep itself; to nobody who is not known, and not where it may
// have been overtaken.
TEST(PathSweeps, AreAnsweredAtOnceIfTheyKeptTheirWay) {
  Rig rig;
  Shim sweep{.kind = ShimKind::sweep,
             .flags = kShimPinned,
             .source_leaf = kThem,
             .destination_leaf = kUs,
             .path = PathId(0x01ff),
             .traffic_class = TrafficClass(4),
             .sent_ns = 12'345};
  rig.hear(sweep);
  rig.rig.run_for(1_us);
  ASSERT_EQ(rig.count(PortCounter::path_feedback_frames), 1u);
  Shim answer;
  ASSERT_EQ(decode(ConstOctets(rig.rig.seen(kUplink).back().frame).subspan(14), answer),
            CodecVerdict::ok);
  EXPECT_EQ(answer.kind, ShimKind::swept);
  EXPECT_EQ(answer.destination_leaf, kThem);
  EXPECT_EQ(answer.feedback_path, sweep.path);
  EXPECT_EQ(answer.echoed_ns, 12'345u);
  sweep.flags = 0;
  rig.hear(sweep);
  sweep = {.kind = ShimKind::sweep, .flags = kShimPinned, .source_leaf = LeafId(77)};
  sweep.destination_leaf = kUs;
  rig.hear(sweep);
  EXPECT_EQ(rig.count(PortCounter::path_feedback_frames), 1u);
  EXPECT_EQ(rig.count(PortCounter::path_reports_unknown), 1u);
}

TEST(PathSweeps, AreNotSentWhereNothingAsksForProofs) {
  for (const bool isolates : {false, true}) {
    config::SwitchConfig config = sweeping_leaf();
    config.isolation.enabled = isolates;
    if (isolates) config.rlb.guard.mode = config::GuardMode::paced;
    Rig rig(config);
    rig.hear_that_nothing_is_proven();
    rig.rig.run_for(2_us);
    EXPECT_EQ(rig.count(PortCounter::path_sweeps), 0u) << isolates;
    rig.hear(answer_to({.path = kPath, .sent_ns = rig.now_ns() - 500}));
    EXPECT_EQ(rig.count(PortCounter::path_reports_stale), 1u) << isolates;
  }
}

TEST(PathForgery, MoreMarksThanPacketsAreAllOfThem) {
  Rig rig;
  Shim echo = rig.echo_of(rig.stamp());
  echo.feedback_packets = 2;
  echo.feedback_marked = 250;
  rig.hear(echo);
  EXPECT_EQ(rig.record().marked, 65'535 / 4);
}

TEST(PathForgery, BrokenAndOversizedFramesAreMalformed) {
  Rig rig;
  const Shim sound = rig.echo_of(rig.stamp());
  Frame big = control_frame(sound);
  big.resize(200);
  Frame cut = control_frame(sound);
  cut.resize(40);
  Frame kind = control_frame(sound);
  kind[14] = 0x1f;
  for (const Frame& frame : {big, kind, control_frame(sound, 1)}) rig.rig.inject(kUplink, frame);
  rig.rig.inject(kUplink, cut);
  EXPECT_EQ(drops(rig.rig.object(), DropReason::control_malformed), 3u);
  EXPECT_EQ(drops(rig.rig.object(), DropReason::shim_truncated), 1u);
  EXPECT_EQ(rig.count(PortCounter::path_samples), 0u);
}

TEST(PathForgery, FromAHostNothingIsHeard) {
  Rig rig;
  rig.rig.inject(kHost, control_frame(rig.echo_of(rig.stamp())));
  EXPECT_EQ(drops(rig.rig.object(), DropReason::control_on_host_port), 1u);
  EXPECT_EQ(rig.count(PortCounter::path_samples), 0u);
}

TEST(PathForgery, AFrameForALeafWeDoNotKnowOrOnTheRoadForEverEndsHere) {
  Rig rig;
  Shim shim = rig.echo_of(rig.stamp());
  shim.destination_leaf = LeafId(99);
  rig.hear(shim);
  EXPECT_EQ(drops(rig.rig.object(), DropReason::no_route), 1u);
  shim.destination_leaf = kThem;
  shim.hop_count = ControlFrames::kMostHops;
  rig.hear(shim);
  EXPECT_EQ(drops(rig.rig.object(), DropReason::ttl_expired), 1u);
  EXPECT_TRUE(rig.rig.object().balance().holds());
}

// However many stamps come, a path's echo goes at most once in the time that an echo may wait.
TEST(PathForgery, AStormOfProbesIsAnsweredByFewFrames) {
  Rig rig;
  const Shim probe{.kind = ShimKind::probe,
                   .flags = kShimRttRequest,
                   .source_leaf = kThem,
                   .destination_leaf = kUs,
                   .path = kPath};
  for (int i = 0; i < 1'000; ++i) rig.hear(probe);  // 100 us
  EXPECT_LE(rig.count(PortCounter::path_feedback_frames), 25u);
  EXPECT_GE(rig.count(PortCounter::path_feedback_frames), 20u);
}

// With many path ids, all of one leaf's places are taken in turn, and no memory.
TEST(PathForgery, MorePathsThanPlacesTakeEachOthers) {
  Rig rig;
  Shim probe{.kind = ShimKind::probe,
             .flags = kShimRttRequest,
             .source_leaf = kThem,
             .destination_leaf = kUs};
  for (size_t i = 0; i < 300; ++i) {
    probe.path = PathId(i);
    rig.hear(probe);
  }
  EXPECT_EQ(rig.count(PortCounter::path_reports_evicted), 299u);
  EXPECT_LE(rig.count(PortCounter::path_feedback_frames), 10u);
}

}  // namespace
}  // namespace eddy::test
