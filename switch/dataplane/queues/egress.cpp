#include "switch/dataplane/queues/egress.h"

#include <rte_prefetch.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "net/assert.h"
#include "net/congestion/destination_tag.h"
#include "net/ip.h"
#include "switch/dataplane/queues/line_signals.h"
#include "switch/dataplane/queues/rewrite.h"
#include "switch/dataplane/queues/sojourn.h"

namespace eddy {
namespace {

constexpr uint32_t kMarkingStream = 0x45434e;  // "ECN"

// Each shard of each switch draws its own marks.
RandomStream marking_stream(const ShardContext& context) {
  const config::SwitchConfig& config = context.common.changes.snapshot.load()->config;
  const auto entity = static_cast<uint32_t>(config.id.index() << 8 | context.id.index());
  return {config.seed, entity, kMarkingStream};
}

// PFC and LLDP are of the link, whatever VLANs it carries.
bool may_be_tagged(const Packet& own) {
  const uint16_t ethertype = load_be16(own.data() + kMacs);
  return ethertype != kEtherTypeMacControl && ethertype != kEtherTypeLldp;
}

}  // namespace

Egress::Egress(ShardContext& context, IngressBuffer& buffer, size_t ports)
    : context_(context),
      buffer_(buffer),
      ports_(ports),
      rows_(ports * kPriorities),
      lines_(ports),
      timers_(ports, context.due_of(Timers::egress)),
      marking_(marking_stream(context)),
      hot_ports_(ports, context.due_of(Timers::hot_ports)) {}

void Egress::enqueue(Packet* packet) {
  enqueue_as<false>(packet);
}

// Apart, and from the end of a call, so that ports without a VLAN pay for its question alone.
[[gnu::noinline]] void Egress::enqueue_tagged(Packet* packet, uint16_t tci) {
  put_tag(*packet, tci);
  enqueue_as<true>(packet);
}

template <bool kTagged>
inline void Egress::enqueue_as(Packet* packet) {
  const PortId id = packet->egress_port;
  Port& port = ports_[id.index()];
  const size_t q = packet->queue.index();
  const QueueSettings& settings = port.queues[q];
  EgressQueue& queue = context_.queue(id, q);
  if (queue.row_open) [[unlikely]]
    close_early(id, q);
  std::atomic<uint32_t>& queued = context_.signals(id).queued_bytes[q];
  const uint32_t found = queued.load(std::memory_order_relaxed);
  if (!port.up || (port.stops.discarding >> q & 1) != 0) [[unlikely]]
    return discard(packet, port.up);
  if (!kTagged && settings.tag != 0) [[unlikely]]
    return enqueue_tagged(packet, settings.tag);
  if (!settings.lossless &&
      !buffer_.pool().admit_queue(found, packet->wire_len, settings.lossy_limit) &&
      int64_t{found} + packet->wire_len > settings.reserved) [[unlikely]] {
    context_.counters[id].queue[q][QueueCounter::queue_dropped_packets].add(1);
    return buffer_.drop(packet, DropReason::queue_full);
  }
  if (settings.ecn) mark(*packet, settings.wred, found);
  if (int64_t{found} + packet->wire_len > settings.attended) [[unlikely]]
    attend(port, *packet);
  if (queue.fifo.empty()) queue.progress_at = context_.now;
  queue.fifo.push(packet);
  port.waiting = static_cast<uint8_t>(port.waiting | 1u << q);
  queued.store(found + packet->wire_len, std::memory_order_relaxed);
  queue.watermarks.raise(int64_t{found} + packet->wire_len);
  look_at_line(id, port);
}

// The gated queue, while packets are there that its head came behind.
uint8_t Egress::held_at_gate(PortId id, const Port& port) const {
  if (port.gated == kNoQueue) return 0;
  const PacketFifo& gated = context_.queue(id, port.gated).fifo;
  if (gated.empty() || context_.queue(id, port.gate).fifo.empty()) return 0;
  const auto ahead = static_cast<int32_t>(gated.head()->note - port.passed);
  return ahead > 0 ? static_cast<uint8_t>(1u << port.gated) : 0;
}

[[gnu::noinline]] void Egress::close_early(PortId port, size_t queue) {
  QueueRow& row = rows_[queue * ports_.size() + port.index()];
  close(row);
  row.octets = 0;
  row.longest = 0;
  row.simply = 0;
}

bool Egress::learn(QueueRow& row) {
  const Port& port = ports_[row.port.index()];
  const size_t q = row.queue.index();
  if (!port.up || (port.stops.discarding >> q & 1) != 0) return false;
  const QueueSettings& settings = port.queues[q];
  if (settings.gated) return false;  // one by one: each is to know what it is behind
  row.state = &context_.queue(row.port, q);
  row.queued = &context_.signals(row.port).queued_bytes[q];
  row.unasked = settings.lossless ? INT64_MAX : settings.reserved;
  row.unasked = std::min(row.unasked, settings.attended);
  if (settings.ecn) row.unasked = std::min(row.unasked, settings.wred.unmarked());
  row.tagged = settings.tag != 0;
  if (row.tagged) write_tag(row.head.data() + kMacs, settings.tag);
  return true;
}

inline void Egress::mark(Packet& packet, const pfc::WredCurve& curve, int64_t queue_bytes) {
  if (!packet.has(kPacketEct) || !curve.marks(queue_bytes, [this] { return marking_.next(); }))
    return;
  mark_ce(packet.data() + packet.l2_len);
  packet.set(kPacketCe);
  context_.counters[packet.egress_port]
      .queue[packet.queue.index()][QueueCounter::ecn_marked_packets]
      .add(1);
}

// `leaving`: octets of the packet's queue that the burst has taken and not yet accounted, the
// packet's own excluded.
[[gnu::noinline]] void Egress::mark_leaving(Packet& packet, int64_t leaving) {
  if (packet.has(kPacketMarkAsked)) return;
  packet.set(kPacketMarkAsked);
  const size_t q = packet.queue.index();
  const auto& queued = context_.signals(packet.egress_port).queued_bytes[q];
  const int64_t behind =
      int64_t{queued.load(std::memory_order_relaxed)} - leaving - packet.wire_len;
  mark(packet, ports_[packet.egress_port.index()].queues[q].wred, behind);
}

// The port is down, or the watchdog empties the queue.
void Egress::discard(Packet* packet, bool up) {
  if (!up) return buffer_.drop(packet, DropReason::egress_down);
  count_discarded(packet->egress_port, packet->queue.index(), 1);
  buffer_.drop(packet, DropReason::watchdog);
}

void Egress::count_discarded(PortId id, size_t queue, uint64_t packets) {
  const PortTally counters = context_.counters[id];
  counters.pfc[priority_of(id, queue)][PfcCounter::pfcwd_dropped_packets].add(packets);
  counters.queue[queue][QueueCounter::pfcwd_tx_dropped_packets].add(packets);
}

void Egress::originate(PortId id, Packet* packet) {
  Port& port = ports_[id.index()];
  context_.count(id, PortCounter::originated_packets);
  packet->ingress_port = id;
  packet->egress_port = id;
  packet->charged_bytes = 0;
  if (!port.up) return buffer_.drop(packet, DropReason::egress_down);
  const uint16_t tag = context_.settings(id).tag;
  if (tag != 0 && may_be_tagged(*packet)) [[unlikely]]
    put_tag(*packet, tag);
  port.own.push(packet);
  port.own_waiting = true;
  ready_.insert(id);
}

void Egress::originate_behind(PortId id, Packet* packet) {
  context_.count(id, PortCounter::originated_packets);
  packet->ingress_port = id;
  packet->egress_port = id;
  packet->charged_bytes = 0;
  enqueue(packet);
}

void Egress::service_port(PortId id) {
  Port& port = ports_[id.index()];
  const Instant now = context_.now;
  if (port.free_at > now) {  // once more at its completion
    if (!port.reported) await(id, port);
    return;
  }
  if (port.line_busy) {
    settle(id, port);
    port.line_busy = false;
  }
  start_frames(id, port);
}

// What is on the line is gone when what follows it has started, as with service_port() and flush().
void Egress::line_free_alone(PortId id) {
  Port& port = ports_[id.index()];
  if (!ready_.empty() || port.free_at > context_.now || !port.line_busy) [[unlikely]] {
    line_free(id);
    service();
    return buffer_.flush();
  }
  const Charge gone = port.on_line;
  take_off_line(context_.signals(id));
  port.line_busy = false;
  start_frames(id, port);
  buffer_.release_now(gone);
  buffer_.flush();
}

// The line is free.
inline void Egress::start_frames(PortId id, Port& port) {
  const Instant now = context_.now;
  if (!port.up || port.refused_until > now) [[unlikely]]
    return;
  if (port.waiting == 0 && !port.own_waiting) {  // a completion behind which nothing comes
    port.idle = true;
    return;
  }
  const Instant start = std::max(port.free_at, port.idle ? now : now - max_lateness_);
  if (start == now && port.lookahead == Duration{}) return serve_one(id, port);
  if (sends_one_queue(port)) {
    if (port.watched == 0) [[likely]]
      return serve<Visit::sole>(id, port, start);
    if (!port.marked) return serve<Visit::timed>(id, port, start);
  }
  serve<Visit::any>(id, port, start);
}

inline bool Egress::sends_one_queue(const Port& port) {
  const unsigned waiting = port.waiting;
  return (waiting & (waiting - 1)) == 0 && !port.own_waiting && port.tx_enabled &&
         (port.limited | (waiting & port.stops.stopped)) == 0;
}

void Egress::serve_one(PortId id, Port& port) {
  if (port.own_waiting) [[unlikely]]
    return serve_own(id, port);
  struct Before {  // filled where the scheduler has chosen
    Before() {}
    union {
      pfc::Scheduler::State state;
    };
  } before;
  const Turn turn = next_turn(id, port, before.state, context_.now);
  port.idle = turn.queue == kNoQueue;
  if (port.idle) return;
  EgressQueue& queue = context_.queue(id, turn.queue);
  Packet* const packet = queue.fifo.head();
  Packet* const next = packet->next;
  rte_prefetch0(packet->ahead);
  if ((port.limited | port.watched) != 0) [[unlikely]]
    watch(port, *packet, context_.now, {turn.queue, 0});
  queue.fifo.popped(next, 1);
  if (next == nullptr) port.waiting = static_cast<uint8_t>(port.waiting & ~(1u << turn.queue));
  const uint32_t octets = start_frame(id, port, packet, turn.queue);
  if (octets == 0) [[unlikely]]
    return put_one_back(id, port, packet, turn, before.state);
  queue.progress_at = context_.now;
  count_queue(id, port, {turn.queue, 1, octets});
}

[[gnu::noinline]] void Egress::serve_own(PortId id, Port& port) {
  port.idle = false;
  Packet* const packet = port.own.pop();
  port.own_waiting = !port.own.empty();
  if (start_frame(id, port, packet, kOwn) == 0) put_one_back(id, port, packet, {kOwn}, {});
}

// Now, and it stays on the line. Returns its octets; 0: the device has refused it.
inline uint32_t Egress::start_frame(PortId id, Port& port, Packet* packet, uint8_t queue) {
  const uint32_t octets = packet->wire_len;
  const Instant done =
      context_.now + port.line.time_of(Bytes(int64_t{octets} + port.line_overhead));
  port.free_at = done;
  packet->sent_at = done;
  port.on_line = Charge::of(*packet);
  const bool reported = !is_quiet(port, port.on_line);
  if (context_.fires(FaultSite::device_full) ||
      context_.io->transmit(id, {&packet, 1}, reported ? done : Instant::never()) == 0) [[unlikely]]
    return 0;
  port.line_busy = true;
  lb::PortSignals& signals = context_.signals(id);
  put_on_line(signals, queue, octets);
  count_port(id, signals, 1, octets);
  if (!reported) start_line(id, port);
  return octets;
}

[[gnu::noinline]] void Egress::put_one_back(PortId id, Port& port, Packet* packet, const Turn& turn,
                                            const pfc::Scheduler::State& before) {
  context_.count(id, PortCounter::tx_refused_packets);
  go_back(id, port, packet, turn.queue);
  if (turn.scheduled) unpick(port, turn.queue, before);
  await_retry(id, port);
}

template <detail::Visit kVisit>
inline void Egress::serve(PortId id, Port& port, Instant start) {
  Packets packets;
  Burst<kVisit> burst;
  do {
    if (!gather(id, port, packets, burst, start)) return;
    const size_t frames = burst.count;
    const Last last{packets[frames - 1]->wire_len, Charge::of(*packets[frames - 1])};
    const size_t given = context_.fires(FaultSite::device_full) ? frames / 2 : frames;
    const bool none = kHasFaultSites && given == 0;
    const size_t sent = none ? 0 : context_.io->transmit(id, {packets.data(), given}, port.free_at);
    if (sent < frames) [[unlikely]] {
      put_back(id, port, packets, burst, sent);
      if (sent == 0) return;
    }
    if (port.line_busy) [[unlikely]]
      settle(id, port);  // the last frame of the burst before, given ahead as these are
    account(id, port, burst, last);
    start = port.free_at;
  } while (burst.count == kMostFrames && start <= context_.now + port.lookahead);
}

// Takes from the queues what starts at or before now, or within the lookahead, as the line and the
// scheduler have it; false: there is nothing.
template <detail::Visit kVisit>
inline bool Egress::gather(PortId id, Port& port, Packets& packets, Burst<kVisit>& burst,
                           Instant start) {
  burst.count = 0;
  burst.run_count = 0;
  burst.owed_count = 0;
  const Instant until = context_.now + port.lookahead;
  if (kVisit != Visit::any) {
    port.idle = port.waiting == 0;
    if (port.idle) return false;
    const auto queue = static_cast<uint8_t>(std::countr_zero(port.waiting));
    port.free_at = take(id, port, packets, burst, {.queue = queue, .alone = true}, start);
    port.idle = port.waiting == 0 && port.free_at <= until;
    return true;
  }
  do {
    const Turn turn = next_turn(id, port, burst.before[burst.run_count], start);
    port.idle = turn.queue == kNoQueue;
    if (port.idle) break;
    start = take(id, port, packets, burst, turn, start);
    port.free_at = start;
  } while (start <= until && burst.count < kMostFrames);
  return burst.count != 0;
}

[[gnu::noinline]] void Egress::watch(Port& port, Packet& packet, Instant start,
                                     const Leaving& leaving) {
  if (port.limited != 0)
    port.rates.sent(QueueId(leaving.queue), Bytes(packet.wire_len + port.line_overhead), start);
  if ((port.watched >> leaving.queue & 1) == 0) return;
  if (port.queues[leaving.queue].ecn_late) mark_leaving(packet, leaving.ahead);
  if (port.timed) end_sojourn(packet, context_.signals(packet.egress_port), start);
}

// Sums up what packets owe, as they are taken. Arithmetic, not a branch: on a port that many others
// feed, whether a packet owes what the last one did is what no predictor can know.
template <detail::Visit kVisit>
class Egress::Owing {
 public:
  explicit Owing(Burst<kVisit>& burst) : burst_(burst), last_(burst.owed_count - 1) {
    if (burst.owed_count != 0) row_ = burst.owed[last_];
  }
  void add(const Packet& packet) {
    const uint32_t row = IngressBuffer::row_of(packet);
    last_ += row != row_.row ? 1 : 0;
    row_ = {row, row_.bytes + packet.charged_bytes};
    burst_.owed[last_] = row_;
  }
  void end() { burst_.owed_count = last_ + 1; }

 private:
  Burst<kVisit>& burst_;
  size_t last_;  // place in burst_.owed; one before the first where none is owed yet
  Owed row_{IngressBuffer::kNoRow, 0};
};

// Takes the queue's head; and what follows it there as long as nothing else could come in between.
// Returns when the line is free again.
template <detail::Visit kVisit>
inline Instant Egress::take(PortId id, Port& port, Packets& packets, Burst<kVisit>& burst,
                            Turn turn, Instant start) {
  const Instant until = context_.now + port.lookahead;
  const LineRate line = port.line;
  const int64_t overhead = port.line_overhead;
  PacketFifo& fifo = fifo_of(id, port, turn.queue);
  const size_t before = kVisit == Visit::any ? burst.count : 0;
  const size_t most = turn.alone ? kMostFrames : before + 1;
  const bool sole = kVisit != Visit::any;  // neither of our own nor limited or marked
  const bool watched = !sole && (port.limited | port.watched) != 0 && turn.queue != kOwn;
  size_t count = before;
  uint32_t octets = 0;
  Owing owing(burst);
  struct None {
    explicit None(lb::PortSignals&) {}
  };
  [[maybe_unused]] std::conditional_t<kVisit == Visit::timed, Sojourns, None> sojourns(
      context_.signals(id));
  Packet* packet = fifo.head();
  do {
    Packet* const next = packet->next;
    rte_prefetch0(packet->ahead);
    const uint32_t wire_len = packet->wire_len;
    const Bytes on_line(wire_len + overhead);
    if (watched) [[unlikely]]
      watch(port, *packet, start, {turn.queue, burst.octets_of(turn.queue) + octets});
    if constexpr (kVisit == Visit::timed) sojourns.end(*packet, start);
    start = start + line.time_of(on_line);
    packet->sent_at = start;
    octets += wire_len;
    packets[count++] = packet;
    owing.add(*packet);
    packet = next;
  } while (start <= until && count < most && packet != nullptr);
  owing.end();
  fifo.popped(packet, static_cast<uint32_t>(count - before));
  burst.runs[kVisit == Visit::any ? burst.run_count : 0] = {
      turn.queue, turn.scheduled, static_cast<uint16_t>(count - before), octets};
  burst.count = count;
  ++burst.run_count;
  if (!sole && turn.queue == kOwn) [[unlikely]] {
    port.own_waiting = packet != nullptr;
    return start;
  }
  if (packet == nullptr) port.waiting = static_cast<uint8_t>(port.waiting & ~(1u << turn.queue));
  return start;
}

// `before`: where the scheduler is to go back to if the device refuses.
inline Egress::Turn Egress::next_turn(PortId id, Port& port, pfc::Scheduler::State& before,
                                      Instant start) {
  if (port.own_waiting) [[unlikely]]
    return {.queue = kOwn};
  if (port.waiting == 0 || !port.tx_enabled) return {};
  const bool alone = (port.waiting & (port.waiting - 1)) == 0;
  if (alone && (port.waiting & (port.stops.stopped | port.limited)) == 0) [[likely]]
    return {.queue = static_cast<uint8_t>(std::countr_zero(port.waiting)), .alone = true};
  return contended_turn(id, port, before, start);
}

Egress::Turn Egress::contended_turn(PortId id, Port& port, pfc::Scheduler::State& before,
                                    Instant start) {
  const uint8_t over_rate = port.limited != 0 ? port.rates.stopped(start) : uint8_t{0};
  const auto head_len = [this, id](QueueId q) {
    return int64_t{context_.queue(id, q.index()).fifo.head()->wire_len};
  };
  before = port.scheduler.state();
  const auto stopped =
      static_cast<uint8_t>(port.stops.stopped | over_rate | held_at_gate(id, port));
  const auto queue = port.scheduler.pick(port.waiting, stopped, head_len);
  if (queue) {
    port.scheduler.sent(*queue, head_len(*queue));
    if (queue->index() == port.gate) ++port.passed;
    return {.queue = static_cast<uint8_t>(queue->index()), .scheduled = true};
  }
  if (over_rate != 0)  // somebody has to come back when the bucket allows
    timers_.set(static_cast<Deadlines::Id>(id.index()),
                port.rates.next_eligible(port.waiting & ~port.stops.stopped));
  return {};
}

// Counts what was sent, and settles it but for a last frame that is still on the line.
template <detail::Visit kVisit>
inline void Egress::account(PortId id, Port& port, Burst<kVisit>& burst, const Last& last) {
  lb::PortSignals& signals = context_.signals(id);
  port.line_busy = port.free_at > context_.now;
  burst.owed[burst.owed_count - 1].bytes -= port.line_busy ? last.charge.bytes : 0;
  buffer_.release_rows({burst.owed.data(), burst.owed_count});
  uint32_t all_octets = 0;
  for (size_t i = 0; i < burst.turns(); ++i) {
    const Run& run = burst.runs[i];
    const bool stays = port.line_busy && i + 1 == burst.turns();
    all_octets += run.octets;
    if (stays) {
      port.on_line = last.charge;
      put_on_line(signals, run.queue, last.len);
    }
    if (kVisit == Visit::any && run.queue == kOwn) [[unlikely]]
      continue;
    context_.queue(id, run.queue).progress_at = context_.now;
    const uint32_t gone_octets = run.octets - (stays ? last.len : 0);
    if (gone_octets != 0) take_octets(signals.queued_bytes[run.queue], gone_octets);
    count_queue(id, port, {run.queue, run.packets, run.octets});
  }
  count_port(id, signals, burst.count, all_octets);
}

inline void Egress::count_queue(PortId id, const Port& port, const Sent& sent) {
  const PortTally counters = context_.counters[id];
  count_sent_of_queue(counters, sent.queue, sent.packets, sent.octets);
  if ((port.stops.forwarding >> sent.queue & 1) != 0) [[unlikely]]
    counters.pfc[priority_of(id, sent.queue)][PfcCounter::pfcwd_forwarded_packets].add(
        sent.packets);
}

inline void Egress::count_port(PortId id, lb::PortSignals& signals, size_t frames,
                               uint32_t octets) {
  count_sent(context_, context_.counters[id], signals, static_cast<uint32_t>(frames), octets,
             context_.now);
}

// What the device refused goes back to the heads of its queues, in order, and is tried again soon;
// the burst keeps what it took.
template <detail::Visit kVisit>
void Egress::put_back(PortId id, Port& port, const Packets& packets, Burst<kVisit>& burst,
                      size_t sent) {
  context_.count(id, PortCounter::tx_refused_packets, burst.count - sent);
  while (burst.count > sent) {
    Run& run = burst.runs[burst.run_count - 1];
    Packet* packet = packets[--burst.count];
    if (IngressBuffer::row_of(*packet) != burst.owed[burst.owed_count - 1].row) --burst.owed_count;
    burst.owed[burst.owed_count - 1].bytes -= packet->charged_bytes;
    run.octets -= packet->wire_len;
    go_back(id, port, packet, run.queue);
    if (run.scheduled) unpick(port, run.queue, burst.before[burst.run_count - 1]);
    if (--run.packets == 0) --burst.run_count;
  }
  await_retry(id, port);
}

void Egress::unpick(Port& port, uint8_t queue, const pfc::Scheduler::State& before) {
  port.scheduler.restore(before);
  if (queue == port.gate) --port.passed;
}

void Egress::go_back(PortId id, Port& port, Packet* packet, uint8_t queue) {
  fifo_of(id, port, queue).push_front(packet);
  if (queue == kOwn) {
    port.own_waiting = true;
    return;
  }
  port.waiting = static_cast<uint8_t>(port.waiting | 1u << queue);
  port.rates.refused(QueueId(queue), Bytes(packet->wire_len + port.line_overhead));
}

void Egress::await_retry(PortId id, Port& port) {
  port.free_at = context_.now;
  port.idle = true;
  port.refused_until = context_.now + kRetry;
  timers_.set(static_cast<Deadlines::Id>(id.index()), port.refused_until);
}

inline void Egress::settle(PortId id, const Port& port) {
  take_off_line(context_.signals(id));
  buffer_.release(port.on_line);
}

inline void Egress::start_line(PortId id, Port& port) {
  port.reported = false;
  lines_.start(id, port.free_at);
}

// What leaves now is settled as if it were reported, behind what this poll reads.
[[gnu::noinline]] void Egress::follow_lines() {
  while (lines_.next() < context_.now) settle_past(lines_.pop());
  while (lines_.next() <= context_.now) {
    const PortId id = lines_.pop();
    ports_[id.index()].reported = true;
    ready_.insert(id);
  }
}

// What service_port() would have done with it at its completion. Its charge is not watched, so that
// to give it back does no more than that.
inline void Egress::settle_past(PortId id) {
  Port& port = ports_[id.index()];
  port.reported = true;
  take_off_line(context_.signals(id));
  buffer_.release_now(port.on_line);
  port.line_busy = false;
  port.idle = true;
}

Instant Egress::settle_lines(Instant until) {
  Instant last = Instant::long_past();
  while (lines_.next() <= until && lines_.next() != Instant::never()) {
    last = lines_.next();
    settle_past(lines_.pop());
  }
  return last;
}

void Egress::report_lines() {
  by_clock_ = false;
  while (lines_.next() != Instant::never()) {
    const PortId id = lines_.pop();
    ports_[id.index()].reported = true;
    context_.io->await(id, ports_[id.index()].free_at);
  }
}

[[gnu::noinline]] void Egress::await(PortId id, Port& port) {
  lines_.stop(id);
  port.reported = true;
  context_.io->await(id, port.free_at);
}

void Egress::set_up(PortId id, bool up) {
  Port& port = ports_[id.index()];
  if (!port.reported) await(id, port);
  ++context_.way_changes;
  port.up = up;
  follow_limits(port);
  port.free_at = context_.now;
  port.idle = true;
  port.refused_until = context_.now;
  if (up) return;
  if (port.line_busy) settle(id, port);
  port.line_busy = false;
  for (uint8_t queue = 0; queue <= kOwn; ++queue) drop_queue(id, queue, DropReason::egress_down);
}

void Egress::drop_queue(PortId id, uint8_t queue, DropReason reason) {
  Port& port = ports_[id.index()];
  ASSERT(queue == kOwn || !context_.queue(id, queue).row_open);
  PacketFifo& fifo = fifo_of(id, port, queue);
  if (queue == port.gate) port.passed += fifo.count();
  while (!fifo.empty()) {
    Packet* packet = fifo.pop();
    if (queue != kOwn) take_octets(context_.signals(id).queued_bytes[queue], packet->wire_len);
    buffer_.drop(packet, reason);
  }
  if (queue == kOwn)
    port.own_waiting = false;
  else
    port.waiting = static_cast<uint8_t>(port.waiting & ~(1u << queue));
}

void Egress::set_stopped(PortId id, const QueueStops& stops) {
  Port& port = ports_[id.index()];
  if (stops.discarding != port.stops.discarding) ++context_.way_changes;
  port.stops = stops;
  follow_limits(port);
  ready_.insert(id);
  for (uint8_t q = 0; q < kPriorities; ++q) {
    const uint32_t count = context_.queue(id, q).fifo.count();
    if ((stops.discarding >> q & 1) == 0 || count == 0) continue;
    count_discarded(id, q, count);
    drop_queue(id, q, DropReason::watchdog);
  }
}

void Egress::set_tx_enabled(PortId id, bool enabled) {
  ports_[id.index()].tx_enabled = enabled;
  follow_limits(ports_[id.index()]);
  ready_.insert(id);
}

void Egress::on_timers() {
  while (const auto id = timers_.pop_due(context_.now)) ready_.insert(PortId(*id));
}

pfc::QueueProgress Egress::progress(PortId id, QueueId queue) const {
  const EgressQueue& state = context_.queue(id, queue.index());
  return {!state.fifo.empty(), state.progress_at};
}

}  // namespace eddy
