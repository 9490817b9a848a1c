// FlowStages: the host of a shard's flow stages (lb/flow_stage.h), at both places.
//
// Whoever has packets for a place hands them in as bursts and takes from passed() what goes on, in
// order; what one stage passes is the next one's burst. What a stage holds is moved from the charge
// of its priority group to the buffer of the stages (IngressBuffer::set_aside) and stays there
// until it has left the switch, so that holding pauses nobody and neither does letting go. Without
// room there it stays charged as it was. A stage is emptied, and what it held counted, if it holds
// more than its bound, or holds a packet for longer than it said, by at most a quarter. A chain
// that a new snapshot changes is emptied first. Owner: the shard. Bounds: kMostStages at a place.
// Cost: a load and a branch where no stage stands.
// Source: docs/adr/0026.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lb/flow_stage.h"
#include "lb/packet_fifo.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class FlowStages {
 public:
  // At the least between two timers of a stage.
  static constexpr Duration kLook = Duration::microseconds(1);

  FlowStages(ShardContext& context, IngressBuffer& buffer);

  bool at(lb::StagePlace place) const { return on_[index_of(place)]; }
  bool any() const { return std::ranges::find(on_, true) != on_.end(); }
  // Packets of a port, in the order in which they go on; at most kBurst. What goes on now is in
  // passed() then, as after any call below; whoever calls empties that.
  void take(lb::StagePlace place, std::span<Packet* const> burst);
  PacketFifo& passed(lb::StagePlace place) { return lines_[index_of(place)].passed; }

  void on_timers();
  void release_all();
  void rebase(const Rebase& rebase);
  void adopt(const Snapshot& now);
  uint64_t held() const;

 private:
  class Desk final : public lb::StageView {
   public:
    Desk(ShardContext& context, IngressBuffer& buffer)
        : StageView(context.now, context.common.signals.data()),
          context_(context),
          buffer_(buffer) {}
    void mark_ce(Packet& packet) override;
    void set_dscp(Packet& packet, uint8_t dscp) override;
    void report(lb::StageEvent event, const Packet& packet) override;

    void open(lb::StagePlace place, const lb::FlowStage& stage);
    PacketFifo& passed() { return passed_; }
    bool over_bound() const { return octets_ > bounds_.octets; }
    // Of the interval in progress; never(): nothing is held.
    Instant interval_end() const { return interval_end_; }
    void follow_interval();
    // True: something is held that should long have gone.
    bool end_interval();
    void rebase(const Rebase& rebase) { rebase.shift(interval_end_); }
    void count(PortCounter of_resequencer, PortCounter of_others, const Packet& packet);

   private:
    void taken(Packet& packet) override;
    Duration interval() const { return bounds_.longest / static_cast<int64_t>(kPatience); }

    ShardContext& context_;
    IngressBuffer& buffer_;
    lb::StageKind kind_{};
    Instant interval_end_ = Instant::never();
  };
  struct Slot {
    Slot(ShardContext& context, IngressBuffer& buffer) : desk(context, buffer) {}
    std::shared_ptr<lb::FlowStage> stage;
    Desk desk;
  };
  struct Line {  // of a place
    Line(ShardContext& context, IngressBuffer& buffer)
        : slots{Slot(context, buffer), Slot(context, buffer), Slot(context, buffer)} {}
    std::array<Slot, kMostStages> slots;
    size_t count = 0;
    PacketFifo passed;
  };

  static size_t index_of(lb::StagePlace place) { return static_cast<size_t>(place); }
  void run(Line& line, size_t first, std::span<Packet* const> burst);
  void hand_on(Line& line, size_t from);
  void empty(Slot& slot);
  void on_timers(Line& line);
  void release_all(Line& line);
  void follow_timer();

  ShardContext& context_;
  std::array<bool, lb::kStagePlaces> on_{};
  std::array<Line, lb::kStagePlaces> lines_;
};

}  // namespace eddy
