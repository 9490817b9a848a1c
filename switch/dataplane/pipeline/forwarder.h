// Forwarder: from a parsed, classified IP packet to its egress port: route, admit, select, hand
// over.
//
// Works on bursts so that the route lookup, admission and the selector are one call each, and each
// queue is opened once (departures.h). A burst of which one packet may need more than that goes
// packet by packet, with the same end. Packets for a port of another shard leave by its lane, a
// burst at a time (packet_lanes.h). Frames of our own enter here, too (uncharged), through
// originate(). Owner: the shard. Source: architecture, section 4.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lb/flow_lines.h"
#include "lb/packet_fifo.h"
#include "net/ids.h"
#include "net/packet.h"
#include "switch/dataplane/neighbors/icmp_responder.h"
#include "switch/dataplane/queues/flow_stages.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class Adjacency;
class Departures;
class Isolation;
class PacketLanes;
class ShimDresser;

// What reception saw of a burst of one port while it had each packet at hand.
struct PlainBurst {
  int64_t backlog = 0;  // as IngressBuffer::admit
  uint32_t octets = 0;  // sum of wire_len
  uint16_t flags = 0;   // PacketFlag that any packet has
  uint8_t pgs = 0;      // bit = a packet of that priority group
};

class Forwarder final : public PacketOriginator {
 public:
  struct Services {
    Adjacency& adjacency;
    IcmpResponder& icmp;
    ShimDresser& shims;
    FlowStages& stages;
    Departures& departures;
    PacketLanes& lanes;
    Isolation& isolation;
  };
  Forwarder(ShardContext& context, IngressBuffer& buffer, const Services& services);

  // IP packets of one ingress port, at most kBurst; `backlog` as IngressBuffer::admit.
  void forward(std::span<Packet* const> packets, int64_t backlog);
  // The same of packets that were received, lead on after this switch by their TTL (none has
  // kPacketLastHop) and have their next_hop.
  void forward_plain(std::span<Packet* const> packets, const PlainBurst& burst);
  // The same of one packet that came alone, untagged IPv4 without a shim.
  void forward_alone(Packet* packet, int64_t backlog);
  // A control frame of another leaf that goes on by the set.
  void relay(Packet* packet, uint16_t set);
  // A packet of our own with its network header at l2_len; routed with the next
  // forward_originated().
  void originate(Packet* packet) override { originated_.push(packet); }
  void forward_originated() {
    if (has_originated()) forward_all_originated();
  }
  bool has_originated() const { return !originated_.empty(); }

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

  // Lines of flows that the next burst will be chosen by, if it is as the last one was: who
  // receives it asks for them as soon as its hashes are known.
  lb::FlowLines lines_to_ask_for() const {
    return led_to_sets_ ? context_.selector->flow_lines() : lb::FlowLines{};
  }

  // What may be chosen of each path set; after a link change, a new snapshot, or when a path was
  // excluded or let back in.
  void refresh_live();
  uint64_t held() const { return originated_.count(); }

 private:
  struct Choice {  // packets that go to a path set
    std::array<Packet*, kBurst> packets;
    std::array<uint16_t, kBurst> sets;
    size_t count = 0;
  };
  struct Direct {  // packets whose port is known
    std::array<Packet*, kBurst> packets;
    size_t count = 0;
  };

  void forward_all_originated();
  void count_decisions(const lb::PathView& view, PortId port);
  void count_ways(const lb::PathView& view, PortId port);
  void count_guarded(const lb::PathView& view, PortId port);
  void count_fallback(const lb::PathView& view, PortId port);
  void isolate(std::span<Packet* const> packets);
  bool goes_through_stages(std::span<Packet* const> packets) const;
  void forward_by_stages(std::span<Packet* const> packets, int64_t backlog);
  void forward_all_passed();
  bool leads_on(const Packet& packet, const NextHop& next_hop) const;
  void forward_routed(std::span<Packet* const> packets, int64_t backlog);
  // Where the packets of a burst lead that was admitted at once. apart: none was, as some may be
  // turned away or refused, or pause their sender.
  enum class Lead : uint8_t { to_sets, by_port, on, apart };
  Lead admit_plain(std::span<Packet* const> packets, const PlainBurst& burst, uint16_t* sets);
  template <Lead kLead>
  Lead admit_all(std::span<Packet* const> packets, const PlainBurst& burst, uint16_t* sets);
  Lead admit_mixed(std::span<Packet* const> packets, const PlainBurst& burst);
  bool choose_alone(Packet* packet, uint16_t set);
  void forward_one(Packet* packet, int64_t backlog);
  void leave_alone(Packet* packet);
  void forward_to_sets(std::span<Packet* const> packets, std::span<const uint16_t> sets,
                       const PlainBurst& burst);
  void forward_admitted(std::span<Packet* const> packets, const PlainBurst& burst);
  void leave(std::span<Packet* const> packets, const PlainBurst& burst);
  void leave_with_shims(std::span<Packet* const> packets, std::span<const uint16_t> sets,
                        const PlainBurst& burst);
  bool select(const lb::PathView& view, std::span<Packet* const> packets,
              std::span<const uint16_t> sets);
  void part(std::span<Packet* const> packets, Choice& choice, Direct& direct);
  void turn_away(Packet* packet, const NextHop& next_hop);
  void choose(Choice& choice);
  std::span<Packet* const> find_ports(std::span<Packet* const> packets, Choice& room);
  static size_t leave_out_away(const lb::PathView& view, std::span<Packet* const> packets,
                               Packet** to);
  using Room = std::array<Packet*, kBurst>;
  // Before they are handed over; those that are left, in `room` where they had to be looked at.
  std::span<Packet* const> dress(std::span<Packet* const> packets, Room& room);
  std::span<Packet* const> dress_looking(std::span<Packet* const> packets, Room& room);
  bool keep_channel(Packet* packet);
  void hand_over(std::span<Packet* const> packets);
  void hand_over_one(Packet* packet);
  void hand_over_plain(std::span<Packet* const> packets, const PlainBurst& burst);
  void send_rows();
  bool turns_back(Packet* packet);
  bool fits_mtu(Packet* packet);

  ShardContext& context_;
  IngressBuffer& buffer_;
  Adjacency& adjacency_;
  IcmpResponder& icmp_;
  ShimDresser& shims_;
  FlowStages& stages_;
  Departures& departures_;
  PacketLanes& lanes_;
  Isolation& isolation_;
  PacketFifo originated_;
  bool all_live_ = false;     // no path set is without a member to choose
  bool led_to_sets_ = false;  // the first packet of the last burst that went the short way
};

}  // namespace eddy
