#include "pfc/watchdog.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "config/config.h"

namespace eddy::pfc {
namespace {

// Detect `paused`: a queue may be free for this part of the detection time.
constexpr int64_t kFreeShare = 100;
constexpr uint8_t kAllQueues = 0xFF;  // asymmetric PFC stops them all

// Queues that PFC may stop.
uint8_t pausable(const config::PortConfig& port, uint8_t lossless) {
  if (!port.pfc.enable) return lossless;
  uint8_t queues = 0;
  for (unsigned left = port.pfc.priorities(0); left != 0; left &= left - 1) {
    const auto priority = static_cast<size_t>(std::countr_zero(left));
    queues = static_cast<uint8_t>(queues | 1u << port.maps.pfc_to_queue[priority].index());
  }
  return queues;
}

}  // namespace

WatchdogPlan WatchdogPlan::of(const config::PortConfig& port, uint8_t lossless) {
  const config::WatchdogConfig& config = port.watchdog;
  WatchdogPlan plan;
  const bool any = port.pfc.asymmetric && port.pfc.rx != config::PfcRx::ignore;
  plan.watched = !config.enabled ? 0 : any ? kAllQueues : pausable(port, lossless);
  plan.detection = config.detection_time;
  plan.restoration = config.restoration_time;
  plan.interval = config.poll_interval;
  plan.detect = config.detect;
  plan.action = config.action;
  return plan;
}

Watchdog::Watchdog(size_t ports, std::optional<DeadlinePlace> next)
    : ports_(std::make_unique<Port[]>(ports)),
      queues_(ports * kPriorities),
      deadlines_(ports * kPriorities, next) {
  for (size_t i = 0; i < ports; ++i) ports_[i].queues = &queues_[i * kPriorities];
}

uint8_t Watchdog::configure(PortId port, const WatchdogPlan& plan, Instant now) {
  Port& state = ports_[port.index()];
  state.plan = plan;
  const uint8_t storms = storming(port);
  for (size_t i = 0; i < kPriorities; ++i) {
    const bool watched = (plan.watched >> i & 1) != 0;
    if ((storms >> i & 1) != 0) set_storm(state, i, watched);  // the action may be a new one
    if (!watched)
      deadlines_.cancel(id_of(port, i));
    else if (state.queues[i].paused && !deadlines_.pending(id_of(port, i)))
      watch(port, i, now);
  }
  return static_cast<uint8_t>(storms & ~plan.watched);
}

void Watchdog::on_pause_frame(PortId port, uint8_t queues, Instant now) {
  Port& state = ports_[port.index()];
  for (unsigned left = queues & state.plan.watched; left != 0; left &= left - 1)
    state.queues[static_cast<size_t>(std::countr_zero(left))].last_frame = now;
}

void Watchdog::on_paused(PortId port, uint8_t paused, uint8_t changed, Instant now) {
  Port& state = ports_[port.index()];
  for (unsigned left = changed; left != 0; left &= left - 1) {
    const size_t i = static_cast<size_t>(std::countr_zero(left));
    Queue& queue = state.queues[i];
    queue.paused = (paused >> i & 1) != 0;
    if (!queue.paused) {
      queue.paused_total += now - queue.paused_since;
      continue;
    }
    queue.paused_since = now;
    const bool watched = (state.plan.watched >> i & 1) != 0;
    if (watched && !deadlines_.pending(id_of(port, i))) watch(port, i, now);
  }
}

void Watchdog::watch(PortId port, size_t queue, Instant now) {
  ports_[port.index()].queues[queue].watch_from(now);
  deadlines_.set(id_of(port, queue), now + ports_[port.index()].plan.interval);
}

// True: a storm began or ended.
bool Watchdog::look(PortId port, QueueId queue, const QueueProgress& progress, Instant now) {
  Port& state = ports_[port.index()];
  Queue& watched = state.queues[queue.index()];
  const bool storm = (storming(port) >> queue.index() & 1) != 0;
  const bool calm = !watched.paused && now - watched.last_frame > state.plan.detection;
  if (!storm && calm) return false;  // until it is paused again
  deadlines_.set(id_of(port, queue.index()), now + state.plan.interval);
  const bool changes =
      storm ? ends(state.plan, watched, now) : begins(state.plan, watched, progress, now);
  if (!changes) return false;
  watched.watch_from(now);
  set_storm(state, queue.index(), !storm);
  return true;
}

bool Watchdog::begins(const WatchdogPlan& plan, Queue& queue, const QueueProgress& progress,
                      Instant now) {
  // Without frames that renew it a pause ends by itself, which takes 336 ms on a slow line.
  if (now - queue.last_frame >= plan.detection) return false;
  switch (plan.detect) {
    case config::WatchdogDetect::stalled:
      return stalled(plan, queue, progress, now);
    case config::WatchdogDetect::paused:
      return paused_throughout(plan, queue, now);
  }
  return false;
}

bool Watchdog::stalled(const WatchdogPlan& plan, const Queue& queue, const QueueProgress& progress,
                       Instant now) {
  const Instant since = std::max(progress.since, queue.watched_since);
  return progress.backlogged && queue.paused && now - since >= plan.detection;
}

// A window that was free for too long already is given up for one that starts with the pause in
// force, so that the storm is found in time whatever came before it.
bool Watchdog::paused_throughout(const WatchdogPlan& plan, Queue& queue, Instant now) {
  const Duration free = (now - queue.window_start) - (queue.paused_time(now) - queue.window_base);
  if (free * kFreeShare >= plan.detection) {
    queue.window_start = queue.paused ? queue.paused_since : now;
    queue.window_base = queue.paused_total;
  }
  return now - queue.window_start >= plan.detection;
}

bool Watchdog::ends(const WatchdogPlan& plan, const Queue& queue, Instant now) {
  return now - std::max(queue.last_frame, queue.watched_since) >= plan.restoration;
}

void Watchdog::rebase(const Rebase& rebase) {
  deadlines_.rebase(rebase);
  for (Queue& queue : queues_) queue.rebase(rebase);
}

// Only what was paused since the window began counts, and how long a pause has lasted.
void Watchdog::Queue::rebase(const Rebase& rebase) {
  const Instant zero = Instant() + rebase.back();
  if (paused && paused_since < zero) paused_total += zero - std::exchange(paused_since, zero);
  paused_total -= std::exchange(window_base, Duration{});
  for (Instant* at : {&watched_since, &last_frame, &paused_since, &window_start}) rebase.shift(*at);
}

void Watchdog::set_storm(Port& port, size_t queue, bool on) {
  const auto update = [&](std::atomic<uint8_t>& mask, bool value) {
    const unsigned bit = 1u << queue;
    const unsigned others = read(mask) & ~bit;
    mask.store(static_cast<uint8_t>(others | (value ? bit : 0)), std::memory_order_relaxed);
  };
  update(port.storming, on);
  update(port.dropping, on && port.plan.action == config::WatchdogAction::drop);
  update(port.forwarding, on && port.plan.action == config::WatchdogAction::forward);
}

void Watchdog::Queue::watch_from(Instant now) {
  watched_since = window_start = now;
  window_base = paused_time(now);
}

}  // namespace eddy::pfc
