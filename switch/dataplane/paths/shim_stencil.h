// ShimStencil: what the shims of a burst have in common, and how a packet gets one as it goes to
// its queue.
//
// Made once a burst from a host whose packets all go up and all get a shim
// (ShimDresser::begin_passing). A packet then costs what its shim has of its own: where it goes by
// which path, its class, and what the agent says briefly (lb/agent.h). The words are in the host's
// order, the first octet on top. Source: reference 1.6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lb/agents/load_reports.h"
#include "lb/members.h"
#include "net/byte_order.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/protocols.h"
#include "net/shim.h"

namespace eddy {

// A packet's flags and what stands behind them up to the length of its headers, as one word.
inline constexpr int kL2LenShift = 24;
static_assert(offsetof(Packet, member) == offsetof(Packet, flags) + 2);
static_assert(offsetof(Packet, l2_len) == offsetof(Packet, flags) + kL2LenShift / 8);
inline uint32_t heads_of(const Packet& packet) {
  return load_raw<uint32_t>(reinterpret_cast<const uint8_t*>(&packet) + offsetof(Packet, flags));
}
inline void put_heads(Packet& packet, uint32_t word) {
  std::memcpy(reinterpret_cast<uint8_t*>(&packet) + offsetof(Packet, flags), &word, sizeof word);
}

struct ShimStencil {
  uint64_t way = 0;   // octets 0 to 7, without the leaf and the path
  uint64_t time = 0;  // 16 to 23
  const LeafId* leaf_of_set = nullptr;
  const lb::MemberMask* noted = nullptr;     // PathEchoes::attention()
  const uint32_t* briefs = nullptr;          // of the burst
  const lb::LoadReports* reports = nullptr;  // null: none
  uint32_t octets = 0;                       // that a packet grows by
  uint32_t flags = 0;                        // Packet::flags that it gets
  uint32_t now_ns = 0;                       // since when it waits, if it is timed

  // There is room before the packet.
  static bool fits(const Packet& packet) { return packet.data_off >= kShimHeader; }
  // It may take a stamp or an echo along, or a report, which are still to be written.
  bool has_errand(const Packet& packet, uint16_t set) const {
    return lb::contains(noted[set], packet.member) || wants_report(set);
  }
  bool wants_report(uint16_t set) const { return reports != nullptr && reports->has(set); }
  // Of one that fits: its frame, of which the MACs and the EtherType are still to be written.
  uint8_t* put(Packet& packet, uint16_t set, uint32_t brief) const {
    packet.push_front(kShimHeader);
    packet.wire_len = static_cast<uint16_t>(packet.wire_len + octets);
    put_heads(packet, (heads_of(packet) | flags) + (kShimHeader << kL2LenShift));
    packet.queued_ns = now_ns;
    uint8_t* const frame = packet.data();
    uint8_t* const shim = frame + kEthernetHeader;
    const auto leaf = static_cast<uint64_t>(leaf_of_set[set].index());
    store_be64(shim, way | leaf << 16 | packet.path.index());
    store_be64(shim + 8, uint64_t{packet.traffic_class.index()} << 20 | brief);
    store_be64(shim + 16, time);
    store_be64(shim + 22, 0);  // what stands behind that is the frame's EtherType
    return frame;
  }
};

}  // namespace eddy
