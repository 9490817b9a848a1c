#include "host/rate_control/reaction_point.h"

#include <algorithm>
#include <utility>

namespace eddy::host {
namespace {

constexpr int kHalfAlphaShift = 31;
constexpr int64_t kHighestTarget = int64_t{1} << 60;  // without cap_target

// 0 as a timer's length means that there is none.
Instant after(Instant now, Duration timer) {
  return timer > Duration{} ? now + timer : Instant::never();
}
// How many times a timer that is due at `due` has gone off by `now`, when it has.
int64_t times(Instant due, Duration timer, Instant now) {
  return (now - due) / timer + 1;
}

}  // namespace

void ReactionPoint::replay(const config::DcqcnConfig& config, BitRate line, Instant now) {
  if (config.algorithm == config::DcqcnAlgorithm::vendor) return replay_slots(config, line, now);
  decay_alpha(config, now);
  while (increase_due_ <= now) {
    // At the top nothing changes, whatever is counted, until a CNP starts the counts anew.
    if (current_ == line.bps() && target_ == current_ && config.cap_target) {
      const int64_t n = times(increase_due_, config.increase_timer, now);
      increase_due_ = increase_due_ + config.increase_timer * n;
      return;
    }
    increase(config, line, timer_events_);
    increase_due_ = increase_due_ + config.increase_timer;
  }
}

void ReactionPoint::decay_alpha(const config::DcqcnConfig& config, Instant now) {
  while (alpha_due_ <= now) {
    const uint32_t loss = alpha_ >> config.g_shift;
    const int64_t n = loss == 0 ? times(alpha_due_, config.alpha_timer, now) : 1;
    alpha_ -= loss;
    alpha_due_ = alpha_due_ + config.alpha_timer * n;
  }
}

void ReactionPoint::on_cnp(const config::DcqcnConfig& config, BitRate line, Instant now) {
  catch_up(config, line, now);
  if (config.algorithm == config::DcqcnAlgorithm::vendor) return note_cnp(config, line, now);
  alpha_due_ = after(now, config.alpha_timer);
  if (now < next_cut_) return;
  const auto cut = static_cast<int64_t>((__int128{current_} * alpha_) >> kHalfAlphaShift);
  target_ = current_;
  current_ = std::max(current_ - cut, std::min(config.min_rate, line).bps());
  alpha_ = alpha_ - (alpha_ >> config.g_shift) + (kAlphaOne >> config.g_shift);
  timer_events_ = byte_events_ = 0;
  octets_left_ = config.byte_counter.count();
  increase_due_ = after(now, config.increase_timer);
  next_cut_ = now + config.decrease_interval;
}

void ReactionPoint::note_cnp(const config::DcqcnConfig& config, BitRate line, Instant now) {
  const Duration slot = config.decrease_interval;
  const bool first = alpha_due_ == Instant::never();
  if (first) {
    current_ = target_ =
        static_cast<int64_t>(static_cast<double>(current_) * config.first_cnp_rate);
    alpha_ = kAlphaOne;
    alpha_due_ = now + config.alpha_timer;
  }
  alpha_noted_ = cut_noted_ = true;
  const bool at_once = first || slot == Duration();
  if (at_once) {
    next_cut_ = now;
    end_cut_slot(config, line);
  } else if (next_cut_ <= now) {  // slots in which nothing was to cut
    next_cut_ = next_cut_ + slot * times(next_cut_, slot, now);
  }
}

void ReactionPoint::replay_slots(const config::DcqcnConfig& config, BitRate line, Instant now) {
  while ((alpha_noted_ || cut_noted_) && next_event() <= now) {
    const Instant event = next_event();
    if (alpha_due_ == event) {
      end_alpha_slot(config);
    } else if (cut_noted_ && next_cut_ == event) {
      end_cut_slot(config, line);
    } else {
      grow(config, line);
    }
  }
  if (alpha_noted_ || cut_noted_) return;
  decay_alpha(config, now);
  grow_until(config, line, now);
}

void ReactionPoint::end_alpha_slot(const config::DcqcnConfig& config) {
  alpha_ -= alpha_ >> config.g_shift;
  if (std::exchange(alpha_noted_, false)) alpha_ += kAlphaOne >> config.g_shift;
  alpha_due_ = alpha_due_ + config.alpha_timer;
}

// With a CNP in it. The target follows the rate down if that has grown since the last cut.
void ReactionPoint::end_cut_slot(const config::DcqcnConfig& config, BitRate line) {
  const auto cut = static_cast<int64_t>((__int128{current_} * alpha_) >> kHalfAlphaShift);
  if (timer_events_ > 0 || config.clamp_target_rate) target_ = current_;
  current_ = std::max(current_ - cut, std::min(config.min_rate, line).bps());
  timer_events_ = 0;
  increase_due_ = next_cut_ + config.increase_timer;
  next_cut_ = next_cut_ + config.decrease_interval;
  cut_noted_ = false;
}

// The increase timer alone counts: the stages are fast recovery, additive and hyper increase.
void ReactionPoint::grow(const config::DcqcnConfig& config, BitRate line) {
  if (timer_events_ >= config.fast_recovery) {
    const bool additive = timer_events_ == config.fast_recovery;
    target_ += (additive ? config.additive_increase : config.hyper_increase).bps();
    target_ = std::min(target_, line.bps());
  }
  current_ = std::min((target_ + current_ + 1) / 2, line.bps());
  if (timer_events_ < UINT16_MAX) ++timer_events_;
  increase_due_ = increase_due_ + config.increase_timer;
}

void ReactionPoint::grow_until(const config::DcqcnConfig& config, BitRate line, Instant now) {
  while (increase_due_ <= now) {
    if (current_ == line.bps() && target_ == current_ && timer_events_ > config.fast_recovery) {
      const int64_t n = times(increase_due_, config.increase_timer, now);
      increase_due_ = increase_due_ + config.increase_timer * n;
      return;
    }
    grow(config, line);
  }
}

// A whole byte counter, or more than one, has left.
void ReactionPoint::count_octets(const config::DcqcnConfig& config, BitRate line) {
  while (octets_left_ <= 0) {
    increase(config, line, byte_events_);
    octets_left_ += config.byte_counter.count();
  }
}

// One increase event; `events` counts those of its kind, timer or byte counter. Fast recovery,
// until either kind has had F events, only halves the way to the target; then the target rises,
// too.
void ReactionPoint::increase(const config::DcqcnConfig& config, BitRate line, uint16_t& events) {
  const int fewer = std::min(timer_events_, byte_events_);
  const int more = std::max(timer_events_, byte_events_);
  if (more >= config.fast_recovery) {
    const int beyond = fewer - config.fast_recovery;
    target_ += beyond > 0 ? beyond * config.hyper_increase.bps() : config.additive_increase.bps();
    target_ = std::min(target_, config.cap_target ? line.bps() : kHighestTarget);
  }
  current_ = std::min((target_ + current_ + 1) / 2, line.bps());
  if (events < UINT16_MAX) ++events;
}

}  // namespace eddy::host
