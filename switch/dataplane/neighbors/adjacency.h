// Adjacency: the last step before the queue. It finds the MAC address of the next node on the line
// and rewrites the frame for it.
//
// On a host port it resolves the destination by ARP or ND, and holds a few packets until the answer
// comes. A fabric port is a point-to-point link with one peer (fabric_peers.h). Rewriting strips
// tags (and the shim where the packet leaves the fabric), sets both MACs and counts the TTL down.
// Owner: the shard that owns the egress port. Cost: one table look-up for each packet on host
// ports. Source: RFC 826, RFC 4861 (one state machine for both, intervals below).
#pragma once

#include <cstdint>
#include <span>

#include "net/addresses.h"
#include "net/arp.h"
#include "net/deadlines.h"
#include "net/ethernet.h"
#include "net/ids.h"
#include "net/nd.h"
#include "net/packet.h"
#include "net/units.h"
#include "switch/dataplane/neighbors/neighbors.h"
#include "switch/dataplane/paths/fabric_peers.h"
#include "switch/dataplane/paths/path_service.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/queues/resequencer.h"
#include "switch/dataplane/queues/rewrite.h"
#include "switch/dataplane/state/command.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class IcmpResponder;

class Adjacency {
 public:
  static constexpr size_t kNeighbors = 2 * kMaxFixedNeighbors;
  static constexpr Duration kRequestInterval = Duration::seconds(1);
  static constexpr uint8_t kRequests = 3;

  struct Services {
    Egress& egress;
    IcmpResponder& icmp;
    const FabricPeers& peers;
    PathService& paths;
    Resequencer& resequencer;
  };
  Adjacency(ShardContext& context, IngressBuffer& buffer, const Services& services);

  // A packet with its egress port. Takes it: on the way to the line, held for an answer or for what
  // is to go before it, or dropped and counted.
  void deliver(Packet* packet) {
    const bool to_host = context_.settings(packet->egress_port).role == config::PortRole::host;
    if (to_host && resequencer_.watches(*packet)) return deliver_in_order(packet);
    deliver_now(packet);
  }
  // What the resequencer has let go: after each of its calls that may have.
  void deliver_due() {
    while (!resequencer_.due().empty()) deliver_now(resequencer_.due().pop());
  }

  // Frames for us: each is read, answered where that is due, and consumed or dropped.
  void arp(Packet* packet);
  void neighbor_discovery(Packet* packet);

  void link_down(PortId port);
  void adopt(const Snapshot& now);
  void on_timers();

  size_t dump(std::span<NeighborRow> rows) const;
  uint64_t held() const { return waiting_; }

 private:
  void deliver_in_order(Packet* packet) {
    if (resequencer_.take(packet)) [[likely]]
      deliver_now(packet);
    deliver_due();
  }
  // Whatever is to go before it.
  void deliver_now(Packet* packet) {
    const PortId port = packet->egress_port;
    const bool to_fabric = context_.settings(port).role == config::PortRole::fabric;
    if (!to_fabric) return deliver_to_host(packet);
    if (!peers_.known(port)) [[unlikely]]
      return buffer_.drop(packet, DropReason::neighbor_unresolved);
    send(packet, peers_.mac(port));
  }
  void send(Packet* packet, const MacAddress& next) {
    const PortSettings& egress = context_.settings(packet->egress_port);
    const bool to_fabric = egress.role == config::PortRole::fabric;
    strip_headers(*packet, /*keep_shim=*/to_fabric);
    if (to_fabric) paths_.dress(*packet);
    uint8_t* frame = packet->data();
    if ((packet->flags & (kPacketOriginated | kPacketShimControl)) == 0) [[likely]]
      decrement_ttl_of(*packet, frame + packet->l2_len);
    rewrite_macs(frame, next, egress.mac);
    egress_.enqueue(packet);
  }
  void deliver_to_host(Packet* packet);
  void resolve(Packet* packet, Neighbor* neighbor, const IpAddress& next);
  void learn(PortId port, const IpAddress& address, const MacAddress& mac, bool may_insert);
  void confirm(Neighbor& neighbor, const MacAddress& mac);
  void ask(Neighbor& neighbor);
  void ask_by_arp(const Neighbor& neighbor, Ipv4Address own);
  void ask_by_nd(const Neighbor& neighbor, const Ipv6Address& own);
  void advance(Neighbor& neighbor);
  // Null: the table is full.
  Neighbor* insert_learned(PortId port, const IpAddress& address);
  Neighbor* insert_fixed(PortId port, const IpAddress& address);
  void fix(Neighbor& neighbor, const MacAddress& mac);
  void give_up(Neighbor& neighbor, DropReason reason);
  void set_timer(const Neighbor& neighbor, Instant at);
  void answer_request(PortId port, const ArpMessage& question);
  void answer_solicitation(PortId port, const NdMessage& question);
  void send_arp(PortId port, const MacAddress& to, const ArpMessage& message);
  void send_nd(PortId port, const MacAddress& to, const NdMessage& message);
  void consume(Packet* packet);

  ShardContext& context_;
  IngressBuffer& buffer_;
  Egress& egress_;
  IcmpResponder& icmp_;
  const FabricPeers& peers_;
  PathService& paths_;
  Resequencer& resequencer_;
  NeighborTable neighbors_;
  uint64_t waiting_ = 0;       // packets that neighbors hold back
  Deadlines neighbor_timers_;  // by entry: next request, ageing, failure
};

}  // namespace eddy
