// Watermarks: the highest level of something since two moments: SONiC's user watermark and its
// persistent one, each of which starts again from the present level when it is cleared, whatever
// the other does.
//
// Units: octets. The one that was cleared last is never above the other, so what raises them
// compares with that one only. One writer; other threads may read (relaxed), and see for a moment
// the one in place of the other while somebody clears. Cost: below() is a load and a comparison.
// Source: SONiC's `show watermark`, `sonic-clear`.
#pragma once

#include <atomic>
#include <cstdint>

namespace eddy::pfc {

enum class WatermarkKind : uint8_t { user, persistent };

class Watermarks {
 public:
  // Both are at least this high already.
  bool cover(int64_t level) const { return level <= get(low_); }
  void raise(int64_t level) {
    if (cover(level)) [[likely]]
      return;
    low_.store(level, std::memory_order_relaxed);
    const int64_t high = get(high_);
    if (level > high >> 1) set_high(level, (high & 1) != 0);
  }
  // `level`: the present one.
  void clear(WatermarkKind kind, int64_t level) {
    const int64_t other =
        read(kind == WatermarkKind::user ? WatermarkKind::persistent : WatermarkKind::user);
    low_.store(level, std::memory_order_relaxed);
    set_high(other, kind == WatermarkKind::user);
  }
  int64_t read(WatermarkKind kind) const {
    const int64_t high = get(high_);
    const bool user_is_low = (high & 1) != 0;
    return user_is_low == (kind == WatermarkKind::user) ? get(low_) : high >> 1;
  }

 private:
  static int64_t get(const std::atomic<int64_t>& value) {
    return value.load(std::memory_order_relaxed);
  }
  void set_high(int64_t level, bool user_is_low) {
    high_.store(level * 2 + (user_is_low ? 1 : 0), std::memory_order_relaxed);
  }

  std::atomic<int64_t> low_{0};   // of the one that was cleared last
  std::atomic<int64_t> high_{0};  // twice that of the other; and 1 where that is the persistent one
};

}  // namespace eddy::pfc
