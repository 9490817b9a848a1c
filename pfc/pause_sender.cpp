#include "pfc/pause_sender.h"

#include <algorithm>
#include <utility>

#include "config/config.h"

namespace eddy::pfc {

PauseTxPlan PauseTxPlan::of(const config::PortConfig& port) {
  PauseTxPlan plan;
  // Of which lossless groups alone are marked.
  plan.enabled = port.pfc.tx ? port.pfc.priorities(kAllPriorities) : uint8_t{0};
  plan.quanta = port.pfc.quanta;
  const Duration half = LineRate(port.speed).time_of_quanta(port.pfc.quanta) / 2;
  plan.refresh = std::max(std::min(half, port.pfc.refresh_limit), PauseSender::kMinGap);
  plan.pg_to_pfc = port.maps.pg_to_pfc;
  return plan;
}

PauseSender::PauseSender(size_t ports, std::optional<DeadlinePlace> next)
    : refreshes_(ports, next), ports_(ports), owing_((ports + 63) / 64) {}

void PauseSender::configure(PortId port, const PauseTxPlan& plan) {
  ports_[port.index()].plan = plan;
  decide(port);
}

void PauseSender::mark(PortId port, PriorityGroupId pg, bool on) {
  Port& state = ports_[port.index()];
  const uint8_t bit = static_cast<uint8_t>(1u << pg.index());
  state.above = static_cast<uint8_t>(on ? state.above | bit : state.above & ~bit);
  decide(port);
}

bool PauseSender::ask(PortId port, PriorityGroupId pg, bool on) {
  Port& state = ports_[port.index()];
  const uint8_t bit = static_cast<uint8_t>(1u << pg.index());
  state.asked = static_cast<uint8_t>(on ? state.asked | bit : state.asked & ~bit);
  decide(port);
  return (state.plan.enabled >> state.plan.pg_to_pfc[pg.index()].index() & 1) != 0;
}

void PauseSender::forget_asked() {
  for (size_t i = 0; i < ports_.size(); ++i) forget_asked(PortId(i));
}

void PauseSender::forget_asked(PortId port) {
  if (std::exchange(ports_[port.index()].asked, uint8_t{0}) != 0) decide(port);
}

void PauseSender::set_link(PortId port, bool up) {
  Port& state = ports_[port.index()];
  state.up = up;
  state.sent = 0;
  state.refresh_at = Instant::never();
  decide(port);
}

void PauseSender::resume_all() {
  for (size_t i = 0; i < ports_.size(); ++i) {
    ports_[i].above = ports_[i].asked = 0;
    decide(PortId(i));
  }
}

void PauseSender::rebase(const Rebase& rebase) {
  refreshes_.rebase(rebase);
  for (Port& port : ports_) {
    rebase.shift(port.refresh_at);
    for (Instant& sent_at : port.xoff_sent_at) rebase.shift(sent_at);
  }
}

// What the peer should know, from what the PGs say, and whether that is news to it.
void PauseSender::decide(PortId port) {
  Port& state = ports_[port.index()];
  uint8_t wanted = 0;
  for (unsigned left = state.above | state.asked; left != 0; left &= left - 1) {
    const size_t pg = static_cast<size_t>(std::countr_zero(left));
    wanted = static_cast<uint8_t>(wanted | 1u << state.plan.pg_to_pfc[pg].index());
  }
  state.wanted = wanted & state.plan.enabled;
  const bool owing = state.up && state.wanted != state.sent;
  set_owing(port, owing);
  refreshes_.set(id_of(port), owing ? Instant() : state.refresh_at);  // Instant(): at once
}

void PauseSender::note_due_refreshes(Instant now) {
  while (const auto id = refreshes_.pop_due(now)) set_owing(PortId(*id), true);
}

// State changes, and if a refresh is due all pauses that stand: they then stay in step.
OwedPause PauseSender::owed(PortId port, Instant now) const {
  const Port& state = ports_[port.index()];
  OwedPause frame{port, static_cast<uint8_t>(state.wanted ^ state.sent), {}};
  const bool refresh = state.refresh_at <= now;
  for (size_t i = 0; i < kPriorities; ++i) {
    if ((state.wanted >> i & 1) == 0) continue;
    const bool stands = (state.sent >> i & 1) != 0;
    if (refresh && stands && now - state.xoff_sent_at[i] >= kMinGap)
      frame.enable = static_cast<uint8_t>(frame.enable | 1u << i);
    if ((frame.enable >> i & 1) != 0) frame.times[i] = state.plan.quanta;
  }
  return frame;
}

void PauseSender::sent(const OwedPause& frame, Instant now) {
  Port& state = ports_[frame.port.index()];
  state.sent = state.wanted;
  Instant oldest = Instant::never();
  for (size_t i = 0; i < kPriorities; ++i) {
    if ((state.sent >> i & 1) == 0) continue;
    if ((frame.enable >> i & 1) != 0) state.xoff_sent_at[i] = now;
    oldest = std::min(oldest, state.xoff_sent_at[i]);
  }
  state.refresh_at = oldest == Instant::never() ? oldest : oldest + state.plan.refresh;
  refreshes_.set(id_of(frame.port), state.refresh_at);
  set_owing(frame.port, false);
}

void PauseSender::set_owing(PortId port, bool on) {
  uint64_t& word = owing_[port.index() / 64];
  const uint64_t bit = uint64_t{1} << (port.index() % 64);
  if (((word & bit) != 0) == on) return;
  word ^= bit;
  owing_count_ += on ? 1 : size_t{0} - 1;
}

}  // namespace eddy::pfc
