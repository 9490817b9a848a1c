// RateLimit: a token bucket, kept as the time at which the next one would be due at the plain rate.
//
// Tokens up to `next_` are taken; the bucket is full in the beginning. Owner: one thread. Cost: a
// division a call. Source: the virtual scheduling algorithm of ITU-T I.371 (GCRA).
#pragma once

#include <algorithm>
#include <cstdint>

#include "net/rebase.h"
#include "net/units.h"

namespace eddy {

class RateLimit {
 public:
  // Takes a token if there is one: the bucket holds `burst` tokens (1 and more) and gains
  // `per_second` in a second. Never with a rate of 0 or less.
  [[nodiscard]] bool take(Instant now, int64_t per_second, int64_t burst) {
    if (per_second <= 0 || next_ > now) return false;
    const Duration interval = Duration::seconds(1) / per_second;
    next_ = std::max(next_, now - interval * (burst - 1)) + interval;
    return true;
  }
  void rebase(const Rebase& rebase) { rebase.shift(next_); }

 private:
  Instant next_ = Instant() - Duration::seconds(3600);
};

}  // namespace eddy
