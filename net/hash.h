// The 64-bit mixer behind every hash of a packet's keys.
//
// Two 64x64 -> 128 bit multiplications, each folded by xor, so that high and low bits of the
// result are equally usable. It is not keyed: a switch that must not choose like its neighbour
// mixes its own seed in with hash_pair(key, seed). The values are part of what a fixed seed
// reproduces: changing them changes every digest. Cost: about 10 cycles of latency, 2 of
// throughput. Source: the multiply-fold construction of MUM and wyhash.
#pragma once

#include <cstdint>

namespace eddy {

inline constexpr uint64_t kHashKeyA = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
inline constexpr uint64_t kHashKeyB = 0xd1342543de82ef95;  // a good spectral multiplier (L'Ecuyer)

namespace detail {
// The halves of a product. Each by itself: as one number of 128 bits they go through memory where
// registers are short.
constexpr uint64_t low_half(uint64_t a, uint64_t b) {
  return a * b;
}
constexpr uint64_t high_half(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}
}  // namespace detail

// The product of a and b, its halves folded by xor.
constexpr uint64_t multiply_fold(uint64_t a, uint64_t b) {
  return detail::low_half(a, b) ^ detail::high_half(a, b);
}

// Asymmetric: hash_pair(a, b) and hash_pair(b, a) are unrelated.
constexpr uint64_t hash_pair(uint64_t a, uint64_t b) {
  a ^= kHashKeyA;
  b ^= kHashKeyB;
  return multiply_fold(detail::low_half(a, b) ^ kHashKeyB, detail::high_half(a, b) ^ kHashKeyA);
}

}  // namespace eddy
