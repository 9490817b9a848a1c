// Who is drawn from masks of up to eight members, in vectors and one by one.
#include "lb/octet_draws.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "net/random.h"

namespace eddy::lb {
namespace {

// Of every mask, and of the one without who was drawn, as TurnList has it.
TEST(OctetDraws, DrawWhomTurnListDraws) {
  const OctetDraws draws{};
  RandomStream stream(7, 0, 0);
  for (uint64_t mask = 1; mask < 256; ++mask)
    for (int round = 0; round < 64; ++round) {
      FourWords masks, random;
      for (size_t lane = 0; lane < kFour; ++lane) {
        masks[lane] = lane % 2 == 0 ? mask : 255 - mask;
        random[lane] = stream.next();
      }
      if (round == 0) random = four_of(0);
      if (round == 1) random = four_of(UINT32_MAX);
      const DrawnAgain drawn = draws.draw(masks, random);
      for (size_t lane = 0; lane < kFour; ++lane) {
        EXPECT_LT(drawn.one[lane], 8u);
        EXPECT_LT(drawn.next[lane], 8u);
        if (masks[lane] == 0) continue;
        const auto bits = static_cast<uint32_t>(random[lane]);
        const MemberIndex one = TurnList::draw_again(masks[lane], bits);
        ASSERT_EQ(drawn.one[lane], one) << "of " << masks[lane];
        const MemberMask left = masks[lane] & ~bit_of(one);
        if (left == 0 || drawn.next[lane] == one) continue;  // nobody, or nobody has looked
        ASSERT_EQ(drawn.next[lane], TurnList::draw_again(left, bits)) << "of " << masks[lane];
      }
    }
}

// Nobody is drawn twice where vectors look at once.
TEST(OctetDraws, HaveTheNextAtHandWhereThereAreVectors) {
#ifdef __AVX2__
  const DrawnAgain drawn = OctetDraws().draw(four_of(0b1010), four_of(1));
  EXPECT_NE(drawn.next[0], drawn.one[0]);
#else
  const DrawnAgain drawn = OctetDraws().draw(four_of(0b1010), four_of(1));
  EXPECT_EQ(drawn.next[0], drawn.one[0]);
#endif
}

}  // namespace
}  // namespace eddy::lb
