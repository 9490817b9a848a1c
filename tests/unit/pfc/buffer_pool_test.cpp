#include "pfc/buffer_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "config/config.h"
#include "net/random.h"

namespace eddy::pfc {
namespace {

using namespace eddy::literals;

config::BufferProfile static_profile(Bytes xoff, Bytes xon_offset, bool lossless = true) {
  config::BufferProfile profile;
  profile.lossless = lossless;
  profile.mode = config::BufferMode::fixed;
  profile.xoff = xoff;
  profile.xon_offset = xon_offset;
  return profile;
}

config::BufferProfile dynamic_profile(int dynamic_th, bool lossless = true) {
  config::BufferProfile profile;
  profile.lossless = lossless;
  profile.mode = config::BufferMode::dynamic;
  profile.dynamic_th = dynamic_th;
  return profile;
}

struct OneShard {
  explicit OneShard(Bytes shared) : pool(use, ShardId(0), shared) {}
  std::array<PoolUse, 1> use;
  BufferPool pool;
  PgBuffer pg;

  int64_t used() const { return pg.used.load(); }
  int64_t headroom() const { return pg.headroom_used.load(); }
  int64_t shared() const { return use[0].shared.load(); }
};

TEST(Cells, RoundsUpToWholeCells) {
  EXPECT_EQ(round_to_cells(64, 1), 64);
  EXPECT_EQ(round_to_cells(64, 256), 256);
  EXPECT_EQ(round_to_cells(256, 256), 256);
  EXPECT_EQ(round_to_cells(257, 256), 512);
}

TEST(BufferPool, HeadroomMayBeOnePoolForAll) {
  std::array<PoolUse, 2> use;
  BufferPool mine(use, ShardId(0), 0_B);
  BufferPool other(use, ShardId(1), 0_B);
  std::array<PgBuffer, 3> pgs;
  const PgLimits limits = PgLimits::of(static_profile(10'000_B, 4'000_B), 3'000_B);
  mine.resize(0_B, 4'000_B);
  other.resize(0_B, 4'000_B);
  EXPECT_EQ(mine.admit(pgs[0], limits, 1'500).verdict, AdmitVerdict::accepted);
  EXPECT_EQ(mine.admit(pgs[1], limits, 1'500).verdict, AdmitVerdict::accepted);
  EXPECT_EQ(mine.admit(pgs[0], limits, 1'500).verdict, AdmitVerdict::headroom_full);
  other.begin_poll();
  EXPECT_EQ(other.free_headroom(), 1'000);
  EXPECT_EQ(other.admit(pgs[2], limits, 1'001).verdict, AdmitVerdict::headroom_full);
  EXPECT_EQ(other.admit(pgs[2], limits, 1'000).verdict, AdmitVerdict::accepted);
  EXPECT_FALSE(mine.release(pgs[0], limits, 1'500)) << "what would come next would not fit";
  other.begin_poll();
  EXPECT_EQ(other.free_headroom(), 1'500);
  EXPECT_FALSE(other.release(pgs[2], limits, 1'000));
  EXPECT_TRUE(BufferPool::waits(pgs[0]));
  mine.begin_poll();
  EXPECT_FALSE(mine.look_again(pgs[0], limits, 0)) << "2,500 are left";
  EXPECT_TRUE(mine.release(pgs[1], limits, 1'500));
  EXPECT_TRUE(mine.look_again(pgs[0], limits, 0));
  EXPECT_FALSE(BufferPool::waits(pgs[0]));
  mine.resize(0_B);
  EXPECT_EQ(mine.admit(pgs[0], limits, 3'000).verdict, AdmitVerdict::accepted);
  EXPECT_EQ(mine.admit(pgs[0], limits, 1).verdict, AdmitVerdict::headroom_full);
}

TEST(BufferPool, XoffAtExactlyThePacketThatCrossesAStaticThreshold) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(10'000_B, 4'000_B), 3'000_B);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(s.pool.admit(s.pg, limits, 1'000).xoff_edge) << i;
  EXPECT_EQ(s.used(), 10'000);  // at the threshold, not above it
  EXPECT_TRUE(s.pool.admit(s.pg, limits, 1).xoff_edge);
  EXPECT_TRUE(s.pg.pausing());
  EXPECT_EQ(s.headroom(), 0);                                 // the crossing packet is shared
  EXPECT_FALSE(s.pool.admit(s.pg, limits, 1'000).xoff_edge);  // an edge, not a level
  EXPECT_EQ(s.headroom(), 1'000);
}

TEST(BufferPool, XonOnceAtTheHysteresisAndOnlyWithEmptyHeadroom) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(10'000_B, 4'000_B), 3'000_B);
  for (int i = 0; i < 13; ++i)
    ASSERT_EQ(s.pool.admit(s.pg, limits, 1'000).verdict, AdmitVerdict::accepted);
  EXPECT_EQ(s.headroom(), 2'000);
  int xons = 0;
  while (s.used() > 6'000) {
    EXPECT_EQ(xons, 0) << "at " << s.used();
    xons += s.pool.release(s.pg, limits, 1'000);
  }
  EXPECT_EQ(xons, 1);  // by the release that reached 10,000 - 4,000
  EXPECT_FALSE(s.pg.pausing());
  while (s.used() > 0) EXPECT_FALSE(s.pool.release(s.pg, limits, 1'000));
  EXPECT_EQ(s.shared(), 0);
}

TEST(BufferPool, WithoutHysteresisPausesAndResumesAtTheSameThreshold) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(2'000_B, 0_B), 3'000_B);
  EXPECT_FALSE(s.pool.admit(s.pg, limits, 1'000).xoff_edge);
  EXPECT_FALSE(s.pool.admit(s.pg, limits, 1'000).xoff_edge);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(s.pool.admit(s.pg, limits, 1'000).xoff_edge);
    EXPECT_TRUE(s.pool.release(s.pg, limits, 1'000));
  }
}

TEST(BufferPool, HeadroomFillsLastAndEmptiesFirst) {
  OneShard s(1_MiB);
  config::BufferProfile profile = static_profile(2'000_B, 0_B);
  profile.reserved = 1'000_B;
  const PgLimits limits = PgLimits::of(profile, 1'500_B);
  (void)s.pool.admit(s.pg, limits, 600);
  EXPECT_EQ(s.shared(), 0);  // within the reserved octets
  (void)s.pool.admit(s.pg, limits, 600);
  EXPECT_EQ(s.shared(), 200);
  (void)s.pool.admit(s.pg, limits, 1'000);  // crosses
  EXPECT_EQ(s.shared(), 1'200);
  (void)s.pool.admit(s.pg, limits, 1'500);
  EXPECT_EQ(s.headroom(), 1'500);
  EXPECT_EQ(s.pool.admit(s.pg, limits, 1).verdict, AdmitVerdict::headroom_full);
  EXPECT_EQ(s.used(), 3'700);
  (void)s.pool.release(s.pg, limits, 1'000);
  EXPECT_EQ(s.headroom(), 500);
  EXPECT_EQ(s.shared(), 1'200);
  (void)s.pool.release(s.pg, limits, 1'500);
  EXPECT_EQ(s.headroom(), 0);
  EXPECT_EQ(s.shared(), 200);
  EXPECT_EQ(s.pool.admit(s.pg, limits, 300).verdict, AdmitVerdict::accepted);
  EXPECT_EQ(s.shared(), 500);
}

TEST(BufferPool, DynamicThresholdFollowsTheFreePool) {
  OneShard s(80'000_B);
  const PgLimits limits = PgLimits::of(dynamic_profile(-3), 5'000_B);
  EXPECT_EQ(s.pool.threshold(limits), 10'000);
  // After x octets the threshold is (80,000 - x) / 8: 8,889 is the first x above it.
  (void)s.pool.admit(s.pg, limits, 8'000);
  EXPECT_EQ(s.pool.threshold(limits), 9'000);
  EXPECT_FALSE(s.pool.admit(s.pg, limits, 888).xoff_edge);
  EXPECT_EQ(s.pool.threshold(limits), 8'889);
  EXPECT_TRUE(s.pool.admit(s.pg, limits, 1).xoff_edge);
}

TEST(BufferPool, DynamicThresholdMayBeTwiceTheFreePool) {
  OneShard s(9'000_B);
  const PgLimits limits = PgLimits::of(dynamic_profile(1), 0_B);
  EXPECT_EQ(s.pool.threshold(limits), 18'000);
  EXPECT_FALSE(s.pool.admit(s.pg, limits, 6'000).xoff_edge);
  EXPECT_TRUE(s.pool.admit(s.pg, limits, 1).xoff_edge);
}

TEST(BufferPool, AFullPoolPausesALosslessGroupThatHoldsNothingAndResumesIt) {
  OneShard s(1'000_B);
  PgBuffer other;
  const PgLimits greedy = PgLimits::of(static_profile(2'000_B, 0_B, false), 0_B);
  const PgLimits limits = PgLimits::of(dynamic_profile(-3), 500_B);
  ASSERT_EQ(s.pool.admit(other, greedy, 1'000).verdict, AdmitVerdict::accepted);
  EXPECT_EQ(s.pool.admit(other, greedy, 1).verdict, AdmitVerdict::shared_full);
  const Admission admission = s.pool.admit(s.pg, limits, 100);
  EXPECT_EQ(admission.verdict, AdmitVerdict::accepted);
  EXPECT_TRUE(admission.xoff_edge);
  EXPECT_EQ(s.headroom(), 100);
  EXPECT_TRUE(s.pool.release(s.pg, limits, 100));  // though the threshold is still 0
}

TEST(BufferPool, LossyGroupIsDroppedAtItsLimitAndNeverPauses) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(2'000_B, 0_B, false), 9'000_B);
  EXPECT_EQ(s.pool.admit(s.pg, limits, 2'000).verdict, AdmitVerdict::accepted);
  const Admission over = s.pool.admit(s.pg, limits, 1);
  EXPECT_EQ(over.verdict, AdmitVerdict::shared_full);
  EXPECT_FALSE(over.xoff_edge);
  EXPECT_EQ(s.used(), 2'000);
  EXPECT_EQ(s.headroom(), 0);
}

TEST(BufferPool, UnreadBacklogCountsTowardsXoffAndXon) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(10'000_B, 4'000_B), 3'000_B);
  EXPECT_FALSE(s.pool.admit(s.pg, limits, 1'000, 9'000).xoff_edge);
  EXPECT_TRUE(s.pool.admit(s.pg, limits, 1'000, 8'001).xoff_edge);
  EXPECT_EQ(s.used(), 2'000);  // not charged yet
  EXPECT_FALSE(s.pool.release(s.pg, limits, 500, 8'000));
  EXPECT_FALSE(s.pool.release(s.pg, limits, 500, 5'001));
  EXPECT_TRUE(s.pool.release(s.pg, limits, 500, 5'000));
}

// What was unread at XOFF was compared with the threshold of that time, and has its room there when
// others have taken so much of the pool that the threshold is lower.
TEST(BufferPool, WhatWasUnreadAtXoffIsNotChargedToHeadroomAsTheThresholdFalls) {
  for (const bool first_seen_ahead : {false, true}) {
    OneShard s(80'000_B);
    PgBuffer other;
    const PgLimits limits = PgLimits::of(dynamic_profile(-3), 3'000_B);
    const PgLimits greedy = PgLimits::of(static_profile(60'000_B, 0_B, false), 0_B);
    ASSERT_FALSE(s.pool.admit(s.pg, limits, 2'000).xoff_edge);
    if (first_seen_ahead)
      ASSERT_TRUE(s.pool.look_ahead(s.pg, limits, 8'000));
    else
      ASSERT_TRUE(s.pool.admit(s.pg, limits, 1'000, 7'000).xoff_edge);
    const int64_t level = s.pool.threshold(limits);
    ASSERT_EQ(s.pool.admit(other, greedy, 40'000).verdict, AdmitVerdict::accepted);
    ASSERT_LT(s.pool.threshold(limits), level - 4'000);
    while (s.used() <= level) {
      ASSERT_EQ(s.headroom(), 0);
      ASSERT_EQ(s.pool.admit(s.pg, limits, 500, 1'000).verdict, AdmitVerdict::accepted);
    }
    EXPECT_EQ(s.headroom(), 0) << "the packet that crosses it is shared, too";
    ASSERT_EQ(s.pool.admit(s.pg, limits, 500).verdict, AdmitVerdict::accepted);
    EXPECT_EQ(s.headroom(), 500) << "this was not here at XOFF";

    while (s.used() > 0) (void)s.pool.release(s.pg, limits, std::min<int64_t>(s.used(), 500));
    ASSERT_FALSE(s.pg.pausing());
    ASSERT_TRUE(s.pool.admit(s.pg, limits, 8'000).xoff_edge);
    (void)s.pool.admit(s.pg, limits, 500);
    EXPECT_EQ(s.headroom(), 500) << "nothing was unread at this XOFF";
  }
}

// Room that the pool no longer has is not given.
TEST(BufferPool, WhatWasUnreadAtXoffGoesToHeadroomWhereThePoolIsFull) {
  OneShard s(80'000_B);
  PgBuffer other;
  const PgLimits limits = PgLimits::of(dynamic_profile(-3), 3'000_B);
  const PgLimits greedy = PgLimits::of(static_profile(100'000_B, 0_B, false), 0_B);
  ASSERT_FALSE(s.pool.admit(s.pg, limits, 2'000).xoff_edge);
  ASSERT_TRUE(s.pool.look_ahead(s.pg, limits, 8'000));
  ASSERT_EQ(s.pool.admit(other, greedy, 78'000).verdict, AdmitVerdict::accepted);
  ASSERT_EQ(s.pool.admit(s.pg, limits, 500, 1'000).verdict, AdmitVerdict::accepted);
  EXPECT_EQ(s.headroom(), 500);
  EXPECT_EQ(s.pool.free_shared(), 0);
}

TEST(BufferPool, LooksAheadBeforeAPacketOfTheGroupIsAdmitted) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(10'000_B, 4'000_B), 3'000_B);
  EXPECT_FALSE(s.pool.admit(s.pg, limits, 1'000).xoff_edge);
  EXPECT_FALSE(s.pool.look_ahead(s.pg, limits, 9'000));
  EXPECT_FALSE(s.pg.pausing());
  EXPECT_TRUE(s.pool.look_ahead(s.pg, limits, 9'001));
  EXPECT_TRUE(s.pg.pausing());
  EXPECT_FALSE(s.pool.look_ahead(s.pg, limits, 9'001)) << "once";
  EXPECT_FALSE(s.pool.admit(s.pg, limits, 1'000, 9'001).xoff_edge) << "once";
  EXPECT_EQ(s.used(), 2'000) << "what is unread is not charged";
  EXPECT_FALSE(s.pool.release(s.pg, limits, 1'000, 5'001));
  EXPECT_TRUE(s.pool.release(s.pg, limits, 1'000, 5'000));
}

TEST(BufferPool, LooksAheadForAGroupThatHoldsNothing) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(dynamic_profile(-1), 3'000_B);
  EXPECT_FALSE(s.pool.look_ahead(s.pg, limits, 512 * 1'024));
  EXPECT_TRUE(s.pool.look_ahead(s.pg, limits, 512 * 1'024 + 1));
  EXPECT_TRUE(BufferPool::waits(s.pg));
  EXPECT_TRUE(s.pool.look_again(s.pg, limits, 0));
}

TEST(BufferPool, AnEmptyGroupDoesNotResumeIntoWhatIsUnread) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(10'000_B, 4'000_B), 3'000_B);
  EXPECT_TRUE(s.pool.admit(s.pg, limits, 1'000, 50'000).xoff_edge);
  EXPECT_FALSE(BufferPool::waits(s.pg)) << "a release will come";
  EXPECT_FALSE(s.pool.release(s.pg, limits, 1'000, 50'000));
  EXPECT_TRUE(BufferPool::waits(s.pg));
  EXPECT_FALSE(s.pool.look_again(s.pg, limits, 6'001));
  EXPECT_TRUE(s.pool.look_again(s.pg, limits, 6'000));
  EXPECT_FALSE(BufferPool::waits(s.pg));
  EXPECT_FALSE(s.pool.look_again(s.pg, limits, 0)) << "once";
}

// Its threshold is below what must be between XOFF and XON: there is no level to fall to.
TEST(BufferPool, AnEmptyGroupResumesWhenNothingIsUnread) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(2'000_B, 4'000_B), 3'000_B);
  EXPECT_TRUE(s.pool.admit(s.pg, limits, 2'001).xoff_edge);
  EXPECT_FALSE(s.pool.release(s.pg, limits, 2'001, 1));
  EXPECT_FALSE(s.pool.look_again(s.pg, limits, 1));
  EXPECT_TRUE(s.pool.look_again(s.pg, limits, 0));
}

// Both pools are used up by others, and the group holds exactly its reserve, or nothing: what comes
// next is lost, and the sender hears of it.
TEST(BufferPool, AGroupThatIsRefusedPausesItsSender) {
  for (const Bytes reserved : {0_B, 1'000_B}) {
    OneShard s(1'000_B);
    PgBuffer other;
    const PgLimits greedy = PgLimits::of(static_profile(2'000_B, 0_B, false), 0_B);
    ASSERT_EQ(s.pool.admit(other, greedy, 1'000).verdict, AdmitVerdict::accepted);
    config::BufferProfile profile = static_profile(9'000_B, 4'000_B);
    profile.reserved = reserved;
    const PgLimits limits = PgLimits::of(profile, 500_B);
    if (reserved > 0_B) {
      ASSERT_FALSE(s.pool.admit(s.pg, limits, 1'000).xoff_edge);
    }
    const Admission refused = s.pool.admit(s.pg, limits, 501);
    EXPECT_EQ(refused.verdict, AdmitVerdict::headroom_full);
    EXPECT_TRUE(refused.xoff_edge);
    EXPECT_EQ(BufferPool::waits(s.pg), reserved == 0_B);
    EXPECT_FALSE(s.pool.admit(s.pg, limits, 501).xoff_edge) << "an edge";
    const bool resumes =
        reserved > 0_B ? s.pool.release(s.pg, limits, 1'000) : s.pool.look_again(s.pg, limits, 0);
    EXPECT_TRUE(resumes);
  }
}

// Others have used the shared pool and most of the headroom pool: a group pauses its sender while
// it still fills its reserve, and nothing that comes within its headroom is lost.
TEST(BufferPool, AGroupPausesBeforeThePoolsOfAllAreUsedUp) {
  OneShard s(10'000_B);
  s.pool.resize(10'000_B, 4'000_B);
  PgBuffer lossy, crowded;
  const PgLimits greedy = PgLimits::of(static_profile(9'000_B, 0_B, false), 0_B);
  config::BufferProfile profile = static_profile(1'000_B, 0_B);
  profile.reserved = 1'000_B;
  const PgLimits limits = PgLimits::of(profile, 3'000_B);
  ASSERT_EQ(s.pool.admit(lossy, greedy, 9'000).verdict, AdmitVerdict::accepted);
  EXPECT_FALSE(s.pool.admit(s.pg, limits, 100).xoff_edge);
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(s.pool.admit(crowded, limits, 1'001).verdict, AdmitVerdict::accepted);
  ASSERT_EQ(crowded.headroom_used.load(), 1'001);
  EXPECT_FALSE(s.pool.admit(s.pg, limits, 100).xoff_edge) << "2,999 and 999 are left";
  ASSERT_EQ(s.pool.admit(crowded, limits, 999).verdict, AdmitVerdict::accepted);
  EXPECT_TRUE(s.pool.admit(s.pg, limits, 100).xoff_edge) << "2,000 and 999 are left";
  EXPECT_EQ(s.used(), 300);
  ASSERT_EQ(s.pool.admit(s.pg, limits, 700).verdict, AdmitVerdict::accepted);
  EXPECT_FALSE(s.pool.release(s.pg, limits, 1'000)) << "nothing has changed";
  EXPECT_TRUE(BufferPool::waits(s.pg));
  EXPECT_FALSE(s.pool.look_again(s.pg, limits, 0));
  EXPECT_FALSE(s.pool.release(crowded, limits, 1'000));
  EXPECT_TRUE(s.pool.look_again(s.pg, limits, 0));
}

TEST(BufferPool, SmallFramesAreChargedByTheCell) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(256'000_B, 4'000_B), 1'024_B);
  const int64_t charge = round_to_cells(60, 256);
  for (int i = 0; i < 1'000; ++i) ASSERT_FALSE(s.pool.admit(s.pg, limits, charge).xoff_edge) << i;
  EXPECT_TRUE(s.pool.admit(s.pg, limits, charge).xoff_edge);
  for (int i = 0; i < 4; ++i)
    ASSERT_EQ(s.pool.admit(s.pg, limits, charge).verdict, AdmitVerdict::accepted);
  EXPECT_EQ(s.pool.admit(s.pg, limits, charge).verdict, AdmitVerdict::headroom_full);
}

using enum WatermarkKind;

TEST(BufferPool, KeepsUserAndPersistentWatermarks) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(10'000_B, 0_B), 3'000_B);
  (void)s.pool.admit(s.pg, limits, 3'000);
  (void)s.pool.admit(s.pg, limits, 2'000);
  (void)s.pool.release(s.pg, limits, 4'000);
  EXPECT_EQ(s.pg.shared_watermarks.read(user), 5'000);
  s.pg.shared_watermarks.clear(user, s.pg.outside_headroom());
  EXPECT_EQ(s.pg.shared_watermarks.read(user), 1'000);
  (void)s.pool.admit(s.pg, limits, 1'000);
  EXPECT_EQ(s.pg.shared_watermarks.read(user), 2'000);
  EXPECT_EQ(s.pg.shared_watermarks.read(persistent), 5'000);
  s.pg.shared_watermarks.clear(persistent, s.pg.outside_headroom());
  EXPECT_EQ(s.pg.shared_watermarks.read(persistent), 2'000);
}

// XOFF at 10,000 octets: what is above is headroom's, of the group and of the pool.
TEST(BufferPool, WatermarksOfHeadroomStandApart) {
  OneShard s(1_MiB);
  const PgLimits limits = PgLimits::of(static_profile(10'000_B, 0_B), 5'000_B);
  PgBuffer other;
  for (PgBuffer* pg : {&s.pg, &other}) {
    ASSERT_EQ(s.pool.admit(*pg, limits, 12'000).verdict, AdmitVerdict::accepted);
    EXPECT_EQ(pg->headroom_watermarks.read(user), 0);
    ASSERT_EQ(s.pool.admit(*pg, limits, 3'000).verdict, AdmitVerdict::accepted);
    EXPECT_EQ(pg->shared_watermarks.read(user), 12'000);
    EXPECT_EQ(pg->headroom_watermarks.read(user), 3'000);
    EXPECT_EQ(pg->headroom_watermarks.read(persistent), 3'000);
  }
  EXPECT_EQ(s.use[0].headroom_watermarks.read(user), 6'000);
  (void)s.pool.release(s.pg, limits, 2'000);
  s.pool.clear_headroom_watermark(user);
  EXPECT_EQ(s.use[0].headroom_watermarks.read(user), 4'000);
  EXPECT_EQ(s.use[0].headroom_watermarks.read(persistent), 6'000);
}

// What all shards hold, as each has seen it at its last poll.
TEST(BufferPool, WatermarksOfThePoolAreOfAllShards) {
  std::array<PoolUse, 2> use;
  BufferPool a(use, ShardId(0), 10'000_B);
  BufferPool b(use, ShardId(1), 10'000_B);
  PgBuffer pg_a;
  PgBuffer pg_b;
  const PgLimits limits = PgLimits::of(dynamic_profile(0, false), 0_B);
  (void)a.admit(pg_a, limits, 4'000);
  a.mark_shared();
  b.begin_poll();
  (void)b.admit(pg_b, limits, 1'000);
  b.mark_shared();
  EXPECT_EQ(use[0].shared_watermarks.read(user), 4'000);
  EXPECT_EQ(use[1].shared_watermarks.read(user), 5'000);
  (void)a.release(pg_a, limits, 3'000);
  b.begin_poll();
  b.clear_shared_watermark(persistent);
  EXPECT_EQ(use[1].shared_watermarks.read(persistent), 2'000);
  EXPECT_EQ(use[1].shared_watermarks.read(user), 5'000);
}

TEST(BufferPool, ShardsSeeEachOtherAtTheNextPoll) {
  std::array<PoolUse, 2> use;
  BufferPool a(use, ShardId(0), 10'000_B);
  BufferPool b(use, ShardId(1), 10'000_B);
  PgBuffer pg_a;
  PgBuffer pg_b;
  const PgLimits limits = PgLimits::of(dynamic_profile(0, false), 0_B);
  (void)a.admit(pg_a, limits, 4'000);
  EXPECT_EQ(b.free_shared(), 10'000);
  b.begin_poll();
  EXPECT_EQ(b.free_shared(), 6'000);
  EXPECT_EQ(b.admit(pg_b, limits, 6'001).verdict, AdmitVerdict::shared_full);
  EXPECT_EQ(b.admit(pg_b, limits, 6'000).verdict, AdmitVerdict::accepted);
  a.begin_poll();
  EXPECT_EQ(a.free_shared(), 0);
  EXPECT_EQ(a.threshold(limits), 0);
}

TEST(BufferPool, WhatOthersHoldIsFoundWhereAPollFirstAsks) {
  std::array<PoolUse, 2> use;
  BufferPool a(use, ShardId(0), 10'000_B);
  BufferPool b(use, ShardId(1), 10'000_B);
  PgBuffer pg;
  const PgLimits limits = PgLimits::of(dynamic_profile(0, false), 0_B);
  b.begin_poll();
  (void)a.admit(pg, limits, 1'000);
  EXPECT_EQ(b.free_shared(), 9'000);
  (void)a.admit(pg, limits, 2'000);
  EXPECT_EQ(b.free_shared(), 9'000) << "the same for all of the poll";
  b.begin_poll();
  EXPECT_EQ(b.free_shared(), 7'000);
}

// All that PGs and pools hold and show.
std::vector<int64_t> state_of(const std::array<PgBuffer, 3>& pgs, const PoolUse& use) {
  std::vector<int64_t> state = {use.shared.load(), use.headroom.load(),
                                use.shared_watermarks.read(WatermarkKind::user)};
  for (const PgBuffer& pg : pgs)
    for (const int64_t each : {pg.used.load(), pg.headroom_used.load(), int64_t{pg.pausing()},
                               pg.shared_watermarks.read(WatermarkKind::user)})
      state.push_back(each);
  return state;
}

// Random bursts of random groups, at once where the pool takes them at once, against one packet
// after another: where it does, none of them is refused or pauses anybody, and all ends alike.
TEST(BufferPool, ABurstAtOnceEndsAsPacketByPacketDoes) {
  RandomStream random(3, 1, 4);
  int at_once = 0;
  int not_at_once = 0;
  for (int round = 0; round < 3'000; ++round) {
    const bool one_headroom = random.below(3) == 0;
    std::array<PgLimits, 3> limits;
    for (PgLimits& each : limits) {
      config::BufferProfile profile = random.below(2) == 0
                                          ? static_profile(Bytes(random.below(20'000)), 0_B)
                                          : dynamic_profile(static_cast<int>(random.below(5)) - 2);
      profile.lossless = random.below(3) != 0;
      profile.reserved = Bytes(random.below(4'000));
      each = PgLimits::of(profile, 3'000_B);
    }
    std::array<PgBuffer, 3> pgs, others;
    std::array<PoolUse, 1> use, other_use;
    BufferPool pool(use, ShardId(0), 0_B), other(other_use, ShardId(0), 0_B);
    const Bytes shared(random.below(40'000));
    for (BufferPool* each : {&pool, &other})
      each->resize(shared, one_headroom ? 4'000_B : BufferPool::kNoLimit);
    for (size_t i = 0; i < pgs.size(); ++i) pgs[i].limits = others[i].limits = &limits[i];
    for (int burst = 0; burst < 8; ++burst) {
      const int64_t backlog = random.below(3) == 0 ? random.below(5'000) : 0;
      std::vector<std::pair<size_t, int64_t>> packets;  // group, charge
      std::array<int64_t, 3> charges{};
      for (uint32_t i = 1 + random.below(8); i > 0; --i) {
        packets.emplace_back(random.below(3), 64 + random.below(1'400));
        charges[packets.back().first] += packets.back().second;
      }
      std::vector<BufferPool::Demand> demands;
      for (size_t i = 0; i < charges.size(); ++i)
        if (charges[i] != 0) demands.push_back({&pgs[i], charges[i]});
      const std::vector<int64_t> before = state_of(pgs, use[0]);
      const bool taken = pool.admit_all(demands, backlog);
      ++(taken ? at_once : not_at_once);
      if (!taken) {
        ASSERT_EQ(state_of(pgs, use[0]), before) << "nothing is done";
      }
      for (const auto& [pg, charge] : packets) {
        const Admission admission = other.admit(others[pg], limits[pg], charge, backlog);
        if (taken) {
          ASSERT_EQ(admission.verdict, AdmitVerdict::accepted);
          ASSERT_FALSE(admission.xoff_edge);
        } else {
          (void)pool.admit(pgs[pg], limits[pg], charge, backlog);
        }
      }
      ASSERT_EQ(state_of(pgs, use[0]), state_of(others, other_use[0]));
    }
  }
  EXPECT_GT(at_once, 1'000);
  EXPECT_GT(not_at_once, 1'000);
}

TEST(BufferPool, LossyQueueLimitIsAPowerOfTwoOfTheFreePool) {
  OneShard s(8'000_B);
  EXPECT_TRUE(s.pool.admit_queue(7'000, 1'000, PowerOfTwo(0)));
  EXPECT_FALSE(s.pool.admit_queue(7'000, 1'001, PowerOfTwo(0)));
  EXPECT_TRUE(s.pool.admit_queue(0, 2'000, PowerOfTwo(-2)));
  EXPECT_FALSE(s.pool.admit_queue(1, 2'000, PowerOfTwo(-2)));
  EXPECT_TRUE(s.pool.admit_queue(15'000, 1'000, PowerOfTwo(1)));
}

TEST(BufferPool, NewLimitsKeepTheAccountsAndMayResume) {
  OneShard s(1_MiB);
  const PgLimits before = PgLimits::of(static_profile(2'000_B, 0_B), 3'000_B);
  (void)s.pool.admit(s.pg, before, 2'000);
  EXPECT_TRUE(s.pool.admit(s.pg, before, 1'000).xoff_edge);
  config::BufferProfile wider = static_profile(9'000_B, 0_B);
  wider.reserved = 1'000_B;
  const PgLimits now = PgLimits::of(wider, 3'000_B);
  EXPECT_TRUE(s.pool.relimit(s.pg, before.reserved, now));
  EXPECT_EQ(s.shared(), 2'000);
  EXPECT_FALSE(s.pool.release(s.pg, now, 3'000));
  EXPECT_EQ(s.shared(), 0);
}

// What is foreseen of a charge is what admit() does with it, and asking changes nothing.
TEST(BufferPool, ForeseesWhatItWillDo) {
  RandomStream draw(3, 1, 1);
  std::array<size_t, 4> seen{};  // shared, in headroom, refused, pauses
  for (int round = 0; round < 40; ++round) {
    OneShard one(Bytes(30'000 + draw.below(30'000)));
    if (round % 4 == 3) one.pool.resize(40'000_B, 6'000_B);
    const bool lossless = round % 3 != 0;
    const config::BufferProfile profile =
        round % 2 == 0 ? static_profile(Bytes(8'000 + draw.below(20'000)), 4'000_B, lossless)
                       : dynamic_profile(static_cast<int>(draw.below(3)) - 1, lossless);
    const PgLimits limits = PgLimits::of(profile, 5'000_B);
    one.pg.limits = &limits;
    std::vector<int64_t> held;
    for (int i = 0; i < 300; ++i) {
      if (!held.empty() && draw.below(3) == 0) {
        (void)one.pool.release(one.pg, limits, held.back());
        held.pop_back();
        continue;
      }
      const int64_t charge = 64 + draw.below(2'000);
      const int64_t backlog = draw.below(4) == 0 ? draw.below(6'000) : 0;
      const Foresight said = one.pool.foresee(one.pg, limits, charge, backlog);
      const int64_t used = one.used();
      ASSERT_EQ(one.pool.foresee(one.pg, limits, charge, backlog).pauses, said.pauses);
      const int64_t headroom = one.headroom();
      const Admission done = one.pool.admit(one.pg, limits, charge, backlog);
      ASSERT_EQ(said.verdict, done.verdict) << "round " << round << ", " << i;
      ASSERT_EQ(said.pauses, done.xoff_edge) << "round " << round << ", " << i;
      ASSERT_EQ(said.in_headroom, one.headroom() > headroom);
      const bool taken = done.verdict == AdmitVerdict::accepted;
      ASSERT_EQ(one.used() - used, taken ? charge : 0);
      if (taken) held.push_back(charge);
      ++seen[!taken ? 2 : said.in_headroom ? 1 : 0];
      seen[3] += said.pauses ? 1 : 0;
    }
  }
  for (const size_t times : seen) EXPECT_GT(times, 20u);
}

}  // namespace
}  // namespace eddy::pfc
