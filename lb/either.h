// either(): one of two values, by arithmetic.
//
// Compilers make a branch of `first ? one : other` where they hold that to be cheaper. Where no
// predictor can know which of the two it is, a branch that is foreseen wrongly costs more. Values
// of 1, 2, 4 or 8 octets: numbers, pointers, instants. Cost: a mask and three instructions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace eddy::lb {

namespace detail {

template <size_t kOctets>
using Word =
    std::conditional_t<kOctets == 1, uint8_t,
                       std::conditional_t<kOctets == 2, uint16_t,
                                          std::conditional_t<kOctets == 4, uint32_t, uint64_t>>>;

}  // namespace detail

template <class T>
constexpr T either(bool first, T one, std::type_identity_t<T> other) {
  using Word = detail::Word<sizeof(T)>;
  static_assert(sizeof(Word) == sizeof(T));
  const auto mask = static_cast<Word>(-static_cast<Word>(first));
  const auto word = std::bit_cast<Word>(other);
  return std::bit_cast<T>(static_cast<Word>(word ^ ((word ^ std::bit_cast<Word>(one)) & mask)));
}

}  // namespace eddy::lb
