// PathService: measures the paths between leaves by stamps and their echoes: delay, ECN marks,
// load, and what has arrived.
//
// A source leaf stamps some packets to other leaves, at most one for each path and sample time. A
// destination leaf notes what a shim says. It echoes a stamp by the next packet to its leaf or,
// after `echo`, by a frame of its own. This is the measuring alone: ShimDresser gives packets their
// shims, AgentHost asks the agents, of which one probes idle paths, and ControlFrames carries
// frames.
// Delays are round trips without the time that the echo waited, or one way where the clock is
// common. They begin when the packet joins its queue. What is heard is checked: a stamp that this
// switch did not send or has seen answered, a wait longer than the time that passed, an unknown
// leaf or path are counted and change nothing. A stamp proves that what went before it in its queue
// has arrived, unless it may have overtaken isolated packets. Then a sweep follows it, in the
// isolated class: of that a port sends nothing before what came ahead of it in either class, so
// that its answer proves both (docs/adr/0052). With several shards it proves only what the others
// had handed over a while before (proof_lag). Owner: the shard. The record of a path is written by
// the shard of its port, which hears by mail of echoes that come in elsewhere. Bounds: what
// PathTable and PathEchoes hold. Cost: a few loads for a packet that gets no stamp. Source:
// reference 1.4, 1.6 to 1.8, B.6.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "lb/agent.h"
#include "lb/path_table.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/shim.h"
#include "switch/dataplane/paths/control_frames.h"
#include "switch/dataplane/paths/failure_detector.h"
#include "switch/dataplane/state/path_echoes.h"
#include "switch/dataplane/state/path_plan.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class PathService {
 public:
  static constexpr uint32_t kDeviated = 1u << 31;      // in Shim::hold_ns: the stamp left its way
  static constexpr uint32_t kLongestDelay = 1u << 30;  // ns; no echo is believed that is older
  static constexpr size_t kMostFeedback = 96;          // kept for agents

  PathService(ShardContext& context, ControlFrames& frames, FailureDetector& failures)
      : context_(context), frames_(frames), failures_(failures) {}

  // Before the poll reads what other shards have sent.
  // `all_given`: what this shard selected in earlier polls is in its lanes.
  void begin_poll(bool all_given) {
    if (context_.dressing) [[unlikely]]
      note_time(all_given);
  }
  bool measures() const { return echoes_ != nullptr; }
  uint32_t now_ns() const { return now_ns_; }  // modulo 2^32
  // Nothing that was selected long before a stamp is still between shards.
  bool keeps_up() const {
    return context_.sole || context_.now - given_before_ <= plan_->proof_lag;
  }
  // A stamp of this poll may prove something: nor does anything wait in the isolated class, which
  // it may overtake here.
  bool proves() const { return keeps_up() && !isolated_waits_; }
  // Shards that rest say where they are when they are polled.
  void wake_others();

  // Stamps of our packets. A stamp may be due as far as this shard knows; others stamp the same
  // path.
  bool may_be_due(const Packet& packet, size_t set) const {
    return packet.queue == measured_queue_ && echoes_->stamp_is_due(set, packet.member);
  }
  // The path's record, if a stamp is due on it.
  lb::PathRecord* due(const Packet& packet, size_t set);
  // The packet takes a stamp of the path.
  void stamp(const Packet& packet, size_t set, lb::PathRecord& path) {
    if (sample_ns_ != 0) echoes_->stamped(set, packet.member);
    request(packet.egress_port, path);
  }
  // True: in a frame of our own, by a path of ours.
  bool probe(size_t set, lb::MemberIndex member);

  // What a shim says of a path that ends here; no flags: nothing.
  struct Telling {
    uint32_t echoed_ns = 0;
    uint32_t hold_ns = 0;
    PathId path;
    uint8_t flags = 0;
    uint8_t place = 0;
    uint8_t congestion = 0;
    uint8_t packets = 0;
    uint8_t marked = 0;
  };
  // Stamps of the set's leaf that wait for their echo, as a mask of places.
  uint64_t waiting(size_t set) const { return echoes_ == nullptr ? 0 : echoes_->waiting(set); }
  // The echo that waits longest for a packet to the set's leaf, which takes it.
  Telling tell(size_t set);
  // The packet has something else to say in its place.
  void put_back(size_t set, uint8_t place);
  bool has_place(size_t set, uint8_t place) const { return echoes_->has(set, place); }
  // What was counted of the path at the place and not told yet, without an echo.
  Telling report(size_t set, uint8_t place);

  // What a shim says of a path that ends here. Nothing: its leaf is none of ours, which is counted.
  struct Noted {
    uint16_t set;
    uint8_t place;
    bool fresh;  // which another path had before, or none
  };
  std::optional<Noted> note(PortId port, const Shim& shim, bool ect, bool ce);
  // What the other end tells of a path of ours. The octets are those of a shim on the wire.
  void hear(PortId port, const uint8_t* shim);
  // A sweep has come in for this leaf. The answer goes at once; none goes where it may have been
  // overtaken.
  void answer(PortId port, const Shim& sweep);
  // The answer to one of ours.
  void hear_swept(PortId port, const Shim& shim);
  // What another shard heard of a path of ours.
  void take(const PathReport& report);
  // What agents want to be told: lb::FeedbackKind. They keep the load in its record themselves.
  void want(uint8_t feedback) { wanted_ = feedback; }
  std::span<const lb::Feedback> feedback() const { return {feedback_.data(), feedback_count_}; }
  bool feedback_waits() const { return feedback_count_ != 0; }
  bool feedback_is_full() const { return feedback_count_ + kMostKinds > kMostFeedback; }
  void clear_feedback() { feedback_count_ = 0; }

  void adopt(const Snapshot& now);
  void on_timers();
  // Stamps are the same: a rebase goes back by whole turns of theirs.
  void rebase(const Rebase& rebase);

 private:
  static constexpr size_t kMostKinds = 3;  // that one report brings

  void note_time(bool all_given);
  bool waits_isolated() const;
  void plan_stamps();
  void make_due();
  bool may_stamp_late(const lb::PathRecord& record);
  void look_around();
  void request(PortId port, lb::PathRecord& record);
  void suspect(PortId port, lb::PathRecord& record);
  static Instant at_ns(int64_t ns) { return Instant::at(Duration::nanoseconds(ns)); }
  Telling tell_of(HeardPath& heard);
  void wait(size_t set, const PathEchoes::Place& place);
  PathReport report_in(const uint8_t* shim) const;
  void hand_to_owner(PortId out, const uint8_t* shim);
  void apply(lb::PathKey path, PortId port, const PathReport& report);
  void sweep(lb::PathKey path, PortId port);
  Shim answer_by(PortId port, size_t set, ShimKind kind) const;
  bool take_echo(lb::PathKey path, PortId port, const lb::PathTable::Place& place,
                 const PathReport& report);
  void pass_on(const lb::Feedback& told);
  void flush(size_t set);
  void send_feedback(size_t set, HeardPath& heard);
  void look_after(size_t set);
  void start_measuring();
  void follow_timers();
  std::optional<lb::MemberIndex> member_of(size_t set, PathId path) const;

  ShardContext& context_;
  ControlFrames& frames_;
  FailureDetector& failures_;
  const PathPlan* plan_ = nullptr;  // of the snapshot, as is what follows
  PathEchoes* echoes_ = nullptr;
  int64_t now_whole_ns_ = 0;
  uint32_t now_ns_ = 0;  // modulo 2^32
  uint32_t sample_ns_ = 0;
  uint32_t due_every_ns_ = 0;  // the stamps of one set; 0: of every packet
  uint32_t due_since_ns_ = 0;  // those of the set before next_due_set_
  size_t next_due_set_ = 0;
  QueueId measured_queue_;
  bool woke_ = false;            // others, before the next look
  bool asked_ = false;           // in this poll, other shards where they are
  uint8_t wanted_ = 0;           // lb::FeedbackKind
  bool isolated_waits_ = false;  // packets, at the beginning of the poll
  Instant given_before_;         // what other shards selected before it has reached our queues
  Instant next_look_;            // at a set
  size_t next_set_ = 0;
  const lb::PathTable* measured_ = nullptr;  // whose records of ours have been started
  size_t feedback_count_ = 0;
  std::array<lb::Feedback, kMostFeedback> feedback_{};  // that no agent has been told yet
};

// By the path's record, which all shards write to: another may have been faster.
inline lb::PathRecord* PathService::due(const Packet& packet, size_t set) {
  if (context_.paths == nullptr || !may_be_due(packet, set)) return nullptr;
  lb::PathRecord& record = context_.paths->at(set, packet.member);
  if (now_ns_ - record.requested_ns.load(std::memory_order_relaxed) >= sample_ns_ / 2) [[likely]]
    return keeps_up() || may_stamp_late(record) ? &record : nullptr;
  echoes_->stamped(set, packet.member);
  return nullptr;
}

inline void PathService::request(PortId port, lb::PathRecord& record) {
  const uint32_t last = record.requested_ns.load(std::memory_order_relaxed);
  const bool unanswered = at_ns(now_whole_ns_ - (now_ns_ - last)) > record.echoed();
  const Duration patience = plan_->base_rtt * PathPlan::kPatience;
  if (unanswered && context_.now - record.echoed() > patience) [[unlikely]]
    suspect(port, record);
  record.requested_ns.store(now_ns_, std::memory_order_relaxed);
  context_.count(port, PortCounter::path_requests);
}

}  // namespace eddy
