#include "lb/path_table.h"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "lb/registry.h"
#include "net/random.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;

constexpr QueueId kQueue(3);
constexpr Instant kNow = Instant::at(1'000_us);

struct Rig {
  std::array<PathSet, 2> sets = {test::make_set(3), test::make_set(2)};
  PathTable table{sets, {.base_rtt = 16_us, .one_way = false, .measured = {.queues = 1 << 3}}};
};

TEST(PathTable, KnowsNothingAtFirst) {
  Rig rig;
  EXPECT_EQ(rig.table.delay(0, 2, kNow), std::nullopt);
  EXPECT_EQ(rig.table.least_delay(0, 2), 16_us);
  EXPECT_EQ(rig.table.arrived_before(0, 2, kQueue), Instant{});
  EXPECT_EQ(rig.table.failed(1), 0u);
}

TEST(PathTable, ABaseDelayOneWayIsHalfARoundTrip) {
  Rig rig;
  EXPECT_EQ(rig.table.base_delay(), 16_us);
  const PathTable one_way(rig.sets, {.base_rtt = 16_us, .one_way = true});
  EXPECT_EQ(one_way.base_delay(), 8_us);
}

TEST(PathTable, SmoothsDelaysByAQuarterAndKeepsTheLeast) {
  Rig rig;
  rig.table.take_delay(1, 1, 20_us, kNow);
  EXPECT_EQ(rig.table.delay(1, 1, kNow), 20_us);
  rig.table.take_delay(1, 1, 28_us, kNow);
  EXPECT_EQ(rig.table.delay(1, 1, kNow), 22_us);
  EXPECT_EQ(rig.table.least_delay(1, 1), 20_us);
  rig.table.take_delay(1, 1, 10_us, kNow);
  EXPECT_EQ(rig.table.delay(1, 1, kNow), 19_us);
  EXPECT_EQ(rig.table.least_delay(1, 1), 10_us);
  EXPECT_EQ(rig.table.delay(0, 1, kNow), std::nullopt) << "another set's member";
}

TEST(PathTable, SmoothingReachesTheSample) {
  Rig rig;
  rig.table.take_delay(0, 0, 20_us, kNow);
  for (int i = 0; i < 40; ++i) rig.table.take_delay(0, 0, 10_us, kNow);
  EXPECT_EQ(rig.table.delay(0, 0, kNow), 10_us);
}

TEST(PathTable, ASampleIsGoodForSixteenRoundTrips) {
  Rig rig;
  rig.table.take_delay(0, 0, 20_us, kNow);
  EXPECT_EQ(rig.table.delay(0, 0, kNow + 256_us), 20_us);
  EXPECT_EQ(rig.table.delay(0, 0, kNow + 257_us), std::nullopt);
  EXPECT_EQ(rig.table.least_delay(0, 0), 20_us) << "which does not go stale";
  rig.table.take_delay(0, 0, 30_us, kNow + 300_us);
  rig.table.at(0, 0).forget();
  EXPECT_EQ(rig.table.delay(0, 0, kNow + 300_us), std::nullopt);
}

TEST(PathTable, ASampleAtTheVeryBeginningCounts) {
  Rig rig;
  rig.table.take_delay(0, 0, 0_us, Instant{});
  EXPECT_EQ(rig.table.delay(0, 0, Instant{}), 0_us);
}

TEST(PathTable, AgesAreRightWhenMicrosecondsWrap) {
  Rig rig;
  const Instant late = Instant::at(Duration::microseconds(int64_t{UINT32_MAX} - 50));
  rig.table.take_delay(0, 0, 20_us, late);
  EXPECT_EQ(rig.table.at(0, 0).age(late + 100_us), 100_us);
  EXPECT_EQ(rig.table.delay(0, 0, late + 300_us), std::nullopt);
}

// A switch that stood still for 40 minutes: what it heard before is old, and is forgotten.
TEST(PathTable, AnAgePastHalfOfTheWrapIsNoYouth) {
  Rig rig;
  PathRecord& record = rig.table.at(0, 0);
  record.take_congestion(35, kNow);
  rig.table.take_delay(0, 0, 20_us, kNow);
  for (const Duration age :
       {2'147'483'647_us, 2'147'483'648_us, 2'400'000'000_us, 4'200'000'000_us}) {
    EXPECT_EQ(record.congestion_age(kNow + age), age);
    EXPECT_EQ(record.age(kNow + age), age);
    EXPECT_EQ(rig.table.delay(0, 0, kNow + age), std::nullopt);
  }
  EXPECT_EQ(record.congestion_age(kNow - 5_us), 0_us) << "of a shard whose clock is behind";
  record.forget_old_congestion(kNow + 2'400'000'000_us);
  EXPECT_EQ(record.congestion.load(), 0);
}

TEST(PathTable, OnlyAProvingEchoShowsWhatArrived) {
  Rig rig;
  rig.table.take_echo(0, 1, kNow, /*proves=*/true);
  EXPECT_EQ(rig.table.arrived_before(0, 1, kQueue), kNow);
  EXPECT_EQ(rig.table.arrived_before(0, 1, QueueId(4)), Instant{}) << "no stamps wait there";
  rig.table.take_echo(0, 1, kNow + 5_us, /*proves=*/false);
  EXPECT_EQ(rig.table.arrived_before(0, 1, kQueue), Instant{});
  EXPECT_EQ(rig.table.at(0, 1).echoed(), kNow + 5_us);
}

// What came through behind isolated packets proves that both have arrived, whatever a later echo
// does not prove.
TEST(PathTable, ASweepShowsWhatArrivedInBothClasses) {
  constexpr QueueId kIsolated(4);
  constexpr PriorityGroupId kGroup(3);
  Rig rig;
  PathTable table(rig.sets,
                  {.base_rtt = 16_us,
                   .measured = {.queues = 1 << 3, .swept_queues = 1 << 4, .swept_group = kGroup}});
  EXPECT_EQ(table.arrived_before(0, 1, kIsolated, kGroup), Instant{});
  table.take_echo(0, 1, kNow, /*proves=*/true);
  EXPECT_EQ(table.arrived_before(0, 1, kIsolated, kGroup), kNow) << "nothing waited isolated";
  table.take_sweep(0, 1, kNow + 5_us);
  table.take_echo(0, 1, kNow + 6_us, /*proves=*/false);
  EXPECT_EQ(table.arrived_before(0, 1, kIsolated, kGroup), kNow + 5_us);
  EXPECT_EQ(table.arrived_before(0, 1, kQueue, kGroup), kNow + 5_us);
  EXPECT_EQ(table.arrived_before(0, 1, kQueue), kNow + 5_us);
  EXPECT_EQ(table.arrived_before(0, 1, kIsolated, PriorityGroupId(4)), Instant{})
      << "packets that are of that class themselves";
  EXPECT_EQ(table.arrived_before(0, 0, kIsolated, kGroup), Instant{}) << "another path";
  EXPECT_EQ(PathArrivals::step_of(kNow + 6_us) - PathArrivals::step_of(kNow + 5_us),
            table.arrivals().reader().ago(0, 1, PathArrivals::step_of(kNow + 6_us)));
}

TEST(PathTable, AProofIsOlderThanItsStampByTheLag) {
  Rig rig;
  PathTable lagging(rig.sets,
                    {.base_rtt = 16_us, .proof_lag = 4_us, .measured = {.queues = 1 << 3}});
  EXPECT_EQ(lagging.arrived_before(0, 1, kQueue), Instant{});
  lagging.take_echo(0, 1, kNow, /*proves=*/true);
  EXPECT_EQ(lagging.arrived_before(0, 1, kQueue), kNow - 4_us);
}

// Every word, also those of paths that are in several sets.
void expect_same_arrivals(const PathTable& table, std::span<const PathSet> sets, Instant now) {
  const PathArrivals::Reader arrivals = table.arrivals().reader();
  for (size_t set = 0; set < sets.size(); ++set)
    for (MemberIndex member = 0; member < sets[set].count; ++member) {
      const Instant before = table.arrived_before(set, member);
      const uint64_t ago = arrivals.ago(set, member, PathArrivals::step_of(now));
      if (before == Instant{})
        EXPECT_GT(ago, uint64_t{1} << 60) << set << ' ' << int{member};
      else
        EXPECT_EQ(ago, PathArrivals::step_of(now) - PathArrivals::step_of(before))
            << set << ' ' << int{member};
    }
}

TEST(PathTable, ShowsInStepsWhatHasArrived) {
  std::array<PathSet, 4> sets = {test::make_set(3), test::make_set(5), test::make_set(1),
                                 test::make_set(4, 9)};
  const std::array<LeafId, 4> leaves = {LeafId(7), LeafId(7), LeafId(7), LeafId(8)};
  PathTable table(sets, {.base_rtt = 16_us, .proof_lag = 3_us, .measured = {.queues = 1 << 3}},
                  leaves);
  RandomStream random(3, 1, 4);
  Instant now = kNow;
  expect_same_arrivals(table, sets, now);
  for (int i = 0; i < 300; ++i) {
    const size_t set = random.below(4);
    now = now + Duration::nanoseconds(random.below(3'000));
    table.take_echo(set, static_cast<MemberIndex>(random.below(sets[set].count)), now,
                    random.below(3) != 0);
    if (i % 50 == 49) {
      const Rebase rebase(i % 100 == 49 ? Rebase::Way::forward : Rebase::Way::back);
      table.rebase(rebase);
      now = rebase(now);
    }
    expect_same_arrivals(table, sets, now);
  }
}

// Two sets would have one row.
TEST(PathTable, ShowsNothingOfMoreSetsThanAreToldApart) {
  const std::vector<PathSet> sets(PathArrivals::kRows + 1, test::make_set(2));
  PathTable table(sets, {.base_rtt = 16_us, .measured = {.queues = 1 << 3}});
  const PathArrivals::Reader arrivals = table.arrivals().reader();
  table.take_echo(PathArrivals::kRows, 1, kNow, /*proves=*/true);
  for (size_t row = 0; row < PathArrivals::kRows; ++row)
    ASSERT_GT(arrivals.ago(row, 1, PathArrivals::step_of(kNow)), uint64_t{1} << 60);
}

TEST(PathTable, ThePathsOfSetsToOneLeafAreOne) {
  Rig rig;
  rig.sets[1].members[0] = rig.sets[0].members[2];
  const std::array<LeafId, 2> leaves = {LeafId(7), LeafId(7)};
  PathTable table(rig.sets, {.base_rtt = 16_us}, leaves);
  table.take_delay(0, 2, 20_us, kNow);
  EXPECT_EQ(table.delay(1, 0, kNow), 20_us);
  EXPECT_EQ(table.delay(0, 0, kNow), std::nullopt);
  rig.table.take_delay(0, 1, 20_us, kNow);
  EXPECT_EQ(rig.table.delay(1, 1, kNow), std::nullopt) << "another leaf's";
}

TEST(PathTable, LeadsAreOfDelaysAsMeasuredLast) {
  Rig rig;
  rig.sets[1].members[0] = rig.sets[0].members[2];
  const std::array<LeafId, 2> leaves = {LeafId(7), LeafId(7)};
  PathTable table(rig.sets, {.base_rtt = 16_us}, leaves);
  table.take_delay(0, 1, 20_us, kNow);
  table.take_delay(0, 2, 50_us, kNow);
  EXPECT_EQ(table.leads().ns(0, 2, 1), 30'000);
  EXPECT_EQ(table.leads().ns(0, 1, 2), -30'000);
  table.take_delay(1, 0, 30_us, kNow);
  EXPECT_EQ(table.leads().ns(0, 2, 1), 25'000) << "the path has two names";
  table.take_delay(1, 1, 5_us, kNow);
  EXPECT_EQ(table.leads().ns(1, 0, 1), 28'750) << "this one, too";
  table.at(0, 2).forget();
  EXPECT_EQ(table.leads().ns(0, 2, 1), 28'750) << "however long ago";
}

TEST(PathTable, SmoothingByAnyNumberRoundsTowardsWhatItHolds) {
  Rig rig;
  for (const int64_t smoothing : {1, 2, 3, 4, 7, 64}) {
    int64_t held = 20'000;
    rig.table.at(0, 0).forget();
    rig.table.take_delay(0, 0, Duration::nanoseconds(held), kNow, smoothing);
    for (const int64_t sample :
         std::array<int64_t, 6>{29'999, 8, 20'001, 20'000, 4'000'000'001, 1}) {
      const int64_t step = (sample - held) / smoothing;
      held = step != 0 ? held + step : sample;
      rig.table.take_delay(0, 0, Duration::nanoseconds(sample), kNow, smoothing);
      EXPECT_EQ(rig.table.delay(0, 0, kNow), Duration::nanoseconds(held)) << smoothing;
    }
  }
}

TEST(PathTable, AShareOfMarksMovesByAQuarter) {
  Rig rig;
  PathRecord& record = rig.table.at(0, 1);
  record.take_marks(100, 100);
  EXPECT_EQ(record.marked, 65'535 / 4);
  record.take_marks(100, 250);
  EXPECT_EQ(record.marked, 16'383 + (65'535 - 16'383) / 4) << "never more than all";
  for (int i = 0; i < 60; ++i) record.take_marks(10, 0);
  EXPECT_EQ(record.marked, 0);
}

TEST(PathTable, CongestionHasAnAgeOfItsOwn) {
  Rig rig;
  PathRecord& record = rig.table.at(0, 1);
  EXPECT_EQ(record.congestion_age(kNow), Duration::max());
  record.take_congestion(200, kNow);
  EXPECT_EQ(record.congestion, 200);
  EXPECT_EQ(record.congestion_age(kNow + 7_us), 7_us);
  record.forget_old_congestion(kNow + 1'799_s);
  EXPECT_EQ(record.congestion, 200);
  record.forget_old_congestion(kNow + 1'800_s);
  EXPECT_EQ(record.congestion, 0);
  EXPECT_EQ(record.congestion_age(kNow), Duration::max());
  EXPECT_FALSE(record.known());
}

TEST(PathTable, SuspicionSaturatesAndASampleEndsIt) {
  Rig rig;
  PathRecord& record = rig.table.at(0, 1);
  for (int i = 0; i < 300; ++i) record.suspect();
  EXPECT_EQ(record.suspicion, 255);
  rig.table.take_delay(0, 1, 20_us, kNow);
  EXPECT_EQ(record.suspicion, 0);
}

TEST(PathTable, FailedMembersAreAMaskASet) {
  Rig rig;
  rig.table.set_failed(0, 2, PathFailure::silent);
  rig.table.set_failed(0, 0, PathFailure::silent);
  rig.table.set_failed(0, 2, PathFailure::none);
  EXPECT_EQ(rig.table.failed(0), 0b001u);
  EXPECT_EQ(rig.table.failed(1), 0u);
}

TEST(PathTable, AViewShowsIt) {
  test::Paths paths({test::make_set(2)});
  EXPECT_EQ(paths.view().paths(), nullptr);
  paths.measure(0, 1, 9_us, kNow);
  EXPECT_EQ(paths.measured_view(kNow).paths()->delay(0, 1, kNow), 9_us);
}

TEST(PathTable, SchemesSayWhatTheyNeed) {
  EXPECT_EQ(shim_need("ecmp", false), ShimNeed::none);
  EXPECT_EQ(shim_need("ecmp", true), ShimNeed::sampled) << "RLB does";
  EXPECT_EQ(shim_need("no such scheme", true), ShimNeed::none);
}

}  // namespace
}  // namespace eddy::lb
