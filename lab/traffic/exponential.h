// Exponentially distributed draws in integers: the same on every compiler and machine.
//
// log2 bit by bit: x in [1, 2) is squared; where the square reaches 2 the next bit of the logarithm
// is 1 and the square is halved. 32 such steps on 64-bit mantissas leave an error below 2^-31.
// Cost: 32 multiplications, about 100 cycles. Source: "Binary logarithm" in
// docs/papers.md.
#pragma once

#include <bit>
#include <cstdint>

namespace eddy::lab {

// log2(x) as Q32, never above it; x at least 1.
constexpr uint64_t log2_q32(uint64_t x) {
  constexpr int kFractionBits = 32;
  const int zeros = std::countl_zero(x);
  uint64_t log = static_cast<uint64_t>(63 - zeros);
  uint64_t mantissa = x << zeros;  // Q63, [1, 2)
  for (int bit = 0; bit < kFractionBits; ++bit) {
    const auto square = static_cast<unsigned __int128>(mantissa) * mantissa;  // Q126, [1, 4)
    const auto carry = static_cast<uint64_t>(square >> 127);
    mantissa = static_cast<uint64_t>(square >> (63 + carry));
    log = log << 1 | carry;
  }
  return log;
}

// -ln(u) as Q32, u = (word / 2 + 1) / 2^63 in (0, 1]: exponential of mean 1, at most 43.7.
constexpr uint64_t exponential_q32(uint64_t word) {
  constexpr uint64_t kLn2 = 0xb17217f8;  // ln 2, Q32
  const uint64_t halvings = (uint64_t{63} << 32) - log2_q32((word >> 1) + 1);
  return static_cast<uint64_t>((static_cast<unsigned __int128>(halvings) * kLn2) >> 32);
}

}  // namespace eddy::lab
