// The leaf-to-leaf shim (EtherType 0x88B5): its 32 octets and the bodies of its control frames.
//
// It stands behind the Ethernet or last VLAN header; the frame's EtherType moves into its octets
// 30-31. Timestamps are nanoseconds mod 2^32, residual delay is in units of 64 ns. An order key
// travels as the 64-bit order hash (the same in every switch) in the first 8 of its 13 octets.
// Bounds: 4- and 2-bit fields are checked by ASSERT when encoding. Source: reference 1.6, 1.8.
#pragma once

#include <cstdint>

#include "net/assert.h"
#include "net/byte_order.h"
#include "net/codec.h"
#include "net/ids.h"
#include "net/protocols.h"

namespace eddy {

enum class ShimKind : uint8_t {
  data = 0,
  feedback = 1,
  probe = 2,
  probe_reply = 3,
  notify = 4,
  clear = 5,
  flowcut_ack = 6,
  hula_probe = 7,
  flow_xoff = 8,
  flow_xon = 9,
  sweep = 10,  // in the isolated class, behind all that went before it in both
  swept = 11,
};
inline constexpr int kShimKinds = static_cast<int>(ShimKind::swept) + 1;

// Shim::flags
enum ShimFlag : uint8_t {
  kShimRttRequest = 1 << 0,
  kShimRttEcho = 1 << 1,
  kShimFeedback = 1 << 2,
  kShimTail = 1 << 3,
  kShimRerouted = 1 << 4,
  kShimPinned = 1 << 5,  // the packet has kept to the path that its path id names
  kShimSampled = 1 << 6,
  kShimTolerableDelay = 1 << 7,
};

inline constexpr uint16_t kShimUnlimitedDelay = 0xffff;
// In the place of a tolerable delay: the packet has no number in its flow.
inline constexpr uint16_t kShimUnnumbered = 0xffff;

struct Shim {
  ShimKind kind = ShimKind::data;
  uint8_t flags = 0;  // ShimFlag
  LeafId source_leaf;
  LeafId destination_leaf;
  PathId path;
  PathId feedback_path;
  uint8_t congestion = 0;                          // most utilised link so far, 0-255 for 0-100 %
  uint8_t feedback_congestion = 0;                 // same scale
  uint8_t hop_count = 0;                           // 0..15
  uint8_t virtual_channel = 0;                     // 0..3
  uint8_t epoch = 0;                               // 0..3
  TrafficClass traffic_class;                      // 0..15
  uint8_t recirculations = 0;                      // 0..15, saturating
  uint16_t tolerable_delay = kShimUnlimitedDelay;  // without kShimTolerableDelay: sequence()
  uint32_t sent_ns = 0;
  uint32_t echoed_ns = 0;
  uint32_t hold_ns = 0;  // 31 bits; the top one: the stamp did not keep to its path. Or, with
                         // kShimTail, when the tail was sent
  uint8_t feedback_packets = 0;
  uint8_t feedback_marked = 0;
  uint16_t inner_ethertype = 0;  // 0 in control frames
  // The packet's number in its flow, or the one that is acknowledged; kShimUnnumbered: none.
  uint16_t sequence() const {
    return (flags & kShimTolerableDelay) != 0 ? kShimUnnumbered : tolerable_delay;
  }
  bool operator==(const Shim&) const = default;
};

// Here, as four stores, because packets get one: what is known of their fields goes in at once.
inline size_t encode(const Shim& shim, Octets out) {
  ASSERT(out.size() >= kShimHeader);
  ASSERT(shim.hop_count < 16 && shim.virtual_channel < 4 && shim.epoch < 4);
  ASSERT(shim.traffic_class.index() < 16 && shim.recirculations < 16);
  const auto at = [](auto value, int octet, int octets) {
    return static_cast<uint64_t>(value) << (8 - octet % 8 - octets) * 8;
  };
  const auto kind = kShimVersion << 4 | static_cast<uint8_t>(shim.kind);
  const auto hops = shim.hop_count << 4 | shim.virtual_channel << 2 | shim.epoch;
  const auto service = shim.traffic_class.index() << 4 | shim.recirculations;
  store_be64(out.data(), at(kind, 0, 1) | at(shim.flags, 1, 1) |
                             at(shim.source_leaf.index(), 2, 2) |
                             at(shim.destination_leaf.index(), 4, 2) | at(shim.path.index(), 6, 2));
  store_be64(out.data() + 8, at(shim.feedback_path.index(), 8, 2) | at(shim.congestion, 10, 1) |
                                 at(shim.feedback_congestion, 11, 1) | at(hops, 12, 1) |
                                 at(service, 13, 1) | at(shim.tolerable_delay, 14, 2));
  store_be64(out.data() + 16, at(shim.sent_ns, 16, 4) | at(shim.echoed_ns, 20, 4));
  store_be64(out.data() + 24, at(shim.hold_ns, 24, 4) | at(shim.feedback_packets, 28, 1) |
                                  at(shim.feedback_marked, 29, 1) |
                                  at(shim.inner_ethertype, 30, 2));
  return kShimHeader;
}
// truncated, bad_version; bad_value: an unknown kind.
[[nodiscard]] CodecVerdict decode(ConstOctets octets, Shim& shim);

enum class NotifyReason : uint8_t { path_busy = 1, kicked_out = 2 };

// Shim and body of a control frame. Only the fields named beside a kind are on the wire.
struct ShimControl {
  Shim shim;
  NotifyReason reason = NotifyReason::path_busy;  // notify
  uint32_t value = 0;                             // notify: value; flowcut_ack: octets acknowledged
  uint64_t order_hash = 0;                        // clear, flowcut_ack, flow_xoff, flow_xon
  uint32_t top_of_rack = 0;                       // hula_probe: 24 bits
  uint8_t utilisation = 0;                        // hula_probe
  uint32_t sequence = 0;                          // hula_probe
  uint16_t hold_us = 0;                           // flow_xoff; 0 = until flow_xon
  bool operator==(const ShimControl&) const = default;
};

inline constexpr size_t kShimControlLimit = kShimHeader + 20;  // octets, the longest

// What follows the Ethernet header; pad_frame does the rest.
size_t encode(const ShimControl& control, Octets out);
// As for the shim, and wrong_type: kind data; bad_value: an unknown notify reason.
[[nodiscard]] CodecVerdict decode(ConstOctets octets, ShimControl& control);

}  // namespace eddy
