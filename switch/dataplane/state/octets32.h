// 32 octets of a frame, compared at once with what they are to be, where a mask says so, or with
// the least and the most that they may be.
//
// Two ways that answer the same: by vector where the compiler's baseline has 256 bits (x86-64-v3),
// by words of 64 bits or by octets elsewhere. Both are there on every machine that has the first,
// so that tests can hold them side by side. Cost: 4 instructions by vector, about 16 by words; 7 by
// vector for least and most. The caller has checked that 32 octets are readable.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#include "net/byte_order.h"

namespace eddy {

struct alignas(32) Octets32 {
  std::array<uint8_t, 32> at{};

  bool operator==(const Octets32&) const = default;
};

// What turns one into the other by exclusive or.
constexpr Octets32 operator^(const Octets32& a, const Octets32& b) {
  Octets32 out;
  for (size_t i = 0; i < out.at.size(); ++i) out.at[i] = static_cast<uint8_t>(a.at[i] ^ b.at[i]);
  return out;
}

// Whether any bit of `mask` differs between `octets` and a ^ b.
inline bool differs_by_words(const uint8_t* octets, const Octets32& a, const Octets32& b,
                             const Octets32& mask) {
  uint64_t other = 0;
  for (size_t i = 0; i < 32; i += 8)
    other |= (load_raw<uint64_t>(octets + i) ^ load_raw<uint64_t>(&a.at[i]) ^
              load_raw<uint64_t>(&b.at[i])) &
             load_raw<uint64_t>(&mask.at[i]);
  return other != 0;
}

#ifdef __AVX2__
inline bool differs_by_vector(const uint8_t* octets, const Octets32& a, const Octets32& b,
                              const Octets32& mask) {
  const auto load = [](const uint8_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  };
  const __m256i other =
      _mm256_xor_si256(_mm256_xor_si256(load(octets), load(a.at.data())), load(b.at.data()));
  return _mm256_testz_si256(other, load(mask.at.data())) == 0;
}
#endif

inline bool differs(const uint8_t* octets, const Octets32& a, const Octets32& b,
                    const Octets32& mask) {
#ifdef __AVX2__
  return differs_by_vector(octets, a, b, mask);
#else
  return differs_by_words(octets, a, b, mask);
#endif
}

// The same without `b`.
inline bool differs(const uint8_t* octets, const Octets32& a, const Octets32& mask) {
#ifdef __AVX2__
  const __m256i other =
      _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(octets)),
                       _mm256_load_si256(reinterpret_cast<const __m256i*>(a.at.data())));
  return _mm256_testz_si256(
             other, _mm256_load_si256(reinterpret_cast<const __m256i*>(mask.at.data()))) == 0;
#else
  return differs_by_words(octets, a, Octets32{}, mask);
#endif
}

// How far octets may be above the least that they are to be, under a mask. An octet that two ranges
// leave something to, but not one, is looked at twice: `from` says which octet each place is about,
// of the same half.
struct Ranges32 {
  Octets32 from;
  Octets32 mask;
  Octets32 span;

  constexpr Ranges32() {
    for (size_t i = 0; i < from.at.size(); ++i) from.at[i] = static_cast<uint8_t>(i % 16);
  }
};

// Whether any octet is out of its range, counted from `least`.
inline bool strays_by_octets(const uint8_t* octets, const Octets32& least, const Ranges32& ranges) {
  bool strays = false;
  for (size_t i = 0; i < 32; ++i) {
    const size_t at = (i & 16) + ranges.from.at[i];
    const auto above = static_cast<uint8_t>(octets[at] - least.at[i]);
    strays |= (above & ranges.mask.at[i]) > ranges.span.at[i];
  }
  return strays;
}

#ifdef __AVX2__
inline bool strays_by_vector(const uint8_t* octets, const Octets32& least, const Ranges32& ranges) {
  const auto load = [](const uint8_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  };
  const __m256i found = _mm256_shuffle_epi8(load(octets), load(ranges.from.at.data()));
  const __m256i above =
      _mm256_and_si256(_mm256_sub_epi8(found, load(least.at.data())), load(ranges.mask.at.data()));
  const __m256i beyond = _mm256_subs_epu8(above, load(ranges.span.at.data()));
  return _mm256_testz_si256(beyond, beyond) == 0;
}
#endif

inline bool strays(const uint8_t* octets, const Octets32& least, const Ranges32& ranges) {
#ifdef __AVX2__
  return strays_by_vector(octets, least, ranges);
#else
  return strays_by_octets(octets, least, ranges);
#endif
}

}  // namespace eddy
