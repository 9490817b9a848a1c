// PathService: measures the paths between leaves by the shim (net/shim.h): delay, ECN marks,
// utilisation, and what has arrived.
//
// A source leaf gives packets to other leaves a shim, and some of them a stamp, at most one for
// each path and sample time. It probes idle paths in the class that is measured. A destination leaf
// notes what a shim says. It echoes a stamp by the next packet to its leaf or, after `echo`, by a
// frame of its own. A switch on the way counts the hop, notes the utilisation of its port, and
// obeys a pinned path's second choice; where it chose by itself it takes the mark "has kept to its
// path" off.
// Delays are round trips without the time that the echo waited, or one way where the clock is
// common. They begin when the packet joins its queue. What is heard is checked: a stamp that this
// switch did not send or has seen answered, a wait longer than the time that passed, an unknown
// leaf or path are counted and change nothing. A stamp proves that what went before it in its queue
// has arrived. With several shards it proves only what the others had handed over a while before
// (proof_lag). Owner: the shard. The record of a path is written by the shard of its port, which
// hears by mail of echoes that come in elsewhere. Bounds: what PathTable and PathEchoes hold; one
// probe for each path and probe time. Cost: a few loads for a packet that gets no shim, and for one
// that does about its 32 octets. Source: reference 1.4, 1.6 to 1.8, B.6.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lb/path_table.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/shim.h"
#include "switch/dataplane/paths/fabric_peers.h"
#include "switch/dataplane/paths/failure_detector.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/command.h"
#include "switch/dataplane/state/path_echoes.h"
#include "switch/dataplane/state/path_plan.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class PathService {
 public:
  static constexpr uint8_t kMostHops = 8;              // of a control frame
  static constexpr uint32_t kLongestControl = 128;     // octets of a control frame
  static constexpr uint32_t kDeviated = 1u << 31;      // in Shim::hold_ns: the stamp left its way
  static constexpr uint32_t kLongestDelay = 1u << 30;  // ns; no echo is believed that is older

  struct Services {
    IngressBuffer& buffer;
    Egress& egress;
    const FabricPeers& peers;
    FailureDetector& failures;
  };
  PathService(ShardContext& context, const Services& services)
      : context_(context), services_(services) {}

  // Before the poll reads what other shards have sent.
  // `all_given`: what this shard selected in earlier polls is in its lanes.
  void begin_poll(bool all_given) {
    if (context_.dressing) [[unlikely]]
      note_time(all_given);
  }

  // A packet on its way to a fabric port, with no tags: a shim if it is to have one, and what a
  // switch on the way has to say.
  void dress(Packet& packet) {
    if (packet.has(kPacketShim)) [[unlikely]]
      return pass(packet);
    if (!context_.dressing || packet.next_hop >= next_hop_count_) return;
    const NextHop& next_hop = context_.next_hops[packet.next_hop];
    if (next_hop.kind != NextHop::Kind::path_set) return;
    if (always_ || echoes_ == nullptr || echoes_->waiting(next_hop.set) != 0 ||
        may_be_due(packet, next_hop.set)) [[unlikely]]
      consider(packet, next_hop.set);
  }

  // Of a packet with a shim and a set to choose from: true when its path id has chosen.
  bool steer(Packet& packet, uint16_t set);
  // A packet with a shim came in at a fabric port.
  void arrived(const Packet& packet, uint32_t shim_offset);
  // A control frame with a shim, from a fabric port. Takes it; or makes it ready to go on by the
  // set that is returned.
  std::optional<uint16_t> control(Packet* packet);
  // What another shard heard of a path of ours.
  void take(const PathReport& report);

  void adopt(const Snapshot& now);
  void on_timers();
  // Stamps are the same: a rebase goes back by whole turns of theirs.
  void rebase(const Rebase& rebase);
  // Every member of every set, as far as there are rows; how many there were.
  size_t dump(std::span<PathRow> rows) const;

 private:
  // As far as this shard knows; others stamp the same path.
  bool may_be_due(const Packet& packet, size_t set) const {
    return packet.queue == measured_queue_ && echoes_->stamp_is_due(set, packet.member);
  }
  bool is_due(const Packet& packet, size_t set);
  void note_time(bool all_given);
  void plan_stamps();
  void make_due();
  void add_shim(Packet& packet, uint16_t set, bool due);
  void pass(Packet& packet);
  bool may_stamp(const lb::PathRecord& record);
  void wake_others();
  void consider(Packet& packet, uint16_t set);
  void look_around();
  void request(PortId port, lb::PathRecord& record);
  // What a shim says of a path that ends here; no flags: nothing.
  struct Telling {
    uint32_t echoed_ns = 0;
    uint32_t hold_ns = 0;
    PathId path;
    uint8_t flags = 0;
    uint8_t congestion = 0;
    uint8_t packets = 0;
    uint8_t marked = 0;
  };
  Telling tell(size_t set);
  Telling tell_of(HeardPath& heard);
  void note(PortId port, const Shim& shim, bool ect, bool ce);
  void hear(PortId port, const Shim& shim);
  void apply(lb::PathRecord& record, PortId port, const PathReport& report);
  bool take_echo(lb::PathRecord& record, PortId port, const PathReport& report);
  bool make_ready(Packet* packet, const Shim& shim);
  Packet* make_frame(PortId port, const Shim& shim);
  void flush(size_t set);
  void send_feedback(size_t set, HeardPath& heard);
  void look_after(size_t set);
  void probe(size_t set, lb::MemberIndex member);
  void start_measuring();
  void follow_timers();
  PathRow row_of(size_t set, lb::MemberIndex member) const;
  std::optional<lb::MemberIndex> member_of(size_t set, PathId path) const;
  bool keeps_up() const;

  ShardContext& context_;
  Services services_;
  const PathPlan* plan_ = nullptr;  // of the snapshot, as is what follows
  PathEchoes* echoes_ = nullptr;
  size_t next_hop_count_ = 0;
  bool every_ = false;   // packet has a shim
  bool always_ = false;  // every_, or some set is pinned
  uint32_t now_ns_ = 0;  // modulo 2^32
  uint32_t sample_ns_ = 0;
  uint32_t due_every_ns_ = 0;  // the stamps of one set; 0: of every packet
  uint32_t due_since_ns_ = 0;  // those of the set before next_due_set_
  size_t next_due_set_ = 0;
  QueueId measured_queue_;
  bool woke_ = false;     // others, before the next look
  bool asked_ = false;    // in this poll, other shards where they are
  Instant given_before_;  // what other shards selected before it has reached our queues
  Instant next_look_;     // at a set
  size_t next_set_ = 0;
  const lb::PathTable* measured_ = nullptr;  // whose records of ours have been started
};

}  // namespace eddy
