// Forwarder: from a parsed, classified IP packet to its egress port: route, admit, select, hand
// over.
//
// Works on bursts so that the route lookup and the selector are one call each. Packets for a port
// of another shard leave by its lane, a burst at a time. What a lane has no room for is kept, in
// order and charged to its ingress PG, and goes with later polls: no packet is lost between shards,
// and the buffer bounds what is kept. Frames of our own enter here, too (uncharged), through
// originate(). Owner: the shard. Source: architecture, section 4.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lb/packet_fifo.h"
#include "net/ids.h"
#include "net/packet.h"
#include "switch/dataplane/neighbors/icmp_responder.h"
#include "switch/dataplane/queues/flow_stages.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class Adjacency;
class ShimDresser;

// What reception saw of a burst of one port while it had each packet at hand. The masks have a bit
// for each index that occurs, `flags` every flag that any packet has.
struct PlainBurst {
  int64_t backlog = 0;  // as IngressBuffer::admit
  uint32_t octets = 0;  // sum of wire_len
  uint16_t flags = 0;   // PacketFlag
  uint8_t pgs = 0;
  uint8_t queues = 0;
};

class Forwarder final : public PacketOriginator {
 public:
  struct Services {
    Adjacency& adjacency;
    IcmpResponder& icmp;
    ShimDresser& shims;
    FlowStages& stages;
  };
  Forwarder(ShardContext& context, IngressBuffer& buffer, const Services& services);

  // IP packets of one ingress port, at most kBurst; `backlog` as IngressBuffer::admit.
  void forward(std::span<Packet* const> packets, int64_t backlog);
  // The same of packets that were received, lead on after this switch by their TTL (none has
  // kPacketLastHop) and have their next_hop.
  void forward_plain(std::span<Packet* const> packets, const PlainBurst& burst);
  // A control frame of another leaf that goes on by the set.
  void relay(Packet* packet, uint16_t set);
  // A packet of our own with its network header at l2_len; routed with the next
  // forward_originated().
  void originate(Packet* packet) override { originated_.push(packet); }
  void forward_originated() {
    if (!originated_.empty()) forward_all_originated();
  }

  // What flow stages at the hosts' ports have let go: routed anew, since it may have been long.
  void forward_passed() {
    if (!stages_.passed(lb::StagePlace::from_hosts).empty()) forward_all_passed();
  }

  // Packets whose egress port is chosen, on to their queues; at most kBurst.
  void send_on(std::span<Packet* const> packets);
  // The path set that leads to the packet's destination now; nullopt: none.
  std::optional<uint16_t> set_of(Packet* packet);
  // What a selector made of packets from the port.
  void count_choices(const lb::PathView& view, PortId port);

  // At the start of a poll: what was kept goes to other shards as far as there is room. True:
  // nothing is left.
  bool send_kept() { return kept_count_ == 0 || send_kept_on(); }
  // Between polls: another shard's lane has had no room for some.
  bool keeps() const { return kept_count_ != 0; }

  // What may be chosen of each path set; after a link change, a new snapshot, or when a path was
  // excluded or let back in.
  void refresh_live();
  uint64_t held() const { return originated_.count() + kept_count_; }

 private:
  struct Choice {  // packets that go to a path set
    std::array<Packet*, kBurst> packets;
    std::array<uint16_t, kBurst> sets;
    size_t count = 0;
  };

  void forward_all_originated();
  void count_decisions(const lb::PathView& view, PortId port);
  void count_fallback(const lb::PathView& view, PortId port);
  bool goes_through_stages(std::span<Packet* const> packets) const;
  void forward_by_stages(std::span<Packet* const> packets, int64_t backlog);
  void forward_all_passed();
  bool leads_on(const Packet& packet, const NextHop& next_hop) const;
  void forward_routed(std::span<Packet* const> packets, int64_t backlog);
  void turn_away(Packet* packet, const NextHop& next_hop);
  void choose(Choice& choice);
  void hand_over(std::span<Packet* const> packets);
  void send_outgoing();
  void send_to(ShardId shard, std::span<Packet* const> packets);
  bool send_kept_on();
  bool turns_back(Packet* packet);
  bool fits_mtu(Packet* packet);

  ShardContext& context_;
  IngressBuffer& buffer_;
  Adjacency& adjacency_;
  IcmpResponder& icmp_;
  ShimDresser& shims_;
  FlowStages& stages_;
  PacketFifo originated_;
  struct Outgoing {
    std::array<Packet*, kBurst> packets;
    size_t count = 0;
    PacketFifo kept;  // that came before
  };
  std::vector<Outgoing> outgoing_;  // by shard that owns the egress port; of one forward()
  uint64_t kept_count_ = 0;         // by all of them
};

}  // namespace eddy
