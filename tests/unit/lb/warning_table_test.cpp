#include "lb/warning_table.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace eddy::lb {
namespace {

std::optional<PortId> expired_port(WarningTable& table, Instant now) {
  const auto ended = table.expire_one(now);
  return ended ? std::optional(ended->port) : std::nullopt;
}

using namespace eddy::literals;

constexpr QueueId kQueue(3);
constexpr QueueId kOther(4);
constexpr LeafId kLeaf5(5);
constexpr LeafId kLeaf6(6);

// Two leaves behind three uplinks, ports 8 to 10; leaf 6 is not behind the last.
std::array<PathSet, 2> two_leaves() {
  std::array<PathSet, 2> sets;
  sets[0].leaf = kLeaf5;
  sets[1].leaf = kLeaf6;
  for (PathSet& set : sets)
    for (size_t i = 0; i < 3; ++i) set.members[set.count++] = {PortId(8 + i), PathId(i)};
  sets[1].count = 2;
  return sets;
}

struct Rig {
  MarkEffect mark(WarningMark mark) { return table.mark(mark); }
  MemberMask warned(size_t set) const { return table.warned(set, kQueue); }
  WarningTable table{two_leaves(), 12};
};

WarningMark warning(PortId port, LeafId leaf, uint32_t sequence, Duration until = 24_us) {
  return {.port = port,
          .leaf = leaf,
          .queue = kQueue,
          .severity = 20,
          .sequence = sequence,
          .source = 77,
          .expiry = Instant::at(until)};
}

WarningMark pause(PortId port, uint32_t sequence, Instant until = Instant::never()) {
  return {.port = port,
          .queue = kQueue,
          .severity = 63,
          .is_pause = true,
          .sequence = sequence,
          .source = 1,
          .expiry = until};
}

WarningMark clear(PortId port, LeafId leaf, uint32_t sequence) {
  WarningMark mark = warning(port, leaf, sequence);
  mark.severity = 0;
  return mark;
}

TEST(WarningTable, OfALeafConcernsItsSetAlone) {
  Rig rig;
  EXPECT_TRUE(rig.table.quiet());
  EXPECT_EQ(rig.mark(warning(PortId(9), kLeaf5, 1)), MarkEffect::begun);
  EXPECT_EQ(rig.warned(0), 0b010u);
  EXPECT_EQ(rig.warned(1), 0u);
  EXPECT_EQ(rig.table.warned(0, QueueId(4)), 0u) << "another queue";
  EXPECT_EQ(rig.table.severity(0, 1, kQueue), 20);
  EXPECT_EQ(rig.table.severity(0, 0, kQueue), 0);
  EXPECT_FALSE(rig.table.quiet());
}

TEST(WarningTable, OfAPortConcernsEveryLeafBehindIt) {
  Rig rig;
  rig.mark(warning(PortId(8), LeafId::none(), 1));
  EXPECT_EQ(rig.warned(0), 0b001u);
  EXPECT_EQ(rig.warned(1), 0b001u);
  rig.mark(warning(PortId(10), LeafId::none(), 1));
  EXPECT_EQ(rig.warned(0), 0b101u);
  EXPECT_EQ(rig.warned(1), 0b001u);
}

TEST(WarningTable, ALeafOrPortThatIsOnNoPathChangesNothing) {
  Rig rig;
  EXPECT_EQ(rig.mark(warning(PortId(8), LeafId(7), 1)), MarkEffect::ignored);
  EXPECT_EQ(rig.mark(warning(PortId(10), kLeaf6, 1)), MarkEffect::ignored);
  EXPECT_TRUE(rig.table.quiet());
}

// A worse warning of another queue, by another source, leaves this one where it is.
TEST(WarningTable, QueuesHaveEntriesOfTheirOwn) {
  for (const LeafId leaf : {LeafId::none(), kLeaf5}) {
    Rig rig;
    rig.mark(warning(PortId(9), leaf, 1));
    WarningMark other = warning(PortId(9), leaf, 1, 30_us);
    other.source = 78;
    other.severity = 30;
    other.queue = kOther;
    EXPECT_EQ(rig.mark(other), MarkEffect::begun);
    EXPECT_EQ(rig.table.active(), 2u);
    EXPECT_EQ(rig.warned(0), 0b010u);
    EXPECT_EQ(rig.table.warned(0, kOther), 0b010u);
    EXPECT_EQ(rig.table.severity(0, 1, kQueue), 20);
    EXPECT_EQ(rig.table.severity(0, 1, kOther), 30);
    EXPECT_EQ(rig.mark(warning(PortId(9), leaf, 2, 32_us)), MarkEffect::refreshed);
    EXPECT_EQ(expired_port(rig.table, Instant::at(31_us)), PortId(9));
    EXPECT_EQ(rig.table.warned(0, kOther), 0u);
    EXPECT_EQ(rig.warned(0), 0b010u);
    EXPECT_EQ(rig.table.warned_until(0, 1), Instant::at(32_us)) << "of all queues";
  }
}

// Of a pause and a warning of the same port and time.
TEST(WarningTable, SaysWhetherWhatEndedWasAPause) {
  Rig rig;
  rig.mark(warning(PortId(9), LeafId::none(), 1, 30_us));
  rig.mark(pause(PortId(9), 1, Instant::at(20_us)));
  rig.mark(warning(PortId(9), kLeaf5, 2, 40_us));
  for (const Duration at : {20_us, 30_us, 40_us}) {
    const auto ended = rig.table.expire_one(Instant::at(at));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->port, PortId(9));
    EXPECT_EQ(ended->was_pause, at == 20_us);
  }
}

TEST(WarningTable, APauseAmongTheWarningsEndsAsOne) {
  WarningTable table(two_leaves(), 12, {.pauses_apart = false});
  table.mark(pause(PortId(9), 1, Instant::at(20_us)));
  EXPECT_FALSE(table.expire_one(Instant::at(20_us))->was_pause);
}

TEST(WarningTable, AQueueWithoutLosslessTrafficHasNoEntry) {
  WarningTable table(two_leaves(), 12, {.queues = 0x10});
  EXPECT_EQ(table.mark(warning(PortId(9), kLeaf5, 1)), MarkEffect::ignored);
  EXPECT_EQ(table.mark(pause(PortId(9), 1)), MarkEffect::ignored);
  EXPECT_TRUE(table.quiet());
  EXPECT_EQ(table.severity(0, 1, kQueue), 0);
  WarningMark other = warning(PortId(9), kLeaf5, 1);
  other.queue = kOther;
  EXPECT_EQ(table.mark(other), MarkEffect::begun);
  EXPECT_EQ(table.warned(0, kOther), 0b010u);
  EXPECT_EQ(expired_port(table, Instant::at(24_us)), PortId(9));
  EXPECT_EQ(table.warned(0, kOther), 0u);
}

TEST(WarningTable, APauseStandsBesideTheWarningOfItsPort) {
  Rig rig;
  rig.mark(warning(PortId(9), LeafId::none(), 1));
  EXPECT_EQ(rig.mark(pause(PortId(9), 1)), MarkEffect::begun);
  EXPECT_EQ(rig.table.severity(0, 1, kQueue), 63);
  EXPECT_EQ(rig.table.warned_until(0, 1), Instant::never());
  EXPECT_EQ(rig.mark(warning(PortId(9), LeafId::none(), 2, 40_us)), MarkEffect::refreshed)
      << "milder than the pause, and heard all the same";
  rig.mark(pause(PortId(9), 2, Instant::at(30_us)));
  EXPECT_EQ(expired_port(rig.table, Instant::at(30_us)), PortId(9));
  EXPECT_EQ(rig.warned(0), 0b010u) << "the warning goes on";
  EXPECT_EQ(rig.table.severity(0, 1, kQueue), 20);
  EXPECT_EQ(rig.mark(clear(PortId(9), LeafId::none(), 3)), MarkEffect::cleared);
  EXPECT_EQ(rig.warned(0), 0u);
}

TEST(WarningTable, AClearDoesNotEndAPause) {
  Rig rig;
  rig.mark(warning(PortId(9), LeafId::none(), 1));
  rig.mark(pause(PortId(9), 1));
  EXPECT_EQ(rig.mark(clear(PortId(9), LeafId::none(), 2)), MarkEffect::cleared);
  EXPECT_EQ(rig.warned(0), 0b010u);
  EXPECT_EQ(rig.warned(1), 0b010u);
  EXPECT_EQ(rig.table.active(), 1u);
}

// As the papers' presets have it.
TEST(WarningTable, APauseMayTakeThePlaceOfTheWarning) {
  WarningTable table(two_leaves(), 12, {.pauses_apart = false});
  table.mark(warning(PortId(9), LeafId::none(), 1));
  EXPECT_EQ(table.mark(pause(PortId(9), 1)), MarkEffect::refreshed);
  EXPECT_EQ(table.mark(warning(PortId(9), LeafId::none(), 2, 40_us)), MarkEffect::ignored);
  table.mark(pause(PortId(9), 2, Instant::at(30_us)));
  EXPECT_EQ(expired_port(table, Instant::at(30_us)), PortId(9));
  EXPECT_TRUE(table.quiet());
  EXPECT_EQ(table.warned(0, kQueue), 0u);
}

// What a warning names ends with it, and the next one's names take the place of those before.
TEST(WarningTable, KeepsTheCulpritsOfTheWarningInForce) {
  WarningTable table(two_leaves(), 12, {.culprits = true});
  WarningMark named = warning(PortId(9), kLeaf5, 1, 24_us);
  named.culprits = {{{kLeaf5, 30'000, 0xaa}, {kLeaf5, 20'000, 0xbb}}};
  table.mark(named);
  EXPECT_TRUE(table.names(0, 1, kQueue, 0xaa));
  EXPECT_TRUE(table.names(0, 1, kQueue, 0xbb));
  EXPECT_FALSE(table.names(0, 1, kQueue, 0xcc));
  EXPECT_FALSE(table.names(0, 1, kQueue, 0)) << "what has no tag is no culprit";
  EXPECT_FALSE(table.names(0, 0, kQueue, 0xaa)) << "another path";
  EXPECT_FALSE(table.names(1, 1, kQueue, 0xaa)) << "another leaf";
  EXPECT_FALSE(table.names(0, 1, kOther, 0xaa));
  named.sequence = 2;
  named.culprits = {{{kLeaf5, 30'000, 0xcc}}};
  EXPECT_EQ(table.mark(named), MarkEffect::refreshed);
  EXPECT_FALSE(table.names(0, 1, kQueue, 0xaa));
  EXPECT_TRUE(table.names(0, 1, kQueue, 0xcc));
  named.culprits = {{{kLeaf5, 30'000, 0xdd}}};
  EXPECT_EQ(table.mark(named), MarkEffect::stale);
  EXPECT_FALSE(table.names(0, 1, kQueue, 0xdd)) << "an old list";
  EXPECT_EQ(expired_port(table, Instant::at(24_us)), PortId(9));
  EXPECT_FALSE(table.names_any());
}

TEST(WarningTable, CulpritsOfAPortAreThoseOfAllItsLeaves) {
  WarningTable table(two_leaves(), 12, {.culprits = true});
  WarningMark named = warning(PortId(9), LeafId::none(), 1);
  named.culprits = {{{kLeaf6, 30'000, 0xaa}}};
  table.mark(named);
  EXPECT_TRUE(table.names(0, 1, kQueue, 0xaa));
  EXPECT_TRUE(table.names(1, 1, kQueue, 0xaa));
  EXPECT_EQ(table.culprits(PortId(9), kQueue), named.culprits);
  table.mark(pause(PortId(9), 1));
  EXPECT_TRUE(table.names(0, 1, kQueue, 0xaa)) << "a pause names nobody, and forgets nobody";
  table.mark(clear(PortId(9), LeafId::none(), 2));
  EXPECT_FALSE(table.names(0, 1, kQueue, 0xaa));
  EXPECT_EQ(table.culprits(PortId(9), kQueue), CulpritList{});
  EXPECT_EQ(table.warned(0, kQueue), 0b010u) << "the pause";
}

TEST(WarningTable, KeepsNoCulpritsUnlessAsked) {
  Rig rig;
  WarningMark named = warning(PortId(9), kLeaf5, 1);
  named.culprits = {{{kLeaf5, 30'000, 0xaa}}};
  EXPECT_EQ(rig.mark(named), MarkEffect::begun);
  EXPECT_FALSE(rig.table.names(0, 1, kQueue, 0xaa));
  EXPECT_EQ(rig.table.culprits(PortId(9), kQueue), CulpritList{});
}

TEST(WarningTable, EndsWhenItsTimeIsUpUnlessRefreshed) {
  Rig rig;
  rig.mark(warning(PortId(9), kLeaf5, 1, 24_us));
  EXPECT_EQ(rig.mark(warning(PortId(9), kLeaf5, 2, 32_us)), MarkEffect::refreshed);
  EXPECT_EQ(rig.table.next_expiry(), Instant::at(32_us));
  EXPECT_FALSE(expired_port(rig.table, Instant::at(31'999_ns)));
  EXPECT_EQ(rig.warned(0), 0b010u);
  EXPECT_EQ(expired_port(rig.table, Instant::at(32_us)), PortId(9));
  EXPECT_FALSE(expired_port(rig.table, Instant::at(32_us)));
  EXPECT_EQ(rig.warned(0), 0u);
  EXPECT_EQ(rig.table.next_expiry(), Instant::at(32_us + 1_ms)) << "to be forgotten";
  EXPECT_TRUE(rig.table.quiet());
}

TEST(WarningTable, ClearEndsItAndAnOldRefreshDoesNotBringItBack) {
  Rig rig;
  rig.mark(warning(PortId(9), kLeaf5, UINT32_MAX));
  EXPECT_EQ(rig.mark(clear(PortId(9), kLeaf5, 1)), MarkEffect::cleared) << "sequences wrap";
  EXPECT_EQ(rig.warned(0), 0u);
  EXPECT_EQ(rig.mark(warning(PortId(9), kLeaf5, UINT32_MAX)), MarkEffect::stale);
  EXPECT_EQ(rig.mark(warning(PortId(9), kLeaf5, 1)), MarkEffect::stale);
  EXPECT_EQ(rig.warned(0), 0u);
  EXPECT_EQ(rig.mark(warning(PortId(9), kLeaf5, 2)), MarkEffect::begun);
}

// A switch that was started anew counts from 1 again.
TEST(WarningTable, WhatEndedLongAgoIsForgotten) {
  for (const bool cleared : {false, true}) {
    Rig rig;
    EXPECT_EQ(rig.mark(warning(PortId(9), kLeaf5, 1'000)), MarkEffect::begun);
    if (cleared) {
      EXPECT_EQ(rig.mark(clear(PortId(9), kLeaf5, 1'001)), MarkEffect::cleared);
    } else {
      EXPECT_EQ(expired_port(rig.table, Instant::at(24_us)), PortId(9));
    }
    EXPECT_EQ(expired_port(rig.table, Instant::at(24_us + 999_us)), std::nullopt);
    EXPECT_EQ(rig.mark(warning(PortId(9), kLeaf5, 1)), MarkEffect::stale);
    EXPECT_EQ(expired_port(rig.table, Instant::at(24_us + 1_ms)), std::nullopt);
    EXPECT_EQ(rig.mark(warning(PortId(9), kLeaf5, 1)), MarkEffect::begun);
    EXPECT_TRUE(!rig.table.quiet() && rig.table.active() == 1);
  }
}

TEST(WarningTable, TheWorseOfTwoSourcesCountsAndOnlyItsOwnClears) {
  Rig rig;
  rig.mark(warning(PortId(9), kLeaf5, 1));
  WarningMark other = warning(PortId(9), kLeaf5, 1);
  other.source = 78;
  other.severity = 19;
  EXPECT_EQ(rig.mark(other), MarkEffect::ignored);
  other.severity = 63;
  EXPECT_EQ(rig.mark(other), MarkEffect::refreshed);
  EXPECT_EQ(rig.mark(clear(PortId(9), kLeaf5, 2)), MarkEffect::ignored);
  EXPECT_EQ(rig.table.severity(0, 1, kQueue), 63);
}

TEST(WarningTable, OfTwoSourcesThatAreEquallySevereTheLaterCounts) {
  Rig rig;
  rig.mark(warning(PortId(9), kLeaf5, 1, 10_us));
  WarningMark other = warning(PortId(9), kLeaf5, 1, 20_us);
  other.source = 78;
  EXPECT_EQ(rig.mark(other), MarkEffect::refreshed);
  EXPECT_EQ(rig.table.next_expiry(), Instant::at(20_us));
}

TEST(WarningTable, APathStaysWarnedWhileEitherEntryHolds) {
  Rig rig;
  rig.mark(warning(PortId(9), kLeaf5, 1, 10_us));
  rig.mark(warning(PortId(9), LeafId::none(), 1, 20_us));
  EXPECT_EQ(rig.table.active(), 2u);
  EXPECT_EQ(expired_port(rig.table, Instant::at(10_us)), PortId(9));
  EXPECT_EQ(rig.warned(0), 0b010u);
  EXPECT_EQ(expired_port(rig.table, Instant::at(20_us)), PortId(9));
  EXPECT_EQ(rig.warned(0), 0u);
  EXPECT_EQ(rig.warned(1), 0u);
}

TEST(WarningTable, QueuesOfOneSourceAreClearedOneByOne) {
  Rig rig;
  rig.mark(warning(PortId(9), kLeaf5, 1));
  WarningMark four = warning(PortId(9), kLeaf5, 2);
  four.queue = kOther;
  rig.mark(four);
  EXPECT_EQ(rig.warned(0), 0b010u);
  EXPECT_EQ(rig.table.warned(0, kOther), 0b010u);
  rig.mark(clear(PortId(9), kLeaf5, 3));
  EXPECT_EQ(rig.warned(0), 0u);
  EXPECT_EQ(rig.table.warned(0, kOther), 0b010u);
}

// Two of three paths warned by one switch: its own receiver is the bottleneck.
TEST(WarningTable, KnowsWhenOneSwitchWarnsOfMostPaths) {
  Rig rig;
  const auto is_last_hop = [&rig](MemberMask live) {
    return rig.table.is_last_hop(0, kQueue, 0, live);
  };
  for (const size_t port : {8U, 9U}) {
    EXPECT_FALSE(is_last_hop(0b111));
    WarningMark mark = warning(PortId(port), kLeaf5, 1);
    mark.origin = 5;
    rig.mark(mark);
  }
  EXPECT_TRUE(is_last_hop(0b111));
  EXPECT_FALSE(is_last_hop(0b101)) << "one of two";
  WarningMark other = warning(PortId(9), kLeaf5, 2);
  other.origin = 6;
  rig.mark(other);
  EXPECT_FALSE(is_last_hop(0b111)) << "two switches";
}

}  // namespace
}  // namespace eddy::lb
