#include "pfc/pause_receiver.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "config/config.h"

namespace eddy::pfc {
namespace {

bool has(uint8_t mask, size_t i) {
  return (mask >> i & 1) != 0;
}
uint8_t with(uint8_t mask, size_t i) {
  return static_cast<uint8_t>(mask | 1u << i);
}
uint8_t without(uint8_t mask, size_t i) {
  return static_cast<uint8_t>(mask & ~(1u << i));
}

}  // namespace

PauseRxPlan PauseRxPlan::of(const config::PortConfig& port, uint8_t lossless) {
  PauseRxPlan plan;
  plan.line = LineRate(port.speed);
  const bool heeds = port.pfc.rx != config::PfcRx::ignore;
  if (heeds) plan.heeded = port.pfc.asymmetric ? kAllPriorities : port.pfc.priorities(lossless);
  const bool budgeted = heeds && port.pfc.pause_budget < port.pfc.budget_window;
  plan.clamp = budgeted && port.pfc.rx == config::PfcRx::clamp;
  plan.report = budgeted && !plan.clamp && port.role == config::PortRole::host;
  plan.budget = port.pfc.pause_budget;
  plan.window = port.pfc.budget_window;
  plan.pfc_to_queue = port.maps.pfc_to_queue;
  for (size_t i = kPriorities; i-- > 0;)
    plan.queue_to_pfc[plan.pfc_to_queue[i].index()] = Priority(i);
  return plan;
}

PauseReceiver::PauseReceiver(size_t ports, std::optional<DeadlinePlace> next)
    : port_count_(ports),
      ports_(std::make_unique<Port[]>(ports)),
      pauses_(ports * kPriorities),
      deadlines_(ports, next) {}

PauseChange PauseReceiver::configure(PortId port, const PauseRxPlan& plan, Instant now) {
  PauseChange change{port};
  Port& state = ports_[port.index()];
  end_expired(state, now, change);
  state.plan = plan;
  const bool budgeted = plan.clamp || plan.report;
  state.budget_since = now;
  state.unbegun = static_cast<uint8_t>(state.paused | (budgeted ? plan.heeded : 0));
  for (size_t i = 0; i < kPriorities; ++i) {
    if (!has(state.paused, i)) continue;
    begin_budget(state, i);
    if (!has(plan.heeded, i)) end(state, i, now, change);
  }
  publish(port, change);
  return change;
}

PauseChange PauseReceiver::on_link_down(PortId port, Instant now) {
  PauseChange change{port};
  Port& state = ports_[port.index()];
  end_expired(state, now, change);
  for (size_t i = 0; i < kPriorities; ++i)
    if (has(state.paused, i)) end(state, i, now, change);
  publish(port, change);
  return change;
}

// A new budget starts a new window.
void PauseReceiver::begin_budget(Port& port, size_t priority) {
  if (!has(port.unbegun, priority)) return;
  port.unbegun = without(port.unbegun, priority);
  Pause& pause = pauses_[place_of(port, priority)];
  pause.window_end = port.budget_since + port.plan.window;
  pause.charged_to = port.budget_since;
  pause.spent = Duration{};
  pause.report_at = port.plan.report ? port.budget_since + port.plan.budget : Instant::never();
}

Duration PauseReceiver::paused_time(PortId port, Priority priority, Instant now) const {
  const Port& state = ports_[port.index()];
  const Pause& pause = pauses_[place_of(state, priority.index())];
  if (!has(state.paused, priority.index())) return pause.total;
  return pause.total + (std::min(now, pause.until) - pause.since);
}

Duration PauseReceiver::take_paused_time(PortId port, Priority priority, Instant now) {
  const Duration fresh = uncounted_time(port, priority, now);
  pauses_[place_of(ports_[port.index()], priority.index())].taken += fresh;
  return fresh;
}

PauseChange PauseReceiver::end_due(PortId port, Instant now) {
  PauseChange change{port};
  end_expired(ports_[port.index()], now, change);
  publish(port, change);
  return change;
}

PauseChange PauseReceiver::on_pfc(PortId port, uint8_t enable,
                                  const std::array<uint16_t, kPriorities>& times, Instant now) {
  PauseChange change{port};
  Port& state = ports_[port.index()];
  end_expired(state, now, change);
  for (size_t i = 0; i < kPriorities; ++i) {
    if (!has(enable, i)) continue;
    uint8_t& asked = times[i] != 0 ? change.xoff : change.xon;
    asked = with(asked, i);
    if (!has(state.plan.heeded, i)) continue;
    if (times[i] != 0)
      pause(state, i, times[i], now, change);
    else if (has(state.paused, i))
      end(state, i, now, change);
  }
  publish(port, change);
  return change;
}

void PauseReceiver::pause(Port& port, size_t priority, uint16_t quanta, Instant now,
                          PauseChange& change) {
  begin_budget(port, priority);
  Pause& pause = pauses_[place_of(port, priority)];
  const bool running = has(port.paused, priority);
  const Instant asked = now + port.plan.line.time_of_quanta(quanta);
  const bool budgeted = port.plan.clamp || port.plan.report;
  const Instant allowed = budgeted ? budget_end(port.plan, pause, running, now) : asked;
  const Instant until = port.plan.clamp ? std::min(asked, allowed) : asked;
  if (until <= now) {  // the budget is used up
    change.over_budget = with(change.over_budget, priority);
    if (running) end(port, priority, now, change);
    return;
  }
  if (!running) pause.since = pause.charged_to = now;
  pause.until = until;
  pause.asked = asked;
  pause.report_at = port.plan.report ? allowed : Instant::never();
  port.paused = with(port.paused, priority);
}

void PauseReceiver::end_expired(Port& port, Instant now, PauseChange& change) {
  for (size_t i = 0; i < kPriorities; ++i) {
    Pause& pause = pauses_[place_of(port, i)];
    if (!has(port.paused, i)) continue;
    if (pause.report_at <= now && exceeds(port.plan, pause, std::min(now, pause.until)))
      change.over_budget = with(change.over_budget, i);
    if (pause.until > now) continue;
    if (pause.until < pause.asked) change.over_budget = with(change.over_budget, i);
    end(port, i, pause.until, change);
  }
}

void PauseReceiver::end(Port& port, size_t priority, Instant at, PauseChange& change) {
  Pause& pause = pauses_[place_of(port, priority)];
  pause.total += at - pause.since;
  if (port.plan.clamp || port.plan.report) charge(port.plan, pause, at);
  port.paused = without(port.paused, priority);
  change.ended = with(change.ended, priority);
}

// Accounts a running pause up to `to`, of which only what lies in the window of that time counts.
void PauseReceiver::charge(const PauseRxPlan& plan, Pause& pause, Instant to) {
  if (pause.window_end <= to) {
    const int64_t ended = (to - pause.window_end) / plan.window;
    const Instant begun = pause.window_end + plan.window * ended;
    pause.charged_to = std::max(pause.charged_to, begun);
    pause.window_end = begun + plan.window;
    pause.spent = Duration{};
  }
  pause.spent += to - pause.charged_to;
  pause.charged_to = to;
}

// A pause that was to be looked at: whether it has used up the budget of a window of which that was
// not said yet. Sets when to look again.
bool PauseReceiver::exceeds(const PauseRxPlan& plan, Pause& pause, Instant at) {
  charge(plan, pause, at);
  const bool news = pause.spent >= plan.budget && pause.reported != pause.window_end;
  if (news) pause.reported = pause.window_end;
  const bool said = pause.reported == pause.window_end;
  pause.report_at = said ? pause.window_end + plan.budget : at + (plan.budget - pause.spent);
  return news;
}

// How long a pause may last from `now` on, by the budget of this window and, if that is not used up
// at its end, of the next.
Instant PauseReceiver::budget_end(const PauseRxPlan& plan, Pause& pause, bool running,
                                  Instant now) {
  if (running) {
    charge(plan, pause, now);
  } else if (pause.window_end <= now) {
    pause.window_end = now + plan.window;
    pause.spent = Duration{};
  }
  const Instant limit = now + (plan.budget - pause.spent);
  return limit < pause.window_end ? limit : pause.window_end + plan.budget;
}

// A pause that has run for long goes on: what it has taken so far moves to the total.
void PauseReceiver::rebase(const Rebase& rebase) {
  deadlines_.rebase(rebase);
  for (size_t port = 0; port < port_count_; ++port) {
    rebase.shift(ports_[port].budget_since);
    for (size_t i = 0; i < kPriorities; ++i) {
      Pause& pause = pauses_[place_of(ports_[port], i)];
      const Duration untaken = pause.total - std::exchange(pause.taken, Duration{});
      pause.total = untaken;
      if (has(ports_[port].paused, i)) {
        const Instant zero = Instant() + rebase.back();
        if (pause.since < zero) pause.total += zero - std::exchange(pause.since, zero);
      }
      for (Instant* at : {&pause.since, &pause.until, &pause.asked, &pause.window_end,
                          &pause.charged_to, &pause.report_at, &pause.reported})
        rebase.shift(*at);
    }
  }
}

void PauseReceiver::publish(PortId port, PauseChange& change) {
  Port& state = ports_[port.index()];
  Instant next = Instant::never();
  uint8_t queues = 0;
  for (size_t i = 0; i < kPriorities; ++i) {
    if (!has(state.paused, i)) continue;
    queues = with(queues, state.plan.pfc_to_queue[i].index());
    const Pause& pause = pauses_[place_of(state, i)];
    next = std::min({next, pause.until, pause.report_at});
  }
  change.queues = state.queues.load(std::memory_order_relaxed) ^ queues;
  state.queues.store(queues, std::memory_order_relaxed);
  deadlines_.set(static_cast<Deadlines::Id>(port.index()), next);
}

}  // namespace eddy::pfc
