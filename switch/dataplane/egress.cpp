#include "switch/dataplane/egress.h"

#include <algorithm>
#include <bit>

#include "net/ip.h"

namespace eddy {
namespace {

constexpr uint32_t kMarkingStream = 0x45434e;  // "ECN"

template <class T>
void store(std::atomic<T>& value, T to) {
  value.store(to, std::memory_order_relaxed);
}

// Each shard of each switch draws its own marks.
RandomStream marking_stream(const ShardContext& context) {
  const config::SwitchConfig& config = context.common.changes.snapshot.load()->config;
  const auto entity = static_cast<uint32_t>(config.id.index() << 8 | context.id.index());
  return {config.seed, entity, kMarkingStream};
}

void raise(std::atomic<int64_t>& watermark, int64_t level) {
  if (level > watermark.load(std::memory_order_relaxed)) store(watermark, level);
}

void raise_watermarks(EgressQueue& queue, int64_t level) {
  if (level <= queue.user_watermark.load(std::memory_order_relaxed)) [[likely]]
    return;
  store(queue.user_watermark, level);
  raise(queue.persistent_watermark, level);
}

void take_octets(std::atomic<uint32_t>& queued, uint32_t octets) {
  store(queued, queued.load(std::memory_order_relaxed) - octets);
}

}  // namespace

Egress::Egress(ShardContext& context, IngressBuffer& buffer, size_t ports)
    : context_(context),
      buffer_(buffer),
      ports_(ports),
      timers_(ports, context.due_of(Timers::egress)),
      marking_(marking_stream(context)) {}

void Egress::enqueue(Packet* packet) {
  const PortId id = packet->egress_port;
  Port& port = ports_[id.index()];
  const size_t q = packet->queue.index();
  const QueueSettings& settings = port.queues[q];
  std::atomic<uint32_t>& queued = context_.signals(id).queued_bytes[q];
  const uint32_t found = queued.load(std::memory_order_relaxed);
  if (!port.up || (port.stops.discarding >> q & 1) != 0) [[unlikely]]
    return discard(packet, port.up);
  if (!settings.lossless &&
      !buffer_.pool().admit_queue(found, packet->wire_len, settings.lossy_limit)) [[unlikely]] {
    context_.counters[id].queue[q][QueueCounter::queue_dropped_packets].add(1);
    return buffer_.drop(packet, DropReason::queue_full);
  }
  if (settings.ecn && packet->has(kPacketEct) &&
      settings.wred.marks(found, [this] { return marking_.next(); })) {
    mark_ce(packet->data() + packet->l2_len);
    packet->set(kPacketCe);
    context_.counters[id].queue[q][QueueCounter::ecn_marked_packets].add(1);
  }
  EgressQueue& queue = context_.queue(id, q);
  if (queue.fifo.empty()) queue.progress_at = context_.now;
  queue.fifo.push(packet);
  port.waiting = static_cast<uint8_t>(port.waiting | 1u << q);
  store(queued, found + packet->wire_len);
  raise_watermarks(queue, int64_t{found} + packet->wire_len);
  ready_.insert(id);
}

// The port is down, or the watchdog empties the queue.
void Egress::discard(Packet* packet, bool up) {
  if (!up) return buffer_.drop(packet, DropReason::egress_down);
  context_.counters[packet->egress_port]
      .pfc[packet->queue.index()][PfcCounter::pfcwd_dropped_packets]
      .add(1);
  buffer_.drop(packet, DropReason::watchdog);
}

void Egress::originate(PortId id, Packet* packet) {
  Port& port = ports_[id.index()];
  context_.count(id, PortCounter::originated_packets);
  packet->ingress_port = id;
  packet->egress_port = id;
  packet->charged_bytes = 0;
  if (!port.up) return buffer_.drop(packet, DropReason::egress_down);
  port.own.push(packet);
  port.own_waiting = true;
  ready_.insert(id);
}

void Egress::service_port(PortId id) {
  Port& port = ports_[id.index()];
  if (port.line_busy && port.free_at <= context_.now) {
    settle(id, port.on_line);
    port.line_busy = false;
  }
  if (!port.up || port.refused_until > context_.now) return;
  Burst burst(id);
  do {
    gather(port, burst);
    if (burst.count == 0) return;
    const size_t sent = hand_over(port, burst);
    if (sent < burst.count) return put_back(port, burst, sent);
  } while (burst.count == kBurst);
}

bool Egress::end_quietly(PortId id) {
  Port& port = ports_[id.index()];
  if (!port.line_busy || port.free_at > context_.now || port.waiting != 0 || port.own_waiting)
    return false;
  if (!buffer_.release_quietly(port.on_line.charge)) return false;
  if (port.on_line.queue != kOwn)
    take_octets(context_.signals(id).queued_bytes[port.on_line.queue], port.on_line.wire_len);
  port.line_busy = false;
  port.idle = true;
  return true;
}

// Takes from the queues what starts at or before now, as the line and the scheduler have it.
void Egress::gather(Port& port, Burst& burst) {
  const Instant now = context_.now;
  burst.count = 0;
  while (burst.count < kBurst) {
    const Instant start = std::max(port.free_at, port.idle ? now : now - max_lateness_);
    if (start > now) return;
    const std::optional<Turn> turn = next_turn(burst, port, start);
    port.idle = !turn;
    if (!turn) return;
    take(port, burst, *turn, start);
  }
}

// Takes the queue's head; and what follows it there as long as nothing else could come in between.
void Egress::take(Port& port, Burst& burst, const Turn& turn, Instant start) {
  const Instant now = context_.now;
  const LineRate line = port.line;
  const int64_t overhead = port.line_overhead;
  PacketFifo& fifo = fifo_of(burst.port, port, turn.queue);
  size_t count = burst.count;
  do {
    Packet* packet = fifo.pop();
    const Bytes on_line(packet->wire_len + overhead);
    if (turn.queue != kOwn && port.limited != 0) [[unlikely]]
      port.rates.sent(QueueId(turn.queue), on_line, start);
    start = start + line.time_of(on_line);
    packet->sent_at = start;
    burst.packets[count] = packet;
    burst.departures[count] = {Charge::of(*packet), packet->wire_len, turn.queue, turn.scheduled};
    ++count;
  } while (turn.alone && start <= now && count < kBurst && !fifo.empty());
  burst.count = count;
  port.free_at = start;
  if (turn.queue == kOwn) {
    port.own_waiting = !fifo.empty();
    return;
  }
  if (fifo.empty()) port.waiting = static_cast<uint8_t>(port.waiting & ~(1u << turn.queue));
}

inline std::optional<Egress::Turn> Egress::next_turn(Burst& burst, Port& port, Instant start) {
  if (port.own_waiting) return Turn{.queue = kOwn};
  if (port.waiting == 0 || !port.tx_enabled) return std::nullopt;
  const bool alone = (port.waiting & (port.waiting - 1)) == 0;
  if (alone && (port.waiting & (port.stops.stopped | port.limited)) == 0) [[likely]]
    return Turn{.queue = static_cast<uint8_t>(std::countr_zero(port.waiting)), .alone = true};
  return contended_turn(burst, port, start);
}

std::optional<Egress::Turn> Egress::contended_turn(Burst& burst, Port& port, Instant start) {
  const PortId id = burst.port;
  const uint8_t over_rate = port.limited != 0 ? port.rates.stopped(start) : uint8_t{0};
  const auto head_len = [this, id](QueueId q) {
    return int64_t{context_.queue(id, q.index()).fifo.head()->wire_len};
  };
  burst.before[burst.count] = port.scheduler.state();
  const auto queue = port.scheduler.pick(port.waiting, port.stops.stopped | over_rate, head_len);
  if (queue) {
    port.scheduler.sent(*queue, head_len(*queue));
    return Turn{.queue = static_cast<uint8_t>(queue->index()), .scheduled = true};
  }
  if (over_rate != 0)  // somebody has to come back when the bucket allows
    timers_.set(static_cast<Deadlines::Id>(id.index()),
                port.rates.next_eligible(port.waiting & ~port.stops.stopped));
  return std::nullopt;
}

size_t Egress::hand_over(Port& port, Burst& burst) {
  const size_t sent =
      context_.io->transmit(burst.port, {burst.packets.data(), burst.count}, port.free_at);
  if (sent == 0) return 0;
  port.line_busy = sent == burst.count && port.free_at > context_.now;
  port.on_line = burst.departures[sent - 1];
  account(port, burst, sent, port.line_busy ? sent - 1 : sent);
  return sent;
}

// Counts the first `sent` departures and settles the first `gone` of them; frames of one queue in a
// row go together.
void Egress::account(const Port& port, const Burst& burst, size_t sent, size_t gone) {
  lb::PortSignals& signals = context_.signals(burst.port);
  PortCounters& counters = context_.counters[burst.port];
  uint64_t all_octets = 0;
  for (size_t i = 0; i < sent;) {
    const uint8_t queue = burst.departures[i].queue;
    const size_t first = i;
    uint32_t octets = 0;
    uint32_t gone_octets = 0;
    for (; i < sent && burst.departures[i].queue == queue; ++i) {
      octets += burst.departures[i].wire_len;
      if (i >= gone) continue;
      gone_octets += burst.departures[i].wire_len;
      buffer_.release(burst.departures[i].charge);
    }
    all_octets += octets;
    if (queue == kOwn) continue;
    context_.queue(burst.port, queue).progress_at = context_.now;
    if (gone_octets != 0) take_octets(signals.queued_bytes[queue], gone_octets);
    counters.queue[queue][QueueCounter::queue_tx_packets].add(i - first);
    counters.queue[queue][QueueCounter::queue_tx_bytes].add(octets);
    if ((port.stops.forwarding >> queue & 1) != 0) [[unlikely]]
      counters.pfc[queue][PfcCounter::pfcwd_forwarded_packets].add(i - first);
  }
  counters.port[PortCounter::tx_packets].add(sent);
  counters.port[PortCounter::tx_bytes].add(all_octets);
  context_.dre->add(signals, static_cast<uint32_t>(all_octets), context_.now);
  context_.stats.transmitted += static_cast<uint32_t>(sent);
}

// What the device refused goes back to the heads of its queues, in order, and is tried again soon.
void Egress::put_back(Port& port, const Burst& burst, size_t sent) {
  for (size_t i = burst.count; i-- > sent;) {
    const uint8_t queue = burst.departures[i].queue;
    Packet* packet = burst.packets[i];
    fifo_of(burst.port, port, queue).push_front(packet);
    if (queue == kOwn) {
      port.own_waiting = true;
      continue;
    }
    port.waiting = static_cast<uint8_t>(port.waiting | 1u << queue);
    if (burst.departures[i].scheduled) port.scheduler.restore(burst.before[i]);
    port.rates.refused(QueueId(queue), Bytes(packet->wire_len + port.line_overhead));
  }
  port.free_at = context_.now;
  port.idle = true;
  context_.count(burst.port, PortCounter::tx_refused_packets, burst.count - sent);
  port.refused_until = context_.now + kRetry;
  timers_.set(static_cast<Deadlines::Id>(burst.port.index()), port.refused_until);
}

void Egress::settle(PortId id, const Departure& departure) {
  if (departure.queue != kOwn)
    take_octets(context_.signals(id).queued_bytes[departure.queue], departure.wire_len);
  buffer_.release(departure.charge);
}

void Egress::set_up(PortId id, bool up) {
  Port& port = ports_[id.index()];
  port.up = up;
  port.free_at = context_.now;
  port.idle = true;
  port.refused_until = context_.now;
  if (up) return;
  if (port.line_busy) settle(id, port.on_line);
  port.line_busy = false;
  for (uint8_t queue = 0; queue <= kOwn; ++queue) drop_queue(id, queue, DropReason::egress_down);
}

void Egress::drop_queue(PortId id, uint8_t queue, DropReason reason) {
  Port& port = ports_[id.index()];
  PacketFifo& fifo = fifo_of(id, port, queue);
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
  port.stops = stops;
  ready_.insert(id);
  for (uint8_t q = 0; q < kPriorities; ++q) {
    const uint32_t count = context_.queue(id, q).fifo.count();
    if ((stops.discarding >> q & 1) == 0 || count == 0) continue;
    context_.counters[id].pfc[q][PfcCounter::pfcwd_dropped_packets].add(count);
    drop_queue(id, q, DropReason::watchdog);
  }
}

void Egress::set_tx_enabled(PortId id, bool enabled) {
  ports_[id.index()].tx_enabled = enabled;
  ready_.insert(id);
}

void Egress::on_timers() {
  while (const auto id = timers_.pop_due(context_.now)) ready_.insert(PortId(*id));
}

pfc::QueueProgress Egress::progress(PortId id, QueueId queue) const {
  const EgressQueue& state = context_.queue(id, queue.index());
  return {!state.fifo.empty(), state.progress_at};
}

void Egress::adopt(const Snapshot& now) {
  max_lateness_ = std::max(kMinLateness, now.config.effective_poll_gap());
  for (size_t i = 0; i < ports_.size(); ++i) {
    if (now.ports[i].owner != context_.id) continue;
    Port& port = ports_[i];
    port.queues = now.ports[i].classes->queues.data();
    port.line = now.ports[i].line;
    port.line_overhead = now.ports[i].line_overhead;
    port.scheduler.configure(now.plans[i].scheduler);
    port.rates.configure(now.plans[i].scheduler);
    port.limited = port.rates.limited();
    if (now.config.dre != dre_) now.dre.restart(context_.signals(PortId(i)), context_.now);
    ready_.insert(PortId(i));
  }
  dre_ = now.config.dre;
}

void Egress::clear_watermarks() {
  for (size_t port = 0; port < ports_.size(); ++port) {
    for (size_t q = 0; q < kPriorities; ++q) {
      if (!context_.owns(PortId(port))) continue;
      store(
          context_.queue(PortId(port), q).user_watermark,
          int64_t{context_.signals(PortId(port)).queued_bytes[q].load(std::memory_order_relaxed)});
    }
  }
}

uint64_t Egress::held() const {
  uint64_t packets = 0;
  for (size_t i = 0; i < ports_.size(); ++i) {
    packets += ports_[i].own.count();
    if (ports_[i].queues == nullptr) continue;
    for (size_t q = 0; q < kPriorities; ++q) packets += context_.queue(PortId(i), q).fifo.count();
  }
  return packets;
}

}  // namespace eddy
