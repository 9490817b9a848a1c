// Packet: what the switch knows of a frame, in one cache line behind the frame's rte_mbuf.
//
// The line lives in the mbuf's private area (priv_size = sizeof(Packet)), and the buffer right
// behind it, so all three are one object. Where the frame begins in it, and how long it is, the
// line says; the mbuf says it while a device has the packet (from_device, for_device), and nobody
// else reads or writes the mbuf for it. wire_len is the length for parsing, charging and shaping;
// data_len only bounds reads (a virtual-time fabric carries headers alone). rte_pktmbuf_clone and
// _copy are forbidden: they lose the line. Owner: the shard that holds the packet; it moves between
// shards by an rte_ring, never shared. Bounds: frames of 65,535 octets.
#pragma once

#include <rte_mbuf_core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/ids.h"
#include "net/units.h"

namespace eddy {

// Packet::flags
enum PacketFlag : uint16_t {
  kPacketIpv6 = 1 << 0,    // parse: the network header is IPv6 (else IPv4 when kPacketIp is set)
  kPacketIp = 1 << 1,      // parse: has a network header
  kPacketTagged = 1 << 2,  // parse: carries an 802.1Q or 802.1ad tag
  kPacketEct = 1 << 3,     // parse: ECN-capable transport
  kPacketCe = 1 << 4,      // parse or ECN marker: congestion experienced
  kPacketRoce = 1 << 5,    // parse: UDP port 4791
  kPacketRoceControl = 1 << 6,   // parse: ACK, NAK or CNP; by ECMP unless told not to
  kPacketFragment = 1 << 7,      // parse: part of a fragmented datagram; ports are not to be read
  kPacketShim = 1 << 8,          // parse: carried the leaf-to-leaf shim
  kPacketOriginated = 1 << 9,    // local: made by this switch; charged to no ingress PG
  kPacketLastHop = 1 << 10,      // parse: TTL or hop limit is 0 or 1
  kPacketShimControl = 1 << 11,  // paths: a control frame between leaves, no IP behind the shim
  kPacketMarkAsked = 1 << 12,    // ECN marker at dequeue: not again if the device gives it back
  kPacketFreeShim = 1 << 13,     // paths: its shim's octets are not in wire_len (docs/adr/0020)
  kPacketTimed = 1 << 14,        // paths: what it waits here counts (queues/sojourn.h)
  kPacketReady = 1 << 15,        // lanes, of one that had to wait for room: rewritten for the line
};

struct alignas(64) Packet {
  Packet* next;  // whichever FIFO holds the packet
  union {
    Packet* ahead;    // while a FIFO holds it: the packet two behind, if there is one
    Instant sent_at;  // egress shaper: when its last bit has left
  };
  uint64_t order_hash;     // parse: order key (reference 1.5); what must stay in order
  uint32_t balance_hash;   // parse: balance key; what ECMP and flowlets hash
  uint16_t wire_len;       // ingress: frame octets without FCS
  uint16_t held_len;       // data_len()
  uint32_t charged_bytes;  // admission: what release gives back, to the byte; kStageCharge
  union {
    uint16_t next_hop;  // route: index of the next hop in the snapshot
    uint16_t held_in;   // while a flow stage holds it: the interval that took it
  };
  PortId ingress_port;         // ingress
  PortId egress_port;          // route or selector
  PathId path;                 // selector
  uint16_t payload_len;        // parse: transport payload octets
  uint16_t flags;              // PacketFlag
  uint8_t member;              // selector: index into the path set
  uint8_t l2_len;              // parse: octets before the network header
  uint8_t l3_len;              // parse: octets of the network header with its options
  TrafficClass traffic_class;  // classify
  PriorityGroupId pg;          // classify; none: it was dropped or used up before
  QueueId queue;               // classify
  uint16_t data_off;           // octets of the buffer before the frame
  uint32_t queued_ns;          // paths, of one that is timed: since when it waits
  mutable uint32_t note;       // selector: for its own agent, when that dresses the packet's shim

  bool has(PacketFlag flag) const { return (flags & flag) != 0; }
  void set(PacketFlag flag) { flags = static_cast<uint16_t>(flags | flag); }

  static Packet* of(rte_mbuf* mbuf) { return reinterpret_cast<Packet*>(mbuf + 1); }
  rte_mbuf* mbuf() { return reinterpret_cast<rte_mbuf*>(this) - 1; }
  const rte_mbuf* mbuf() const { return reinterpret_cast<const rte_mbuf*>(this) - 1; }

  uint8_t* buffer() { return reinterpret_cast<uint8_t*>(this + 1); }
  const uint8_t* buffer() const { return reinterpret_cast<const uint8_t*>(this + 1); }
  uint8_t* data() { return buffer() + data_off; }
  const uint8_t* data() const { return buffer() + data_off; }
  // Octets of the frame that are there to be read.
  uint32_t data_len() const { return held_len; }

  // From the network header on.
  uint32_t network_len() const { return uint32_t{wire_len} - l2_len; }

  void set_length(size_t held, size_t on_wire) {
    held_len = static_cast<uint16_t>(held);
    wire_len = static_cast<uint16_t>(on_wire);
  }
  // The frame gets room for so many octets more in front, or loses its first ones.
  void push_front(uint32_t octets) {
    data_off = static_cast<uint16_t>(data_off - octets);
    held_len = static_cast<uint16_t>(held_len + octets);
  }
  void pop_front(uint32_t octets) {
    data_off = static_cast<uint16_t>(data_off + octets);
    held_len = static_cast<uint16_t>(held_len - octets);
  }

  // As a device has brought it, in one buffer of its own. One that is longer than a line can say
  // is as long as it can say, and so longer than any port takes.
  static Packet* from_device(rte_mbuf* mbuf) {
    Packet* const packet = of(mbuf);
    packet->data_off = mbuf->data_off;
    packet->set_length(mbuf->data_len, std::min<uint32_t>(mbuf->pkt_len, UINT16_MAX));
    return packet;
  }
  // For a device, which sends what is held.
  rte_mbuf* for_device() {
    rte_mbuf* const out = mbuf();
    out->data_off = data_off;
    out->data_len = held_len;
    out->pkt_len = held_len;
    return out;
  }
};

static_assert(sizeof(Packet) == 64, "one cache line");
static_assert(sizeof(rte_mbuf) == 128, "the packet line follows the mbuf's two lines");
static_assert(offsetof(Packet, data_off) == 54, "in what would only be room");
static_assert(offsetof(Packet, order_hash) == 16 && offsetof(Packet, next_hop) == 36,
              "the layout that docs/packet_walk.md shows");

}  // namespace eddy
