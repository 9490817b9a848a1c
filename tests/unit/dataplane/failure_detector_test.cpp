// Paths that fail silently are taken out of use and come back; paths that are paused are not.
#include "switch/dataplane/paths/failure_detector.h"

#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "tests/support/path_fabric.h"

namespace eddy::test {
namespace {

constexpr Duration kProbe = 32_us;

// Leaves behind three spines, with RLB; leaf 0 sends to leaf 1. Spines know of no RLB.
struct Rig : PathFabric {
  static Setup setup(size_t shards) {
    return {.service = {.shim = config::ShimUse::sampled,
                        .common_clock = true,
                        .base_rtt = kBaseRtt,
                        .probe = kProbe},
            .shards = shards,
            .spines = 3,
            .change = [](config::SwitchConfig& leaf) {
              leaf.rlb = config::rlb_preset(config::RlbPreset::standard);
              leaf.rlb.failure_detector.silence = 1_ms;
              leaf.rlb.failure_detector.exclusion = 2_ms;
              leaf.load_balancer.scheme = "spray";
              leaf.rlb.guard.mode = config::GuardMode::off;
            }};
  }
  explicit Rig(size_t shards = 1, const Setup* other = nullptr)
      : PathFabric(other != nullptr ? *other : setup(shards)) {
    run_for(200_us);
  }
  // What goes over the spine to leaf 1 is lost, and leaf 0 sees no link go down.
  void black_hole(size_t spine, bool on = true) { fabric.set_link(spines[spine], PortId(1), !on); }
  lb::MemberMask failed() { return leaf(0).paths()->failed(0); }
  // Until the paths are those, or the time is over.
  Duration until_failed(lb::MemberMask which, Duration most) {
    const Instant start = fabric.now();
    while (failed() != which && fabric.now() < start + most) run_for(10_us);
    return fabric.now() - start;
  }
  // Packets that leaf 0 gives to each spine while it sends so many.
  std::array<uint64_t, 3> shares(size_t packets) {
    const std::array<uint64_t, 3> before = sent();
    for (size_t i = 0; i < packets; ++i) {
      send(0, static_cast<uint16_t>(i));
      run_for(1_us);
    }
    std::array<uint64_t, 3> share = sent();
    for (size_t s = 0; s < 3; ++s) share[s] -= before[s];
    return share;
  }
  std::array<uint64_t, 3> sent() {
    std::array<uint64_t, 3> sent{};
    for (size_t s = 0; s < 3; ++s)
      sent[s] = test::count(leaf(0), 1 + s, QueueId(3), QueueCounter::queue_tx_packets);
    return sent;
  }
  std::vector<Event> events(EventKind kind) {
    std::vector<Event> found;
    Event event;
    for (size_t shard = 0; shard < leaf(0).shard_count(); ++shard)
      while (leaf(0).events(ShardId(shard)).pop(event))
        if (event.kind == kind) found.push_back(event);
    return found;
  }
};

TEST(FailureDetector, ABlackHoleIsExcludedInTimeAndTrafficGoesElsewhere) {
  for (const size_t shards : {1u, 2u, 4u}) {
    Rig rig(shards);
    rig.black_hole(1);
    EXPECT_GT(rig.until_failed(0b010, 3_ms), 1_ms) << "the least silence";
    EXPECT_EQ(rig.failed(), 0b010u) << shards;
    EXPECT_EQ(test::count(rig.leaf(0), 2, PortCounter::paths_failed), 1u);
    EXPECT_EQ(test::count(rig.leaf(0), 2, PortCounter::path_suspicious_windows), 2u);
    const std::vector<Event> events = rig.events(EventKind::path_failed);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].port, PortId(2));
    const PathEvent path = PathEvent::of(events[0].value);
    EXPECT_EQ(path.leaf, rig.shape.leaves[1].leaf);
    EXPECT_EQ(path.path.index() >> 8, 1u);
    EXPECT_EQ(path.why, static_cast<uint8_t>(lb::PathFailure::silent));

    const auto share = rig.shares(90);
    EXPECT_LE(share[1], 4u) << "probes";
    EXPECT_GE(share[0] + share[2], 86u);
    rig.run_for(2_us);  // no probe is on its way
    EXPECT_EQ(leftovers(rig.leaf(0)), "");
  }
}

TEST(FailureDetector, APathThatIsWholeAgainIsUsedAgainAndAnotherFailureCostsTwice) {
  Rig rig;
  for (const Duration exclusion : {2_ms, 4_ms, 8_ms}) {
    rig.black_hole(1);
    rig.until_failed(0b010, 3_ms);
    ASSERT_EQ(rig.failed(), 0b010u);
    rig.black_hole(1, false);
    const Duration out = rig.until_failed(0, 20_ms);
    EXPECT_EQ(rig.failed(), 0u);
    EXPECT_GE(out, exclusion - 10_us);
    EXPECT_LE(out, exclusion + 200_us);
    const auto share = rig.shares(90);
    EXPECT_GE(share[1], 20u);
  }
  EXPECT_EQ(test::count(rig.leaf(0), 2, PortCounter::paths_returned), 3u);
  EXPECT_EQ(rig.events(EventKind::path_returned).size(), 3u);
}

// One other path that answers is enough, whichever of the two it is.
TEST(FailureDetector, OfTwoPathsEachIsJudgedByTheOther) {
  for (const size_t silent : {0u, 1u}) {
    PathFabric::Setup setup = Rig::setup(1);
    setup.spines = 2;
    Rig rig(1, &setup);
    rig.black_hole(silent);
    rig.until_failed(lb::bit_of(static_cast<lb::MemberIndex>(silent)), 3_ms);
    EXPECT_EQ(rig.failed(), 1u << silent);
  }
}

TEST(FailureDetector, ItStaysOutUntilItAnswers) {
  Rig rig;
  rig.black_hole(1);
  rig.until_failed(0b010, 3_ms);
  rig.run_for(20_ms);
  EXPECT_EQ(rig.failed(), 0b010u);
  rig.black_hole(1, false);
  EXPECT_LE(rig.until_failed(0, 5_ms), 100_us) << "its time is long over";
}

// PFC stops leaf 0's second uplink for 5 ms while the other paths answer.
TEST(FailureDetector, APausedPathIsNotExcluded) {
  Rig rig;
  for (int i = 0; i < 250; ++i) {
    rig.fabric.inject(rig.leaves[0], PortId(2), pause_frame(bit(kLossless), 0xffff));
    rig.run_for(20_us);
    ASSERT_EQ(rig.failed(), 0u) << i;
  }
  EXPECT_GT(test::count(rig.leaf(0), 2, PortCounter::path_unanswered), 10u) << "it was silent";
  EXPECT_GT(test::count(rig.leaf(0), 2, PortCounter::path_silences_excused), 0u);
  EXPECT_EQ(test::count(rig.leaf(0), 2, PortCounter::path_suspicious_windows), 0u);
  rig.run_for(5_ms);
  EXPECT_EQ(rig.failed(), 0u);
}

TEST(FailureDetector, WhereNoPathAnswersNoneIsExcludedAndTheLastNeverIs) {
  Rig rig;
  for (const size_t spine : {0u, 1u, 2u}) rig.black_hole(spine);
  rig.run_for(10_ms);
  EXPECT_EQ(rig.failed(), 0u);
  EXPECT_GT(rig.record(0, 1).suspicion, 20);
  for (const size_t spine : {0u, 1u, 2u}) rig.black_hole(spine, false);
  rig.run_for(1_ms);

  rig.black_hole(0);
  rig.black_hole(1);
  rig.until_failed(0b011, 3_ms);
  ASSERT_EQ(rig.failed(), 0b011u);
  rig.black_hole(2);
  rig.run_for(10_ms);
  EXPECT_EQ(rig.failed(), 0b011u) << "the last one has nobody to be compared with";
  EXPECT_GE(rig.shares(30)[2], 30u);
  // One of the others is better now, however long it was to stay out.
  rig.black_hole(0, false);
  EXPECT_LE(rig.until_failed(0b010, 2_ms), 200_us);
}

// Paths that are excluded may be better than they look; no path at all cannot be.
TEST(FailureDetector, ExcludedPathsAreUsedAgainWhenTheLinkOfTheLastOneGoesDown) {
  Rig rig;
  rig.black_hole(0);
  rig.black_hole(1);
  rig.until_failed(0b011, 3_ms);
  ASSERT_EQ(rig.failed(), 0b011u);
  rig.fabric.set_link(rig.leaves[0], PortId(3), false);
  const auto share = rig.shares(90);
  EXPECT_EQ(rig.failed(), 0b011u);
  EXPECT_GE(share[0], 20u);
  EXPECT_GE(share[1], 20u);
  EXPECT_EQ(share[2], 0u);
  EXPECT_EQ(drops(rig.leaf(0), DropReason::no_live_path), 0u);
  rig.fabric.set_link(rig.leaves[0], PortId(3), true);
  rig.run_for(1_us);
  const auto after = rig.shares(90);
  EXPECT_GE(after[2], 86u) << "but for probes";
}

// A path that is excluded, one that is paused, which warns of it by itself, and one that is
// neither; then the excluded one again, when it is all that is left.
TEST(FailureDetector, RowsSayWhyAPathIsNotUsed) {
  Rig rig;
  const auto rows = [&rig] {
    std::array<PathRow, 3> rows;
    Command dump{.kind = Command::Kind::dump_paths, .path_rows = rows};
    EXPECT_TRUE(rig.leaf(0).post(ShardId(0), dump));
    rig.fabric.poll(rig.leaves[0]);
    EXPECT_EQ(dump.row_count, 3u);
    return rows;
  };
  rig.black_hole(1);
  rig.until_failed(0b010, 3_ms);
  ASSERT_EQ(rig.failed(), 0b010u);
  rig.fabric.inject(rig.leaves[0], PortId(3), pause_frame(bit(kLossless), 0xffff));
  const auto some = rows();
  const auto facts = [](const PathRow& row) {
    return std::tuple(row.live, row.failed, row.last, row.failure, row.paused, row.warned,
                      row.severity);
  };
  using lb::PathFailure;
  EXPECT_EQ(facts(some[0]), std::tuple(true, false, false, PathFailure::none, 0, 0, 0));
  EXPECT_EQ(facts(some[1]), std::tuple(true, true, false, PathFailure::silent, 0, 0, 0));
  EXPECT_EQ(facts(some[2]),
            std::tuple(true, false, false, PathFailure::none, bit(kLossless), bit(kLossless), 63));
  rig.fabric.set_link(rig.leaves[0], PortId(1), false);
  rig.fabric.set_link(rig.leaves[0], PortId(3), false);
  const auto none = rows();
  EXPECT_FALSE(none[0].live || none[0].last);
  EXPECT_TRUE(none[1].live && none[1].failed && none[1].last);
  EXPECT_EQ(none[2].paused, 0) << "gone with the link";
}

TEST(FailureDetector, OffExcludesNothing) {
  PathFabric::Setup setup = Rig::setup(1);
  setup.change = [](config::SwitchConfig& leaf) {
    leaf.rlb = config::rlb_preset(config::RlbPreset::standard);
    leaf.rlb.failure_detector.mode = config::DetectorMode::off;
  };
  Rig rig(1, &setup);
  rig.black_hole(1);
  rig.run_for(10_ms);
  EXPECT_EQ(rig.failed(), 0u);
  EXPECT_GT(rig.record(0, 1).suspicion, 20);
}

// Turned off live, it leaves nothing excluded.
TEST(FailureDetector, AConfigurationWithoutItLetsAllPathsBackIn) {
  Rig rig;
  rig.black_hole(1);
  rig.until_failed(0b010, 3_ms);
  ASSERT_EQ(rig.failed(), 0b010u);
  config::SwitchConfig config = rig.shape.leaves[0];
  config.rlb.failure_detector.mode = config::DetectorMode::off;
  ASSERT_TRUE(rig.leaf(0).reconfigure(config));
  rig.run_for(100_us);
  EXPECT_EQ(rig.failed(), 0u);
  EXPECT_GE(rig.shares(90)[1], 20u);
}

TEST(FailureDetector, AFlowThatTheStrictGuardHoldsLeavesAnExcludedPath) {
  PathFabric::Setup setup = Rig::setup(1);
  setup.change = [](config::SwitchConfig& leaf) {
    leaf.rlb = config::rlb_preset(config::RlbPreset::standard);
    leaf.rlb.failure_detector.silence = 1_ms;
    leaf.load_balancer.scheme = "ecmp";
  };
  Rig rig(1, &setup);
  const auto before = rig.sent();
  for (int i = 0; i < 20; ++i) {
    rig.send(0);
    rig.run_for(1_us);
  }
  const auto after = rig.sent();
  size_t home = 0;
  while (after[home] - before[home] < 20) ASSERT_LT(++home, 3u);
  rig.black_hole(home);
  const uint64_t received = rig.hosts[1]->received_count;
  for (int i = 0; i < 200; ++i) {
    rig.send(0);
    rig.run_for(10_us);
  }
  EXPECT_EQ(rig.failed(), 1u << home);
  EXPECT_GT(rig.hosts[1]->received_count, received + 20);
  EXPECT_EQ(rig.count(0, PortCounter::guard_forced_moves), 1u);
}

}  // namespace
}  // namespace eddy::test
