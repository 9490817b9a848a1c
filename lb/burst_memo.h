// BurstMemo: numbers that a scheme has found out about ports, each once a burst and queue.
//
// A burst is placed before any of it is enqueued. So what waits at a port, whether it is paused and
// how busy its line was are the same for all packets of the burst, and a look at a port need not be
// taken twice. What other shards do to their ports meanwhile is seen a burst later. Owner: one
// selector. Octets: 8 a port. Cost: a load and a comparison a look; the whole memo is cleared once
// in 2^18 bursts. Source: architecture, section 5 (signals are read live).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "net/ids.h"
#include "net/protocols.h"

namespace eddy::lb {

class BurstMemo {
 public:
  // Of a number: eight queues of 32 bits come to 35, and 8 are left for more.
  static constexpr int kBits = 43;
  static constexpr uint64_t kUnknown = uint64_t{1} << kBits;  // from here on

  explicit BurstMemo(size_t ports) : known_(ports) {}

  // Before a burst.
  void begin() {
    burst_ += kPriorities << kBits;
    if (burst_ != 0) [[likely]]
      return;
    std::fill(known_.begin(), known_.end(), 0);  // their stamps come again
    burst_ = kPriorities << kBits;
  }
  // Of this burst and a queue.
  uint64_t stamp(QueueId queue) const { return burst_ + (uint64_t{queue.index()} << kBits); }
  // The number that was noted of the port with this stamp, or something from kUnknown on.
  uint64_t look_up(PortId port, uint64_t stamp) const { return known_[port.index()] ^ stamp; }
  uint64_t note(PortId port, uint64_t stamp, uint64_t number) {
    known_[port.index()] = stamp | number;
    return number;
  }

 private:
  std::vector<uint64_t> known_;  // by port; above kBits the stamp of when that was
  uint64_t burst_ = 0;           // which one it is, in steps of kPriorities above kBits
};
static_assert(kPriorities == 8);

}  // namespace eddy::lb
