#include "net/random.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace eddy {
namespace {

// Philox4x32-10's published vector for an all-zero key and counter.
TEST(RandomStream, IsPhilox) {
  RandomStream random(0, 0, 0);
  EXPECT_EQ(random.next(), 0x6627e8d5U);
  EXPECT_EQ(random.next(), 0xe169c58dU);
  EXPECT_EQ(random.next(), 0xbc57ac4cU);
  EXPECT_EQ(random.next(), 0x9b00dbd8U);
  EXPECT_NE(random.next(), 0x6627e8d5U);
}

TEST(RandomStream, BlocksAreThoseOfRandom123) {
  RandomStream draw(1, 2, 3);
  for (int i = 0; i < 10'000; ++i) {
    const detail::PhiloxKey key{draw.next64(), draw.next(), draw.next()};
    const uint64_t block = draw.next64();
    uint32_t words[detail::kPhiloxBlockWords];
    detail::philox_block(key, block, words);
    const auto expected = r123::Philox4x32()(
        {{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), key.entity,
          key.purpose}},
        {{static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)}});
    for (int word = 0; word < detail::kPhiloxBlockWords; ++word)
      ASSERT_EQ(words[word], expected[word]) << "block " << i << ", word " << word;
  }
}

// On a processor with AVX2 this holds the two ways against each other.
TEST(RandomStream, ManyBlocksAtOnceAreTheSameWordsOnEveryProcessor) {
  RandomStream draw(4, 5, 6);
  for (int i = 0; i < 1'000; ++i) {
    const detail::PhiloxKey key{draw.next64(), draw.next(), draw.next()};
    const uint64_t block = i == 0 ? 0xFFFFFFFC : draw.next64();  // the first carries into word 1
    uint32_t fast[detail::kPhiloxWords];
    uint32_t portable[detail::kPhiloxWords];
    detail::philox_blocks(key, block, fast);
    detail::philox_blocks_portable(key, block, portable);
    for (int word = 0; word < detail::kPhiloxWords; ++word)
      ASSERT_EQ(fast[word], portable[word]) << "key " << i << ", word " << word;
  }
}

TEST(RandomStream, SameKeySameWords) {
  RandomStream a(7, 8, 9);
  RandomStream b(7, 8, 9);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(a.next(), b.next());
}

TEST(RandomStream, EverySeedEntityAndPurposeHasItsOwnWords) {
  std::set<uint32_t> first;
  for (uint64_t seed : {0ULL, 1ULL, 1ULL << 32})
    for (uint32_t entity : {0U, 1U})
      for (uint32_t purpose : {0U, 1U}) first.insert(RandomStream(seed, entity, purpose).next());
  EXPECT_EQ(first.size(), 12U);
}

TEST(RandomStream, FillsWithTheWordsThatNextGives) {
  for (const size_t before : {0U, 1U, 4U, 7U}) {
    for (const size_t count : {0U, 1U, 31U, 32U, 33U, 64U, 200U}) {
      RandomStream one(~0ULL >> 3, 77, 0x6c62);
      RandomStream all = one;
      for (size_t i = 0; i < before; ++i) EXPECT_EQ(one.next(), all.next());
      std::vector<uint32_t> words(count);
      all.fill(words);
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(words[i], one.next()) << before << " before, word " << i << " of " << count;
      EXPECT_EQ(all.next(), one.next());
    }
  }
}

TEST(RandomStream, BelowIsUniform) {
  constexpr uint32_t kBins = 10;
  constexpr uint32_t kDraws = 100'000;
  RandomStream random(3, 0, 0);
  uint32_t count[kBins] = {};
  for (uint32_t i = 0; i < kDraws; ++i) {
    const uint32_t value = random.below(kBins);
    ASSERT_LT(value, kBins);
    ++count[value];
  }
  double chi_square = 0;
  for (const uint32_t n : count) {
    const double off = n - double{kDraws} / kBins;
    chi_square += off * off / (double{kDraws} / kBins);
  }
  EXPECT_LT(chi_square, 27.9) << "9 degrees of freedom, p = 0.001; seed 3";
  EXPECT_EQ(random.below(1), 0U);
}

}  // namespace
}  // namespace eddy
