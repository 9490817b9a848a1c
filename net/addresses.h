// MAC, IPv4 and IPv6 addresses and prefixes as values. Octets are in wire order; integers are in
// host order.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace eddy {

struct MacAddress {
  std::array<uint8_t, 6> octets{};
  constexpr auto operator<=>(const MacAddress&) const = default;
  constexpr bool is_multicast() const { return (octets[0] & 1) != 0; }
  constexpr bool is_zero() const { return *this == MacAddress{}; }
  static constexpr MacAddress broadcast() { return {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}; }
};

struct Ipv4Address {
  uint32_t value = 0;  // host order
  constexpr auto operator<=>(const Ipv4Address&) const = default;
};

struct Ipv6Address {
  std::array<uint8_t, 16> octets{};
  constexpr auto operator<=>(const Ipv6Address&) const = default;
};

// Either family; IPv4 is kept as ::ffff:a.b.c.d in the same 16 octets, so one table can hold both.
class IpAddress {
 public:
  constexpr IpAddress() = default;
  constexpr IpAddress(Ipv4Address v4)  // NOLINT(google-explicit-constructor)
      : octets_{0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0xff,
                0xff,
                static_cast<uint8_t>(v4.value >> 24),
                static_cast<uint8_t>(v4.value >> 16),
                static_cast<uint8_t>(v4.value >> 8),
                static_cast<uint8_t>(v4.value)} {}
  constexpr IpAddress(Ipv6Address v6)
      : octets_(v6.octets) {}  // NOLINT(google-explicit-constructor)

  constexpr bool is_v4() const {
    for (int i = 0; i < 10; ++i)
      if (octets_[static_cast<size_t>(i)] != 0) return false;
    return octets_[10] == 0xff && octets_[11] == 0xff;
  }
  constexpr Ipv4Address v4() const {
    return {static_cast<uint32_t>(octets_[12]) << 24 | static_cast<uint32_t>(octets_[13]) << 16 |
            static_cast<uint32_t>(octets_[14]) << 8 | octets_[15]};
  }
  constexpr Ipv6Address v6() const { return {octets_}; }
  constexpr const std::array<uint8_t, 16>& octets() const { return octets_; }
  constexpr auto operator<=>(const IpAddress&) const = default;

 private:
  std::array<uint8_t, 16> octets_{};
};

// An address with a prefix length: a subnet (10.1.0.0/24) or an interface address (10.1.0.1/24).
struct IpPrefix {
  IpAddress address;
  uint8_t length = 0;  // 0..32 or 0..128, in the address's own family
  auto operator<=>(const IpPrefix&) const = default;
  IpPrefix network() const;  // host bits cleared
  bool contains(const IpAddress& other) const;
};

std::optional<MacAddress> parse_mac(std::string_view text);      // "02:00:00:00:00:01"
std::optional<IpAddress> parse_ip(std::string_view text);        // "10.1.0.1", "fd00::1"
std::optional<IpPrefix> parse_ip_prefix(std::string_view text);  // "10.1.0.0/24", "fd00::/64"
std::string to_string(const MacAddress& mac);
std::string to_string(const IpAddress& ip);
std::string to_string(const IpPrefix& prefix);

}  // namespace eddy
