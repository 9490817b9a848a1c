// ShardImpl: the parts of a shard, put together, and the order in which a poll runs them.
//
// Owner: the worker. Source: architecture, section 4; docs/packet_walk.md has the table.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/ids.h"
#include "net/rebase.h"
#include "pfc/pause_sender.h"
#include "switch/dataplane/neighbors/adjacency.h"
#include "switch/dataplane/neighbors/departures.h"
#include "switch/dataplane/neighbors/icmp_responder.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/paths/agent_host.h"
#include "switch/dataplane/paths/congestion_news.h"
#include "switch/dataplane/paths/control_frames.h"
#include "switch/dataplane/paths/fabric_peers.h"
#include "switch/dataplane/paths/path_service.h"
#include "switch/dataplane/paths/shim_dresser.h"
#include "switch/dataplane/pipeline/forwarder.h"
#include "switch/dataplane/pipeline/ingress.h"
#include "switch/dataplane/pipeline/isolation.h"
#include "switch/dataplane/pipeline/pause_control.h"
#include "switch/dataplane/pipeline/recirculation.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/flow_stages.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/queues/packet_lanes.h"
#include "switch/dataplane/state/command.h"
#include "switch/dataplane/state/delay_histogram.h"
#include "switch/dataplane/state/shard_context.h"
#include "switch/dataplane/state/status.h"

namespace eddy {

// Not its header: a compiler that knows one Io guesses that every Io is that one, and asks in every
// poll.
class CaptureTap;

class ShardImpl final : public Shard {
 public:
  ShardImpl(CommonState& common, ShardId id, size_t ports);

  PollStats poll(Io& io, Instant now) override;
  Lone poll_alone(Io& io, Instant now, LoneNews news) override;
  Instant next_deadline() const override;
  Instant settle_lines(Instant until) override { return egress_.settle_lines(until); }
  void report_lines(Io& io) override {
    context_.io = &io;
    egress_.report_lines();
  }
  Counters& counters() override { return context_.counters; }
  void push_event(const Event& event) override {
    Event stamped = event;
    stamped.epoch = context_.epoch;
    context_.events.push(stamped);
  }
  void ask_for_lines() override;  // in lines_ahead.cpp

  const Counters& counters() const { return context_.counters; }
  // Between two polls, of what is the shard's own.
  void rebase(const Rebase& rebase);
  lb::PathTable* paths() { return context_.paths; }  // in force, as is the next
  lb::Selector* selector() const;                    // behind a capture's
  // Begins a capture or, with null, ends it; in a poll or between two.
  void capture(const CaptureOrder* order);
  // What would become of a packet; in a poll or between two. In explain.cpp.
  void explain(Explanation& explanation);
  void explain_at(Explanation& explanation, Instant now);
  EventRing& events() { return context_.events; }
  const pfc::BufferPool& pool() const { return buffer_.pool(); }
  const DelayHistogram& waits() const { return recirculation_.delays(); }
  const DelayHistogram& heard() const { return news_.notice(); }
  const DelayHistogram& isolated() const { return news_.isolated(); }
  LoopUse loop_use() const { return recirculation_.use(); }
  Duration uncounted_pause(PortId port, Priority priority, Instant now) const {
    return pause_.uncounted_pause(port, priority, now);
  }
  uint64_t held() const;

 private:
  Io* world(Io& io) {
    if (capturing_) [[unlikely]]
      return through_tap(io);
    return &io;
  }
  // In capture.cpp, as all that the tap is asked for.
  struct DeleteTap {
    void operator()(CaptureTap* tap) const;
  };
  using Tap = std::unique_ptr<CaptureTap, DeleteTap>;
  Tap make_tap(ShardContext& context);
  // What the tap asks about packets that it traces.
  struct Explains;
  struct DeleteExplains {
    void operator()(Explains* explains) const;
  };
  using OwnExplains = std::unique_ptr<Explains, DeleteExplains>;
  OwnExplains make_explains();
  Io* through_tap(Io& io);
  void rebase_tap(const Rebase& rebase);
  bool others_have_changed();
  void follow_control();
  void adopt_snapshot();
  void read_other_shards();
  void read_commands();
  void read(Mailbox& mail);
  void take_credits(CreditLane& lane);
  void take_packets(PacketLane& lane);
  void take_apart(std::span<Packet* const> packets);
  void take_message(const Message& message);
  void carry_out(Command& command);
  void capture_choices();
  void follow_links(std::span<const LinkChange> changes);
  void change_link(const LinkChange& change);
  // Brings the port up while its link is up and its configuration wants it up.
  void settle_port(PortId port);
  void set_port_up(PortId port, bool up);
  // Nothing of the port that had the place before is known any more.
  void follow_places();
  void forget_port(PortId port);
  void on_timers();
  void follow_timers();
  void check_timers() const;
  // A poll for a line alone has no effect but on that line: nothing else counts polls, as what is
  // owed to peers, a drain and the measuring of paths do.
  bool goes_by_clock(const News& news) const { return news.lines_by_clock && is_plain(); }
  // No poll has more to do than its news, and what is due.
  bool is_plain() const {
    return context_.sole && !context_.dressing && draining_ == nullptr && !context_.timers.moved();
  }
  bool has_more_to_do() const;
  void end_poll();
  // Peers are to hear of a pause or a warning. Never while ShardContext::timers has not moved.
  bool owes() const { return pause_sender_.owes(context_.now) || predictor_.owes(); }
  // What flow stages have let go, on its way.
  void send_passed();
  void send();
  void send_owed();
  void follow_pauses();
  void clear_watermarks(PortId only, const WatermarkScope& scope);
  void finish_drain();
  void ask_for_parts() const;
  uint8_t busy_priorities() const;
  bool control_waits() const;
  bool others_wait() const;

  // The first line, of every poll: what of CommonState::changes this shard has followed.
  uint64_t adopted_ = 0;       // generation of the snapshot that the parts below obey
  uint64_t grace_passed_ = 0;  // rte_rcu_qsbr's token
  uint32_t links_seen_ = 0;    // that the live masks reflect
  uint32_t changes_seen_ = 0;  // of Changes::count
  uint16_t commands_read_ = 0;
  bool capturing_ = false;
  uint8_t busy_ = 0;             // priorities that carry packets, as ask_for_lines() saw them last
  uint32_t asked_ = 0;           // calls of it
  Command* draining_ = nullptr;  // those that wait for the shard to be empty, by Command::next
  Instant next_timer_;  // the earliest of ShardContext::timers after the last poll, or before
  ShardContext context_;
  pfc::PauseSender pause_sender_;
  pfc::Predictor predictor_;
  IngressBuffer buffer_;
  Egress egress_;
  IcmpResponder icmp_;
  FabricPeers peers_;
  PeerMessages peer_messages_;
  PathWarnings warnings_;
  CongestionNews news_;
  FailureDetector failures_;
  ControlFrames frames_;
  PathService paths_;
  AgentHost agents_;
  ShimDresser shims_;
  FlowStages stages_;
  Adjacency adjacency_;
  PacketLanes lanes_;
  Departures departures_;
  Recirculation recirculation_;
  Isolation isolation_;
  Forwarder forwarder_;
  PauseControl pause_;
  Ingress ingress_;
  std::vector<bool> links_up_;   // by port, as the world says
  std::vector<uint64_t> since_;  // by port: PortPlans::since, 0 before the first snapshot
  OwnExplains explains_;
  Tap tap_;
};

}  // namespace eddy
