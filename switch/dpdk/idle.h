// Idler: what a worker does after a poll that brought nothing: poll again, let others run, or
// sleep.
//
// `busy` always polls again. `adaptive` is for shared cores: a few polls at once, then yields, then
// sleeps that double from kShortestSleep up to the longest that poll_gap allows, never past the
// next deadline. Pure: decides, does not act. Owner: one worker. Cost: a few compares an idle poll.
// Source: docs/dpdk_notes.md, "Sharing cores" (measured: 83 us round trip through ten processes on
// two cores, 0.05 to 0.12 CPUs when idle).
#pragma once

#include <algorithm>

#include "config/config.h"
#include "net/units.h"

namespace eddy {

struct IdleStep {
  enum class Kind : uint8_t { poll, yield, sleep };
  Kind kind = Kind::poll;
  Duration sleep{};
};

class Idler {
 public:
  static constexpr int kSpins = 32;
  static constexpr int kYields = 96;
  static constexpr Duration kShortestSleep = Duration::microseconds(5);
  static constexpr Duration kLongestSleep = Duration::milliseconds(1);

  // Sleeps stay at half of the poll gap that headroom was computed for.
  Idler(config::IdlePolicy policy, Duration poll_gap)
      : policy_(policy), longest_(std::clamp(poll_gap / 2, kShortestSleep, kLongestSleep)) {}

  void worked() {
    idle_polls_ = 0;
    next_sleep_ = kShortestSleep;
  }

  // After a poll without work at `now`; `wake_at` is the next thing known to come.
  IdleStep idle(Instant now, Instant wake_at) {
    if (policy_ == config::IdlePolicy::busy || ++idle_polls_ <= kSpins) return {};
    if (idle_polls_ <= kSpins + kYields) return {IdleStep::Kind::yield, {}};
    idle_polls_ = kSpins + kYields;  // stay here, whatever comes
    if (wake_at <= now) return {};
    const Duration until = wake_at == Instant::never() ? longest_ : wake_at - now;
    if (until < kShortestSleep) return {IdleStep::Kind::yield, {}};
    const Duration sleep = std::min(next_sleep_, until);
    next_sleep_ = std::min(next_sleep_ * 2, longest_);
    return {IdleStep::Kind::sleep, sleep};
  }

 private:
  config::IdlePolicy policy_;
  Duration longest_;
  Duration next_sleep_ = kShortestSleep;
  int idle_polls_ = 0;
};

}  // namespace eddy
