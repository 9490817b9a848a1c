// FNV-1a of 64 bits: a short name for a file or a trace, to tell whether two are the same. Not for
// hostile input, nor for tables.
//
// It goes octet by octet; integers are 8 octets, the lowest first, so that the value is the same
// everywhere. Source: Fowler, Noll and Vo.
#pragma once

#include <cstdint>
#include <string_view>

namespace eddy {

class Fnv64 {
 public:
  constexpr void add_octet(uint8_t octet) { value_ = (value_ ^ octet) * 0x100000001b3; }
  constexpr void add(std::string_view text) {
    for (const char c : text) add_octet(static_cast<uint8_t>(c));
  }
  constexpr void add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add_octet(static_cast<uint8_t>(number >> shift));
  }
  constexpr uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace eddy
