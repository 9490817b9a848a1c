// OctetDraws: whom TurnList::draw_again() draws from the masks of four packets, where no set has
// more than eight members, without moving a lane out of its vector.
//
// An octet for each of the eight says how many of the mask are up to there, so the n-th is behind
// as many octets as say n or less. Beside each stands who would be drawn if that one were not in
// the mask: who finds out that it will not do has the next at once. Owner: a call. Cost: some 20
// instructions for four packets.
#pragma once

#include "lb/four_words.h"
#include "lb/turns.h"

namespace eddy::lb {

struct DrawnAgain {
  FourWords one;
  FourWords next;  // from the mask without that one; or that one again: nobody has looked
};

// Lane by lane, of any masks; 0 of one that is empty.
inline DrawnAgain draw_again_each(const FourWords& masks, const FourWords& random) {
  const FourWords one = four_octets([&](size_t lane) {
    return TurnList::draw_again(masks[lane], static_cast<uint32_t>(random[lane]));
  });
  return {one, one};
}

class OctetDraws {
 public:
  static constexpr uint32_t kMost = 8;  // members

  // Of masks below 256; `random`: 32 bits of each. What is drawn from an empty mask, or behind its
  // only member, is one of the eight.
  [[gnu::always_inline]] DrawnAgain draw(const FourWords& masks, const FourWords& random) const {
#ifdef __AVX2__
    const __m256i bits = product_with_golden(random);
    const __m256i octets = _mm256_shuffle_epi8(as_vector(masks), as_vector(first_));
    const __m256i low = _mm256_and_si256(octets, as_vector(low_bits_));
    const __m256i high = _mm256_and_si256(_mm256_srli_epi64(octets, 4), as_vector(high_bits_));
    const __m256i upto = _mm256_add_epi8(_mm256_shuffle_epi8(as_vector(counts_), low),
                                         _mm256_shuffle_epi8(as_vector(counts_), high));
    const __m256i count = _mm256_srli_epi64(upto, 56);
    const __m256i fewer = _mm256_sub_epi64(count, as_vector(four_of(1)));
    const __m256i n = scaled(bits, count);
    const __m256i m = scaled(bits, fewer);
    // Those behind the n-th are one further in the whole mask; m is n or one less.
    const __m256i next =
        _mm256_add_epi8(_mm256_add_epi8(m, as_vector(ones_)), _mm256_cmpgt_epi8(n, m));
    return {behind(upto, n), behind(upto, next)};
#else
    return draw_again_each(masks, random);
#endif
  }

 private:
#ifdef __AVX2__
  static __m256i as_vector(const FourWords& words) {
    return std::bit_cast<__m256i>(words);
  }
  static __m256i product_with_golden(const FourWords& random) {
    return as_vector(product_of(random, four_of(TurnList::kGolden)));
  }
  // As scaled_to(), in each octet.
  [[gnu::always_inline]] __m256i scaled(const __m256i& bits, const __m256i& count) const {
    return _mm256_shuffle_epi8(_mm256_mul_epu32(bits, count), as_vector(fifth_));
  }
  // How many of the first seven octets are not above n.
  [[gnu::always_inline]] FourWords behind(const __m256i& upto, const __m256i& n) const {
    const __m256i above = _mm256_cmpgt_epi8(upto, n);
    return std::bit_cast<FourWords>(
        _mm256_sad_epu8(_mm256_andnot_si256(above, as_vector(seven_)), _mm256_setzero_si256()));
  }

  // Where the lanes' first and fifth octets stand, eight times each.
  FourWords first_ = {0, 0x08080808'08080808, 0, 0x08080808'08080808};
  FourWords fifth_ = {0x04040404'04040404, 0x0c0c0c0c'0c0c0c0c, 0x04040404'04040404,
                      0x0c0c0c0c'0c0c0c0c};
  // Of a mask, what is up to each octet's place: in its low half, and in the high one.
  FourWords low_bits_ = four_of(0x0f0f0f0f'0f070301);
  FourWords high_bits_ = four_of(0x0f070301'00000000);
  // Bits in each of 16 halves of an octet.
  FourWords counts_ = {0x03020201'02010100, 0x04030302'03020201, 0x03020201'02010100,
                       0x04030302'03020201};
  FourWords ones_ = four_of(0x01010101'01010101);
  FourWords seven_ = four_of(0x00010101'01010101);
#endif
};

}  // namespace eddy::lb
