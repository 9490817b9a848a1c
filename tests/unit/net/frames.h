// Helpers of the tests of net/: octets from hex, and a parse that the address sanitizer watches.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "net/parse.h"

namespace eddy::test {

using Frame = std::vector<uint8_t>;

// Hex digits with any spaces between them.
inline Frame from_hex(std::string_view hex) {
  Frame out;
  int digits = 0;
  unsigned value = 0;
  for (const char c : hex) {
    if (c == ' ') continue;
    value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    if (++digits % 2 == 0) out.push_back(static_cast<uint8_t>(value));
  }
  return out;
}

// A copy that ends exactly where its allocation ends, so that a read past it is caught.
class ExactBuffer {
 public:
  explicit ExactBuffer(const Frame& octets, size_t length)
      : data_(new uint8_t[length]), length_(length) {
    if (length != 0) std::memcpy(data_.get(), octets.data(), length);
  }
  explicit ExactBuffer(const Frame& octets) : ExactBuffer(octets, octets.size()) {}

  const uint8_t* data() const { return data_.get(); }
  uint32_t size() const { return static_cast<uint32_t>(length_); }

 private:
  std::unique_ptr<uint8_t[]> data_;
  size_t length_;
};

inline ParseVerdict parse(const Frame& frame, ParsedFrame& out) {
  const ExactBuffer buffer(frame);
  return parse_frame(buffer.data(), buffer.size(), buffer.size(), out);
}

inline ParseVerdict verdict_of(const Frame& frame) {
  ParsedFrame out;
  return parse(frame, out);
}

}  // namespace eddy::test
