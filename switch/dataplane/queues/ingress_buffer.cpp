#include "switch/dataplane/queues/ingress_buffer.h"

namespace eddy {

IngressBuffer::IngressBuffer(ShardContext& context, pfc::PauseSender& pause_sender,
                             pfc::Predictor& predictor, size_t ports)
    : context_(context),
      pause_sender_(pause_sender),
      predictor_(predictor),
      pool_(context.common.pool_use, context.id, Bytes(0)),
      released_(ports * kPriorities),
      unsettled_(ports * kPriorities),
      arrivals_(ports),
      limits_(ports * kPriorities) {}

void IngressBuffer::start_admitted_run(PortId port, PriorityGroupId pg) {
  if (admitted_.packets != 0) end_admitted_run();
  admitted_.port = port;
  admitted_.pg = pg;
  admitted_.buffer = &context_.pg(port, pg);
}

void IngressBuffer::end_admitted_run() {
  auto& counters = context_.counters[admitted_.port].pg[admitted_.pg.index()];
  counters[PgCounter::pg_rx_packets].add(admitted_.packets);
  counters[PgCounter::pg_rx_bytes].add(admitted_.bytes);
  if (predicts_) sample(admitted_.port, admitted_.pg);
  admitted_.port = PortId::none();
  admitted_.packets = 0;
  admitted_.bytes = 0;
}

void IngressBuffer::refuse(Packet* packet, pfc::AdmitVerdict verdict) {
  const PortId port = packet->ingress_port;
  auto& counters = context_.counters[port].pg[packet->pg.index()];
  counters[PgCounter::pg_dropped_packets].add(1);
  const bool lossless = verdict == pfc::AdmitVerdict::headroom_full;
  if (lossless) {
    counters[PgCounter::lossless_dropped_packets].add(1);
    context_.event(EventKind::lossless_drop, port,
                   counters.read(PgCounter::lossless_dropped_packets),
                   context_.settings(port).classes->pg_to_pfc[packet->pg.index()]);
  }
  drop(packet, lossless ? DropReason::headroom_full : DropReason::pg_shared_full);
}

void IngressBuffer::drop(Packet* packet, DropReason reason) {
  context_.counters[packet->ingress_port].drops[reason].add(1);
  release(Charge::of(*packet));
  context_.free(packet);
}

void IngressBuffer::settle() {
  size_t kept = 0;
  for (size_t i = 0; i < unsettled_count_; ++i) {
    const uint16_t index = unsettled_[i];
    const PortId port(index / kPriorities);
    const PriorityGroupId pg(index % kPriorities);
    if (context_.owns(port)) {
      give_back(port, pg, released_[index]);
    } else if (!send_credit(port, pg, released_[index])) {
      unsettled_[kept++] = index;
      continue;
    }
    released_[index] = 0;
  }
  unsettled_count_ = kept;
}

void IngressBuffer::give_back(PortId port, PriorityGroupId pg, int64_t bytes) {
  pfc::PgBuffer& buffer = context_.pg(port, pg);
  if (pool_.release(buffer, *buffer.limits, bytes, arrivals_[port.index()].backlog.count()))
    pause_sender_.mark(port, pg, false);
  if (predicts_) sample(port, pg);
}

pfc::PgLevel IngressBuffer::level(PortId port, PriorityGroupId pg) const {
  const pfc::PgBuffer& buffer = context_.pg(port, pg);
  const int64_t headroom = pfc::PgBuffer::get(buffer.headroom_used);
  return {pfc::PgBuffer::get(buffer.used) - headroom, pool_.threshold(*buffer.limits)};
}

bool IngressBuffer::send_credit(PortId port, PriorityGroupId pg, int64_t bytes) {
  if (context_.fires(FaultSite::credit_lane_full)) return false;
  return context_.common.credits(context_.id, context_.settings(port).owner)
      .send(Credit{.bytes = bytes, .port = port, .pg = pg});
}

void IngressBuffer::adopt(const Snapshot& now) {
  pool_.resize(now.shared_size, now.headroom_pool);
  cell_ = now.cell;
  predicts_ = now.config.rlb.enabled();
  for (size_t i = 0; i < now.ports.size() * kPriorities; ++i) {
    const PortId port(i / kPriorities);
    const PriorityGroupId pg(i % kPriorities);
    if (!context_.owns(port)) continue;
    const pfc::PgLimits& limits = now.ports[port.index()].classes->pgs[pg.index()];
    pfc::PgBuffer& buffer = context_.pg(port, pg);
    if (pool_.relimit(buffer, limits_[i], limits)) pause_sender_.mark(port, pg, false);
    buffer.limits = &limits;
    limits_[i] = limits;
  }
}

void IngressBuffer::clear_watermarks(PortId port) {
  for (size_t pg = 0; pg < kPriorities; ++pg)
    context_.common.pg(port, PriorityGroupId(pg)).clear_user_watermark();
}

}  // namespace eddy
