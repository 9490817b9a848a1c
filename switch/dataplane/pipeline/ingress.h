// Ingress: reads bursts, sends control frames to whom they concern, parses and classifies the rest.
//
// Whole UDP datagrams go the short way (short_way.h), and so does feedback of paths; every other
// frame goes the long one, by the parser; both leave the same packet. What is not IP to forward
// ends here: consumed by a service of the switch, or dropped and counted by its verdict. Owner: the
// shard. Source: architecture, section 4; reference C.8; docs/adr/0030.
#pragma once

#include <array>
#include <cstdint>

#include "net/packet.h"
#include "net/parse.h"
#include "switch/dataplane/neighbors/adjacency.h"
#include "switch/dataplane/neighbors/departures.h"
#include "switch/dataplane/paths/agent_host.h"
#include "switch/dataplane/paths/congestion_news.h"
#include "switch/dataplane/paths/fabric_peers.h"
#include "switch/dataplane/paths/path_warnings.h"
#include "switch/dataplane/pipeline/forwarder.h"
#include "switch/dataplane/pipeline/pause_control.h"
#include "switch/dataplane/pipeline/short_way.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class Ingress {
 public:
  // What parser and classifier found, to the packet.
  static void fill(Packet* packet, const ParsedFrame& frame, const ClassOf& class_of) {
    packet->order_hash = frame.order_hash;
    packet->balance_hash = frame.balance_hash;
    packet->flags = static_cast<uint16_t>(frame.flags | (frame.ttl <= 1 ? kPacketLastHop : 0));
    packet->payload_len = frame.payload_len;
    packet->l2_len = frame.l2_len;
    packet->l3_len = frame.l3_len;
    packet->traffic_class = class_of.traffic_class;
    packet->pg = class_of.pg;
    packet->queue = class_of.queue;
  }

  struct Services {
    PauseControl& pause;
    Adjacency& adjacency;
    FabricPeers& peers;
    Forwarder& forwarder;
    Departures& departures;
    PathWarnings& warnings;
    CongestionNews& news;
    AgentHost& agents;
  };
  Ingress(ShardContext& context, IngressBuffer& buffer, const Services& services)
      : context_(context), buffer_(buffer), services_(services) {}

  // Everything that the world has.
  void run();
  // The same where that is one frame.
  void run_alone(PortId port, Packet* packet);

 private:
  using Burst = std::array<Packet*, kBurst>;
  struct Source {  // of the burst in hand
    PortId port;
    const PortSettings& settings;
    uint8_t discarded_pgs;
    int64_t backlog;
    bool sums_good;
  };
  enum class Way : uint8_t { untagged_first, other_kinds, long_way };
  void process_alone(PortId port, Packet* packet, int64_t backlog, bool sums_good);
  bool goes_short(PortId port) const;
  void count_alone(PortId port, const Packet& packet);
  void process_burst_of_one(PortId port, Packet* packet, int64_t backlog, bool sums_good);
  void process_other_alone(PortId port, Packet* packet, int64_t backlog, bool sums_good);
  Source source_of(PortId port, int64_t backlog, bool sums_good) const;
  void process(std::span<Packet*> packets, const Source& source);
  void process_apart(std::span<Packet*> packets, const Source& source, bool long_way);
  template <Way kWay>
  void process_by(std::span<Packet*> packets, const Source& source);
  ShortWay short_way(const Source& source) const;
  size_t hear_feedback(std::span<Packet* const> packets, const ShortWay& way, PortId port,
                       uint64_t& octets);
  size_t take_others(std::span<Packet* const> packets, const ShortWay& way, Gathered& gathered);
  void count_received(PortId port, uint64_t packets, uint64_t octets);
  // True: an IP packet to forward, its Packet line filled in.
  bool accept(Packet* packet, const Source& source);
  bool accept_ip(Packet* packet, const ParsedFrame& frame, const Source& source);
  bool accept_unusual(Packet* packet, const ParsedFrame& frame, const PortSettings& settings);
  void serve(Packet* packet, const ParsedFrame& frame, const PortSettings& settings);
  void mac_control(Packet* packet);
  bool refuse(Packet* packet, DropReason reason);
  void tell_agents();
  void forward(std::span<Packet* const> packets, const Gathered& gathered, const Source& source);
  void relay(std::span<Packet* const> before, const Gathered& gathered, const Source& source);

  ShardContext& context_;
  IngressBuffer& buffer_;
  Services services_;
  struct MacControl {  // PFC and PAUSE frames of the burst in hand: a MAC counts them apart
    uint64_t packets = 0;
    uint64_t bytes = 0;
  } mac_control_;
  struct Relay {  // a control frame that goes on, once what came before it has
    Packet* packet = nullptr;
    uint16_t set = 0;
  } relay_;
};

}  // namespace eddy
