// PortFeeds: which ingress ports fed which egress ports lately: whom to tell when a port is about
// to stop.
//
// A stamp a pair of ports, in units of 2^20 ps, compared modulo 2^32: a pair that was quiet for 75
// minutes may look fresh for a moment. Writers: the shard of the ingress port; readers: that of the
// egress port. Bounds: 4 octets a pair. Cost: note() a store. Source: reference B.4 (contributor
// map).
#pragma once

#include <atomic>
#include <cstdint>

#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/units.h"

namespace eddy {

class PortFeeds {
 public:
  explicit PortFeeds(size_t ports) : ports_(ports), stamps_(ports * ports) {}

  void note(PortId egress, PortId ingress, Instant now) {
    stamps_[index_of(egress, ingress)].store(stamp_of(now), std::memory_order_relaxed);
  }
  // Since the last note; a long time if there was none.
  Duration since(PortId egress, PortId ingress, Instant now) const {
    const uint32_t stamp = stamps_[index_of(egress, ingress)].load(std::memory_order_relaxed);
    if (stamp == 0) return Duration::max();
    return Duration::picoseconds(int64_t{stamp_of(now) - stamp} << kUnit);
  }

 private:
  static constexpr int kUnit = 20;
  size_t index_of(PortId egress, PortId ingress) const {
    return egress.index() * ports_ + ingress.index();
  }
  static uint32_t stamp_of(Instant now) {  // 0: never
    const auto stamp = static_cast<uint32_t>(now.ps() >> kUnit);
    return stamp == 0 ? 1 : stamp;
  }

  size_t ports_;
  Reserved<std::atomic<uint32_t>> stamps_;  // written while RLB is on
};

}  // namespace eddy
