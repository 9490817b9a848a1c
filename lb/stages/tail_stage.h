// TailStage: the receiver's leaf of ConWeave. Packets that have overtaken the last one of their
// flow's old path wait here until that one, the tail, has come.
//
// What a flow's sender says of it stands in each packet's shim: an epoch, 1 to 3 in turn (0: the
// sender does not speak), whether the packet is the tail, and whether it goes by a new path and
// when the tail was sent. The first packet of an epoch is answered by a reply, a tail by a clear, a
// packet that ECN has marked by a notice that its path is busy. If the tail does not come, what
// waits goes on when it should have come: by what the last packet of the old path took and `slack`,
// or `wait` after the first that waited where none has come; never later than longest(). Without
// room a flow goes on as it comes, and that is counted. A flow of which more than one epoch is on
// the way is let go, too. Answers are kept until the scheme's agent sends them.
// Owner: the shard of the hosts' ports. Bounds: `flows` places of 32 octets, `queues` flows that
// wait a port, kMostWaiting in all, `octets`; kMostAnswers. Times of flows are nanoseconds modulo
// 2^32. Cost: a line for each packet. Source: reference A.13.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "lb/flow_stage.h"
#include "lb/members.h"
#include "net/deadlines.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/shim.h"
#include "net/units.h"

namespace eddy::lb {

// What the two leaves tell each other of a flow, as a frame of kind `clear`: by a flag of the shim.
inline constexpr uint8_t kRequestAnswered = kShimRttEcho;  // echoed_ns: when the request was sent
inline constexpr uint8_t kTailAnswered = kShimTail;        // echoed_ns: when the tail was sent

class TailStage final : public FlowStage {
 public:
  struct Plan {
    size_t flows = 0;
    uint16_t queues = 0;
    int64_t octets = 0;
    Duration slack;
    Duration wait;
    Duration notice;  // the least time between two of a path
    static constexpr int64_t kLongest = 16;
    Duration longest() const { return wait * kLongest; }
  };
  static constexpr size_t kMostWaiting = 2'048;
  static constexpr size_t kMostAnswers = 1'024;

  explicit TailStage(const Plan& plan);

  StageBounds bounds() const override { return {plan_.octets, plan_.longest()}; }
  void take(StageView& view, std::span<Packet* const> burst) override;
  Instant next_deadline() const override { return due_.next(); }
  void on_timers(StageView& view) override;
  void release_all(StageView& view) override;
  void rebase(const Rebase& rebase) override;

  // To shim.destination_leaf; beyond kMostAnswers none is kept.
  std::span<const ShimControl> answers() const { return {answers_.data(), answer_count_}; }
  void clear_answers() {
    answer_count_ = 0;
    answers_since_ = Instant::never();
  }
  // When the first of them was due; never(): there is none.
  Instant answers_since() const { return answers_since_; }

 private:
  static constexpr uint16_t kNoWait = UINT16_MAX;
  static constexpr size_t kWays = 4;
  enum class Phase : uint8_t {
    open,     // of this epoch, no packet has gone by a new path that came before the tail
    waiting,  // one has
    cleared,  // the tail has come, or is not waited for any longer: the sender has been told
    forced,   // it is not waited for, and the sender is told when it comes
  };
  struct Flow {
    uint32_t tag = 0;  // low half of the order hash, odd; 0: the place is free
    uint32_t last_ns = 0;
    uint32_t newest_ns = 0;       // sent, of those that came in order
    uint32_t old_sent_ns = 0;     // of the old path's last packet
    uint32_t old_arrived_ns = 0;  // likewise
    uint32_t tail_ns = 0;         // when the tail was sent
    uint32_t told_ns = 0;         // cleared, forced: since when
    uint16_t wait = kNoWait;      // index into waits_
    uint8_t epoch : 2 = 0;
    bool old_known : 1 = false;  // packets of this epoch came by the old path
    Phase phase = Phase::open;
  };
  static_assert(sizeof(Flow) == 32);
  struct Wait {  // of a flow
    Packet* head = nullptr;
    Packet* tail = nullptr;
    uint64_t order_hash = 0;
    LeafId sender;
    PortId port;
    Instant longest;  // not beyond
  };
  // What a packet's shim says.
  struct Mark {
    uint32_t sent_ns;
    uint32_t tail_ns;
    LeafId sender;
    PathId path;
    uint8_t epoch;
    bool is_tail;
    bool rerouted;
    bool plain() const { return !is_tail && !rerouted; }
  };
  struct Notice {
    uint32_t path = 0;  // sender << 16 | path
    Instant next;
  };

  static bool is_marked(const Packet& packet);
  static Mark mark_of(const Packet& packet);
  Flow* line_of(uint64_t order_hash) const {
    const uint32_t line = scaled_to(static_cast<uint32_t>(order_hash >> 32), lines_);
    return flows_.get() + size_t{line} * kWays;
  }
  bool may_go(const Flow& flow) const;
  bool is_longer_silent(const Flow& flow, const Flow& than) const {
    return than.tag != 0 && now_ns_ - flow.last_ns > now_ns_ - than.last_ns;
  }
  Flow* find_or_place(uint64_t order_hash, bool& fresh);
  void place(StageView& view, Packet* packet, const Mark& mark);
  static bool begins_epoch(const Flow& flow, const Mark& mark, bool fresh);
  void put(StageView& view, Flow& flow, Packet* packet, const Mark& mark, bool fresh);
  void put_behind(StageView& view, Flow& flow, Packet* packet, const Mark& mark);
  void take_plain(Flow& flow, const Packet& packet, const Mark& mark, bool begins);
  void take_tail(Flow& flow, const Packet& packet, const Mark& mark);
  void note_old_path(Flow& flow, const Mark& mark) const;
  void clear(Flow& flow, uint64_t order_hash, LeafId sender);
  void repeat_clear(Flow& flow, const Packet& packet, const Mark& mark);
  void begin_wait(StageView& view, Flow& flow, Packet* packet, const Mark& mark);
  void hold(StageView& view, Flow& flow, Packet* packet);
  void force(StageView& view, Flow& flow, Packet* packet);
  // What waits goes on; the place for waiting is free again.
  void release(StageView& view, Flow& flow);
  void follow_tail(const Flow& flow);
  void notice(const Mark& mark);
  void answer(const ShimControl& message);
  void answer_flow(uint8_t flag, const Flow& flow, uint64_t order_hash, LeafId sender,
                   uint32_t echoed_ns);
  void set_time(Instant now);

  struct Free {
    void operator()(Flow* flows) const { std::free(flows); }
  };

  const Plan plan_;
  const uint32_t age_ns_;
  const uint32_t lines_;
  uint32_t now_ns_ = 0;
  Instant now_;
  std::unique_ptr<Flow, Free> flows_;  // zeroed, and not backed before it is used
  std::vector<Wait> waits_;
  std::vector<Flow*> waiters_;     // by wait
  std::vector<uint16_t> free_;     // of waits_
  std::vector<uint16_t> waiting_;  // flows, by port
  Deadlines due_;                  // by wait
  std::vector<Notice> notices_;
  std::vector<ShimControl> answers_;
  size_t answer_count_ = 0;
  Instant answers_since_ = Instant::never();
};

}  // namespace eddy::lb
