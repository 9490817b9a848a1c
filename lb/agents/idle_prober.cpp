#include "lb/agents/idle_prober.h"

#include <algorithm>
#include <utility>

namespace eddy::lb {

void IdleProber::on_timers(Voice& voice) {
  const Instant now = voice.view().now();
  if (now < next_look_) return;
  if (!voice.stamps_prove() && !std::exchange(woke_, true)) {
    voice.wake_others();
    next_look_ = now + voice.proof_lag() / 2;
    return;
  }
  woke_ = false;
  if (next_set_ < plan_.sets) look_at(voice, static_cast<uint16_t>(next_set_));
  if (++next_set_ >= plan_.sets) next_set_ = 0;
  const auto sets = static_cast<int64_t>(std::max<size_t>(plan_.sets, 1));
  next_look_ = now + std::max(plan_.round / sets, Duration::nanoseconds(1));
}

void IdleProber::look_at(Voice& voice, uint16_t set) {
  if (!voice.is_own_set(set)) return;
  const PathView view = voice.view();
  const uint32_t now_ns = PathRecord::wire_time(view.now());
  const int64_t rest_ns = std::min<int64_t>(plan_.rest.ns(), INT32_MAX);
  for (MemberIndex i = 0; i < view.set(set).count; ++i) {
    const PathKey path{set, i};
    if (!voice.owns(path) || !(plan_.probes || voice.wants_answer(path))) continue;
    const PathRecord& record = voice.paths()->at(set, i);
    const uint32_t since = now_ns - record.requested_ns.load(std::memory_order_relaxed);
    if (since < rest_ns) continue;
    (void)voice.send({.message = {.shim = {.kind = ShimKind::probe}}, .path = path});
  }
}

}  // namespace eddy::lb
