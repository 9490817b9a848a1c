#include "lb/rlb/path_judge.h"

#include <algorithm>

namespace eddy::lb {

PathVerdict PathJudge::look(const config::FailureDetectorConfig& config, const PathEvidence& seen) {
  if (failure_ != PathFailure::none) return look_at_failed(config, seen);
  if (seen.unanswered == 0) silent_since_ = seen.now;
  weighed_ += seen.weighed;
  forced_ += seen.forced;
  if (seen.excused_until > silent_since_) {  // PFC may explain the silence: it counts from then on
    silent_since_ = std::min(seen.excused_until, seen.now);
    streak_ = 0;
    return PathVerdict::excused;
  }
  if (seen.now - window_began_ < config.window) return PathVerdict::none;
  const PathFailure why =
      seen.excused_until > window_began_ ? PathFailure::none : suspicion(config, seen);
  window_began_ = seen.now;
  weighed_ = 0;
  forced_ = 0;
  if (why == PathFailure::none) {
    streak_ = 0;
    return PathVerdict::none;
  }
  return ++streak_ < kConfirmed ? PathVerdict::suspicious : fail(config, seen.now, why);
}

PathFailure PathJudge::suspicion(const config::FailureDetectorConfig& config,
                                 const PathEvidence& seen) const {
  if (!seen.others_answer) return PathFailure::none;  // there would be nothing to use instead
  const Duration silence = std::max(config.silence, seen.patience) + seen.own_queue;
  if (seen.unanswered >= config.unanswered && seen.now - silent_since_ >= silence)
    return PathFailure::silent;
  const bool often = weighed_ >= static_cast<uint64_t>(config.decisions) &&
                     uint64_t{forced_} * 100 > static_cast<uint64_t>(weighed_) *
                                                   static_cast<uint64_t>(config.forced_percent);
  return often && !seen.loaded ? PathFailure::forced : PathFailure::none;
}

PathVerdict PathJudge::fail(const config::FailureDetectorConfig& config, Instant now,
                            PathFailure why) {
  const bool again = now < until_;
  exclusion_ = again ? std::min(exclusion_ * 2, config.longest_exclusion) : config.exclusion;
  until_ = now + exclusion_;
  failure_ = why;
  streak_ = 0;
  return PathVerdict::fails;
}

PathVerdict PathJudge::look_at_failed(const config::FailureDetectorConfig& config,
                                      const PathEvidence& seen) {
  if (!seen.answers || (seen.now < until_ && seen.others_answer)) return PathVerdict::none;
  failure_ = PathFailure::none;
  until_ = seen.now + config.longest_exclusion;
  silent_since_ = seen.now;
  window_began_ = seen.now;
  return PathVerdict::returns;
}

void PathJudge::rebase(const Rebase& rebase) {
  rebase.shift(silent_since_);
  rebase.shift(window_began_);
  rebase.shift(until_);
}

std::optional<PortId> LoopJudge::left(Instant now, PortId port, uint32_t rounds, Duration window,
                                      uint32_t threshold) {
  std::optional<PortId> failed;
  if (now >= window_ends_) failed = close(now, window, threshold);
  rounds_[port.index()] += rounds;
  all_rounds_ += rounds;
  ++packets_;
  return failed;
}

// Ends a window. A port has failed if it was the suspect of the window right before this one, too;
// two windows are not in a row if nothing left the loop for a window's time between them.
std::optional<PortId> LoopJudge::close(Instant now, Duration window, uint32_t threshold) {
  const bool high = packets_ != 0 && all_rounds_ >= uint64_t{packets_} * threshold;
  const auto most = std::ranges::max_element(rounds_);
  const PortId port = high ? PortId(static_cast<size_t>(most - rounds_.begin())) : PortId::none();
  const bool failed = high && port == suspect_;
  const bool in_a_row = now < window_ends_ + window;
  suspect_ = in_a_row && !failed ? port : PortId::none();
  window_ends_ = now + window;
  std::ranges::fill(rounds_, 0);
  all_rounds_ = 0;
  packets_ = 0;
  return failed ? std::optional(port) : std::nullopt;
}

void LoopJudge::reset() {
  *this = LoopJudge(rounds_.size());
}

}  // namespace eddy::lb
