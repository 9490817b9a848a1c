// What Egress does between polls: it takes over a snapshot, follows the clock, and is read.
#include <algorithm>

#include "lb/agent.h"
#include "switch/dataplane/queues/egress.h"

namespace eddy {
namespace {

uint8_t late_marking(const PortClasses& classes) {
  unsigned queues = 0;
  for (size_t q = 0; q < kPriorities; ++q)
    if (classes.queues[q].ecn_late) queues |= 1u << q;
  return static_cast<uint8_t>(queues);
}

// The scheme's agent asks how long packets wait.
bool times_waits(const Snapshot& now, ShardId shard) {
  const lb::PathAgent* agent = now.schemes[shard.index()].selector->agent();
  return agent != nullptr && agent->speech().waits;
}

}  // namespace

void Egress::adopt(const Snapshot& now) {
  report_lines();  // what concerns nobody may be another matter now
  max_lateness_ = std::max(kMinLateness, now.config.effective_poll_gap());
  for (size_t i = 0; i < ports_.size(); ++i) {
    Port& port = ports_[i];
    if (now.ports[i].owner != context_.id) {  // that of a place without a port may be another now
      port.queues = nullptr;
      continue;
    }
    port.queues = now.ports[i].classes->queues.data();
    port.line = now.plans[i].line;
    port.line_overhead = static_cast<int16_t>(now.plans[i].line_overhead);
    port.lookahead = now.config.lookahead_of(now.config.ports[i]);
    port.scheduler.configure(now.plans[i].scheduler);
    port.rates.configure(now.plans[i].scheduler);
    port.limited = port.rates.limited();
    port.timed = times_waits(now, context_.id) && now.ports[i].role == config::PortRole::fabric;
    follow_isolation(PortId(i), port, now.isolation);
    const uint8_t marking = late_marking(*now.ports[i].classes);
    port.marked = marking != 0;
    port.watched = port.timed ? kAllPriorities : marking;
    follow_limits(port);
    if (now.config.dre != dre_) now.dre.restart(context_.signals(PortId(i)), context_.now);
    ready_.insert(PortId(i));
  }
  dre_ = now.config.dre;
}

void Egress::forget(PortId id) {
  ports_[id.index()].tx_enabled = true;
  follow_limits(ports_[id.index()]);
  hot_ports_.forget(id);
  long_flows_.forget(id);
  context_.snapshot->dre.restart(context_.signals(id), context_.now);
  for (size_t q = 0; q < kPriorities; ++q) {
    LastStorm& last = context_.common.last_storm(id, QueueId(q));
    for (std::atomic<uint64_t>* value : {&last.tx, &last.tx_dropped, &last.rx, &last.rx_dropped})
      value->store(0, std::memory_order_relaxed);
  }
  for (const auto kind : {pfc::WatermarkKind::user, pfc::WatermarkKind::persistent})
    clear_watermarks(id, kind);
}

void Egress::clear_watermarks(PortId id, pfc::WatermarkKind kind) {
  const auto& queued = context_.signals(id).queued_bytes;
  for (size_t q = 0; q < kPriorities; ++q)
    context_.queue(id, q).watermarks.clear(kind, queued[q].load(std::memory_order_relaxed));
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

void Egress::rebase(const Rebase& rebase) {
  for (size_t i = 0; i < ports_.size(); ++i) {
    Port& port = ports_[i];
    const PortId id(i);
    if (context_.dre != nullptr && context_.owns(id))
      context_.dre->rebase(context_.signals(id), rebase);
    rebase.shift(port.free_at);
    rebase.shift(port.refused_until);
    port.rates.rebase(rebase);
  }
  lines_.rebase(rebase);
  timers_.rebase(rebase);
  hot_ports_.rebase(rebase);
  long_flows_.rebase(rebase);
}

}  // namespace eddy
