#include "lb/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "lb/selector.h"
#include "net/random.h"

namespace eddy::lb {
namespace {

std::vector<uint32_t> count_members(const std::vector<MemberIndex>& slots, size_t members) {
  std::vector<uint32_t> count(members);
  for (MemberIndex member : slots) ++count[member];
  return count;
}

TEST(Buckets, SharesAreProportionalWithinOneSlot) {
  RandomStream random(11, 0, 0);
  for (int round = 0; round < 50; ++round) {
    std::vector<uint32_t> weights(1 + random.below(64));
    uint64_t total = 0;
    for (uint32_t& weight : weights) total += weight = 1 + random.below(65'535);
    const auto count = count_members(spread_over(weights, 256, random.next()), weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      const double share = 256.0 * weights[i] / static_cast<double>(total);
      EXPECT_LT(std::abs(count[i] - share), 1.0) << "seed 11, round " << round;
    }
  }
}

TEST(Buckets, EqualMembersTakeTurns) {
  const std::vector<uint32_t> weights(4, 1);
  const auto slots = spread_over(weights, 8, 0);
  EXPECT_EQ(slots, (std::vector<MemberIndex>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(Buckets, AHeavyMemberIsSpreadOut) {
  const std::vector<uint32_t> weights = {2, 1, 1};
  EXPECT_EQ(spread_over(weights, 4, 0), (std::vector<MemberIndex>{0, 1, 2, 0}));
}

TEST(Buckets, LeftOverSlotsGoToDifferentMembersByTie) {
  const std::vector<uint32_t> weights(3, 1);
  EXPECT_EQ(count_members(spread_over(weights, 4, 0), 3), (std::vector<uint32_t>{2, 1, 1}));
  EXPECT_EQ(count_members(spread_over(weights, 4, 2), 3), (std::vector<uint32_t>{1, 1, 2}));
}

PathSet set_over(std::initializer_list<size_t> ports, uint16_t weight = 1) {
  PathSet set;
  for (const size_t port : ports)
    set.members[set.count++] = {.port = PortId(port), .path = PathId(set.count), .weight = weight};
  return set;
}

// Sets over the same ports, as those of other leaves mostly are, one of them in another order, and
// sets with a single member.
TEST(Buckets, APacketTakesTheMemberOfItsOwnSet) {
  const std::array sets = {set_over({4, 5, 6}),   set_over({4, 5, 6}), set_over({6, 5, 4}),
                           set_over({9}),         set_over({8}),       set_over({9}),
                           set_over({4, 5, 6}, 7)};
  for (const BucketShare share : {BucketShare::equal, BucketShare::weighted}) {
    const BucketTable table(sets, {.buckets = 64, .share = share, .seed = 3});
    RandomStream random(5, 0, 0);
    for (int i = 0; i < 1'000; ++i) {
      const auto set = static_cast<uint16_t>(random.below(sets.size()));
      const auto member = static_cast<MemberIndex>(random.below(sets[set].count));
      Packet packet{};
      Packet expected{};
      table.assign_to(packet, set, member);
      assign(expected, sets[set], member);
      EXPECT_EQ(packet.member, expected.member);
      EXPECT_EQ(packet.egress_port, expected.egress_port);
      EXPECT_EQ(packet.path, expected.path);
    }
  }
}

// Whatever sets share, each set's buckets are those of spread_over() with its own tie.
TEST(Buckets, SharedBucketsAreEachSetsOwn) {
  constexpr uint64_t kSeed = 17;
  constexpr uint32_t kBuckets = 64;
  std::vector<PathSet> sets;
  for (size_t i = 0; i < 24; ++i)
    sets.push_back(i % 3 == 0   ? set_over({1})
                   : i % 3 == 1 ? set_over({1, 2, 3, 4, 5})
                                : set_over({2, 3, 4, 5}));
  const BucketTable table(sets, {.buckets = kBuckets, .share = BucketShare::equal, .seed = kSeed});
  for (uint16_t set = 0; set < sets.size(); ++set) {
    const auto homes =
        spread_over(weights_of(sets[set], BucketShare::equal), kBuckets, mix64(kSeed + set));
    for (uint32_t key = 0; key < 500; ++key) {
      const auto bucket = scaled_to(static_cast<uint32_t>(mix64(key ^ kSeed) >> 32), kBuckets);
      EXPECT_EQ(table.pick(set, key, ~MemberMask{0}), homes[bucket]) << set << ' ' << key;
    }
  }
}

TEST(Members, NthAndNext) {
  constexpr MemberMask kMask = 0b1000'0000'0001'0110;
  EXPECT_EQ(nth_of(kMask, 0), 1);
  EXPECT_EQ(nth_of(kMask, 3), 15);
  EXPECT_EQ(next_of(kMask, 3), 4);
  EXPECT_EQ(next_of(kMask, 15), 15);
  EXPECT_EQ(next_of(kMask, 16), 1);
  EXPECT_EQ(next_of(bit_of(63), 63), 63);
  EXPECT_EQ(random_of(kMask, 0xFFFF'FFFF), 15);
  EXPECT_EQ(nth_of(~MemberMask{0}, 63), 63);
}

TEST(Members, TheNthIsFoundInEveryMask) {
  RandomStream random(12, 0, 0);
  const auto holds = [](MemberMask mask) {
    MemberMask rest = mask;
    for (uint32_t n = 0; n < count_of(mask); ++n, rest &= rest - 1)
      ASSERT_EQ(nth_of(mask, n), first_of(rest)) << "mask " << mask << ", n " << n;
  };
  for (MemberMask mask = 1; mask < 1u << 12; ++mask) holds(mask);
  for (MemberIndex member = 0; member < kMaxPaths; ++member) {
    holds(bit_of(member));
    holds(~bit_of(member));
    holds(~MemberMask{0} >> member);
  }
  for (int round = 0; round < 300; ++round) {
    MemberMask mask = random.next64();
    for (uint32_t thinner = random.below(6); thinner > 0; --thinner) mask &= random.next64();
    holds(mask);
  }
}

}  // namespace
}  // namespace eddy::lb
