// Sets of members as 64-bit masks: counting, the n-th member, and hash mixing for picking among
// them.
//
// Cost: a few instructions each; without BMI2, nth_of() takes some twenty. No state. Source: mix64
// is the last step of SplitMix's 64-bit generator (with the constants of Stafford's variant 13):
// every input bit reaches every output bit.
#pragma once

#ifdef __BMI2__
#include <immintrin.h>
#endif

#include <bit>
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

// What nth_of() does, by halves: whether the member is among the lower 32, then 16 and so on.
constexpr MemberIndex nth_of_portable(MemberMask mask, uint32_t n) {
  MemberIndex below = 0;  // the member is not among the first of these
  for (int width = 32; width > 0; width /= 2) {
    const uint32_t lower = count_of(mask >> below & ((MemberMask{1} << width) - 1));
    if (n < lower) continue;
    n -= lower;
    below = static_cast<MemberIndex>(below + width);
  }
  return below;
}

// The n-th member of the mask, n < count_of(mask).
inline MemberIndex nth_of(MemberMask mask, uint32_t n) {
#ifdef __BMI2__
  return first_of(_pdep_u64(MemberMask{1} << n, mask));
#else
  return nth_of_portable(mask, n);
#endif
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
