// Departures: the last step before the queue for a whole burst, by the short way.
//
// It does what Adjacency::deliver() does for one packet after another, with the same end: for each
// queue that a packet of the burst goes to it opens a row (queue_row.h), where what is the same for
// all of its packets is known: that the port leads to a peer or to hosts or is another shard's, how
// frames begin, how long they may be, and that the queue takes them all without a mark. A packet
// then costs its TTL, its MACs and a link. What has no row, or does not fit it, goes packet by
// packet, in its place: packets of one queue go all by the same way. Owner: the shard. Bounds:
// kBurst rows. Cost: a row is opened and closed for about two packets' worth of asking each.
// Source: docs/adr/0030.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

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

  struct Burst {
    uint32_t octets = 0;           // of its packets
    uint16_t flags = 0;            // PacketFlag that any of them has
    PortId from = PortId::none();  // none: of another shard, which has asked what concerns the port
  };
  // Packets whose egress ports are chosen, at most kBurst, from one port or from another shard.
  // one_by_one(Packet*) takes what does not go by the short way.
  template <class OneByOne>
  void put(std::span<Packet* const> packets, const Burst& burst, OneByOne&& one_by_one) {
    constexpr uint16_t kNotBare =
        kPacketIpv6 | kPacketTagged | kPacketShim | kPacketOriginated | kPacketShimControl;
    if (services_.adjacency.by_stages()) [[unlikely]] {
      for (Packet* packet : packets) one_by_one(packet);
      return;
    }
    if ((burst.flags & kNotBare) == 0 && !context_.dressing) [[likely]]
      put_all<true>(packets, burst, one_by_one);
    else
      put_all<false>(packets, burst, one_by_one);
    close();
  }

 private:
  static constexpr uint8_t kNoRow = 0;  // never opened: takes nothing

  template <bool kBare>
  static uint32_t l3_len_of(const Packet& packet) {
    return packet.wire_len - (kBare ? uint32_t{kEthernetHeader} : packet.l2_len);
  }

  // kBare: the burst is of IPv4 without tags and shims, and gets no shims.
  template <bool kBare, class OneByOne>
  void put_all(std::span<Packet* const> packets, const Burst& burst, OneByOne& one_by_one) {
    const uint8_t* const row_at = row_at_.data();  // in registers, whatever is stored meanwhile
    QueueRow* const rows = rows_.data();
    for (Packet* const packet : packets) {
      QueueRow* row =
          &rows[row_at[packet->egress_port.index() * kPriorities + packet->queue.index()]];
      if (l3_len_of<kBare>(*packet) > row->longest) [[unlikely]] {
        row = &open_for(*packet, burst);
        if (l3_len_of<kBare>(*packet) > row->longest) {
          one_by_one(packet);
          continue;
        }
      }
      if (kBare && row->simple) [[likely]]
        put_simply(*packet, *row);
      else if (!put<kBare>(*packet, *row)) [[unlikely]]
        one_by_one(packet);
    }
  }
  void put_simply(Packet& packet, QueueRow& row) {
    uint8_t* const frame = packet.data();
    decrement_ipv4_ttl(frame + kEthernetHeader);
    std::memcpy(frame, row.head.data(), kMacs);
    row.octets += packet.wire_len;
    row.packets.push(&packet);
  }
  // False: it goes to a host whose MAC is not known.
  template <bool kBare>
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
    if (!kBare) strip_and_dress(packet, row);
    uint8_t* frame = packet.data();
    count_ttl_down<kBare>(packet, frame);
    if (row.tagged) [[unlikely]] {
      make_room_for_tag(packet);
      frame = packet.data();
      std::memcpy(frame, row.head.data(), row.head.size());
    } else {
      std::memcpy(frame, row.head.data(), kMacs);
    }
    if (host != nullptr) store_mac(frame, *host);
    row.octets += packet.wire_len;
    row.packets.push(&packet);
    return true;
  }
  void strip_and_dress(Packet& packet, const QueueRow& row) {
    const bool to_fabric = row.to == QueueRow::To::peer;
    strip_headers(packet, /*keep_shim=*/to_fabric);
    if (to_fabric) services_.shims.dress(packet);
  }
  template <bool kBare>
  static void count_ttl_down(const Packet& packet, uint8_t* frame) {
    if (kBare) return decrement_ipv4_ttl(frame + kEthernetHeader);
    if ((packet.flags & (kPacketOriginated | kPacketShimControl)) == 0)
      decrement_ttl_of(packet, frame + packet.l2_len);
  }

  // The row of the packet's queue; asked for at the first packet to it.
  QueueRow& open_for(const Packet& packet, const Burst& burst);
  // Octets that fit it, from the network header on; 0: it does not take packets of the burst.
  uint32_t open(QueueRow& row, Packet& stub, const Burst& burst);
  void close();

  ShardContext& context_;
  Services services_;
  std::vector<uint8_t> row_at_;  // by port and queue: index into rows_, in this burst
  size_t row_count_ = 1;
  PortId from_ = PortId::none();  // of the burst
  std::array<QueueRow, kBurst + 1> rows_;
  std::array<Packet, kBurst + 1> stubs_{};  // of the rows
};

}  // namespace eddy
