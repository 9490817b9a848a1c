#include "switch/dataplane/queues/ingress_buffer.h"

#include <array>
#include <bit>
#include <utility>

namespace eddy {

IngressBuffer::IngressBuffer(ShardContext& context, pfc::PauseSender& pause_sender,
                             pfc::Predictor& predictor, size_t ports)
    : context_(context),
      pause_sender_(pause_sender),
      predictor_(predictor),
      pool_(context.common.pool_use, context.id, Bytes(0)),
      released_(ports * kPriorities),
      unsettled_(ports * kPriorities + 1),
      has_lost_(ports * kPriorities),
      losing_(ports * kPriorities),
      looks_(ports * kPriorities, context.due_of(Timers::ingress_buffer)),
      arrivals_(ports),
      reserved_(ports * kPriorities) {}

void IngressBuffer::start_admitted_run(PortId port, PriorityGroupId pg) {
  if (admitted_.packets != 0) end_admitted_run();
  admitted_.port = port;
  admitted_.pg = pg;
  admitted_.buffer = &context_.pg(port, pg);
}

void IngressBuffer::end_admitted_run() {
  const auto counters = context_.counters[admitted_.port].pg[admitted_.pg.index()];
  counters[PgCounter::pg_rx_packets].add(admitted_.packets);
  counters[PgCounter::pg_rx_bytes].add(admitted_.bytes);
  pool_.mark_shared();  // what goes out in this poll is still held
  if (predicts_) sample(admitted_.port, admitted_.pg);
  admitted_.port = PortId::none();
  admitted_.packets = 0;
  admitted_.bytes = 0;
}

// The groups' counters and watermarks only grow until flush(), so that they may be counted one
// group after the other; samples may not.
bool IngressBuffer::admit_groups(std::span<Packet* const> packets, int64_t backlog) {
  if (predicts_) return false;
  const PortId port = packets[0]->ingress_port;
  std::array<AdmittedRun, kPriorities> runs;
  std::array<int64_t, kPriorities> charges{};
  for (const Packet* packet : packets) {
    const size_t pg = packet->pg.index();
    ++runs[pg].packets;
    runs[pg].bytes += packet->wire_len;
    charges[pg] += packet->charged_bytes;
  }
  std::array<pfc::BufferPool::Demand, kPriorities> demands;
  size_t count = 0;
  for (size_t pg = 0; pg < kPriorities; ++pg)
    if (runs[pg].packets != 0)
      demands[count++] = {&context_.pg(port, PriorityGroupId(pg)), charges[pg]};
  if (!pool_.admit_all({demands.data(), count}, backlog)) return false;
  for (size_t pg = 0; pg < kPriorities; ++pg) {
    if (runs[pg].packets == 0) continue;
    start_admitted_run(port, PriorityGroupId(pg));
    admitted_.packets = runs[pg].packets;
    admitted_.bytes = runs[pg].bytes;
  }
  return true;
}

[[gnu::noinline]] void IngressBuffer::begin_pause(PortId port, PriorityGroupId pg) {
  took_pause_ = true;
  context_.timers.touch();  // so that took_pause() is asked
  pause_sender_.mark(port, pg, true);
}

bool IngressBuffer::ask_pause(PortId port, PriorityGroupId pg, bool on) {
  took_pause_ = true;
  context_.timers.touch();
  return pause_sender_.ask(port, pg, on);
}

void IngressBuffer::refuse(Packet* packet, pfc::AdmitVerdict verdict) {
  const PortId port = packet->ingress_port;
  const auto counters = context_.counters[port].pg[packet->pg.index()];
  counters[PgCounter::pg_dropped_packets].add(1);
  const bool lossless = verdict == pfc::AdmitVerdict::headroom_full;
  if (lossless) look_later(port, packet->pg, context_.pg(port, packet->pg));
  drop(packet, lossless ? DropReason::headroom_full : DropReason::pg_shared_full);
}

void IngressBuffer::drop_untold(IngressBuffer& self, Packet* packet, DropReason reason) {
  const PortId port = packet->ingress_port;
  ShardContext& context = self.context_;
  context.counters[port].drops[reason].add(1);
  // By what it was, not by why it ends. Frames of our own belong to no group.
  const bool classified = !packet->pg.is_none() && !packet->has(kPacketOriginated);
  if (classified && (context.settings(port).lossless_pgs >> packet->pg.index() & 1) != 0)
    self.count_loss(port, packet->pg);
  self.release(Charge::of(*packet));
  context.free(packet);
}

void IngressBuffer::drop_told(IngressBuffer& self, Packet* packet, DropReason reason) {
  self.observer_->on_drop(*packet, reason);
  drop_untold(self, packet, reason);
}

bool IngressBuffer::set_aside(Packet& packet) {
  if (stages_size_ == 0 || !Charge::of(packet).to_group()) return true;
  const int64_t after = stages_use() + packet.charged_bytes;
  if (after > stages_size_) return false;
  release(Charge::of(packet));
  StageUse& mine = context_.common.stage_use[context_.id.index()];
  mine.octets.store(mine.octets.load(std::memory_order_relaxed) + packet.charged_bytes,
                    std::memory_order_relaxed);
  mine.watermarks.raise(after);
  packet.charged_bytes |= kStageCharge;
  return true;
}

// Any shard may give back what another one took: only the sum counts.
[[gnu::noinline]] void IngressBuffer::give_back_to_stages(uint32_t bytes) {
  std::atomic<int64_t>& octets = context_.common.stage_use[context_.id.index()].octets;
  octets.store(octets.load(std::memory_order_relaxed) - bytes, std::memory_order_relaxed);
}

int64_t IngressBuffer::stages_use() const {
  int64_t octets = 0;
  for (const StageUse& use : context_.common.stage_use)
    octets += use.octets.load(std::memory_order_relaxed);
  return octets;
}

void IngressBuffer::clear_stage_watermark(pfc::WatermarkKind kind) {
  context_.common.stage_use[context_.id.index()].watermarks.clear(kind, stages_use());
}

void IngressBuffer::count_loss(PortId port, PriorityGroupId pg) {
  context_.counters[port].pg[pg.index()][PgCounter::lossless_dropped_packets].add(1);
  const size_t index = index_of(port, pg);
  if (std::exchange(has_lost_[index], uint8_t{1}) == 0)
    losing_[losing_count_++] = static_cast<uint16_t>(index);
}

// One event a PG and poll: a port that goes down may lose thousands of packets at once.
[[gnu::noinline]] void IngressBuffer::tell_losses() {
  for (size_t i = 0; i < losing_count_; ++i) {
    const PortId port(losing_[i] / kPriorities);
    const size_t pg = losing_[i] % kPriorities;
    has_lost_[losing_[i]] = 0;
    context_.event(EventKind::lossless_drop, port,
                   context_.counters[port].pg[pg].read(PgCounter::lossless_dropped_packets),
                   context_.settings(port).classes->pg_to_pfc[pg]);
  }
  losing_count_ = 0;
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

// Apart, so that who does without it keeps less across calls.
[[gnu::noinline]] void IngressBuffer::take_sample(PortId port, PriorityGroupId pg) {
  predictor_.sample(port, pg, level(port, pg), context_.now);
}

[[gnu::noinline]] void IngressBuffer::give_back_watched(PortId port, PriorityGroupId pg,
                                                        int64_t bytes) {
  pfc::PgBuffer& buffer = context_.pg(port, pg);
  if (pool_.release(buffer, *buffer.limits, bytes, unread(port)))
    pause_sender_.mark(port, pg, false);
  else
    look_later(port, pg, buffer);
  if (predicts_) sample(port, pg);
}

// No release will come to resume the PG: it holds nothing.
inline void IngressBuffer::look_later(PortId port, PriorityGroupId pg,
                                      const pfc::PgBuffer& buffer) {
  if (pfc::BufferPool::waits(buffer)) [[unlikely]]
    looks_.set(static_cast<Deadlines::Id>(index_of(port, pg)), context_.now + kLook);
}

[[gnu::noinline]] void IngressBuffer::look_again() {
  while (const auto id = looks_.pop_due(context_.now)) {
    const PortId port(*id / kPriorities);
    const PriorityGroupId pg(*id % kPriorities);
    pfc::PgBuffer& buffer = context_.pg(port, pg);
    if (!pfc::BufferPool::waits(buffer)) continue;
    if (pool_.look_again(buffer, *buffer.limits, unread(port)))
      pause_sender_.mark(port, pg, false);
    else
      look_later(port, pg, buffer);
  }
}

// The classes of what is unread are not known: it may all be of any PG, also of one that holds
// nothing. A sender that is paused in vain loses little, as what it would send stands behind the
// backlog anyway.
void IngressBuffer::look_ahead(PortId port, int64_t backlog) {
  for (unsigned left = context_.settings(port).lossless_pgs; left != 0; left &= left - 1) {
    const PriorityGroupId pg(static_cast<size_t>(std::countr_zero(left)));
    pfc::PgBuffer& buffer = context_.pg(port, pg);
    if (!pool_.look_ahead(buffer, *buffer.limits, backlog)) continue;
    begin_pause(port, pg);
    look_later(port, pg, buffer);
  }
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
  stages_size_ = now.stages_size.count();
  cell_ = now.cell;
  predicts_ = now.config.rlb.enabled();
  for (size_t i = 0; i < now.ports.size() * kPriorities; ++i) {
    const PortId port(i / kPriorities);
    const PriorityGroupId pg(i % kPriorities);
    if (!context_.owns(port)) continue;
    const pfc::PgLimits& limits = now.ports[port.index()].classes->pgs[pg.index()];
    pfc::PgBuffer& buffer = context_.pg(port, pg);
    if (pool_.relimit(buffer, reserved_[i], limits, unread(port)))
      pause_sender_.mark(port, pg, false);
    else
      look_later(port, pg, buffer);
    buffer.limits = &limits;
    reserved_[i] = limits.reserved;
  }
}

void IngressBuffer::clear_watermarks(PortId port, const WatermarkScope& scope) {
  for (size_t i = 0; i < kPriorities; ++i) {
    pfc::PgBuffer& pg = context_.pg(port, PriorityGroupId(i));
    if (scope.has(WatermarkOf::pg_shared))
      pg.shared_watermarks.clear(scope.kind, pg.outside_headroom());
    if (scope.has(WatermarkOf::pg_headroom))
      pg.headroom_watermarks.clear(scope.kind, pfc::PgBuffer::get(pg.headroom_used));
  }
}

}  // namespace eddy
