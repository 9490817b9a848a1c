#include "lb/stages/tail_stage.h"

#include <rte_prefetch.h>

#include <algorithm>

#include "lb/path_table.h"
#include "net/assert.h"
#include "net/byte_order.h"
#include "net/protocols.h"

namespace eddy::lb {
namespace {

constexpr size_t kNotices = 1'024;  // paths of which it is known when they were told of
constexpr uint32_t kInUse = 1;      // bit of every tag present

// Of the 32 octets.
constexpr size_t kFlagsAt = 1;
constexpr size_t kSenderAt = 2;
constexpr size_t kPathAt = 6;
constexpr size_t kEpochAt = 12;
constexpr uint8_t kEpochBits = 3;
constexpr size_t kSentAt = 16;
constexpr size_t kTailSentAt = 24;

const uint8_t* shim_of(const Packet& packet) {
  return packet.data() + packet.l2_len - kShimHeader;
}
bool is_after(uint32_t ns, uint32_t other_ns) {
  return static_cast<int32_t>(ns - other_ns) >= 0;
}

}  // namespace

TailStage::TailStage(const Plan& plan)
    : plan_(plan),
      age_ns_(static_cast<uint32_t>(std::min<int64_t>(plan.longest().ns(), INT32_MAX))),
      lines_(static_cast<uint32_t>((plan.flows + kWays - 1) / kWays)),
      flows_(static_cast<Flow*>(std::calloc(size_t{lines_} * kWays, sizeof(Flow)))),
      waits_(kMostWaiting),
      waiters_(kMostWaiting),
      waiting_(kMaxPorts),
      due_(kMostWaiting),
      notices_(kNotices),
      answers_(kMostAnswers) {
  ASSERT(flows_ != nullptr);
  for (size_t i = kMostWaiting; i != 0; --i) free_.push_back(static_cast<uint16_t>(i - 1));
}

void TailStage::set_time(Instant now) {
  now_ = now;
  now_ns_ = PathRecord::wire_time(now);
}

void TailStage::take(StageView& view, std::span<Packet* const> burst) {
  set_time(view.now());
  for (const Packet* packet : burst) rte_prefetch0(line_of(packet->order_hash));
  for (Packet* packet : burst) {
    if (!is_marked(*packet)) {
      view.pass(packet);
      continue;
    }
    const Mark mark = mark_of(*packet);
    if (packet->has(kPacketCe)) notice(mark);
    place(view, packet, mark);
  }
}

// Its sender's leaf speaks of it.
bool TailStage::is_marked(const Packet& packet) {
  constexpr uint16_t kKind = kPacketShim | kPacketOriginated | kPacketShimControl;
  return (packet.flags & kKind) == kPacketShim && (shim_of(packet)[kEpochAt] & kEpochBits) != 0;
}

TailStage::Mark TailStage::mark_of(const Packet& packet) {
  const uint8_t* shim = shim_of(packet);
  const uint8_t flags = shim[kFlagsAt];
  return {.sent_ns = load_be32(shim + kSentAt),
          .tail_ns = load_be32(shim + kTailSentAt),
          .sender = LeafId(load_be16(shim + kSenderAt)),
          .path = PathId(load_be16(shim + kPathAt)),
          .epoch = static_cast<uint8_t>(shim[kEpochAt] & kEpochBits),
          .is_tail = (flags & kShimTail) != 0,
          .rerouted = (flags & kShimRerouted) != 0 && (flags & kShimTail) == 0};
}

// Of a flow that may make room for another: nobody has to know of it that its tail has come.
bool TailStage::may_go(const Flow& flow) const {
  return flow.phase == Phase::open ||
         (flow.phase != Phase::waiting && now_ns_ - flow.last_ns > age_ns_);
}

// Null: neither there nor room for it. `fresh`: nothing is known of it, or too long ago.
TailStage::Flow* TailStage::find_or_place(uint64_t order_hash, bool& fresh) {
  const uint32_t tag = static_cast<uint32_t>(order_hash) | kInUse;
  Flow* const ways = line_of(order_hash);
  fresh = true;
  Flow* room = nullptr;
  for (Flow* flow = ways; flow != ways + kWays; ++flow) {
    if (flow->tag == tag) [[likely]] {
      fresh = flow->phase != Phase::waiting && now_ns_ - flow->last_ns > age_ns_;
      return flow;
    }
    if (flow->tag == 0)
      room = flow;
    else if (may_go(*flow) && (room == nullptr || is_longer_silent(*flow, *room)))
      room = flow;
  }
  if (room == nullptr) return nullptr;
  *room = {};
  room->tag = tag;
  return room;
}

void TailStage::place(StageView& view, Packet* packet, const Mark& mark) {
  bool fresh = false;
  Flow* flow = find_or_place(packet->order_hash, fresh);
  if (flow == nullptr) {
    view.report(StageEvent::placeless_packet, *packet);
    return view.pass(packet);
  }
  flow->last_ns = now_ns_;
  if (flow->phase == Phase::waiting)
    put_behind(view, *flow, packet, mark);
  else
    put(view, *flow, packet, mark, fresh);
}

// A packet of another epoch begins one if it was sent after all that came before. So does one by
// the only path there is, of an epoch whose tail has been: the sender has forgotten it, and counts
// anew.
bool TailStage::begins_epoch(const Flow& flow, const Mark& mark, bool fresh) {
  if (fresh) return true;
  if (mark.epoch != flow.epoch) return is_after(mark.sent_ns, flow.newest_ns);
  return flow.phase != Phase::open && mark.plain() && is_after(mark.sent_ns, flow.tail_ns) &&
         is_after(mark.sent_ns, flow.newest_ns);
}

// Nothing of the flow waits.
void TailStage::put(StageView& view, Flow& flow, Packet* packet, const Mark& mark, bool fresh) {
  const bool begins = begins_epoch(flow, mark, fresh);
  if (!begins && mark.epoch != flow.epoch) return view.pass(packet);  // of before
  if (begins) {
    flow.epoch = mark.epoch & kEpochBits;
    flow.phase = Phase::open;
    flow.old_known = false;
  }
  if (mark.rerouted && flow.phase == Phase::open) return begin_wait(view, flow, packet, mark);
  view.pass(packet);
  if (mark.is_tail) return take_tail(flow, *packet, mark);
  if (mark.rerouted) return repeat_clear(flow, *packet, mark);
  take_plain(flow, *packet, mark, begins);
}

void TailStage::take_plain(Flow& flow, const Packet& packet, const Mark& mark, bool begins) {
  if (flow.phase != Phase::open) return;  // after what it should have come before
  flow.newest_ns = mark.sent_ns;
  note_old_path(flow, mark);
  if (begins) answer_flow(kRequestAnswered, flow, packet.order_hash, mark.sender, mark.sent_ns);
}

void TailStage::take_tail(Flow& flow, const Packet& packet, const Mark& mark) {
  if (flow.phase == Phase::cleared) return;
  flow.newest_ns = mark.sent_ns;
  flow.tail_ns = mark.tail_ns;
  clear(flow, packet.order_hash, mark.sender);
}

void TailStage::note_old_path(Flow& flow, const Mark& mark) const {
  flow.old_known = true;
  flow.old_sent_ns = mark.sent_ns;
  flow.old_arrived_ns = now_ns_;
}

// The old path is empty, or not waited for.
void TailStage::clear(Flow& flow, uint64_t order_hash, LeafId sender) {
  flow.phase = Phase::cleared;
  flow.told_ns = now_ns_;
  answer_flow(kTailAnswered, flow, order_hash, sender, flow.tail_ns);
}

// A sender that still says so has not heard.
void TailStage::repeat_clear(Flow& flow, const Packet& packet, const Mark& mark) {
  flow.newest_ns = mark.sent_ns;
  if (now_ns_ - flow.told_ns > static_cast<uint32_t>(plan_.wait.ns()))
    clear(flow, packet.order_hash, mark.sender);
}

void TailStage::begin_wait(StageView& view, Flow& flow, Packet* packet, const Mark& mark) {
  const size_t port = packet->egress_port.index();
  flow.tail_ns = mark.tail_ns;
  flow.newest_ns = mark.sent_ns;
  if (free_.empty() || waiting_[port] >= plan_.queues || !view.has_room_for(*packet)) {
    view.report(StageEvent::forced_flow, *packet);
    flow.phase = Phase::forced;
    flow.told_ns = now_ns_;
    return view.pass(packet);
  }
  flow.phase = Phase::waiting;
  flow.wait = free_.back();
  free_.pop_back();
  ++waiting_[port];
  waiters_[flow.wait] = &flow;
  waits_[flow.wait] = {.order_hash = packet->order_hash,
                       .sender = mark.sender,
                       .port = packet->egress_port,
                       .longest = now_ + plan_.longest()};
  hold(view, flow, packet);
  if (flow.old_known)
    follow_tail(flow);
  else
    due_.set(flow.wait, now_ + plan_.wait);
}

// When the tail should have come, if the old path goes on as it did.
void TailStage::follow_tail(const Flow& flow) {
  const auto behind = std::max(static_cast<int32_t>(flow.tail_ns - flow.old_sent_ns), 0);
  const Duration ago = Duration::nanoseconds(now_ns_ - flow.old_arrived_ns);
  const Instant due = now_ - ago + Duration::nanoseconds(behind) + plan_.slack;
  due_.set(flow.wait, std::min(std::max(due, now_), waits_[flow.wait].longest));
}

void TailStage::put_behind(StageView& view, Flow& flow, Packet* packet, const Mark& mark) {
  if (mark.epoch == flow.epoch && mark.rerouted) {
    flow.newest_ns = mark.sent_ns;
    return hold(view, flow, packet);
  }
  const bool of_before =
      mark.epoch == flow.epoch ? !mark.is_tail : !is_after(mark.sent_ns, flow.tail_ns);
  if (of_before) {  // by the old path
    view.pass(packet);
    if (mark.epoch != flow.epoch) return;
    note_old_path(flow, mark);
    return follow_tail(flow);
  }
  if (mark.epoch == flow.epoch) {
    view.pass(packet);
    release(view, flow);
    return clear(flow, packet->order_hash, mark.sender);
  }
  if (mark.plain()) return hold(view, flow, packet);
  view.report(StageEvent::missed_flow, *packet);
  release(view, flow);
  flow.phase = Phase::cleared;
  put(view, flow, packet, mark, /*fresh=*/false);
}

void TailStage::hold(StageView& view, Flow& flow, Packet* packet) {
  if (!view.has_room_for(*packet)) return force(view, flow, packet);
  Wait& wait = waits_[flow.wait];
  packet->next = nullptr;
  (wait.head == nullptr ? wait.head : wait.tail->next) = packet;
  wait.tail = packet;
  view.hold(packet);
}

void TailStage::force(StageView& view, Flow& flow, Packet* packet) {
  view.report(StageEvent::forced_flow, *packet);
  release(view, flow);
  flow.phase = Phase::forced;
  flow.told_ns = now_ns_;
  view.pass(packet);
}

void TailStage::release(StageView& view, Flow& flow) {
  Wait& wait = waits_[flow.wait];
  due_.cancel(flow.wait);
  --waiting_[wait.port.index()];
  while (wait.head != nullptr) {
    Packet* packet = wait.head;
    wait.head = packet->next;
    view.release(packet);
  }
  waiters_[flow.wait] = nullptr;
  free_.push_back(flow.wait);
  flow.wait = kNoWait;
}

void TailStage::on_timers(StageView& view) {
  set_time(view.now());
  while (const auto index = due_.pop_due(now_)) {
    const Wait wait = waits_[*index];
    Flow& flow = *waiters_[*index];
    view.report(StageEvent::missed_flow, *wait.head);
    release(view, flow);
    clear(flow, wait.order_hash, wait.sender);
  }
}

void TailStage::release_all(StageView& view) {
  for (Flow* flow : waiters_) {
    if (flow == nullptr) continue;
    release(view, *flow);
    flow->phase = Phase::forced;
    flow->told_ns = now_ns_;
  }
}

void TailStage::rebase(const Rebase& rebase) {
  rebase.shift(now_);
  for (Wait& wait : waits_) rebase.shift(wait.longest);
  for (Notice& notice : notices_) rebase.shift(notice.next);
  due_.rebase(rebase);
  if (answer_count_ != 0) rebase.shift(answers_since_);
}

void TailStage::notice(const Mark& mark) {
  const auto path = static_cast<uint32_t>(mark.sender.index() << 16 | mark.path.index());
  Notice& last = notices_[scaled_to(static_cast<uint32_t>(mix64(path)), kNotices)];
  if (last.path == path && now_ < last.next) return;
  last = {path, now_ + plan_.notice};
  answer({.shim = {.kind = ShimKind::notify,
                   .destination_leaf = mark.sender,
                   .feedback_path = mark.path},
          .reason = NotifyReason::path_busy});
}

void TailStage::answer_flow(uint8_t flag, const Flow& flow, uint64_t order_hash, LeafId sender,
                            uint32_t echoed_ns) {
  answer({.shim = {.kind = ShimKind::clear,
                   .flags = flag,
                   .destination_leaf = sender,
                   .epoch = flow.epoch,
                   .echoed_ns = echoed_ns},
          .order_hash = order_hash});
}

void TailStage::answer(const ShimControl& message) {
  if (answer_count_ == answers_.size()) return;
  if (answer_count_ == 0) answers_since_ = now_;
  answers_[answer_count_++] = message;
}

}  // namespace eddy::lb
