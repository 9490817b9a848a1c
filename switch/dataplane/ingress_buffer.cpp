#include "switch/dataplane/ingress_buffer.h"

namespace eddy {

IngressBuffer::IngressBuffer(ShardContext& context, pfc::PauseSender& pause_sender, size_t ports)
    : context_(context),
      pause_sender_(pause_sender),
      pool_(context.common.pool_use, context.id, Bytes(0)),
      arrivals_(ports),
      limits_(ports * kPriorities),
      credits_(ports * kPriorities) {
  owed_.reserve(credits_.size());
}

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

void IngressBuffer::end_run() {
  if (context_.owns(run_.port)) {
    give_back(run_.port, run_.pg, run_bytes_);
  } else {
    int64_t& owed = credit(run_.port, run_.pg);
    if (owed == 0)
      owed_.push_back(static_cast<uint16_t>(run_.port.index() * kPriorities + run_.pg.index()));
    owed += run_bytes_;
  }
  run_bytes_ = 0;
}

void IngressBuffer::give_back(PortId port, PriorityGroupId pg, int64_t bytes) {
  pfc::PgBuffer& buffer = context_.pg(port, pg);
  if (pool_.release(buffer, *buffer.limits, bytes, arrivals_[port.index()].backlog.count()))
    pause_sender_.mark(port, pg, false);
}

void IngressBuffer::send_credits() {
  while (!owed_.empty()) {
    const size_t index = owed_.back();
    Message message{.kind = Message::Kind::credit,
                    .pg = PriorityGroupId(index % kPriorities),
                    .port = PortId(index / kPriorities),
                    .bytes = credits_[index]};
    if (!context_.common.mail(context_.id.index(), context_.settings(message.port).owner)
             .send(message))
      return;
    credits_[index] = 0;
    owed_.pop_back();
  }
}

void IngressBuffer::adopt(const Snapshot& now) {
  pool_.resize(now.shared_size, now.headroom_pool);
  cell_ = now.cell;
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

void IngressBuffer::clear_watermarks() {
  for (size_t i = 0; i < context_.snapshot->ports.size() * kPriorities; ++i) {
    const PortId port(i / kPriorities);
    if (context_.owns(port))
      context_.common.pg(port, PriorityGroupId(i % kPriorities)).clear_user_watermark();
  }
}

}  // namespace eddy
