// Adjacency: the last step before the queue. It finds the MAC address of the next node on the line
// and rewrites the frame for it.
//
// On a host port it resolves the destination by ARP or ND, and holds a few packets until the answer
// comes. What it holds is charged to a budget of its own and to no priority group: a host that does
// not answer must not pause anybody. Neighbors configured without a MAC are asked for when their
// port comes up. One that no longer answers is used for another age, since a slow host is no reason
// to lose a packet. New neighbors and messages of a port are bounded by its rate and its quota, so
// that one port cannot take the table from the others. A fabric port is a point-to-point link with
// one peer (fabric_peers.h). Rewriting strips tags (and the shim where the packet leaves the
// fabric), sets both MACs and counts the TTL down. Owner: the shard that owns the egress port.
// Cost: one table look-up for each packet on host ports. Source: RFC 826, RFC 4861 (one state
// machine for both, intervals below).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "net/addresses.h"
#include "net/arp.h"
#include "net/deadlines.h"
#include "net/ethernet.h"
#include "net/ids.h"
#include "net/nd.h"
#include "net/packet.h"
#include "net/rate_limit.h"
#include "net/rebase.h"
#include "net/units.h"
#include "switch/dataplane/neighbors/neighbor_messages.h"
#include "switch/dataplane/neighbors/neighbors.h"
#include "switch/dataplane/paths/fabric_peers.h"
#include "switch/dataplane/paths/shim_dresser.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/flow_stages.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/queues/rewrite.h"
#include "switch/dataplane/state/command.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class IcmpResponder;

class Adjacency {
 public:
  static constexpr size_t kNeighbors = 2 * kMaxConfiguredNeighbors;
  static constexpr Duration kRequestInterval = Duration::seconds(1);
  static constexpr uint8_t kRequests = 3;
  static constexpr Duration kRetryInterval = Duration::seconds(5);  // failed and lost neighbors

  struct Services {
    Egress& egress;
    IcmpResponder& icmp;
    const FabricPeers& peers;
    ShimDresser& shims;
    FlowStages& stages;
  };
  Adjacency(ShardContext& context, IngressBuffer& buffer, const Services& services, size_t ports);

  // A packet with its egress port. Takes it: on the way to the line, held for an answer or by a
  // flow stage, or dropped and counted. Whoever has delivered some says end_burst().
  void deliver(Packet* packet) {
    if (stages_.at(lb::StagePlace::to_hosts)) return deliver_by_stages(packet);
    deliver_now(packet);
  }
  // Packets to hosts are looked at by flow stages, burst by burst.
  bool by_stages() const { return stages_.at(lb::StagePlace::to_hosts); }
  // Of the host that a packet goes to, which is wanted from now on; null: it is not known.
  const MacAddress* host_mac(const Packet& packet) {
    Neighbor* neighbor = neighbors_.find(packet.egress_port, destination_words(packet));
    if (neighbor == nullptr || !has_mac(neighbor->state)) [[unlikely]]
      return nullptr;
    if (!neighbor->wanted) neighbor->wanted = true;
    return &neighbor->mac;
  }
  // The same, without noting that it is wanted. For reports.
  const MacAddress* known_mac(const Packet& packet) {
    const Neighbor* neighbor = neighbors_.find(packet.egress_port, destination_words(packet));
    return neighbor == nullptr || !has_mac(neighbor->state) ? nullptr : &neighbor->mac;
  }
  void end_burst() {
    if (gathered_count_ != 0) give_to_stages();
  }
  // What flow stages have let go.
  void deliver_passed() {
    PacketFifo& passed = stages_.passed(lb::StagePlace::to_hosts);
    while (!passed.empty()) deliver_now(passed.pop());
  }

  // Frames for us: each is read, answered where that is due, and consumed or dropped.
  void arp(Packet* packet);
  void neighbor_discovery(Packet* packet);

  void link_changed(PortId port, bool up);
  // Another port will have its place: all its neighbors, until they are configured anew.
  void forget(PortId port);
  void adopt(const Snapshot& now);
  void on_timers();
  void rebase(const Rebase& rebase);

  size_t dump(std::span<NeighborRow> rows) const;
  uint64_t held() const { return waiting_; }

 private:
  void deliver_by_stages(Packet* packet);
  void give_to_stages();
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
    if (to_fabric) shims_.dress(*packet);
    uint8_t* frame = packet->data();
    if ((packet->flags & (kPacketOriginated | kPacketShimControl)) == 0) [[likely]]
      decrement_ttl_of(*packet, frame + packet->l2_len);
    rewrite_macs(frame, next, egress.mac);
    egress_.enqueue(packet);
  }
  void deliver_to_host(Packet* packet) {
    const MacAddress* mac = host_mac(*packet);
    if (mac == nullptr) [[unlikely]]
      return resolve(packet);
    send(packet, *mac);
  }
  // As IpAddress has it in its octets.
  static NeighborTable::Words destination_words(const Packet& packet) {
    const uint8_t* network = packet.data() + packet.l2_len;
    if (packet.has(kPacketIpv6)) [[unlikely]]
      return {load_raw<uint64_t>(network + 24), load_raw<uint64_t>(network + 32)};
    constexpr uint64_t kV4Mapped = 0xffff0000;
    return {0, uint64_t{load_raw<uint32_t>(network + 16)} << 32 | kV4Mapped};
  }
  static IpAddress destination_of(const Packet& packet);
  void resolve(Packet* packet);
  void hold(Packet* packet, Neighbor& neighbor);
  Packet* take_held(Neighbor& neighbor);
  void refuse_held(Neighbor& neighbor, DropReason reason);
  bool may_hear(PortId port);
  void learn(PortId port, const IpAddress& address, const MacAddress& mac, bool may_insert);
  void confirm(Neighbor& neighbor, const MacAddress& mac);
  void turn(Neighbor& neighbor, NeighborState state);
  void ask(Neighbor& neighbor);
  void advance(Neighbor& neighbor);
  void fail(Neighbor& neighbor);
  void forget(Neighbor& neighbor, DropReason reason);
  void await_link(Neighbor& neighbor);
  void set_timer(const Neighbor& neighbor, Instant at);
  // An entry, at the cost of none that is missed more than `worth`. Null: there is no room, or the
  // port has had too many in this second.
  Neighbor* insert_learned(PortId port, const IpAddress& address, NeighborState worth);
  bool make_room(PortId port, NeighborState worth);
  Neighbor* insert_configured(PortId port, const IpAddress& address);
  void adopt(const ConfiguredNeighbor& configured, uint64_t generation);
  void fix(Neighbor& neighbor, const MacAddress& mac);
  void consume(Packet* packet);

  ShardContext& context_;
  IngressBuffer& buffer_;
  Egress& egress_;
  IcmpResponder& icmp_;
  const FabricPeers& peers_;
  ShimDresser& shims_;
  FlowStages& stages_;
  NeighborMessages messages_;
  NeighborTable neighbors_;
  uint64_t waiting_ = 0;             // packets that neighbors hold back
  int64_t held_octets_ = 0;          // of these, in whole cells
  std::vector<RateLimit> heard_;     // ARP and ND messages, by port
  std::vector<RateLimit> inserted_;  // new neighbors, by port
  Deadlines neighbor_timers_;        // by entry: next request, ageing, failure
  size_t gathered_count_ = 0;        // of a burst, for the stages
  std::array<Packet*, kBurst> gathered_{};
};

}  // namespace eddy
