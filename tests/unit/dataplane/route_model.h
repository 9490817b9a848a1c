// Longest-prefix match done the obvious way, and random routes to compare the engines with it.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "net/random.h"
#include "switch/dataplane/state/routes.h"

namespace eddy::test {

class RouteModel {
 public:
  explicit RouteModel(std::vector<Route> routes) : routes_(std::move(routes)) {}
  RouteTarget find(const IpAddress& address) const {
    const Route* best = nullptr;
    for (const Route& route : routes_)
      if (route.prefix.address.is_v4() == address.is_v4() && route.prefix.contains(address) &&
          (best == nullptr || route.prefix.length >= best->prefix.length))
        best = &route;
    return best == nullptr ? RouteTarget{} : best->target;
  }
  std::span<const Route> routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

// Addresses crowd into a few blocks, so that prefixes nest and meet.
inline IpAddress random_address(RandomStream& random, bool v4) {
  Ipv6Address address;
  if (v4) {
    const uint32_t block = random.below(4) == 0 ? random.next() : 0x0a000000;
    return Ipv4Address{block | (random.next() & 0x00'03'03'03) | (random.below(8) == 0 ? 0xff : 0)};
  }
  address.octets = {0x20, 0x01};
  for (size_t i = 2; i < 16; ++i)
    address.octets[i] = static_cast<uint8_t>(random.below(3) == 0 ? random.next() : 0);
  if (random.below(8) == 0) address.octets.fill(0xff);
  return address;
}

inline std::vector<Route> random_routes(RandomStream& random, size_t count, bool v4) {
  std::vector<Route> routes;
  const uint32_t longest = v4 ? 32 : 128;
  for (size_t i = 0; i < count; ++i) {
    const auto length = static_cast<uint8_t>(random.below(longest + 1));
    IpPrefix prefix{random_address(random, v4), length};
    // An IPv6 prefix shorter than its family's mark would be taken for IPv4 or the other way round.
    prefix = prefix.network();
    if (prefix.address.is_v4() != v4) continue;
    routes.push_back({prefix, {LeafId(random.below(50)), PortId(random.below(8)), false}});
  }
  return routes;
}

inline RouteTarget look_up(const RouteTable& table, const IpAddress& address) {
  const std::array<uint8_t, 16> octets = address.octets();
  if (!address.is_v4()) {
    const uint16_t found = table.lookup6(octets.data());
    EXPECT_EQ(table.find6()(octets.data()), found) << to_string(address);
    return table.target(found);
  }
  const uint32_t key[] = {address.v4().value};
  uint16_t target;
  table.lookup(key, &target);
  EXPECT_EQ(table.find4()(&octets[12]), table.uses_fib4() ? RouteTable::kNoRoute : target)
      << to_string(address);
  return table.target(target);
}

// Compares at random addresses and at both ends of every prefix, and one beyond.
inline void expect_same(const RouteTable& table, const RouteModel& model, RandomStream& random,
                        bool v4) {
  for (int i = 0; i < 100; ++i) {
    const IpAddress address = random_address(random, v4);
    EXPECT_EQ(look_up(table, address), model.find(address)) << to_string(address);
  }
  for (const Route& route : model.routes()) {
    if (route.prefix.address.is_v4() != v4) continue;
    std::array<uint8_t, 16> first = route.prefix.network().address.octets(), last = first;
    const size_t bits = route.prefix.length + (v4 ? 96u : 0u);
    for (size_t bit = bits; bit < 128; ++bit)
      last[bit / 8] = static_cast<uint8_t>(last[bit / 8] | 0x80u >> bit % 8);
    std::array<uint8_t, 16> beyond = last;
    for (size_t i = 16; i-- > (v4 ? 12u : 0u) && ++beyond[i] == 0;) {
    }
    for (const auto& octets : {first, last, beyond}) {
      const IpAddress address = Ipv6Address{octets};
      if (address.is_v4() != v4) continue;
      EXPECT_EQ(look_up(table, address), model.find(address)) << to_string(address);
    }
  }
}

}  // namespace eddy::test
