// Memory is taken where it is written to, and zero before.
#include "net/memory/reserved.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace eddy {
namespace {

constexpr size_t kPage = 4096;

size_t resident_pages(void* memory, size_t octets) {
  std::vector<unsigned char> pages((octets + kPage - 1) / kPage);
  EXPECT_EQ(mincore(memory, octets, pages.data()), 0);
  return static_cast<size_t>(
      std::ranges::count_if(pages, [](auto page) { return (page & 1) != 0; }));
}

TEST(Reserved, TakesThePagesThatAreWrittenTo) {
  Reserved<uint64_t> words(1 << 20);
  if (kReservedOnHeap) return words.begin()[words.size() - 1] = 1, void();
  EXPECT_EQ(resident_pages(words.data(), words.size() * sizeof(uint64_t)), 0u);
  words[5] = 1;
  words[600'000] = 2;
  words[600'001] = 3;
  EXPECT_EQ(resident_pages(words.data(), words.size() * sizeof(uint64_t)), 2u);
}

TEST(Reserved, IsZeroUntilItIsWrittenWhateverItsSize) {
  for (const size_t count : {1, 7, 511, 512, 513, 100'000}) {
    Reserved<uint64_t> words(count);
    EXPECT_EQ(words.size(), count);
    EXPECT_TRUE(std::ranges::all_of(words, [](uint64_t word) { return word == 0; }));
    std::ranges::fill(words, 9);
    const Reserved<uint64_t>& same = words;
    EXPECT_EQ(std::ranges::count(same, 9u), static_cast<ptrdiff_t>(count));
  }
}

TEST(Reserved, LiesOnACacheLineAndMovesWithoutItsElements) {
  struct alignas(64) Line {
    uint64_t value;
  };
  for (const size_t count : {1, 3, 1000}) {
    Reserved<Line> lines(count);
    lines[count - 1].value = 4;
    const Line* const where = lines.data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(where) % 64, 0u);
    Reserved<Line> other = std::move(lines);
    EXPECT_EQ(other.data(), where);
    EXPECT_EQ(other[count - 1].value, 4u);
  }
}

TEST(Reserved, OfNothingIsEmpty) {
  Reserved<uint64_t> nothing(0);
  EXPECT_EQ(nothing.begin(), nothing.end());
}

}  // namespace
}  // namespace eddy
