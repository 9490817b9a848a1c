// 32 octets of a frame, compared at once with what they are to be, where a mask says so.
//
// Two ways that answer the same: by vector where the compiler's baseline has 256 bits (x86-64-v3),
// by four words of 64 bits elsewhere. Both are there on every machine that has the first, so that
// tests can hold them side by side. Cost: 4 instructions by vector, about 16 by words. The caller
// has checked that 32 octets are readable.
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

}  // namespace eddy
