// FourWords: four words of 64 bits, in vectors that every compiler and machine has, for who does
// the same with four of a burst's packets at once.
//
// A lane of a mask has all of its bits set, or none. Instructions that compilers do not find by
// themselves are named where AVX2 has them. Few units of a processor move lanes from a vector into
// registers, and it is slow to read one by one what was stored as a vector, so who needs words one
// by one, as places of what he loads, does well to compute them one by one. Cost: an instruction or
// two each.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace eddy::lb {

inline constexpr size_t kFour = 4;
using FourWords = uint64_t __attribute__((vector_size(kFour * sizeof(uint64_t))));
using FourSigned = int64_t __attribute__((vector_size(kFour * sizeof(int64_t))));

static_assert(std::endian::native == std::endian::little);

// Words go by reference: by value they would be passed as each machine's widest vectors have it.
[[gnu::always_inline]] inline FourWords four_of(uint64_t word) {
  return FourWords{} + word;
}
// one(lane) of each.
template <class One>
[[gnu::always_inline]] inline FourWords four_by(One&& one) {
  return FourWords{one(0), one(1), one(2), one(3)};
}
// The same of an octet each.
template <class One>
[[gnu::always_inline]] inline FourWords four_octets(One&& one) {
#ifdef __AVX2__
  __m128i four = _mm_cvtsi32_si128(one(0));
  four = _mm_insert_epi8(four, one(1), 1);
  four = _mm_insert_epi8(four, one(2), 2);
  four = _mm_insert_epi8(four, one(3), 3);
  return std::bit_cast<FourWords>(_mm256_cvtepu8_epi64(four));
#else
  return four_by([&](size_t lane) { return uint64_t{one(lane)}; });
#endif
}
// Four short words that stand one behind the other.
[[gnu::always_inline]] inline FourWords four_at(const uint16_t* words) {
  uint64_t four;
  std::memcpy(&four, words, sizeof four);
#ifdef __AVX2__
  return std::bit_cast<FourWords>(
      _mm256_cvtepu16_epi64(_mm_cvtsi64_si128(static_cast<int64_t>(four))));
#else
  return (FourWords{} + four) >> FourWords{0, 16, 32, 48} & UINT16_MAX;
#endif
}

// The highest bits of the lanes, the first one's the lowest.
[[gnu::always_inline]] inline unsigned lanes_of(const FourWords& words) {
#ifdef __AVX2__
  return static_cast<unsigned>(_mm256_movemask_pd(std::bit_cast<__m256d>(words)));
#else
  const FourWords lanes = words >> 63 << FourWords{0, 1, 2, 3};
  return static_cast<unsigned>(lanes[0] | lanes[1] | lanes[2] | lanes[3]);
#endif
}
// A mask of the lanes whose bits are set.
[[gnu::always_inline]] inline FourWords mask_of(unsigned lanes) {
  return -(four_of(lanes) >> FourWords{0, 1, 2, 3} & 1);
}
// By a mask: one where it is set, else the other.
[[gnu::always_inline]] inline FourWords either_of(const FourWords& mask, const FourWords& one,
                                                  const FourWords& other) {
#ifdef __AVX2__
  return std::bit_cast<FourWords>(_mm256_blendv_epi8(
      std::bit_cast<__m256i>(other), std::bit_cast<__m256i>(one), std::bit_cast<__m256i>(mask)));
#else
  return other ^ ((other ^ one) & mask);
#endif
}
[[gnu::always_inline]] inline bool are_zero(const FourWords& words) {
#ifdef __AVX2__
  const __m256i all = std::bit_cast<__m256i>(words);
  return _mm256_testz_si256(all, all) != 0;
#else
  return (words[0] | words[1] | words[2] | words[3]) == 0;
#endif
}
// Each lane has the bits that stand in the same lane of the second.
[[gnu::always_inline]] inline bool have_all(const FourWords& words, const FourWords& bits) {
#ifdef __AVX2__
  return _mm256_testc_si256(std::bit_cast<__m256i>(words), std::bit_cast<__m256i>(bits)) != 0;
#else
  return are_zero(~words & bits);
#endif
}
// A mask of words that are the same as another one: of those that are the same one at least.
[[gnu::always_inline]] inline FourWords twins_of(const FourWords& words) {
#ifdef __AVX2__
  const __m256i all = std::bit_cast<__m256i>(words);
  const auto next = std::bit_cast<FourWords>(_mm256_permute4x64_epi64(all, 0b00'11'10'01));
  const auto other = std::bit_cast<FourWords>(_mm256_permute4x64_epi64(all, 0b01'00'11'10));
#else
  const FourWords next = {words[1], words[2], words[3], words[0]};
  const FourWords other = {words[2], words[3], words[0], words[1]};
#endif
  return FourWords((words == next) | (words == other));
}
// Of the low halves.
[[gnu::always_inline]] inline FourWords product_of(const FourWords& a, const FourWords& b) {
#ifdef __AVX2__
  return std::bit_cast<FourWords>(
      _mm256_mul_epu32(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
#else
  return (a & UINT32_MAX) * (b & UINT32_MAX);
#endif
}

}  // namespace eddy::lb
