// CongestionNews: tells other switches which hosts behind this leaf's ports are congested, hears
// what they tell, and passes it on.
//
// A host is told of in the poll in which its port's queue passes the threshold, by a CIM to every
// fabric port; again each `refresh`; and that it is over, when the queue is below `cold`. Who hears
// it remembers the host (isolated_hosts.h) until the message expires, and passes the message on to
// its other fabric ports, once a (host, sequence), while hops are left and the port's budget
// allows. What a message may claim is limited: life, hops. News of no peer that isolates would do
// harm: packets in the isolated class would meet a switch that keeps no order between the classes.
// So neighbors say hello, and a path set is isolated by only while all its ports' peers do.
// Owner: the shard; every shard has a table of its own and learns by mail. Bounds: one CIM a hot
// host, fabric port and refresh; relays take 2 percent of a port's line. Cost: nothing for a
// packet. Source: docs/adr/0039; reference B.17.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "net/congestion/cim.h"
#include "net/deadlines.h"
#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "switch/dataplane/paths/peer_messages.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/delay_histogram.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class CongestionNews {
 public:
  // A message is believed for so long, or for kTrust times what this switch's own live, if longer.
  static constexpr Duration kLongestLife = Duration::milliseconds(1);
  static constexpr int64_t kTrust = 4;
  static constexpr uint8_t kMostHops = 4;
  static constexpr uint32_t kMostHeard = 32;  // of a port, by a poll: what a storm may cost
  static constexpr int64_t kRelayShare = 50;  // of a port's line, one in so many
  static constexpr int kRelayBurst = 32;
  static constexpr int64_t kHelloRefreshes = 1'000;  // a hello each so many refreshes
  static constexpr int64_t kHellosMissed = 4;        // then the peer isolates no more

  struct Services {
    IngressBuffer& buffer;
    Egress& egress;
    PeerMessages& messages;
  };
  CongestionNews(ShardContext& context, const Services& services, size_t ports);

  // A CIM from a fabric port. Takes it.
  void cim(Packet* packet);
  // What another shard heard.
  void take(const HotHostNews& news);
  // Gives the ports the CIMs that they owe.
  void send_frames() {
    if (services_.egress.hot_ports().has_due(context_.now)) [[unlikely]]
      send_owed();
  }
  // Whether every port of the path set leads to a switch that isolates.
  bool speaks(uint16_t set) const { return (*speaking_)[set] != 0; }
  // The table of hosts has changed.
  void follow_table();
  // From the threshold to here, where switches share a clock: when it was heard.
  const DelayHistogram& notice() const { return rare_[0].heard_after; }
  // From there to the first packet that a host here sent and that was isolated.
  const DelayHistogram& isolated() const { return rare_[0].isolated_after; }
  void note_isolated(Duration after) { rare_[0].isolated_after.add(after); }
  void link_changed(PortId port, bool up);
  // Another port will have its place.
  void forget(PortId port);
  void adopt(const Snapshot& now);
  void rebase(const Rebase& rebase);
  void on_timers();

 private:
  struct Heard {  // to pass each message on once
    uint64_t host = 0;
    uint32_t sequence = 0;
    Instant at;
  };
  static constexpr size_t kHeard = 256;
  struct Peer {  // of a port
    Instant budget_used_to;
    Instant spoke_at;  // long_past(): it does not isolate
  };
  // Memory that is written once isolation is known.
  struct Rare {
    std::array<Heard, kHeard> heard;
    std::array<Peer, kMaxPorts> peers;
    DelayHistogram heard_after;
    DelayHistogram isolated_after;
  };
  enum Timer : Deadlines::Id { kSweep, kHello };

  Duration longest_life() const;
  Duration hello_interval() const { return plan().config->refresh * kHelloRefreshes; }
  const IsolationPlan& plan() const { return context_.snapshot->isolation; }
  bool may_hear(PortId port);
  void hear(const HotHostNews& news);
  void hear_hello(PortId port, Instant at);
  void hear_host(const HotHostNews& news);
  void tell_other_shards(const HotHostNews& news);
  void relay(PortId from, const Cim& message);
  bool is_repeated(const Cim& message);
  bool take_budget(PortId port);
  void send_owed();
  void tell_of(PortId port);
  void isolate_long_flows(PortId port);
  void isolate_flow(PortId port, uint32_t tag, Instant until);
  bool may_tell_of(PortId port, int64_t level) const;
  void tell(PortId port, HotPorts::Culprit& culprit, CimKind kind, int64_t level);
  void send_everywhere(const Cim& message, PortCounter counter);
  void forget_peers();
  std::span<Peer> peers() { return std::span(rare_[0].peers).first(ports_); }
  void say_hello(PortId port);
  void say_hello();
  void refresh_speaking();
  void sweep();
  bool is_done(const IsolatedHost& host) const;

  ShardContext& context_;
  Services services_;
  uint32_t sequence_ = 0;
  size_t told_ports_ = 0;  // with a host that others were told of
  const size_t ports_;
  std::vector<uint8_t>* speaking_ = nullptr;  // of the snapshot
  Reserved<Rare> rare_{1};
  struct {
    Instant at;
    PortId port = PortId::none();
    uint32_t count = 0;
  } reading_;  // in this poll, from this port
  Deadlines timers_;
};

}  // namespace eddy
