#include "pfc/predictor.h"

#include <algorithm>
#include <utility>

#include "config/config.h"

namespace eddy::pfc {
namespace {

constexpr int64_t kPicosecondsAMillisecond = 1'000'000'000;

// Octets that arrive at the port's speed.
int64_t octets_in(Duration time, BitRate speed) {
  return bytes_in(time, speed).count();
}

// 0: no danger. The nearer XOFF is, the higher.
uint8_t danger_of(const PredictorPlan& plan, const PgLevel& level, int64_t slope) {
  // Mostly the level alone says so, which spares a division.
  const bool fixed = plan.mode == config::PredictorMode::fixed;
  if (fixed ? level.queue <= plan.threshold : level.queue < plan.floor) return Predictor::kClear;
  const Duration left = time_to_fill(level.xoff - level.queue, slope);
  const bool derivative = left <= plan.horizon;
  const bool high = level.queue >= level.xoff - plan.exposure;
  switch (plan.mode) {
    case config::PredictorMode::fixed:
      break;
    case config::PredictorMode::derivative:
      if (!derivative) return Predictor::kClear;
      break;
    case config::PredictorMode::combined:
      if (!derivative && !high) return Predictor::kClear;
      break;
  }
  if (left >= plan.horizon) return 1;
  const int64_t steps = Predictor::kNear * (plan.horizon - left).ps() / plan.horizon.ps();
  return static_cast<uint8_t>(std::min<int64_t>(1 + steps, Predictor::kNear));
}

bool is_calm(const PredictorPlan& plan, const PgLevel& level, int64_t slope) {
  if (slope <= 0) return level.queue < plan.clear;
  return !plan.until_drained && time_to_fill(level.xoff - level.queue, slope) > plan.horizon * 2;
}

}  // namespace

Duration time_to_fill(int64_t octets, int64_t slope) {
  if (octets <= 0) return Duration();
  if (slope <= 0) return Duration::max();
  return Duration::picoseconds(octets * kPicosecondsAMillisecond / slope);
}

PredictorPlan PredictorPlan::of(const config::RlbConfig& rlb, const config::PortConfig& port,
                                uint8_t lossless_pgs) {
  PredictorPlan plan;
  if (!rlb.enabled()) return plan;
  const config::PredictorConfig& from = rlb.predictor;
  const Duration delay = port.cable_delay;
  const int64_t hops = rlb.warning.relays + 1;
  const Duration loop = delay * (2 * hops) + from.reaction * hops;
  plan.watched = lossless_pgs;
  plan.notifies = port.role == config::PortRole::fabric;
  plan.sends_clear = rlb.warning.clear;
  plan.until_drained = from.until_drained;
  plan.mode = from.mode;
  plan.interval = from.interval;
  plan.horizon = from.horizon.value_or(loop + from.interval);
  plan.refresh = rlb.warning.refresh;
  plan.dwell = rlb.warning.dwell;
  plan.floor = from.floor ? from.floor->count() : 2 * octets_in(delay, port.speed);
  plan.threshold = from.threshold.count();
  plan.exposure = octets_in(loop, port.speed);
  plan.clear = plan.mode == config::PredictorMode::fixed
                   ? std::max<int64_t>(plan.threshold - 2 * port.mtu, 0)
                   : std::max(octets_in(delay, port.speed), plan.floor / 2);
  return plan;
}

Predictor::Predictor(size_t ports, std::optional<DeadlinePlace> next)
    : sequences_(ports),
      plans_(ports),
      states_(ports * kPriorities),
      refreshes_(ports * kPriorities, next) {
  owed_.reserve(states_.size());
}

// Sequences go on: peers remember the last.
void Predictor::configure(PortId port, const PredictorPlan& plan) {
  const bool watched = std::exchange(plans_[port.index()], plan).watched != 0;
  for (size_t i = 0; i < kPriorities; ++i) {
    const size_t index = index_of(port, PriorityGroupId(i));
    if (!watched) break;  // nor is anything known of it
    states_[index] = State{};
    refreshes_.cancel(static_cast<Deadlines::Id>(index));
    std::erase(owed_, index);
  }
}

void Predictor::evaluate(size_t index, const PgLevel& level, Instant now) {
  State& state = states_[index];
  const PredictorPlan& plan = plans_[port_of(index).index()];
  measure(state, plan, level, now);
  const uint8_t danger = state.paused ? kPfcSent : danger_of(plan, level, state.slope);
  if (const auto severity = due(state, plan, danger, now)) tell(index, *severity, now);
}

void Predictor::measure(State& state, const PredictorPlan& plan, const PgLevel& level,
                        Instant now) {
  const Duration elapsed = now - (state.next_sample - plan.interval);
  state.growth = state.samples == 0 ? 0 : level.queue - state.level.queue;
  if (state.samples == 0) {
    state.samples = 1;
  } else if (elapsed > Duration()) {
    const int64_t slope =
        state.growth == 0 ? 0 : state.growth * kPicosecondsAMillisecond / elapsed.ps();
    state.slope = state.samples == 1 ? slope : state.slope + (slope - state.slope) / 2;
    state.samples = 2;
  }
  state.level = level;
  state.next_sample = now + plan.interval;
}

std::optional<uint8_t> Predictor::due(State& state, const PredictorPlan& plan, uint8_t danger,
                                      Instant now) {
  const bool refresh = now - state.told_at >= plan.refresh;
  if (danger != kClear) {
    state.calm = 0;
    const bool rises =
        danger >= state.severity + kJump || (danger == kPfcSent && state.severity < danger);
    return state.severity == kClear || rises || refresh ? std::optional(danger) : std::nullopt;
  }
  if (state.severity == kClear)
    return state.repeats_clear && refresh ? std::optional(kClear) : std::nullopt;
  constexpr uint8_t kCalmSamples = 2;
  if (!is_calm(plan, state.level, state.slope))
    state.calm = 0;
  else if (state.calm < kCalmSamples)
    ++state.calm;
  if (state.calm == kCalmSamples && now - state.begun_at >= plan.dwell) return kClear;
  return refresh ? std::optional<uint8_t>(1) : std::nullopt;
}

// Where warnings just expire their end is owed, too, for those who count; but once.
void Predictor::tell(size_t index, uint8_t severity, Instant now) {
  State& state = states_[index];
  const PredictorPlan& plan = plans_[port_of(index).index()];
  const bool ends = severity == kClear && state.severity != kClear;
  if (state.severity == kClear && severity != kClear) {
    state.begun_at = now;
    state.predicts = severity != kPfcSent;
  }
  if (ends) {
    state.ends = true;
    state.missed = state.predicts;
  }
  state.severity = severity;
  state.told_at = now;
  state.repeats_clear = ends && plan.sends_clear;
  const bool goes_on = severity != kClear || state.repeats_clear;
  refreshes_.set(static_cast<Deadlines::Id>(index),
                 goes_on ? now + plan.refresh : Instant::never());
  if (!state.owed) owed_.push_back(static_cast<uint16_t>(index));
  state.owed = true;
}

PfcWarning Predictor::take_owed(size_t index) {
  State& state = states_[index];
  state.owed = false;
  const bool ends = std::exchange(state.ends, false);
  const bool missed = std::exchange(state.missed, false);
  return {.port = port_of(index),
          .pg = pg_of(index),
          .severity = state.severity,
          .sequence = ++sequences_[port_of(index).index()],
          .level = state.level,
          .growth = state.growth,
          .time_to_xoff = time_to_fill(state.level.xoff - state.level.queue, state.slope),
          .begins = state.severity != kClear && state.begun_at == state.told_at,
          .ends = ends,
          .missed = missed};
}

PauseForesight Predictor::pfc_sent(PortId port, PriorityGroupId pg, bool paused, Instant now) {
  const size_t index = index_of(port, pg);
  State& state = states_[index];
  const bool begins = paused && !state.paused;
  state.paused = paused;
  if (!paused) return {};
  state.calm = 0;
  const PauseForesight seen = begins ? foresight(state, now) : PauseForesight{};
  state.predicts = false;
  if (state.severity != kPfcSent) tell(index, kPfcSent, now);
  return seen;
}

void Predictor::rebase(const Rebase& rebase) {
  refreshes_.rebase(rebase);
  for (State& state : states_)
    for (Instant* at : {&state.next_sample, &state.begun_at, &state.told_at}) rebase.shift(*at);
}

// One that begins at the same instant warns nobody.
PauseForesight Predictor::foresight(const State& state, Instant now) {
  const bool foreseen = state.severity != kClear && state.begun_at < now;
  return {.begins = true,
          .foreseen = foreseen,
          .first = foreseen && state.predicts,
          .lead = foreseen ? now - state.begun_at : Duration()};
}

}  // namespace eddy::pfc
