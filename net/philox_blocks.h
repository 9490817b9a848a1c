// Philox4x32-10 blocks: one, or eight at a time (the same words) for consumers that read ahead.
//
// The words are those of Random123's Philox4x32, which a test holds them against; its header is not
// included here because it brings <iostream>, whose initialiser is a writable global in every
// object. Eight at a time, with AVX2: a lane of a vector is a block; its four words are the low
// halves of the same lane of four vectors, so that one multiplication gives both halves of a
// product. Two groups of four lanes run side by side to hide its latency. Processors without AVX2
// take philox_blocks_portable(), which is always compiled and gives the same words. Cost: about 2.6
// cycles a word (one after the other: 6.9). Source: Philox.
#pragma once

#include <cstdint>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace eddy::detail {

inline constexpr int kPhiloxRounds = 10;
inline constexpr int kPhiloxBlockWords = 4;
inline constexpr uint32_t kPhiloxMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr uint32_t kPhiloxWeyl[2] = {0x9E3779B9, 0xBB67AE85};

struct PhiloxKey {
  uint64_t seed;
  uint32_t entity;
  uint32_t purpose;
};

// The four words of one block.
inline void philox_block(const PhiloxKey& key, uint64_t block, uint32_t* out) {
  uint32_t a = static_cast<uint32_t>(block);
  uint32_t b = static_cast<uint32_t>(block >> 32);
  uint32_t c = key.entity;
  uint32_t d = key.purpose;
  auto key0 = static_cast<uint32_t>(key.seed);
  auto key1 = static_cast<uint32_t>(key.seed >> 32);
  for (int i = 0; i < kPhiloxRounds; ++i) {
    const uint64_t x = uint64_t{kPhiloxMultipliers[0]} * a;
    const uint64_t y = uint64_t{kPhiloxMultipliers[1]} * c;
    a = static_cast<uint32_t>(y >> 32) ^ b ^ key0;
    b = static_cast<uint32_t>(y);
    c = static_cast<uint32_t>(x >> 32) ^ d ^ key1;
    d = static_cast<uint32_t>(x);
    key0 += kPhiloxWeyl[0];
    key1 += kPhiloxWeyl[1];
  }
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
}

inline constexpr int kPhiloxLanes = 4;
inline constexpr int kPhiloxGroups = 2;
inline constexpr int kPhiloxWords = kPhiloxBlockWords * kPhiloxLanes * kPhiloxGroups;

// What philox_blocks() does, block after block.
inline void philox_blocks_portable(const PhiloxKey& key, uint64_t block, uint32_t* out) {
  for (int i = 0; i < kPhiloxLanes * kPhiloxGroups; ++i)
    philox_block(key, block + static_cast<uint64_t>(i), out + i * kPhiloxBlockWords);
}

#ifdef __AVX2__
struct PhiloxGroup {
  __m256i a, b, c, d;

  PhiloxGroup(const PhiloxKey& key, uint64_t block) {
    const __m256i n = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<int64_t>(block)),
                                       _mm256_setr_epi64x(0, 1, 2, 3));
    a = low(n);
    b = _mm256_srli_epi64(n, 32);
    c = _mm256_set1_epi64x(key.entity);
    d = _mm256_set1_epi64x(key.purpose);
  }
  void round(__m256i key0, __m256i key1) {
    const __m256i x = _mm256_mul_epu32(a, _mm256_set1_epi64x(kPhiloxMultipliers[0]));
    const __m256i y = _mm256_mul_epu32(c, _mm256_set1_epi64x(kPhiloxMultipliers[1]));
    a = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(y, 32), b), key0);
    b = low(y);
    c = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(x, 32), d), key1);
    d = low(x);
  }
  void store(uint32_t* out) const {
    const __m256i ab = _mm256_or_si256(a, _mm256_slli_epi64(b, 32));
    const __m256i cd = _mm256_or_si256(c, _mm256_slli_epi64(d, 32));
    const __m256i even = _mm256_unpacklo_epi64(ab, cd);  // blocks 0 and 2
    const __m256i odd = _mm256_unpackhi_epi64(ab, cd);
    auto* to = reinterpret_cast<__m256i*>(out);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
  }
  static __m256i low(__m256i lanes) {
    return _mm256_and_si256(lanes, _mm256_set1_epi64x(0xFFFFFFFF));
  }
};

// kPhiloxWords words, those of the blocks from `block` on.
inline void philox_blocks(const PhiloxKey& key, uint64_t block, uint32_t* out) {
  PhiloxGroup first(key, block);
  PhiloxGroup second(key, block + kPhiloxLanes);
  auto key0 = static_cast<uint32_t>(key.seed);
  auto key1 = static_cast<uint32_t>(key.seed >> 32);
  for (int i = 0; i < kPhiloxRounds; ++i) {
    const __m256i wide0 = _mm256_set1_epi64x(key0);
    const __m256i wide1 = _mm256_set1_epi64x(key1);
    first.round(wide0, wide1);
    second.round(wide0, wide1);
    key0 += kPhiloxWeyl[0];
    key1 += kPhiloxWeyl[1];
  }
  first.store(out);
  second.store(out + kPhiloxBlockWords * kPhiloxLanes);
}
#else
inline void philox_blocks(const PhiloxKey& key, uint64_t block, uint32_t* out) {
  philox_blocks_portable(key, block, out);
}
#endif

}  // namespace eddy::detail
