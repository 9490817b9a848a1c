#include "switch/dataplane/pipeline/pause_control.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "net/pause_frame.h"
#include "switch/dataplane/queues/own_frame.h"

namespace eddy {

PauseControl::PauseControl(ShardContext& context, IngressBuffer& buffer, Egress& egress,
                           pfc::PauseSender& sender, PathWarnings& warnings, size_t ports)
    : context_(context),
      buffer_(buffer),
      egress_(egress),
      sender_(sender),
      warnings_(warnings),
      receiver_(ports, context.due_of(Timers::pause_receiver)),
      watchdog_(ports, context.due_of(Timers::watchdog)),
      counted_(ports * kPriorities) {}

bool PauseControl::mac_control(Packet* packet) {
  const PortId port = packet->ingress_port;
  PauseFrame frame;
  const CodecVerdict verdict = decode({packet->data(), packet->data_len()}, frame);
  if (verdict != CodecVerdict::ok) {
    const bool unknown = verdict == CodecVerdict::wrong_type;
    buffer_.drop(packet, unknown ? DropReason::mac_control_unknown : DropReason::control_malformed);
    return false;
  }
  if (frame.legacy) {
    context_.count(port, PortCounter::pause_rx_packets);  // PFC is what ports of ours speak
  } else {
    context_.count(port, PortCounter::pfc_rx_packets);
    apply(receiver_.on_pfc(port, frame.enabled, frame.quanta, context_.now));
  }
  context_.free(packet);
  return true;
}

// What a frame or the passing of time did to a port's queues: counted, told, and acted on.
void PauseControl::apply(const pfc::PauseChange& change) {
  const PortId port = change.port;
  count(change);
  uint8_t asked = 0;  // queues that the peer wants stopped, heeded or not
  for (unsigned left = change.xoff; left != 0; left &= left - 1) {
    const auto priority = static_cast<size_t>(std::countr_zero(left));
    asked |=
        static_cast<uint8_t>(1u << context_.plans(port).pause_rx.pfc_to_queue[priority].index());
  }
  if (asked != 0) watchdog_.on_pause_frame(port, asked, context_.now);
  if (change.queues == 0) return;
  const uint8_t paused = receiver_.paused_queues(port);
  for (unsigned left = change.queues; left != 0; left &= left - 1) {
    const auto queue = static_cast<size_t>(std::countr_zero(left));
    context_.event(EventKind::pfc_received, port, paused >> queue & 1,
                   context_.plans(port).pause_rx.queue_to_pfc[queue]);
  }
  watchdog_.on_paused(port, paused, change.queues, context_.now);
  follow(port);
}

void PauseControl::count(const pfc::PauseChange& change) {
  const PortId port = change.port;
  const PortTally counters = context_.counters[port];
  for (size_t p = 0; p < kPriorities; ++p) {
    const auto concerns = [p](uint8_t mask) { return (mask >> p & 1) != 0; };
    if (concerns(change.xoff)) counters.pfc[p][PfcCounter::pfc_rx_xoff].add(1);
    if (concerns(change.xon)) counters.pfc[p][PfcCounter::pfc_rx_xon].add(1);
    if (concerns(change.over_budget)) {
      counters.port[PortCounter::pfc_budget_exceeded].add(1);
      context_.event(EventKind::pfc_budget_exceeded, port, 0, Priority(p));
    }
    if (concerns(change.ended | change.xoff)) {
      const Duration paused = receiver_.take_paused_time(port, Priority(p), context_.now);
      counters.pfc[p][PfcCounter::pfc_rx_paused_ps].add(static_cast<uint64_t>(paused.ps()));
    }
  }
}

// Brings the queues of the port in line with what pauses and watchdog say.
void PauseControl::follow(PortId port) {
  const uint8_t paused = receiver_.paused_queues(port);
  const uint8_t forwarding = paused & watchdog_.forwarding(port);
  const uint8_t dropping = watchdog_.dropping(port);
  context_.signals(port).paused_queues.store(paused, std::memory_order_relaxed);
  egress_.set_stopped(port, {.stopped = static_cast<uint8_t>(paused & ~forwarding),
                             .forwarding = forwarding,
                             .discarding = dropping});
  const PortSettings& settings = context_.settings(port);
  uint8_t pgs = 0;
  for (size_t pg = 0; pg < kPriorities; ++pg) {
    if ((settings.lossless_pgs >> pg & 1) != 0 && (dropping >> queue_of(port, pg) & 1) != 0)
      pgs |= static_cast<uint8_t>(1u << pg);
  }
  buffer_.set_discarding(port, pgs);
  warnings_.paused(port, paused);
}

size_t PauseControl::queue_of(PortId port, size_t pg) const {
  const size_t priority = context_.settings(port).classes->pg_to_pfc[pg].index();
  return context_.plans(port).pause_rx.pfc_to_queue[priority].index();
}

PauseControl::Traffic PauseControl::traffic_of(PortId port, size_t queue) const {
  const PortTally counters = context_.counters[port];
  Traffic traffic{.tx = counters.queue[queue].read(QueueCounter::queue_tx_packets),
                  .tx_dropped = counters.queue[queue].read(QueueCounter::queue_dropped_packets)};
  for (size_t pg = 0; pg < kPriorities; ++pg) {
    if (queue_of(port, pg) != queue) continue;
    traffic.rx += counters.pg[pg].read(PgCounter::pg_rx_packets);
    traffic.rx_dropped += counters.pg[pg].read(PgCounter::pg_dropped_packets);
  }
  return traffic;
}

void PauseControl::begin_storm(PortId port, size_t queue) {
  counted(port, queue) = traffic_of(port, queue);
  const auto counters = context_.counters[port].queue[queue];
  LastStorm& last = context_.common.last_storm(port, QueueId(queue));
  const auto note = [&](std::atomic<uint64_t>& to, QueueCounter which) {
    to.store(counters.read(which), std::memory_order_relaxed);
  };
  note(last.tx, QueueCounter::pfcwd_tx_packets);
  note(last.tx_dropped, QueueCounter::pfcwd_tx_dropped_packets);
  note(last.rx, QueueCounter::pfcwd_rx_packets);
  note(last.rx_dropped, QueueCounter::pfcwd_rx_dropped_packets);
}

// What went by since the storm was last looked at. What the watchdog discards is counted where that
// is done.
void PauseControl::count_storm(PortId port, size_t queue) {
  const Traffic now = traffic_of(port, queue);
  const Traffic before = std::exchange(counted(port, queue), now);
  const auto counters = context_.counters[port].queue[queue];
  counters[QueueCounter::pfcwd_tx_packets].add(now.tx - before.tx);
  counters[QueueCounter::pfcwd_tx_dropped_packets].add(now.tx_dropped - before.tx_dropped);
  counters[QueueCounter::pfcwd_rx_packets].add(now.rx - before.rx);
  counters[QueueCounter::pfcwd_rx_dropped_packets].add(now.rx_dropped - before.rx_dropped);
}

void PauseControl::count_discarded(const Packet& packet) {
  const PortId port = packet.ingress_port;
  const size_t pg = packet.pg.index();
  const size_t priority = context_.settings(port).classes->pg_to_pfc[pg].index();
  const PortTally counters = context_.counters[port];
  counters.pfc[priority][PfcCounter::pfcwd_dropped_packets].add(1);
  counters.queue[queue_of(port, pg)][QueueCounter::pfcwd_rx_dropped_packets].add(1);
}

void PauseControl::on_verdict(const pfc::WatchdogVerdict& verdict) {
  const size_t queue = verdict.queue.index();
  const auto of_queue = context_.counters[verdict.port].queue[queue];
  of_queue[verdict.storm ? QueueCounter::pfcwd_deadlock_detected
                         : QueueCounter::pfcwd_deadlock_restored]
      .add(1);
  if (verdict.storm)
    begin_storm(verdict.port, queue);
  else
    count_storm(verdict.port, queue);
  const Priority priority = context_.plans(verdict.port).pause_rx.queue_to_pfc[queue];
  const auto counters = context_.counters[verdict.port].pfc[priority.index()];
  counters[verdict.storm ? PfcCounter::pfcwd_storms : PfcCounter::pfcwd_restored].add(1);
  context_.event(verdict.storm ? EventKind::pfcwd_storm : EventKind::pfcwd_restored, verdict.port,
                 0, priority);
  context_.queue(verdict.port, queue).storm.store(verdict.storm, std::memory_order_relaxed);
  follow(verdict.port);
}

[[gnu::noinline]] void PauseControl::send_owed() {
  sender_.flush(context_.now, [this](const pfc::OwedPause& frame) { return send_frame(frame); });
}

bool PauseControl::send_frame(const pfc::OwedPause& pause) {
  Packet* packet = new_frame(context_);
  if (packet == nullptr) {
    context_.count(pause.port, PortCounter::no_control_buffer);
    return false;
  }
  const PauseFrame frame{
      .source = context_.settings(pause.port).mac, .enabled = pause.enable, .quanta = pause.times};
  set_frame_length(*packet, encode(frame, frame_space(*packet)));
  for (size_t p = 0; p < kPriorities; ++p) {
    const bool off = (pause.xoff() >> p & 1) != 0;
    if (!off && (pause.xon() >> p & 1) == 0) continue;
    context_.counters[pause.port]
        .pfc[p][off ? PfcCounter::pfc_tx_xoff : PfcCounter::pfc_tx_xon]
        .add(1);
    context_.event(EventKind::pfc_sent, pause.port, off ? 1 : 0, Priority(p));
  }
  egress_.originate(pause.port, packet);
  warnings_.pfc_sent(pause.port, pause.xoff(), pause.xon());
  return true;
}

void PauseControl::link_changed(PortId port, bool up) {
  sender_.set_link(port, up);
  if (!up) apply(receiver_.on_link_down(port, context_.now));
}

void PauseControl::adopt(const Snapshot& now) {
  for (size_t i = 0; i < now.ports.size(); ++i) {
    const PortId port(i);
    if (!context_.owns(port)) continue;
    sender_.configure(port, now.plans[i].pause_tx);
    // The maps may be others: what this snapshot counts for a queue begins now.
    for (unsigned left = watchdog_.storming(port); left != 0; left &= left - 1) {
      const auto queue = static_cast<size_t>(std::countr_zero(left));
      counted(port, queue) = traffic_of(port, queue);
    }
    const uint8_t ended = watchdog_.configure(port, now.plans[i].watchdog, context_.now);
    for (size_t q = 0; q < kPriorities; ++q)
      if ((ended >> q & 1) != 0) on_verdict({port, QueueId(q), false});
    apply(receiver_.configure(port, now.plans[i].pause_rx, context_.now));
    follow(port);
  }
}

void PauseControl::on_timers() {
  receiver_.expire(context_.now, [this](const pfc::PauseChange& change) { apply(change); });
  watchdog_.poll(
      context_.now,
      [this](PortId port, QueueId queue) {
        if ((watchdog_.storming(port) >> queue.index() & 1) != 0) count_storm(port, queue.index());
        return egress_.progress(port, queue);
      },
      [this](const pfc::WatchdogVerdict& verdict) { on_verdict(verdict); });
}

}  // namespace eddy
