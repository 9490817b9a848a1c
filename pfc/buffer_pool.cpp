#include "pfc/buffer_pool.h"

#include <cstdlib>

#include "config/config.h"

namespace eddy::pfc {

PgLimits PgLimits::of(const config::BufferProfile& profile, Bytes headroom) {
  ASSERT(std::abs(profile.dynamic_th) <= kMaxDynamicTh);
  const bool dynamic = profile.mode == config::BufferMode::dynamic;
  PgLimits limits;
  limits.reserved = profile.reserved.count();
  limits.base = dynamic ? limits.reserved : profile.xoff.count();
  limits.dynamic_mask = dynamic ? ~int64_t{0} : 0;
  limits.alpha = PowerOfTwo(dynamic ? profile.dynamic_th : 0);
  limits.xon_offset = profile.xon_offset.count();
  limits.headroom = profile.lossless ? headroom.count() : 0;
  limits.lossless = profile.lossless;
  return limits;
}

Admission BufferPool::admit_slow(PgBuffer& pg, const PgLimits& limits, int64_t charge,
                                 int64_t extra_backlog) {
  const Foresight found = foresee(pg, limits, charge, extra_backlog);
  if (found.verdict == AdmitVerdict::accepted) {
    if (found.in_headroom)
      hold_in_headroom(pg, charge);
    else
      hold(pg, PgBuffer::get(pg.used) + charge, found.taken, PgBuffer::get(pg.headroom_used));
  }
  if (found.pauses) begin_pause(pg, limits, extra_backlog);
  return {found.verdict, found.pauses};
}

Foresight BufferPool::foresee(const PgBuffer& pg, const PgLimits& limits, int64_t charge,
                              int64_t extra_backlog) const {
  const int64_t used = PgBuffer::get(pg.used);
  const int64_t headroom = PgBuffer::get(pg.headroom_used);
  const int64_t after = used + charge;
  const int64_t outside = used - headroom;  // of the headroom: in the reserved and shared regions
  const bool pausing = pg.pausing();
  const int64_t free = free_shared();
  const int64_t xoff = std::max(threshold(limits), PgBuffer::get(pg.paused_level));
  const int64_t taken =
      beyond(outside + charge, limits.reserved) - beyond(outside, limits.reserved);
  const bool within = limits.lossless ? used <= xoff : after <= xoff;
  Foresight out{.free_shared = free};
  if (taken == 0 || (within && taken <= free)) {
    out.taken = taken;
  } else if (!limits.lossless) {
    out.verdict = AdmitVerdict::shared_full;
    return out;
  } else if (headroom + charge <= limits.headroom && charge <= free_headroom()) {
    out.in_headroom = true;
  } else {
    out.verdict = AdmitVerdict::headroom_full;
    out.pauses = !pausing;  // what follows it would be lost, too
    return out;
  }
  const int64_t shared_left = std::max<int64_t>(free - out.taken, 0);
  const int64_t headroom_left = free_headroom() - (out.in_headroom ? charge : 0);
  const bool above = after + extra_backlog > limits.threshold(shared_left) || headroom > 0 ||
                     out.in_headroom || !has_room_after_xoff(limits, shared_left, headroom_left);
  out.pauses = limits.lossless && above && !pausing;
  return out;
}

void BufferPool::hold_in_headroom(PgBuffer& pg, int64_t charge) {
  const int64_t held = PgBuffer::get(pg.headroom_used) + charge;
  PgBuffer::set(pg.headroom_used, held);
  PgBuffer::set(pg.used, PgBuffer::get(pg.used) + charge);
  add(mine_->headroom, charge);
  pg.headroom_watermarks.raise(held);
  mine_->headroom_watermarks.raise(headroom_in_use());
}

void BufferPool::begin_pause(PgBuffer& pg, const PgLimits& limits, int64_t extra_backlog) const {
  PgBuffer::set(pg.paused_level, extra_backlog != 0 ? threshold(limits) : 0);
}

bool BufferPool::look_ahead(PgBuffer& pg, const PgLimits& limits, int64_t extra_backlog) const {
  if (pg.pausing() || PgBuffer::get(pg.used) + extra_backlog <= threshold(limits)) return false;
  begin_pause(pg, limits, extra_backlog);
  return true;
}

bool BufferPool::release_slow(PgBuffer& pg, const PgLimits& limits, int64_t charge,
                              int64_t extra_backlog) {
  const int64_t used = PgBuffer::get(pg.used);
  const int64_t headroom = PgBuffer::get(pg.headroom_used);
  const int64_t from_headroom = std::min(headroom, charge);
  const int64_t outside = used - headroom;
  const int64_t outside_after = outside - (charge - from_headroom);
  PgBuffer::set(pg.headroom_used, headroom - from_headroom);
  add(mine_->headroom, -from_headroom);
  add(mine_->shared, beyond(outside_after, limits.reserved) - beyond(outside, limits.reserved));
  PgBuffer::set(pg.used, used - charge);
  return falls_to_xon(pg, limits, extra_backlog);
}

// At its XON level or empty, with nothing unread that would take it above.
bool BufferPool::falls_to_xon(PgBuffer& pg, const PgLimits& limits, int64_t extra_backlog) {
  const int64_t xon = std::max<int64_t>(threshold(limits) - limits.xon_offset, 0);
  const int64_t used = PgBuffer::get(pg.used);
  const bool low = used + extra_backlog <= xon || (used == 0 && extra_backlog == 0);
  const bool edge =
      pg.pausing() && PgBuffer::get(pg.headroom_used) == 0 && low &&
      has_room_after_xoff(limits, std::max<int64_t>(free_shared(), 0), free_headroom());
  if (edge) PgBuffer::set(pg.paused_level, PgBuffer::kFlows);
  return edge;
}

// What may come after an XOFF fits into what is free. A PG has its headroom to itself, unless there
// is one pool.
bool BufferPool::has_room_after_xoff(const PgLimits& limits, int64_t shared,
                                     int64_t headroom) const {
  return std::min(limits.headroom, headroom) + shared >= std::min(limits.headroom, headroom_pool_);
}

bool BufferPool::relimit(PgBuffer& pg, int64_t reserved_before, const PgLimits& now,
                         int64_t extra_backlog) {
  const int64_t outside = PgBuffer::get(pg.used) - PgBuffer::get(pg.headroom_used);
  add(mine_->shared, beyond(outside, now.reserved) - beyond(outside, reserved_before));
  return falls_to_xon(pg, now, extra_backlog);
}

[[gnu::noinline]] void BufferPool::sum_others() const {
  others_are_old_ = false;
  others_ = {};
  for (const PoolUse& use : use_) {
    if (&use == mine_) continue;
    others_.shared += PgBuffer::get(use.shared);
    others_.headroom += PgBuffer::get(use.headroom);
  }
}

}  // namespace eddy::pfc
