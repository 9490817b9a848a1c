// Random values for the property tests: each draws from a RandomStream whose seed the test prints.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "net/addresses.h"
#include "net/codec.h"
#include "net/random.h"
#include "tests/unit/net/frames.h"

namespace eddy::test {

inline constexpr uint64_t kPropertySeed = 20'240'601;
inline constexpr int kPropertyRounds = 500;

class Draw {
 public:
  explicit Draw(uint32_t entity) : random_(kPropertySeed, entity, 0) {}

  template <class Int>
  Int any() {
    return static_cast<Int>(random_.next64());
  }
  template <class Int>
  Int below(uint32_t n) {
    return static_cast<Int>(random_.below(n));
  }
  bool flag() { return random_.below(2) == 1; }
  MacAddress unicast_mac() {
    MacAddress mac;
    for (auto& octet : mac.octets) octet = any<uint8_t>();
    mac.octets[0] &= 0xfe;
    return mac;
  }
  Ipv4Address ipv4() { return {any<uint32_t>()}; }
  Ipv6Address ipv6() {  // global unicast, 2000::/3
    Ipv6Address address;
    for (auto& octet : address.octets) octet = any<uint8_t>();
    address.octets[0] = static_cast<uint8_t>(0x20 | (address.octets[0] & 0x1f));
    return address;
  }
  Frame octets(size_t length) {
    Frame out(length);
    std::generate(out.begin(), out.end(), [&] { return any<uint8_t>(); });
    return out;
  }

 private:
  RandomStream random_;
};

// What decode makes of what encode wrote, from a buffer of exactly that length.
template <class Message>
::testing::AssertionResult survives(const Message& message) {
  Frame out(2048);
  const size_t length = encode(message, out);
  const ExactBuffer exact(out, length);
  Message again;
  const auto verdict = decode(ConstOctets(exact.data(), exact.size()), again);
  if (verdict == CodecVerdict::ok && again == message) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << to_string(verdict) << ", seed " << kPropertySeed;
}

}  // namespace eddy::test
