// The short way of reception: from a frame that plain_frame.h knows to a packet with its keys,
// its class and its next hop.
//
// It says what parser, classifier and look-up say, or nothing: then nobody is hurt but fields of
// the packet that the long way writes anew. A ShortWay holds what is the same for all frames of a
// burst; who has it as a local variable has it in registers. A table by type of service holds what
// a packet has from its flags to its queue, and the packet's line is written in words that span
// several fields. Owner: the shard. Cost: about 90 instructions for untagged IPv4. Source:
// docs/adr/0030.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "lb/flow_lines.h"
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
  void add(uint64_t word, uint32_t wire_len) {  // ClassOfTos
    any_ |= word;
    all_ &= word;
    octets_ += wire_len;
  }
  void add(const Packet& packet) { add(word_of(packet), packet.wire_len); }
  uint32_t octets() const { return octets_; }
  // Of `packets`, which are those that were added.
  PlainBurst over(std::span<Packet* const> packets, int64_t backlog) const {
    const auto any = std::bit_cast<ClassOfTos>(any_);
    PlainBurst burst{.backlog = backlog, .octets = octets_, .flags = any.flags};
    const auto all = std::bit_cast<ClassOfTos>(all_);
    if (any.class_of.pg == all.class_of.pg) [[likely]] {
      add_to(burst, any.class_of.pg);
    } else {
      for (const Packet* packet : packets) add_to(burst, packet->pg);
    }
    return burst;
  }

  // What a Packet has as a ClassOfTos does.
  static uint64_t word_of(const Packet& packet) {
    return load_raw<uint64_t>(reinterpret_cast<const uint8_t*>(&packet) + kAt);
  }
  static void put_word(Packet& packet, uint64_t word) {
    std::memcpy(reinterpret_cast<uint8_t*>(&packet) + kAt, &word, sizeof word);
  }
  static constexpr size_t kAt = offsetof(Packet, flags);
  static_assert(offsetof(Packet, member) - kAt == offsetof(ClassOfTos, member));
  static_assert(offsetof(Packet, l2_len) - kAt == offsetof(ClassOfTos, l2_len));
  static_assert(offsetof(Packet, l3_len) - kAt == offsetof(ClassOfTos, l3_len));
  static_assert(offsetof(Packet, traffic_class) - kAt == offsetof(ClassOfTos, class_of));
  static_assert(offsetof(Packet, queue) - kAt == offsetof(ClassOfTos, class_of) + 2);

 private:
  static void add_to(PlainBurst& burst, PriorityGroupId pg) {
    burst.pgs = static_cast<uint8_t>(burst.pgs | 1u << pg.index());
  }
  uint64_t any_ = 0;  // ClassOfTos, or'ed
  uint64_t all_ = ~uint64_t{0};
  uint32_t octets_ = 0;
};

class ShortWay {
 public:
  // `sums_good`: as Received. `lines`: of flows, that rows of packets are to ask for, if any.
  ShortWay(PortId port, const PortSettings& settings, const RouteTable& routes, bool sums_good,
           const lb::FlowLines& lines = {})
      : settings_(settings), routes_(routes), lines_(lines), port_(port), sums_good_(sums_good) {}

  // As many of the first as are untagged UDP, all over IPv4 or all over IPv6; at least one is
  // there.
  size_t take_untagged(std::span<Packet* const> packets, Gathered& gathered) const {
    const Packet& first = *packets[0];
    const bool may_be_ipv6 = first.data_len() >= kShortestPlain &&
                             load_be16(first.data() + detail::kTypeAt) == kEtherTypeIpv6;
    return may_be_ipv6 ? take_untagged_over<false>(packets, gathered)
                       : take_untagged_over<true>(packets, gathered);
  }
  // A frame that comes alone, if it is untagged UDP over IPv4; it leads on.
  [[gnu::always_inline]] bool take_alone(Packet* packet) const { return take<true>(packet); }
  // An untagged frame with feedback of paths, from a fabric port; its shim is there to be read.
  bool is_feedback(const Packet& packet) const {
    return packet.data_len() >= kEthernetHeader + kShimHeader && settings_.takes_untagged &&
           settings_.role != config::PortRole::host &&
           is_of(kFeedback, packet.data(), settings_.head);
  }
  // The other kinds: tagged frames of the port's VLAN, and frames with a shim, whose arrival is for
  // the caller to tell.
  bool take_other(Packet* packet, Gathered& gathered) const;

 private:
  using Header = const uint8_t*;  // of the network, behind which UDP's can be read
  template <bool kIpv4>
  size_t take_untagged_over(std::span<Packet* const> packets, Gathered& gathered) const {
    if (packets.size() == 1) return take_one<kIpv4>(packets[0], gathered) ? 1 : 0;
    if (kIpv4 && sums_good_) return take_row<kIpv4, kIpv4>(packets, gathered);
    return take_row<kIpv4, false>(packets, gathered);
  }
  // IPv4's where it is: a copy would be read sooner than its halves are written.
  template <bool kIpv4>
  [[gnu::always_inline]] std::conditional_t<kIpv4, const Octets32&, Octets32> head_of() const {
    if constexpr (kIpv4)
      return settings_.head;
    else
      return ipv6_head_of(settings_.head);
  }
  template <bool kIpv4>
  bool take(Packet* packet) const;
  template <bool kIpv4>
  bool take_one(Packet* packet, Gathered& gathered) const;
  template <bool kIpv4, bool kSumsGood>
  size_t take_row(std::span<Packet* const> packets, Gathered& gathered) const;
  template <bool kIpv4>
  static bool is_plain(const Packet& packet, const Octets32& head, bool sum_good);
  static bool is_short_plain_ipv4(const Packet& packet, const Octets32& head, bool sum_good);
  template <bool kIpv4>
  static bool is_readable_plain(const Packet& packet, const Octets32& head, bool sum_good);
  template <bool kIpv4>
  static uint64_t put_keys(Packet* packet, Header header, const ClassOfTos* by_tos);
  // Next hop and port, as one word.
  static_assert(offsetof(Packet, ingress_port) == offsetof(Packet, next_hop) + 2);
  static constexpr uint32_t place_of(PortId port, uint16_t next_hop) {
    return static_cast<uint32_t>(port.index()) << 16 | next_hop;
  }
  static void put_place(Packet& packet, uint32_t place) {
    std::memcpy(&packet.next_hop, &place, sizeof place);
    packet.charged_bytes = 0;
  }
  bool take_behind(Packet* packet, const PlainInput& in, uint16_t flags) const;
  bool serves_tag(const uint8_t* frame) const;
  ClassOf class_of(const uint8_t* frame, uint8_t tos, uint16_t flags) const;

  const PortSettings& settings_;
  const RouteTable& routes_;
  const lb::FlowLines lines_;
  const PortId port_;
  const bool sums_good_;
};

template <bool kIpv4>
[[gnu::always_inline]] inline bool ShortWay::is_plain(const Packet& packet, const Octets32& head,
                                                      bool sum_good) {
  constexpr uint32_t kIpv4Bth = kShortestPlain + kBthHeader;
  if (kIpv4 && packet.data_len() < kIpv4Bth) [[unlikely]]
    return is_short_plain_ipv4(packet, head, sum_good);
  return is_readable_plain<kIpv4>(packet, head, sum_good);
}

// Of one that ends before a BTH would, so that others are not asked for that. Over IPv6 many do.
[[gnu::noinline]] inline bool ShortWay::is_short_plain_ipv4(const Packet& packet,
                                                            const Octets32& head, bool sum_good) {
  return is_readable_plain<true>(packet, head, sum_good);
}

template <bool kIpv4>
[[gnu::always_inline]] inline bool ShortWay::is_readable_plain(const Packet& packet,
                                                               const Octets32& head,
                                                               bool sum_good) {
  const PlainInput in{packet.data(), kEthernetHeader, packet.data_len(), packet.wire_len, sum_good};
  constexpr uint32_t kLeast = kEthernetHeader + kUdpHeader + (kIpv4 ? kIpv4Header : kIpv6Header);
  if (in.data_len < kLeast) [[unlikely]]
    return false;
  if constexpr (kIpv4) return is_plain_ipv4(in.frame, head) && is_sound_plain_ipv4(in);
  return is_plain_ipv6(in.frame, head) && is_sound_plain_ipv6(in);
}

// Returns the word with its class.
template <bool kIpv4>
[[gnu::always_inline]] inline uint64_t ShortWay::put_keys(Packet* packet, Header header,
                                                          const ClassOfTos* by_tos) {
  constexpr auto kIpv6 = std::bit_cast<uint64_t>(ClassOfTos{
      .flags = kPacketIpv6, .l2_len = 0, .l3_len = kIpv6Header - kIpv4Header, .class_of = {}});
  const PlainFrame plain = kIpv4 ? read_plain_ipv4(header) : read_plain_ipv6(header);
  packet->order_hash = plain.order_hash;
  packet->balance_hash = plain.balance_hash;
  packet->payload_len = plain.payload_len;
  const uint8_t tos = kIpv4 ? tos_of_ipv4(header) : tos_of_ipv6(header);
  const uint64_t word = (std::bit_cast<uint64_t>(by_tos[tos]) | plain.flags) + (kIpv4 ? 0 : kIpv6);
  Gathered::put_word(*packet, word);
  return word;
}

template <bool kIpv4>
[[gnu::always_inline]] inline bool ShortWay::take(Packet* packet) const {
  if (!is_plain<kIpv4>(*packet, head_of<kIpv4>(), sums_good_)) [[unlikely]]
    return false;
  const Header header = packet->data() + kEthernetHeader;
  put_keys<kIpv4>(packet, header, settings_.classes->by_tos.data());
  put_place(*packet,
            place_of(port_, kIpv4 ? routes_.find4(load_be32(header + kIpv4DestinationOffset))
                                  : routes_.lookup6(header + kIpv6DestinationOffset)));
  return true;
}

template <bool kIpv4>
[[gnu::noinline]] bool ShortWay::take_one(Packet* packet, Gathered& gathered) const {
  if (!take<kIpv4>(packet)) return false;
  gathered.add(*packet);
  return true;
}

template <bool kIpv4, bool kSumsGood>
[[gnu::noinline]] size_t ShortWay::take_row(std::span<Packet* const> packets,
                                            Gathered& gathered) const {
  const Octets32& head = head_of<kIpv4>();
  const ClassOfTos* const by_tos = settings_.classes->by_tos.data();
  const auto find = [this] {
    if constexpr (kIpv4)
      return routes_.find4();
    else
      return routes_.find6();
  }();
  const uint32_t port = place_of(port_, 0);
  const lb::FlowLines lines = lines_;
  Gathered all = gathered;
  Packet* const* at = packets.data();
  Packet* const* const end = at + packets.size();
  for (; at != end; ++at) {
    Packet* const packet = *at;
    if (!is_plain<kIpv4>(*packet, head, kSumsGood)) [[unlikely]]
      break;
    const Header header = packet->data() + kEthernetHeader;
    const uint64_t word = put_keys<kIpv4>(packet, header, by_tos);
    if (lines.any()) lines.prefetch(packet->order_hash);
    put_place(*packet,
              port | find(header + (kIpv4 ? kIpv4DestinationOffset : kIpv6DestinationOffset)));
    all.add(word, packet->wire_len);
  }
  gathered = all;
  return static_cast<size_t>(at - packets.data());
}

inline bool ShortWay::take_other(Packet* packet, Gathered& gathered) const {
  const uint8_t* const frame = packet->data();
  PlainInput in{frame, kEthernetHeader, packet->data_len(), packet->wire_len, sums_good_};
  uint16_t flags = 0;
  if (in.data_len < kShortestPlain) return false;
  if (is_of(kTagged, frame, settings_.head) && serves_tag(frame)) {
    flags = kPacketTagged;
    in.l2_len += kVlanTag;
  } else if (settings_.takes_untagged && settings_.role != config::PortRole::host &&
             is_of(kShimmed, frame, settings_.head)) {
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
  uint8_t tos;
  if (is_plain_behind(ip - 2, true)) {
    if (!is_rest_plain_ipv4(in)) return false;
    plain = read_plain_ipv4(ip);
    tos = tos_of_ipv4(ip);
    packet->next_hop = routes_.find4(load_be32(ip + kIpv4DestinationOffset));
    packet->l3_len = kIpv4Header;
  } else {
    if (!is_plain_behind(ip - 2, false) || in.data_len < in.l2_len + kIpv6Header + kUdpHeader ||
        !is_rest_plain_ipv6(in))
      return false;
    plain = read_plain_ipv6(ip);
    tos = tos_of_ipv6(ip);
    flags = static_cast<uint16_t>(flags | kPacketIpv6);
    packet->next_hop = routes_.lookup6(ip + kIpv6DestinationOffset);
    packet->l3_len = kIpv6Header;
  }
  ClassOf found = class_of(in.frame, tos, flags);
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
  packet->flags = static_cast<uint16_t>(settings_.classes->by_tos[tos].flags | plain.flags | flags);
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
