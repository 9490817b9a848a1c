// Sets Packet::next_hop of a burst: the index of the route's target, kNoRoute where none covers it.
//
// Reads the destination from the frame, so that l2_len and kPacketIpv6 have to be set. Owner: the
// shard. Cost: RouteTable's look-up a packet; of a FIB of IPv4 prefixes one call a burst.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "net/byte_order.h"
#include "net/ids.h"
#include "net/packet.h"
#include "switch/dataplane/state/routes.h"

namespace eddy {

inline void look_up_in_fib4(const RouteTable& routes, std::span<Packet* const> packets) {
  std::array<uint32_t, kBurst> keys;
  std::array<uint16_t, kBurst> targets;
  std::array<Packet*, kBurst> v4;
  size_t count = 0;
  for (Packet* packet : packets) {
    const uint8_t* network = packet->data() + packet->l2_len;
    if (packet->has(kPacketIpv6)) {
      packet->next_hop = routes.lookup6(network + kIpv6DestinationOffset);
    } else {
      keys[count] = load_be32(network + kIpv4DestinationOffset);
      v4[count++] = packet;
    }
  }
  routes.lookup({keys.data(), count}, targets.data());
  for (size_t i = 0; i < count; ++i) v4[i]->next_hop = targets[i];
}

inline void look_up(const RouteTable& routes, std::span<Packet* const> packets) {
  if (routes.uses_fib4()) return look_up_in_fib4(routes, packets);
  for (Packet* packet : packets) {
    const uint8_t* network = packet->data() + packet->l2_len;
    packet->next_hop = packet->has(kPacketIpv6)
                           ? routes.lookup6(network + kIpv6DestinationOffset)
                           : routes.find4(load_be32(network + kIpv4DestinationOffset));
  }
}

}  // namespace eddy
