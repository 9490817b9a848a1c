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
  const config::SwitchConfig& config = context.common.snapshot.load()->config;
  const auto entity = static_cast<uint32_t>(config.id.index() << 8 | context.id.index());
  return {config.seed, entity, kMarkingStream};
}

void raise(std::atomic<int64_t>& watermark, int64_t level) {
  if (level > watermark.load(std::memory_order_relaxed)) store(watermark, level);
}

}  // namespace

Egress::Egress(ShardContext& context, IngressBuffer& buffer, size_t ports)
    : context_(context),
      buffer_(buffer),
      ports_(ports),
      timers_(ports),
      marking_(marking_stream(context)) {
  for (size_t i = 0; i < ports; ++i) {
    ports_[i].signals = &context.signals(PortId(i));
    ports_[i].gauges = &context.common.gauge(PortId(i), QueueId(0));
  }
}

void Egress::enqueue(Packet* packet) {
  const PortId id = packet->egress_port;
  Port& port = ports_[id.index()];
  const size_t q = packet->queue.index();
  const QueueSettings& settings = port.settings->queues[q];
  const uint32_t found = port.signals->queued_bytes[q].load(std::memory_order_relaxed);
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
  if (port.fifos[q].empty()) port.progress_at[q] = context_.now;
  port.fifos[q].push(packet);
  port.waiting = static_cast<uint8_t>(port.waiting | 1u << q);
  set_queued(port, q, found + packet->wire_len);
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

void Egress::set_queued(Port& port, size_t queue, uint32_t octets) {
  store(port.signals->queued_bytes[queue], octets);
  QueueGauge& gauge = port.gauges[queue];
  if (octets > gauge.user_watermark.load(std::memory_order_relaxed)) [[unlikely]] {
    store(gauge.user_watermark, int64_t{octets});
    raise(gauge.persistent_watermark, octets);
  }
}

void Egress::take_queued(Port& port, size_t queue, uint32_t octets) {
  std::atomic<uint32_t>& queued = port.signals->queued_bytes[queue];
  store(queued, queued.load(std::memory_order_relaxed) - octets);
}

void Egress::originate(PortId id, Packet* packet) {
  Port& port = ports_[id.index()];
  context_.count(id, PortCounter::originated_packets);
  packet->ingress_port = id;
  packet->egress_port = id;
  packet->charged_bytes = 0;
  if (!port.up) return buffer_.drop(packet, DropReason::egress_down);
  port.fifos[kControl].push(packet);
  ready_.insert(id);
}

void Egress::service() {
  if (ready_.empty()) return;
  ready_.take_all([this](PortId port) { service_port(port); });
}

void Egress::service_port(PortId id) {
  Port& port = ports_[id.index()];
  if (port.line_busy && port.free_at <= context_.now) {
    settle(port, port.on_line);
    port.line_busy = false;
  }
  if (!port.up || port.refused_until > context_.now) return;
  do {
    gather(id, port);
    if (burst_.count == 0) return;
    const size_t sent = hand_over(id, port);
    if (sent < burst_.count) return put_back(id, port, sent);
  } while (burst_.count == kBurst);
}

// Takes from the queues what starts at or before now, as the line and the scheduler have it.
void Egress::gather(PortId id, Port& port) {
  const Instant now = context_.now;
  burst_.count = 0;
  while (burst_.count < kBurst) {
    const Instant start = std::max(port.free_at, port.idle ? now : now - max_lateness_);
    if (start > now) return;
    const std::optional<Turn> turn = next_turn(id, port, start);
    port.idle = !turn;
    if (!turn) return;
    take(port, *turn, start);
  }
}

// Takes the queue's head; and what follows it there as long as nothing else could come in between.
void Egress::take(Port& port, const Turn& turn, Instant start) {
  const Instant now = context_.now;
  const LineRate line = port.settings->line;
  const int64_t overhead = port.settings->line_overhead;
  PacketFifo& fifo = port.fifos[turn.fifo];
  size_t count = burst_.count;
  do {
    Packet* packet = fifo.pop();
    const Bytes on_line(packet->wire_len + overhead);
    if (turn.fifo != kControl && port.rates.limited() != 0) [[unlikely]]
      port.rates.sent(QueueId(turn.fifo), on_line, start);
    start = start + line.time_of(on_line);
    packet->sent_at = start;
    burst_.packets[count] = packet;
    burst_.departures[count] = {Charge::of(*packet), packet->wire_len,
                                static_cast<uint8_t>(turn.fifo), turn.scheduled};
    ++count;
  } while (turn.alone && start <= now && count < kBurst && !fifo.empty());
  burst_.count = count;
  port.free_at = start;
  if (turn.fifo == kControl) return;
  port.progress_at[turn.fifo] = now;
  if (fifo.empty()) port.waiting = static_cast<uint8_t>(port.waiting & ~(1u << turn.fifo));
}

std::optional<Egress::Turn> Egress::next_turn(PortId id, Port& port, Instant start) {
  if (!port.fifos[kControl].empty()) return Turn{.fifo = kControl};
  if (port.waiting == 0 || !port.tx_enabled) return std::nullopt;
  const bool alone = (port.waiting & (port.waiting - 1)) == 0;
  if (alone && (port.waiting & (port.stops.stopped | port.rates.limited())) == 0) [[likely]]
    return Turn{.fifo = static_cast<size_t>(std::countr_zero(port.waiting)), .alone = true};
  const uint8_t over_rate = port.rates.limited() != 0 ? port.rates.stopped(start) : uint8_t{0};
  burst_.before[burst_.count] = port.scheduler.state();
  const auto queue = port.scheduler.pick(
      port.waiting, port.stops.stopped | over_rate,
      [&port](QueueId q) { return int64_t{port.fifos[q.index()].head()->wire_len}; });
  if (queue) {
    port.scheduler.sent(*queue, port.fifos[queue->index()].head()->wire_len);
    return Turn{.fifo = queue->index(), .scheduled = true};
  }
  if (over_rate != 0)  // somebody has to come back when the bucket allows
    timers_.set(static_cast<Deadlines::Id>(id.index()),
                port.rates.next_eligible(port.waiting & ~port.stops.stopped));
  return std::nullopt;
}

size_t Egress::hand_over(PortId id, Port& port) {
  const size_t sent =
      context_.io->transmit(id, {burst_.packets.data(), burst_.count}, port.free_at);
  if (sent == 0) return 0;
  port.line_busy = sent == burst_.count && port.free_at > context_.now;
  port.on_line = burst_.departures[sent - 1];
  account(id, port, sent, port.line_busy ? sent - 1 : sent);
  return sent;
}

// Counts the first `sent` departures and settles the first `gone` of them; frames of one queue in a
// row go together.
void Egress::account(PortId id, Port& port, size_t sent, size_t gone) {
  uint64_t all_octets = 0;
  for (size_t i = 0; i < sent;) {
    const uint8_t fifo = burst_.departures[i].fifo;
    const size_t first = i;
    uint32_t octets = 0;
    uint32_t gone_octets = 0;
    for (; i < sent && burst_.departures[i].fifo == fifo; ++i) {
      octets += burst_.departures[i].wire_len;
      if (i >= gone) continue;
      gone_octets += burst_.departures[i].wire_len;
      buffer_.release(burst_.departures[i].charge);
    }
    all_octets += octets;
    if (fifo == kControl) continue;
    take_queued(port, fifo, gone_octets);
    count_sent_from(id, fifo, i - first, octets);
  }
  context_.count(id, PortCounter::tx_packets, sent);
  context_.count(id, PortCounter::tx_bytes, all_octets);
  context_.snapshot->dre.add(*port.signals, static_cast<uint32_t>(all_octets), context_.now);
  context_.stats.transmitted += static_cast<uint32_t>(sent);
}

// What the device refused goes back to the heads of its queues, in order, and is tried again soon.
void Egress::put_back(PortId id, Port& port, size_t sent) {
  const int64_t overhead = port.settings->line_overhead;
  for (size_t i = burst_.count; i-- > sent;) {
    const uint8_t fifo = burst_.departures[i].fifo;
    Packet* packet = burst_.packets[i];
    port.fifos[fifo].push_front(packet);
    if (fifo == kControl) continue;
    port.waiting = static_cast<uint8_t>(port.waiting | 1u << fifo);
    if (burst_.departures[i].scheduled) port.scheduler.restore(burst_.before[i]);
    port.rates.refused(QueueId(fifo), Bytes(packet->wire_len + overhead));
  }
  port.free_at = context_.now;
  port.idle = true;
  context_.count(id, PortCounter::tx_refused_packets, burst_.count - sent);
  port.refused_until = context_.now + kRetry;
  timers_.set(static_cast<Deadlines::Id>(id.index()), port.refused_until);
}

void Egress::settle(Port& port, const Departure& departure) {
  if (departure.fifo != kControl) take_queued(port, departure.fifo, departure.wire_len);
  buffer_.release(departure.charge);
}

void Egress::count_sent_from(PortId id, size_t queue, uint64_t packets, uint64_t bytes) {
  PortCounters& counters = context_.counters[id];
  counters.queue[queue][QueueCounter::queue_tx_packets].add(packets);
  counters.queue[queue][QueueCounter::queue_tx_bytes].add(bytes);
  if ((ports_[id.index()].stops.forwarding >> queue & 1) != 0) [[unlikely]]
    counters.pfc[queue][PfcCounter::pfcwd_forwarded_packets].add(packets);
}

void Egress::set_up(PortId id, bool up) {
  Port& port = ports_[id.index()];
  port.up = up;
  port.free_at = context_.now;
  port.idle = true;
  port.refused_until = context_.now;
  if (up) return;
  if (port.line_busy) settle(port, port.on_line);
  port.line_busy = false;
  for (size_t fifo = 0; fifo < port.fifos.size(); ++fifo)
    drop_queue(id, fifo, DropReason::egress_down);
}

void Egress::drop_queue(PortId id, size_t fifo, DropReason reason) {
  Port& port = ports_[id.index()];
  while (!port.fifos[fifo].empty()) {
    Packet* packet = port.fifos[fifo].pop();
    if (fifo != kControl) take_queued(port, fifo, packet->wire_len);
    buffer_.drop(packet, reason);
  }
  if (fifo != kControl) port.waiting = static_cast<uint8_t>(port.waiting & ~(1u << fifo));
}

void Egress::set_stopped(PortId id, const QueueStops& stops) {
  Port& port = ports_[id.index()];
  port.stops = stops;
  ready_.insert(id);
  for (size_t q = 0; q < kPriorities; ++q) {
    if ((stops.discarding >> q & 1) == 0 || port.fifos[q].empty()) continue;
    context_.counters[id].pfc[q][PfcCounter::pfcwd_dropped_packets].add(port.fifos[q].count());
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
  const Port& port = ports_[id.index()];
  return {!port.fifos[queue.index()].empty(), port.progress_at[queue.index()]};
}

void Egress::adopt(const Snapshot& now) {
  max_lateness_ = std::max(kMinLateness, now.config.effective_poll_gap());
  for (size_t i = 0; i < ports_.size(); ++i) {
    if (now.ports[i].owner != context_.id) continue;
    ports_[i].settings = &now.ports[i];
    ports_[i].scheduler.configure(now.ports[i].scheduler);
    ports_[i].rates.configure(now.ports[i].scheduler);
    if (now.config.dre != dre_) now.dre.restart(*ports_[i].signals, context_.now);
    ready_.insert(PortId(i));
  }
  dre_ = now.config.dre;
}

void Egress::clear_watermarks() {
  for (size_t port = 0; port < ports_.size(); ++port) {
    for (size_t q = 0; q < kPriorities; ++q) {
      if (!context_.owns(PortId(port))) continue;
      store(
          context_.common.gauge(PortId(port), QueueId(q)).user_watermark,
          int64_t{context_.signals(PortId(port)).queued_bytes[q].load(std::memory_order_relaxed)});
    }
  }
}

uint64_t Egress::held() const {
  uint64_t packets = 0;
  for (const Port& port : ports_)
    for (const PacketFifo& fifo : port.fifos) packets += fifo.count();
  return packets;
}

}  // namespace eddy
