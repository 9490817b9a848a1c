// The short way of reception: from a frame that plain_frame.h knows to a packet with its keys,
// its class and its next hop.
//
// It says what parser, classifier and look-up say, or nothing: then nobody is hurt but fields of
// the packet that the long way writes anew. A ShortWay holds what is the same for all frames of a
// burst; who has it as a local variable has it in registers. A table by type of service holds class
// and flags, and the packet's line is written in words that span several fields. Owner: the shard.
// Cost: about 115 instructions for untagged IPv4. Source: docs/adr/0030.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "net/packet.h"
#include "switch/dataplane/pipeline/forwarder.h"
#include "switch/dataplane/pipeline/route_lookup.h"
#include "switch/dataplane/state/plain_frame.h"
#include "switch/dataplane/state/routes.h"
#include "switch/dataplane/state/shim_layout.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy {

// What a burst's packets are together, gathered as they come: an instruction or two each.
class Gathered {
 public:
  void add(uint32_t word, uint32_t wire_len) {  // ClassOfTos
    any_ |= word;
    all_ &= word;
    octets_ += wire_len;
  }
  void add_flags(uint16_t flags) { flags_ |= flags; }
  void add(const Packet& packet) {
    const ClassOfTos class_of{{packet.traffic_class, packet.pg, packet.queue}, 0};
    add(std::bit_cast<uint32_t>(class_of), packet.wire_len);
    add_flags(packet.flags);
  }
  void add(const Gathered& others) {
    any_ |= others.any_;
    all_ &= others.all_;
    flags_ |= others.flags_;
    octets_ += others.octets_;
  }
  uint32_t octets() const { return octets_; }
  // Of `packets`, which are those that were added.
  PlainBurst over(std::span<Packet* const> packets, int64_t backlog) const {
    const auto any = std::bit_cast<ClassOfTos>(any_);
    PlainBurst burst{
        .backlog = backlog, .octets = octets_, .flags = static_cast<uint16_t>(flags_ | any.flags)};
    constexpr auto kGroup = std::bit_cast<uint32_t>(
        ClassOfTos{{TrafficClass(0), PriorityGroupId(0xff), QueueId(0)}, 0});
    if (((any_ ^ all_) & kGroup) == 0) [[likely]] {
      add_to(burst, any.class_of.pg);
    } else {
      for (const Packet* packet : packets) add_to(burst, packet->pg);
    }
    return burst;
  }

 private:
  static void add_to(PlainBurst& burst, PriorityGroupId pg) {
    burst.pgs = static_cast<uint8_t>(burst.pgs | 1u << pg.index());
  }
  uint32_t any_ = 0;  // ClassOfTos, or'ed
  uint32_t all_ = ~uint32_t{0};
  uint32_t flags_ = 0;
  uint32_t octets_ = 0;
};

class ShortWay {
 public:
  // `sums_good`: as Received.
  ShortWay(PortId port, const PortSettings& settings, const Octets32& head,
           const RouteTable& routes, bool sums_good)
      : head_(head), settings_(settings), routes_(routes), port_(port), sums_good_(sums_good) {}

  // As many of the first as are untagged UDP over IPv4, or over IPv6.
  template <bool kIpv4>
  size_t take_untagged(std::span<Packet* const> packets, Gathered& gathered) const {
    if (packets.size() == 1) return take_one<kIpv4>(packets[0], gathered) ? 1 : 0;
    if (kIpv4 && sums_good_) return take_row<kIpv4, kIpv4>(packets, gathered);
    return take_row<kIpv4, false>(packets, gathered);
  }
  // A frame that comes alone, if it is untagged UDP over IPv4; it leads on.
  [[gnu::always_inline]] bool take_alone(Packet* packet) const {
    static_assert(kPacketLastHop > UINT8_MAX);  // put_class() has no more flags
    return take<true>(packet);
  }
  // An untagged frame with feedback of paths, from a fabric port; its shim is there to be read.
  bool is_feedback(const Packet& packet) const {
    return packet.data_len() >= kEthernetHeader + kShimHeader && settings_.takes_untagged &&
           settings_.role != config::PortRole::host && is_of(kFeedback, packet.data(), head_);
  }
  // The other kinds: tagged frames of the port's VLAN, and frames with a shim, whose arrival is for
  // the caller to tell.
  bool take_other(Packet* packet, Gathered& gathered) const;

 private:
  using Header = const uint8_t*;  // of the network, behind which UDP's can be read
  template <bool kIpv4>
  bool take(Packet* packet) const;
  template <bool kIpv4>
  bool take_one(Packet* packet, Gathered& gathered) const;
  template <bool kIpv4, bool kSumsGood>
  size_t take_row(std::span<Packet* const> packets, Gathered& gathered) const;
  template <bool kIpv4>
  static Header header_of(const Packet& packet, const Octets32& head, bool sum_good);
  template <bool kIpv4>
  static void put_keys(Packet* packet, Header header, const ClassOfTos* by_tos);
  template <bool kIpv4, class Find>
  static void put_place(Packet* packet, Header header, PortId port, const Find& find);

  // Class and flags as one word, whose last octet falls behind the queue, where there is nothing.
  static_assert(offsetof(Packet, pg) == offsetof(Packet, traffic_class) + 1);
  static_assert(offsetof(Packet, queue) == offsetof(Packet, traffic_class) + 2);
  static_assert(offsetof(Packet, queue) + 2 <= sizeof(Packet));
  static_assert((kPacketIpv6 | kPacketIp | kPacketEct | kPacketCe | kPacketRoce |
                 kPacketRoceControl) < 256);
  static constexpr size_t kClassAt = offsetof(Packet, traffic_class);
  static void put_class(Packet* packet, ClassOfTos class_of, uint32_t more) {
    const uint32_t word = std::bit_cast<uint32_t>(class_of) | more << 24;
    std::memcpy(reinterpret_cast<uint8_t*>(packet) + kClassAt, &word, sizeof word);
    packet->flags = static_cast<uint16_t>(word >> 24);
  }
  static uint32_t class_word(const Packet& packet) {
    return load_raw<uint32_t>(reinterpret_cast<const uint8_t*>(&packet) + kClassAt);
  }
  bool take_behind(Packet* packet, const PlainInput& in, uint16_t flags) const;
  bool serves_tag(const uint8_t* frame) const;
  ClassOf class_of(const uint8_t* frame, uint8_t tos, uint16_t flags) const;

  const Octets32& head_;
  const PortSettings& settings_;
  const RouteTable& routes_;
  const PortId port_;
  const bool sums_good_;
};

// Null: not of this kind.
template <bool kIpv4>
inline ShortWay::Header ShortWay::header_of(const Packet& packet, const Octets32& head,
                                            bool sum_good) {
  const PlainInput in{packet.data(), kEthernetHeader, packet.data_len(), packet.wire_len, sum_good};
  constexpr uint32_t kLeast = kEthernetHeader + kUdpHeader + (kIpv4 ? kIpv4Header : kIpv6Header);
  if (in.data_len < kLeast) [[unlikely]]
    return nullptr;
  if (kIpv4 ? !is_plain_ipv4(in.frame, head) || !is_rest_plain_ipv4(in)
            : !is_of(kPlainIpv6, in.frame, head) || !is_rest_plain_ipv6(in)) [[unlikely]]
    return nullptr;
  return in.frame + kEthernetHeader;
}

template <bool kIpv4>
inline void ShortWay::put_keys(Packet* packet, Header header, const ClassOfTos* by_tos) {
  const PlainFrame plain = kIpv4 ? read_plain_ipv4(header) : read_plain_ipv6(header);
  packet->order_hash = plain.order_hash;
  packet->balance_hash = plain.balance_hash;
  packet->payload_len = plain.payload_len;
  put_class(packet, by_tos[plain.tos], plain.flags | (kIpv4 ? 0 : kPacketIpv6));
}

template <bool kIpv4, class Find>
inline void ShortWay::put_place(Packet* packet, Header header, PortId port, const Find& find) {
  packet->charged_bytes = 0;
  packet->next_hop = find(header);
  packet->ingress_port = port;
  packet->l2_len = kEthernetHeader;
  packet->l3_len = kIpv4 ? kIpv4Header : kIpv6Header;
}

template <bool kIpv4>
[[gnu::always_inline]] inline bool ShortWay::take(Packet* packet) const {
  const Header header = header_of<kIpv4>(*packet, head_, sums_good_);
  if (header == nullptr) [[unlikely]]
    return false;
  put_keys<kIpv4>(packet, header, settings_.classes->by_tos.data());
  put_place<kIpv4>(packet, header, port_, [this](Header at) {
    return kIpv4 ? routes_.find4(load_be32(at + kIpv4DestinationOffset))
                 : routes_.lookup6(at + kIpv6DestinationOffset);
  });
  return true;
}

template <bool kIpv4>
[[gnu::noinline]] bool ShortWay::take_one(Packet* packet, Gathered& gathered) const {
  if (!take<kIpv4>(packet)) return false;
  gathered.add(class_word(*packet), packet->wire_len);
  return true;
}

// Three loops, each with no more to keep than the processor has registers for.
template <bool kIpv4, bool kSumsGood>
[[gnu::noinline]] size_t ShortWay::take_row(std::span<Packet* const> packets,
                                            Gathered& gathered) const {
  std::array<Header, kBurst> headers;
  const Octets32& head = head_;
  size_t count = 0;
  for (; count < packets.size(); ++count) {
    headers[count] = header_of<kIpv4>(*packets[count], head, kSumsGood);
    if (headers[count] == nullptr) [[unlikely]]
      break;
  }
  const ClassOfTos* const by_tos = settings_.classes->by_tos.data();
  for (size_t i = 0; i < count; ++i) put_keys<kIpv4>(packets[i], headers[i], by_tos);
  const RouteTable::Find4 find4 = routes_.find4();
  const RouteTable& routes = routes_;
  const PortId port = port_;
  Gathered all = gathered;
  for (size_t i = 0; i < count; ++i) {
    Packet* const packet = packets[i];
    put_place<kIpv4>(packet, headers[i], port, [&](Header at) {
      return kIpv4 ? find4(load_be32(at + kIpv4DestinationOffset))
                   : routes.lookup6(at + kIpv6DestinationOffset);
    });
    all.add(class_word(*packet), packet->wire_len);
  }
  gathered = all;
  return count;
}

inline bool ShortWay::take_other(Packet* packet, Gathered& gathered) const {
  const uint8_t* const frame = packet->data();
  PlainInput in{frame, kEthernetHeader, packet->data_len(), packet->wire_len, sums_good_};
  uint16_t flags = 0;
  if (in.data_len < kShortestPlain) return false;
  if (is_of(kTagged, frame, head_) && serves_tag(frame)) {
    flags = kPacketTagged;
    in.l2_len += kVlanTag;
  } else if (settings_.takes_untagged && settings_.role != config::PortRole::host &&
             is_of(kShimmed, frame, head_)) {
    flags = static_cast<uint16_t>(kPacketShim | (packet->flags & kPacketFreeShim));
    in.l2_len += kShimHeader;
    if ((flags & kPacketFreeShim) != 0) in.wire_len += kShimHeader;
  } else {
    return false;
  }
  if (!take_behind(packet, in, flags)) return false;
  gathered.add(*packet);
  return true;
}

// Either protocol; what is before it is known.
inline bool ShortWay::take_behind(Packet* packet, const PlainInput& in, uint16_t flags) const {
  constexpr uint32_t kCompared = 32 - 2;  // from the EtherType on
  if (in.data_len < in.l2_len + kCompared) return false;
  const uint8_t* const ip = in.frame + in.l2_len;
  PlainFrame plain;
  if (is_plain_behind(ip - 2, true)) {
    if (!is_rest_plain_ipv4(in)) return false;
    plain = read_plain_ipv4(ip);
    packet->next_hop = routes_.find4(load_be32(ip + kIpv4DestinationOffset));
    packet->l3_len = kIpv4Header;
  } else {
    if (!is_plain_behind(ip - 2, false) || in.data_len < in.l2_len + kIpv6Header + kUdpHeader ||
        !is_rest_plain_ipv6(in))
      return false;
    plain = read_plain_ipv6(ip);
    flags = static_cast<uint16_t>(flags | kPacketIpv6);
    packet->next_hop = routes_.lookup6(ip + kIpv6DestinationOffset);
    packet->l3_len = kIpv6Header;
  }
  ClassOf found = class_of(in.frame, plain.tos, flags);
  if (settings_.classes->has_channels && (flags & kPacketShim) != 0) [[unlikely]] {
    const uint8_t* const shim = in.frame + in.l2_len - kShimHeader;
    const ClassOf* in_channel =
        settings_.classes->in_channel(found.traffic_class, shim_at::channel_of(shim));
    if (in_channel == nullptr) return false;
    found = *in_channel;
  }
  packet->order_hash = plain.order_hash;
  packet->balance_hash = plain.balance_hash;
  packet->charged_bytes = 0;
  packet->ingress_port = port_;
  packet->payload_len = plain.payload_len;
  packet->flags =
      static_cast<uint16_t>(settings_.classes->by_tos[plain.tos].flags | plain.flags | flags);
  packet->l2_len = static_cast<uint8_t>(in.l2_len);
  packet->traffic_class = found.traffic_class;
  packet->pg = found.pg;
  packet->queue = found.queue;
  return true;
}

// Of the port's VLAN, or with a priority only.
inline bool ShortWay::serves_tag(const uint8_t* frame) const {
  const auto vlan = static_cast<uint16_t>(load_be16(frame + kEthernetHeader) & 0x0fff);
  return vlan != 0 ? vlan == settings_.vlan : settings_.takes_untagged;
}

inline ClassOf ShortWay::class_of(const uint8_t* frame, uint8_t tos, uint16_t flags) const {
  const bool by_pcp = (flags & kPacketTagged) != 0 && settings_.pcp_trusted;
  return by_pcp ? settings_.classes->by_pcp[frame[kEthernetHeader] >> 5]
                : settings_.classes->by_tos[tos].class_of;
}

}  // namespace eddy
