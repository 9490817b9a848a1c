// Sets of members as 64-bit masks: counting, the n-th member, and hash mixing for picking among
// them.
//
// Cost: a few instructions each; nth_of() takes some thirty where members above the eighth are
// among the mask and others are missing. No state. Source: mix64 is the last step of SplitMix's
// 64-bit generator (with the constants of Stafford's variant 13): every input bit reaches every
// output bit.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "lb/path_set.h"
#include "net/ids.h"

namespace eddy::lb {

constexpr uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A switch's own seed, so that no two tiers hash alike (reference A.1, polarisation).
constexpr uint64_t seed_of(uint64_t seed, SwitchId id) {
  return mix64(mix64(seed) + id.index());
}

// Maps 32 well-mixed bits to [0, n) by their high end.
constexpr uint32_t scaled_to(uint32_t bits, uint32_t n) {
  return static_cast<uint32_t>((uint64_t{bits} * n) >> 32);
}

constexpr MemberMask bit_of(MemberIndex member) {
  return MemberMask{1} << member;
}
constexpr bool contains(MemberMask mask, MemberIndex member) {
  return (mask >> member & 1) != 0;
}
constexpr uint32_t count_of(MemberMask mask) {
  return static_cast<uint32_t>(std::popcount(mask));
}
constexpr MemberIndex first_of(MemberMask mask) {
  return static_cast<MemberIndex>(std::countr_zero(mask));
}

namespace detail {

constexpr size_t kOctetBits = 8;
// By octet and n: the n-th bit of the octet.
constexpr auto kNthOfOctet = [] {
  std::array<uint8_t, 256 * kOctetBits> nth{};
  for (size_t octet = 0; octet < 256; ++octet)
    for (size_t n = 0, bit = 0; bit < kOctetBits; ++bit)
      if ((octet >> bit & 1) != 0) nth[octet * kOctetBits + n++] = static_cast<uint8_t>(bit);
  return nth;
}();
constexpr MemberIndex nth_of_octet(uint64_t octet, uint64_t n) {
  return kNthOfOctet[octet * kOctetBits + n];
}

// By the bits up to each octet's end: all octets with at most n of them are below the one.
constexpr MemberIndex nth_of_many(MemberMask mask, uint32_t n) {
  constexpr uint64_t kOnes = 0x0101010101010101, kTops = kOnes << 7;
  uint64_t bits = mask - (mask >> 1 & 0x5555555555555555);
  bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
  const uint64_t upto = ((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f) * kOnes;
  const uint64_t not_more = ((n * kOnes | kTops) - upto) & kTops;
  const auto below = static_cast<uint32_t>(std::popcount(not_more)) * kOctetBits;
  const uint64_t before = upto << 8 >> below & 0xff;
  return static_cast<MemberIndex>(below + nth_of_octet(mask >> below & 0xff, n - before));
}

}  // namespace detail

// The n-th member of the mask, n < count_of(mask).
//
// One instruction of BMI2 would deposit it, but is microcode before AMD's Zen 3, where it takes a
// hundred cycles.
constexpr MemberIndex nth_of(MemberMask mask, uint32_t n) {
  if (mask < 256) [[likely]]
    return detail::nth_of_octet(mask, n);
  if ((mask & (mask + 1)) == 0) return static_cast<MemberIndex>(n);
  return detail::nth_of_many(mask, n);
}

inline MemberMask detours_of(const PathSet& set) {
  MemberMask detours = 0;
  for (MemberIndex i = 0; i < set.count; ++i)
    if (set.members[i].detour) detours |= bit_of(i);
  return detours;
}

// A member of the mask, uniform in 32 random bits; the mask is not empty.
inline MemberIndex random_of(MemberMask mask, uint32_t bits) {
  return nth_of(mask, scaled_to(bits, count_of(mask)));
}

// The first member at or after `from`, wrapping; the mask is not empty.
constexpr MemberIndex next_of(MemberMask mask, MemberIndex from) {
  const MemberMask ahead = mask & (~MemberMask{0} << from);
  return first_of(ahead != 0 ? ahead : mask);
}

}  // namespace eddy::lb
