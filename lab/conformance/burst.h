// Burst: packets that the suite fills and sends through a selector, with the little of a frame that
// a scheme may read: where an IPv4 packet goes to, and the number in its BTH.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "lab/conformance/paths.h"
#include "lb/selector.h"
#include "net/byte_order.h"
#include "net/protocols.h"

namespace eddy::conformance {

struct Framed {
  static constexpr size_t kIpHeader = 20;
  static constexpr size_t kDestination = kEthernetHeader + 16;
  static constexpr size_t kPsn = kEthernetHeader + kIpHeader + kUdpHeader + 9;

  Framed() = default;
  Framed(const Framed& other) { *this = other; }
  Framed& operator=(const Framed& other) {
    mbuf = other.mbuf;
    packet = other.packet;
    octets = other.octets;
    return *this;
  }

  void fill(uint64_t flow, uint32_t psn) {
    packet = lb::test::make_packet(flow);
    packet.l2_len = kEthernetHeader;
    packet.l3_len = kIpHeader;
    if (flow % 2 != 0) packet.set(kPacketRoce);
    store_be32(&octets[kDestination], static_cast<uint32_t>(flow / 4));
    store_be24(&octets[kPsn], psn);
  }
  // Of a packet that stands in one.
  static const Framed& of(const Packet& packet) {
    return *reinterpret_cast<const Framed*>(reinterpret_cast<const char*>(&packet) -
                                            sizeof(rte_mbuf));
  }

  alignas(64) rte_mbuf mbuf{};
  Packet packet{};  // right behind it, as Packet::mbuf() has it
  alignas(64) std::array<uint8_t, 64> octets{};
};
static_assert(offsetof(Framed, packet) == sizeof(rte_mbuf));

// What a selector wrote into a packet and all that it read there, octet by octet: without what pads
// the packet's end, whose contents are nobody's, and without what a FIFO writes.
inline void append_octets(std::string& to, const Packet& packet) {
  constexpr size_t kFrom = offsetof(Packet, order_hash);
  constexpr size_t kTo = offsetof(Packet, queue) + sizeof(Packet::queue);
  to.append(reinterpret_cast<const char*>(&packet) + kFrom, kTo - kFrom);
}

class Burst {
 public:
  explicit Burst(size_t size = kBurst) : packets_(size), set_of_(size) {
    for (Framed& each : packets_) pointers_.push_back(&each.packet);
  }
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst& other) {
    packets_ = other.packets_;
    set_of_ = other.set_of_;
    return *this;
  }

  size_t size() const { return packets_.size(); }
  void put(size_t i, uint64_t flow, uint16_t set, uint32_t psn = 0) {
    packets_[i].fill(flow, psn);
    set_of_[i] = set;
  }
  void select(lb::Selector& selector, const lb::PathView& view) {
    selector.select(view, pointers_, set_of_);
  }
  Packet& packet(size_t i) { return packets_[i].packet; }
  uint16_t set_of(size_t i) const { return set_of_[i]; }

 private:
  std::vector<Framed> packets_;
  std::vector<Packet*> pointers_;
  std::vector<uint16_t> set_of_;
};

}  // namespace eddy::conformance
