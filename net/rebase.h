// Rebase: the clock of a switch begins anew, so that it never reaches the end of an Instant.
//
// Every Instant that the switch keeps goes back by the same time, and so does the clock: no
// difference changes. never() stays. What is older than Instant::long_past() stays there: it is
// long past, and no more can be asked of it. The time is one for which counters of time that wrap
// come to the same value: nanoseconds modulo 2^32 on the wire, and steps of 2^k ps modulo 2^m for
// k + m up to 55. It is taken when no shard is polling. Threads: constant. Source: docs/adr/0017.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "net/units.h"

namespace eddy {

class Rebase {
 public:
  // 2^52 ns = 125 * 2^55 ps: 52.1 days.
  static constexpr int kPeriodBits = 52;
  static constexpr Duration kPeriod = Duration::nanoseconds(int64_t{1} << kPeriodBits);
  // Once the clock shows this it is due; what lies a day back is then still after zero.
  static constexpr Instant kDue = Instant::at(kPeriod + Duration::seconds(86'400));

  // Forward: what a rebase did is undone, for tests.
  enum class Way : uint8_t { back, forward };

  constexpr Rebase() = default;
  explicit constexpr Rebase(Way way)
      : back_(way == Way::back ? kPeriod : Duration() - kPeriod),
        epochs_(way == Way::back ? 1 : -1) {}

  constexpr Duration back() const { return back_; }
  // What counters of rebases grow by.
  constexpr int32_t epochs() const { return epochs_; }

  constexpr Instant operator()(Instant at) const {
    if (at == Instant::never()) return at;
    return std::max(at, std::max(Instant::long_past(), Instant::long_past() + back_)) - back_;
  }
  constexpr void shift(Instant& at) const { at = (*this)(at); }
  // Where Instant{} says that there was nothing.
  constexpr void shift_if_any(Instant& at) const {
    if (at == Instant{}) return;
    shift(at);
    if (at == Instant{}) at = Instant() - Duration::picoseconds(1);
  }
  // Of an atomic that holds an Instant's picoseconds.
  void shift(std::atomic<int64_t>& at_ps) const {
    const Instant at = Instant::at(Duration::picoseconds(at_ps.load(std::memory_order_relaxed)));
    at_ps.store((*this)(at).ps(), std::memory_order_relaxed);
  }

 private:
  Duration back_ = kPeriod;
  int32_t epochs_ = 1;
};

}  // namespace eddy
