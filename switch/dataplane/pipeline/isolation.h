// Isolation: into which of two lossless classes a packet goes on.
//
// Packets to a host that is congested, or of a flow that congests one, leave in the isolated class:
// its queue here, its DSCP on the wire. What came isolated stays so, and on the last switch gets
// its own DSCP and queue back. No packet overtakes an earlier one of its flow: at a port the
// isolated queue sends nothing that came behind packets of the normal one (Egress), and a
// destination or flow returns to the normal class only while nothing waits isolated at the ports
// that it takes. Each switch sees to that by itself, of whatever it has seen go by isolated; the
// link between two keeps order. Who has no place in the table, and whose next switch does not
// isolate, goes on in its own class. A stamp of a path that goes by while packets wait isolated may
// overtake them, and is made to prove nothing of what was sent before it. Hosts are not believed
// when they claim to be isolated. Owner: the shard. Cost: a question a burst while nobody is
// isolated; else two looks at the table for each packet of the two classes. Source: docs/adr/0039,
// 0041.
#pragma once

#include <cstdint>
#include <span>

#include "net/packet.h"
#include "net/rebase.h"
#include "net/units.h"
#include "switch/dataplane/paths/congestion_news.h"
#include "switch/dataplane/state/explanation.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class Isolation {
 public:
  Isolation(ShardContext& context, CongestionNews& news) : context_(context), news_(news) {}

  // Packets from one port that have their class and their next hop.
  void look_at(std::span<Packet* const> packets) {
    for (Packet* packet : packets)
      if (concerns(*packet)) look_at(*packet);
  }
  bool concerns(const Packet& packet) const {
    return (context_.isolating >> packet.pg.index() & 1) != 0 && !packet.has(kPacketOriginated);
  }
  void look_at(Packet& packet);
  // What look_at() would do with the packet, of whom nothing is written. For reports.
  IsolationStep foresee(const Packet& packet) const;
  // The packet, which has a shim, goes on by the set: its stamp, if it has one, may overtake
  // others.
  void doubt_stamp(Packet& packet, uint16_t set) const;
  void rebase(const Rebase& rebase) {
    rebase.shift(isolated_at_);
    rebase.shift(context_.host_isolated_at);
  }

 private:
  bool would_isolate(const Packet& packet, uint16_t set) const;
  // What a packet of the two classes is, before anybody is asked for.
  struct Standing {
    bool claims;    // of a host that says it is isolated
    bool isolated;  // by a switch before this one
    bool to_set;
    bool may_begin;
  };
  Standing standing_of(const Packet& packet, const NextHop& next_hop) const;
  void sort(Packet& packet, const NextHop& next_hop);
  bool waits_by(uint16_t set) const;
  IsolatedHost* culprit_of(const Packet& packet, uint16_t set) const;
  bool stays_isolated(IsolatedHost& host, uint16_t set) const;
  bool waits_isolated(const IsolatedHost& host, uint16_t set) const;
  void put(Packet& packet, const pfc::ClassPair::Class& into) const;
  void begin(Packet& packet, IsolatedHost& host, uint16_t set);
  void keep(Packet& packet, uint16_t set);
  void end(Packet& packet, PortCounter counter) const;
  void notice(const Packet& packet, IsolatedHost& host);
  void note(const Packet& packet, IsolatedHost& host, uint16_t set);
  void describe(const Packet& packet, IsolatedHost& host, uint16_t set) const;

  ShardContext& context_;
  CongestionNews& news_;
  Instant isolated_at_ = Instant::long_past();  // the last packet here
};

}  // namespace eddy
