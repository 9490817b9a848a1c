// The 64-bit mixer behind every hash of a packet's keys.
//
// Two 64x64 -> 128 bit multiplications, each folded by xor, so that high and low bits of the
// result are equally usable. It is not keyed: a switch that must not choose like its neighbour
// mixes its own seed in with hash_pair(key, seed). The values are part of what a fixed seed
// reproduces: changing them changes every digest. Cost: about 10 cycles of latency, 2 of
// throughput. Source: the multiply-fold construction of MUM and wyhash.
#pragma once

#include <cstdint>
#include <type_traits>

namespace eddy {

inline constexpr uint64_t kHashKeyA = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
inline constexpr uint64_t kHashKeyB = 0xd1342543de82ef95;  // a good spectral multiplier (L'Ecuyer)

namespace detail {
struct Product {
  uint64_t low;
  uint64_t high;
};
// Both halves of a product by one instruction, where there is one that leaves its result in any two
// registers: what a compiler makes of a number of 128 bits goes through memory where these are
// short, and of two numbers it makes two multiplications.
constexpr Product product(uint64_t a, uint64_t b) {
#ifdef __BMI2__
  if (!std::is_constant_evaluated()) {
    Product out;
    asm("mulx %3, %0, %1" : "=r"(out.low), "=r"(out.high) : "%d"(a), "rm"(b));
    return out;
  }
#endif
  return {a * b, static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64)};
}
}  // namespace detail

// The product of a and b, its halves folded by xor.
constexpr uint64_t multiply_fold(uint64_t a, uint64_t b) {
  const detail::Product product = detail::product(a, b);
  return product.low ^ product.high;
}

// Asymmetric: hash_pair(a, b) and hash_pair(b, a) are unrelated.
constexpr uint64_t hash_pair(uint64_t a, uint64_t b) {
  a ^= kHashKeyA;
  b ^= kHashKeyB;
  const detail::Product product = detail::product(a, b);
  return multiply_fold(product.low ^ kHashKeyB, product.high ^ kHashKeyA);
}

}  // namespace eddy
