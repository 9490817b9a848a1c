#include "lb/rlb/path_judge.h"

#include <gtest/gtest.h>

#include <limits>

namespace eddy::lb {
namespace {

using namespace eddy::literals;
using config::FailureDetectorConfig;

// Looked at every 50 us by a detector with the values of the reference, and 400 us of silence.
struct Rig {
  PathVerdict look(uint8_t unanswered, const PathEvidence& more = {}) {
    PathEvidence seen = more;
    now = now + 50_us;
    seen.now = now;
    seen.unanswered = unanswered;
    seen.answers = unanswered == 0;
    return judge.look(config, seen);
  }
  // After how many looks at a path that never answers it failed; 0: it did not.
  int fails_after(const PathEvidence& more, int looks = 100) {
    for (int i = 1; i <= looks; ++i)
      if (look(static_cast<uint8_t>(std::min(i, 255)), more) == PathVerdict::fails) return i;
    return 0;
  }
  // Until the judge says something, or the time is over.
  PathVerdict look_for(Duration time, uint8_t unanswered, const PathEvidence& more = {}) {
    PathVerdict verdict = PathVerdict::none;
    for (const Instant end = now + time; now < end && verdict == PathVerdict::none;)
      verdict = look(unanswered, more);
    return verdict;
  }

  FailureDetectorConfig config{.silence = 400_us};
  PathJudge judge;
  Instant now = Instant::at(1_ms);
};

constexpr PathEvidence kOthersAnswer{.others_answer = true};

TEST(PathJudge, APathThatDoesNotAnswerFailsAfterTwoWindows) {
  Rig rig;
  EXPECT_EQ(rig.look(0), PathVerdict::none);
  // 400 us of silence are a suspicious window; then comes the second, of 100 us.
  for (int i = 0; i < 7; ++i) EXPECT_EQ(rig.look(5, kOthersAnswer), PathVerdict::none) << i;
  EXPECT_EQ(rig.look_for(100_us, 9, kOthersAnswer), PathVerdict::suspicious);
  EXPECT_EQ(rig.judge.failure(), PathFailure::none);
  EXPECT_EQ(rig.look_for(100_us, 10, kOthersAnswer), PathVerdict::fails);
  EXPECT_EQ(rig.judge.failure(), PathFailure::silent);
  EXPECT_EQ(rig.judge.until(), rig.now + 10_ms);
}

TEST(PathJudge, FewerStampsOrNobodyElseAnsweringSayNothing) {
  Rig rig;
  rig.look(0);
  EXPECT_EQ(rig.look_for(10_ms, 3, kOthersAnswer), PathVerdict::none);
  EXPECT_EQ(rig.look_for(10_ms, 200), PathVerdict::none) << "the leaf itself may be down";
  EXPECT_NE(rig.fails_after(kOthersAnswer), 0);
}

TEST(PathJudge, AnAnswerBetweenTheWindowsClearsIt) {
  Rig rig;
  rig.look(0);
  EXPECT_EQ(rig.look_for(500_us, 9, kOthersAnswer), PathVerdict::suspicious);
  EXPECT_EQ(rig.look_for(150_us, 0, kOthersAnswer), PathVerdict::none);
  EXPECT_TRUE(rig.judge.rests());
  EXPECT_EQ(rig.look_for(400_us, 9, kOthersAnswer), PathVerdict::none);
}

TEST(PathJudge, ThePatienceOfALongPathAndItsOwnQueueCount) {
  for (const bool queue : {false, true}) {
    Rig rig;
    rig.look(0);
    PathEvidence slow = kOthersAnswer;
    (queue ? slow.own_queue : slow.patience) = queue ? 1'600_us : 2'000_us;
    EXPECT_EQ(rig.look_for(1'900_us, 200, slow), PathVerdict::none);
    EXPECT_EQ(rig.look_for(200_us, 200, slow), PathVerdict::suspicious);
    EXPECT_EQ(rig.look_for(100_us, 200, slow), PathVerdict::fails);
  }
}

TEST(PathJudge, WhileItIsWarnedOrPausedSilenceIsExcused) {
  Rig rig;
  rig.look(0);
  PathEvidence paused = kOthersAnswer;
  for (int i = 0; i < 100; ++i) {
    paused.excused_until = rig.now + 60_us;  // beyond the look
    EXPECT_EQ(rig.look(200, paused), PathVerdict::excused);
  }
  // What ended counts from its end on.
  const Instant end = rig.now;
  paused.excused_until = end;
  rig.look(200, paused);
  while (rig.now < end + 350_us) ASSERT_EQ(rig.look(200, paused), PathVerdict::none);
  EXPECT_EQ(rig.look_for(150_us, 200, paused), PathVerdict::suspicious);
  EXPECT_EQ(rig.look_for(100_us, 200, paused), PathVerdict::fails);
}

TEST(PathJudge, AShortWarningBetweenTwoLooksIsEnough) {
  Rig rig;
  rig.look(0);
  PathEvidence blinks = kOthersAnswer;
  for (int i = 0; i < 100; ++i) {
    if (i % 4 == 0) blinks.excused_until = rig.now + 10_us;  // over when it is looked at
    const PathVerdict verdict = rig.look(200, blinks);
    EXPECT_EQ(verdict, i % 4 == 0 ? PathVerdict::excused : PathVerdict::none) << i;
  }
}

TEST(PathJudge, ItComesBackWithAnAnswerWhenItsTimeIsOver) {
  Rig rig;
  rig.look(0);
  ASSERT_NE(rig.fails_after(kOthersAnswer), 0);
  const Instant until = rig.judge.until();
  while (rig.now + 50_us < until)
    ASSERT_EQ(rig.look(0, kOthersAnswer), PathVerdict::none) << "an answer, but too early";
  EXPECT_EQ(rig.look_for(10_ms, 200, kOthersAnswer), PathVerdict::none) << "none, but late enough";
  EXPECT_EQ(rig.look(0, kOthersAnswer), PathVerdict::returns);
  EXPECT_EQ(rig.judge.failure(), PathFailure::none);
}

TEST(PathJudge, WhereNoOtherPathAnswersItIsBackAtOnce) {
  Rig rig;
  rig.look(0);
  ASSERT_NE(rig.fails_after(kOthersAnswer), 0);
  EXPECT_EQ(rig.look(0), PathVerdict::returns);
}

TEST(PathJudge, EachExclusionIsTwiceTheLastUntilItIsForgiven) {
  Rig rig;
  rig.config.longest_exclusion = 60_ms;
  for (const Duration expected : {10_ms, 20_ms, 40_ms, 60_ms, 60_ms}) {
    rig.look(0);
    ASSERT_NE(rig.fails_after(kOthersAnswer), 0);
    EXPECT_EQ(rig.judge.until(), rig.now + expected);
    EXPECT_EQ(rig.look_for(expected, 0, kOthersAnswer), PathVerdict::returns);
  }
  rig.look_for(60_ms, 0, kOthersAnswer);
  ASSERT_NE(rig.fails_after(kOthersAnswer), 0);
  EXPECT_EQ(rig.judge.until(), rig.now + 10_ms) << "good for as long as the longest";
}

TEST(PathJudge, PacketsForcedOntoAPathWithoutLoadAreSuspicious) {
  Rig rig;
  PathEvidence forced = kOthersAnswer;
  forced.weighed = 50;  // a look; the window is two
  forced.forced = 41;
  EXPECT_EQ(rig.look_for(200_us, 0, forced), PathVerdict::suspicious);
  EXPECT_EQ(rig.look_for(100_us, 0, forced), PathVerdict::fails);
  EXPECT_EQ(rig.judge.failure(), PathFailure::forced);
  EXPECT_EQ(rig.look_for(10_ms, 0, kOthersAnswer), PathVerdict::returns);
}

TEST(PathJudge, NotTooFewNotASmallShareNotALoadedPathNotAWarnedOne) {
  const auto fails = [](const auto& change) {
    Rig rig;
    PathEvidence forced = kOthersAnswer;
    forced.weighed = 50;
    forced.forced = 50;
    for (int i = 0; i < 100; ++i) {
      change(forced, rig.now);
      if (rig.look(0, forced) == PathVerdict::fails) return true;
    }
    return false;
  };
  EXPECT_TRUE(fails([](PathEvidence&, Instant) {}));
  EXPECT_FALSE(fails([](PathEvidence& seen, Instant) { seen.weighed = seen.forced = 20; }));
  EXPECT_FALSE(fails([](PathEvidence& seen, Instant) { seen.forced = 40; })) << "80 %";
  EXPECT_FALSE(fails([](PathEvidence& seen, Instant) { seen.loaded = true; }));
  EXPECT_FALSE(fails([](PathEvidence& seen, Instant) { seen.others_answer = false; }));
  EXPECT_FALSE(fails([](PathEvidence& seen, Instant now) { seen.excused_until = now + 10_us; }));
}

// Algorithm 2 as it can be read.
struct Loop {
  std::optional<PortId> left(Duration at, size_t port, uint32_t rounds) {
    return judge.left(Instant::at(at), PortId(port), rounds, 10_us, 8);
  }
  LoopJudge judge{4};
};

TEST(LoopJudge, ThePortOfMostRoundsInTwoWindowsFailed) {
  Loop loop;
  for (const Duration at : {1_us, 11_us}) {
    EXPECT_EQ(loop.left(at, 1, 8), std::nullopt);
    EXPECT_EQ(loop.left(at, 2, 8), std::nullopt);
    EXPECT_EQ(loop.left(at, 1, 8), std::nullopt);
  }
  EXPECT_EQ(loop.left(22_us, 3, 1), PortId(1));
  EXPECT_EQ(loop.left(33_us, 3, 1), std::nullopt) << "it begins anew";
}

TEST(LoopJudge, AnotherPortFewerRoundsOrAnEmptyWindowBeginAnew) {
  Loop other;
  other.left(1_us, 1, 8);
  other.left(11_us, 2, 8);
  EXPECT_EQ(other.left(22_us, 1, 8), std::nullopt);
  EXPECT_EQ(other.left(33_us, 1, 8), std::nullopt);
  EXPECT_EQ(other.left(44_us, 1, 8), PortId(1));

  Loop fewer;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(fewer.left(11_us * i, 1, i % 2 == 0 ? 8 : 7), std::nullopt) << i;

  Loop sparse;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(sparse.left(25_us * i, 1, 8), std::nullopt) << i;
}

}  // namespace
}  // namespace eddy::lb
