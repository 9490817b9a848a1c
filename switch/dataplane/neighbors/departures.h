// Departures: the last step before the queue for a whole burst, by the short way.
//
// It does what Adjacency::deliver() does for one packet after another, with the same end: for each
// queue that a packet of the burst goes to it opens a row (queue_row.h), where what is the same for
// all of its packets is known: that the port leads to a peer or to hosts or is another shard's, how
// frames begin, how long they may be, and that the queue takes them all without a mark. A packet
// then costs its TTL, its MACs and a link. Rows stay open for the bursts that follow in the poll,
// until close(), or until a burst might not fit or is of another kind; the next polls open those
// that got packets before they look at any. What a row knows of its port stays until it changes,
// and so does the MAC of the host that its last packet went to. What has no open row, or does not
// fit it, goes packet by packet, in its place: packets of one queue go all by the same way. A
// packet that comes alone asks its row what it knows of the port, and opens none. Owner: the shard.
// Bounds: a row a port and queue, of which kMostRows are open. Cost: some 140 instructions to open
// and close a row, 12 a burst while it is open. Source: docs/adr/0030.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "lb/members.h"
#include "net/ids.h"
#include "net/ip.h"
#include "net/packet.h"
#include "net/protocols.h"
#include "switch/dataplane/neighbors/adjacency.h"
#include "switch/dataplane/paths/fabric_peers.h"
#include "switch/dataplane/paths/shim_dresser.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/packet_lanes.h"
#include "switch/dataplane/queues/queue_row.h"
#include "switch/dataplane/queues/rewrite.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class Departures {
 public:
  struct Services {
    Adjacency& adjacency;
    Egress& egress;
    const FabricPeers& peers;
    ShimDresser& shims;
    PacketLanes& lanes;
  };
  Departures(ShardContext& context, const Services& services, size_t ports);
  Departures(const Departures&) = delete;
  Departures& operator=(const Departures&) = delete;

  struct Burst {
    uint32_t octets = 0;           // of its packets
    uint16_t flags = 0;            // PacketFlag that any of them has
    PortId from = PortId::none();  // none: of another shard, which has asked what concerns the port
  };
  // Before anything of a new burst looks at queues: counts what the last one has put there, where
  // anybody may look.
  void settle() {
    if (unsettled_) [[unlikely]]
      settle_rows();
  }
  // The same, as somebody looks now.
  void settle_all() { settle_rows(); }
  // Packets whose egress ports are chosen, at most kBurst, from one port or from another shard.
  // one_by_one(Packet*) takes what does not go by the short way.
  template <class OneByOne>
  void put(std::span<Packet* const> packets, const Burst& burst, OneByOne&& one_by_one) {
    begin(packets, burst);
    switch (frames_of(burst)) {
      case Frames::ipv4:
        put_all<Frames::ipv4>(packets, burst, one_by_one);
        break;
      case Frames::bare:
        put_all<Frames::bare>(packets, burst, one_by_one);
        break;
      case Frames::attended:
        put_all<Frames::attended>(packets, burst, one_by_one);
        break;
      case Frames::dressed:
        put_all<Frames::dressed>(packets, burst, one_by_one);
        break;
      case Frames::any:
        put_all<Frames::any>(packets, burst, one_by_one);
        break;
    }
  }
  // The same of packets from a host that get their shims on the way (ShimDresser::begin_passing).
  template <class OneByOne>
  void put_passing(std::span<Packet* const> packets, std::span<const uint16_t> sets,
                   const Burst& burst, OneByOne&& one_by_one) {
    begin(packets, burst);
    if ((burst.flags & kPacketIpv6) != 0)
      put_all_passing<Frames::bare, Frames::any>(packets, sets, burst, one_by_one);
    else
      put_all_passing<Frames::ipv4, Frames::dressed>(packets, sets, burst, one_by_one);
  }
  // Of packets with these flags from one port: nothing stands between Ethernet and IP.
  static bool is_bare(uint16_t flags) {
    return (flags & (kPacketTagged | kPacketShim | kPacketOriginated | kPacketShimControl)) == 0;
  }
  // At the end of a burst: its packets in rows of other shards' ports go to these. What a burst
  // brings to such a row is ready for the line, all of it or none, so that none overtakes another.
  void hand_rows_over() {
    if (over_) [[unlikely]]
      hand_over();
  }
  // Packets that another shard has made ready for the line, with what they have in common.
  void put_ready(const LaneRow& lane_row, std::span<Packet* const> packets);
  // Before packets leave the queues, or any is put there for another reason than a burst.
  void close() {
    if (row_count_ != 0) close_all();
  }
  // The same of one packet of IPv4 that came alone by the short way, untagged, and is to get no
  // shim. False: it does not go by the short way, and nothing is done.
  bool put_alone(Packet& packet) {
    QueueRow& row = row_of(packet);
    if (row.stub != nullptr) [[unlikely]]
      return false;  // it may be open
    if (row.known_at != context_.way_changes) [[unlikely]]
      learn(row, packet.egress_port, packet.queue);
    if (packet.wire_len > row.alone_len) [[unlikely]]
      return false;
    uint8_t* const frame = packet.data();
    const MacAddress* host = nullptr;
    if (row.to == QueueRow::To::host) {
      host = services_.adjacency.host_mac(packet);
      if (host == nullptr) [[unlikely]]
        return false;
    } else if (row.to != QueueRow::To::peer || row.port == packet.ingress_port) [[unlikely]] {
      return false;
    }
    if (!services_.egress.put_alone(row, &packet)) [[unlikely]]
      return false;
    decrement_ipv4_ttl(frame + kEthernetHeader);
    std::memcpy(frame, row.head.data(), kMacs);
    if (host != nullptr) store_mac(frame, *host);
    return true;
  }

 private:
  static constexpr size_t kMostRows = 2 * kBurst;
  // Which packet is the first to its queue is what no predictor can know. So rows are opened before
  // a burst: those that one of the last two polls has used, if the burst has so many packets for
  // each that the last one has used that most will get some,
  static constexpr size_t kFewest = 2;
  // or, by a look at each packet, where the burst before opened a row for fewer packets than that.
  static constexpr size_t kSpread = 4;

  enum class Frames : uint8_t {
    ipv4,      // without tags and shims, and they get no shims
    bare,      // the same of IPv4 and of IPv6
    attended,  // as ipv4, but some may get a shim
    dressed,   // as ipv4, but some have got a shim
    any,
  };
  Frames frames_of(const Burst& burst) const {
    const bool ipv6 = (burst.flags & kPacketIpv6) != 0;
    if (!is_bare(burst.flags)) return Frames::any;
    if (!context_.dressing) return ipv6 ? Frames::bare : Frames::ipv4;
    if (ipv6 || burst.from.is_none()) return Frames::any;
    return services_.shims.attention() != nullptr ? Frames::attended : Frames::dressed;
  }

  template <Frames kFrames>
  static uint32_t l2_len_of(const Packet& packet) {
    const bool may_be_longer = kFrames == Frames::dressed || kFrames == Frames::any;
    return may_be_longer ? packet.l2_len : uint32_t{kEthernetHeader};
  }
  // As it would be behind a bare Ethernet header.
  template <Frames kFrames>
  static uint32_t bare_len_of(const Packet& packet) {
    return packet.wire_len - (l2_len_of<kFrames>(packet) - kEthernetHeader);
  }
  template <Frames kFrames>
  static bool is_ipv4(const Packet& packet) {
    const bool some_are_not = kFrames == Frames::bare || kFrames == Frames::any;
    return !some_are_not || !packet.has(kPacketIpv6);
  }

  template <Frames kFrames, class OneByOne>
  void put_all(std::span<Packet* const> packets, const Burst& burst, OneByOne& one_by_one) {
    const lb::MemberMask* const attention = services_.shims.attention();
    const NextHop* const next_hops = context_.next_hops;
    for (Packet* const packet : packets) {
      QueueRow& row = row_of(*packet);
      const uint32_t length = bare_len_of<kFrames>(*packet);
      const bool simple =
          kFrames == Frames::attended
              ? !lb::contains(attention[next_hops[packet->next_hop].set], packet->member)
              : kFrames != Frames::any;
      if (simple && length <= row.simply) [[likely]] {
        put_simply<kFrames>(*packet, row);
        continue;
      }
      if (simple && length <= row.longest && is_to_known_host<kFrames>(*packet, row)) [[likely]] {
        put_simply<kFrames>(*packet, row);
        continue;
      }
      put_or_go<kFrames>(*packet, row, simple, burst, one_by_one);
    }
  }
  // The first to its row, to another host than the one before, or one that needs more than MACs.
  template <Frames kFrames, class OneByOne>
  [[gnu::noinline]] void put_or_go(Packet& packet, QueueRow& row, bool simple, const Burst& burst,
                                   OneByOne& one_by_one) {
    const uint32_t length = bare_len_of<kFrames>(packet);
    if (length > row.longest) [[unlikely]] {
      open_for(row, packet, burst);
      if (length > row.longest) return go_alone(packet, one_by_one);
    }
    if (kFrames == Frames::attended && !simple && length <= row.simply) [[likely]] {
      services_.shims.dress_bare(packet);
      return put_simply<Frames::dressed>(packet, row);
    }
    if (simple && (length <= row.simply || is_to_known_host<kFrames>(packet, row)))
      put_simply<kFrames>(packet, row);
    else if (!put<kFrames>(packet, row)) [[unlikely]]
      go_alone(packet, one_by_one);
  }
  // kFrames: as they came; kDressed: as they are with their shims, where these are not put here.
  template <Frames kFrames, Frames kDressed, class OneByOne>
  void put_all_passing(std::span<Packet* const> packets, std::span<const uint16_t> sets,
                       const Burst& burst, OneByOne& one_by_one) {
    const ShimStencil stencil = services_.shims.stencil();
    for (size_t i = 0; i < packets.size(); ++i) {
      Packet& packet = *packets[i];
      const uint16_t set = sets[i];
      QueueRow& row = row_of(packet);
      const uint32_t length = bare_len_of<kFrames>(packet);
      if (length > row.longest) [[unlikely]]
        open_for(row, packet, burst);
      if (stencil.fits(packet) && length <= row.simply) [[likely]] {
        uint8_t* const shim = put_with_shim<kFrames>(packet, set, stencil, stencil.briefs[i], row);
        if (stencil.has_errand(packet, set)) services_.shims.add_errand(packet, shim, set);
        continue;
      }
      services_.shims.dress_apart(packet, i);
      const bool simple = kDressed != Frames::any;
      if (simple && bare_len_of<kDressed>(packet) <= row.simply)
        put_simply<kDressed>(packet, row);
      else if (bare_len_of<kDressed>(packet) > row.longest || !put<kDressed>(packet, row))
        go_alone(packet, one_by_one);
    }
  }
  // Returns where its shim is.
  template <Frames kFrames>
  static uint8_t* put_with_shim(Packet& packet, uint16_t set, const ShimStencil& stencil,
                                uint32_t brief, QueueRow& row) {
    uint8_t* const frame = stencil.put(packet, set, brief);
    uint8_t* const shim = frame + kEthernetHeader;
    if (is_ipv4<kFrames>(packet))
      decrement_ipv4_ttl(shim + kShimHeader);
    else
      decrement_ipv6_hop_limit(shim + kShimHeader);
    std::memcpy(frame, row.head.data(), kEthernetHeader);
    row.octets += packet.wire_len;
    ++row.shims;
    row.packets.push(&packet);
    return shim;
  }
  template <class OneByOne>
  void go_alone(Packet& packet, OneByOne& one_by_one) {
    const uint64_t changes = context_.way_changes;
    one_by_one(&packet);
    if (context_.way_changes != changes) [[unlikely]]
      forget_hosts();
  }
  template <Frames kFrames>
  static bool is_to_known_host(const Packet& packet, const QueueRow& row) {
    return is_ipv4<kFrames>(packet) && row.host != 0 &&
           l2_len_of<kFrames>(packet) == kEthernetHeader &&
           row.host == destination_of(packet.data());
  }
  static uint32_t destination_of(const uint8_t* frame) {
    return load_raw<uint32_t>(frame + kEthernetHeader + kIpv4DestinationOffset);
  }
  template <Frames kFrames>
  static void put_simply(Packet& packet, QueueRow& row) {
    const uint32_t wire_len = packet.wire_len;  // before a frame is written, which might be it
    uint8_t* const frame = packet.data();
    uint8_t* const network = frame + l2_len_of<kFrames>(packet);
    if (is_ipv4<kFrames>(packet))
      decrement_ipv4_ttl(network);
    else
      decrement_ipv6_hop_limit(network);
    std::memcpy(frame, row.head.data(), kMacs);
    row.octets += wire_len;
    row.packets.push(&packet);
  }
  // False: it goes to a host whose MAC is not known.
  template <Frames kFrames>
  bool put(Packet& packet, QueueRow& row) {
    if (row.to == QueueRow::To::shard) {
      row.octets += packet.wire_len;
      services_.lanes.put(row.owner, &packet);
      return true;
    }
    const MacAddress* host = nullptr;
    if (row.to == QueueRow::To::host) {
      host = services_.adjacency.host_mac(packet);
      if (host == nullptr) [[unlikely]]
        return false;
    }
    if (kFrames != Frames::ipv4 && kFrames != Frames::bare) strip_and_dress(packet, row);
    uint8_t* frame = packet.data();
    count_ttl_down<kFrames>(packet, frame);
    if (row.tagged) [[unlikely]] {
      make_room_for_tag(packet);
      frame = packet.data();
      std::memcpy(frame, row.head.data(), row.head.size());
    } else {
      std::memcpy(frame, row.head.data(), kMacs);
    }
    if (host != nullptr) {
      store_mac(frame, *host);
      if (kFrames != Frames::any && is_ipv4<kFrames>(packet) && !row.tagged) keep_host(row, frame);
    }
    row.octets += packet.wire_len;
    row.packets.push(&packet);
    return true;
  }
  // Of a frame that goes there: the next one of the queue mostly goes to the same host.
  static void keep_host(QueueRow& row, const uint8_t* frame) {
    std::memcpy(row.head.data(), frame, sizeof(MacAddress));
    row.host = destination_of(frame);
  }
  void strip_and_dress(Packet& packet, const QueueRow& row) {
    const bool to_fabric = row.to == QueueRow::To::peer;
    strip_headers(packet, /*keep_shim=*/to_fabric);
    if (to_fabric) services_.shims.dress(packet);
  }
  template <Frames kFrames>
  static void count_ttl_down(const Packet& packet, uint8_t* frame) {
    if (kFrames == Frames::ipv4) return decrement_ipv4_ttl(frame + kEthernetHeader);
    if ((packet.flags & (kPacketOriginated | kPacketShimControl)) == 0)
      decrement_ttl_of(packet, frame + packet.l2_len);
  }

  // What was said of open rows holds for the burst, too, or they are closed.
  void begin(std::span<Packet* const> packets, const Burst& burst) {
    const bool spread = opened_ * kSpread > packets.size();
    need_ = burst.octets + static_cast<uint32_t>(kBurst * (context_.shim_reserve + kVlanTag));
    if (row_count_ != 0) [[unlikely]]
      keep_open(burst);
    if (row_count_ == 0) room_ = INT64_MAX;
    room_ -= need_;
    ways_ = context_.way_changes;
    from_ = burst.from;
    unsettled_ |= context_.counts_by_burst;
    opened_ = 0;
    if (row_count_ == 0 && kept_ != 0 && keeps_enough(packets.size()))
      open_kept(burst);
    else if (spread) [[unlikely]]
      open_rows(packets, burst);
  }
  QueueRow& row_of(const Packet& packet) const {
    return rows_of_[packet.queue.index()][packet.egress_port.index()];
  }
  void keep_open(const Burst& burst);
  void close_rows_to(PortId port);
  // Asked at the first packet to the row's queue: its port and the queue take packets of the burst
  // that are not too long, or one by one.
  void open_for(QueueRow& row, const Packet& packet, const Burst& burst);
  void open_rows(std::span<Packet* const> packets, const Burst& burst);
  bool keeps_enough(size_t packets) const {
    return used_ * kFewest <= packets && kept_ <= kMostRows - kBurst;
  }
  void open_kept(const Burst& burst);
  void ask_for(QueueRow& row, const Packet& packet, const Burst& burst);
  void open(QueueRow& row, const Burst& burst);
  void open_for_others(QueueRow& row, const Burst& burst);
  bool has_room(QueueRow& row, const Burst& burst);
  bool open_over(QueueRow& row, const Burst& burst);
  void hand_over();
  void learn(QueueRow& row, PortId port, QueueId queue);
  void learn_over(QueueRow& row, const PortSettings& settings) const;
  // A packet that went by itself has changed some neighbor.
  void forget_hosts();
  void settle_rows();
  void count_shims(QueueRow& row) {
    if (row.shims != 0) context_.count(row.port, PortCounter::shim_tx_packets, row.shims);
    row.shims = 0;
  }
  void close(QueueRow& row);
  void close_all();

  ShardContext& context_;
  Services services_;
  const std::array<QueueRow*, kPriorities> rows_of_;  // a queue, by port
  uint64_t ways_ = 0;       // ShardContext::way_changes when the last burst began
  PortId from_;             // of the last burst
  bool unsettled_ = false;  // since then: some are to be counted, or to be asked anew
  uint32_t need_ = 0;       // octets of the burst in hand, with its tags and shims
  int64_t room_ = 0;        // the least of all open rows'
  size_t row_count_ = 0;
  bool over_ = false;      // since close(): some are of other shards' ports
  bool ect_over_ = false;  // some packets there may be ECN-capable
  size_t opened_ = 0;      // rows, by packets of the burst in hand or the last one
  size_t kept_ = 0;        // row_count_ == 0: the first so many of asked_for_ are to be opened next
  size_t used_ = 0;        // of these, so many have got packets in the last poll
  std::array<QueueRow*, kMostRows> asked_for_{};  // since close(): those that are open, and more
  std::array<Packet, kMostRows> stubs_{};         // of these
};

}  // namespace eddy
