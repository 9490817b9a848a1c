// How long a packet with a tolerable delay has waited in its queue: noted when it comes, counted
// off its shim when it leaves, and smoothed for its port.
//
// Since when it waits stands in Packet::queued_ns, and kPacketTimed says that it does. The average
// takes an eighth of each sample.
// Units: nanoseconds modulo 2^32; the shim's are of 64 ns.
// Owner: the shard of the port. Cost: a flag of a packet; of one that is timed the average, and the
// shim where it waited for a unit. Only where an agent declared Speech::waits. Source: reference
// A.11 (PLB, algorithm 1).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "lb/path_table.h"
#include "lb/path_view.h"
#include "net/byte_order.h"
#include "net/packet.h"
#include "net/shim.h"
#include "switch/dataplane/state/shim_layout.h"

namespace eddy {

// Of a packet whose shim has a tolerable delay.
inline void begin_sojourn(Packet& packet, Instant now) {
  packet.set(kPacketTimed);
  packet.queued_ns = lb::PathRecord::wire_time(now);
}

// Ends them, of packets that leave one port. What the port has on average is told when the last of
// them has left.
class Sojourns {
 public:
  explicit Sojourns(lb::PortSignals& port)
      : port_(port),
        average_(static_cast<int32_t>(port.sojourn_ns.load(std::memory_order_relaxed))) {}
  ~Sojourns() {
    port_.sojourn_ns.store(static_cast<uint32_t>(average_), std::memory_order_relaxed);
  }
  Sojourns(const Sojourns&) = delete;
  Sojourns& operator=(const Sojourns&) = delete;

  // It leaves at `start`. Once more if the device gave it back: then from here on.
  void end(Packet& packet, Instant start) {
    constexpr int32_t kSmoothing = 8;
    if (!packet.has(kPacketTimed)) return;
    // As PathRecord::wire_time(), of an instant that is not before zero.
    const auto start_ns = static_cast<uint32_t>(static_cast<uint64_t>(start.ps()) / 1'000);
    // A line that is caught up with may start it a little before it came.
    const auto waited = std::max(static_cast<int32_t>(start_ns - packet.queued_ns), 0);
    packet.queued_ns = start_ns;
    const int32_t step = (waited - average_) / kSmoothing;
    average_ = step != 0 ? average_ + step : waited;
    if (waited >= kUnit) count_off(packet, static_cast<uint32_t>(waited / kUnit));
  }

 private:
  static constexpr int32_t kUnit = 64;  // ns

  static void count_off(Packet& packet, uint32_t units) {
    uint8_t* const bears = packet.data() + packet.l2_len - kShimHeader + shim_at::kTolerableDelay;
    const uint16_t left = load_be16(bears);
    if (left == kShimUnlimitedDelay) return;
    store_be16(bears, static_cast<uint16_t>(left - std::min<uint32_t>(left, units)));
  }

  lb::PortSignals& port_;
  int32_t average_;
};

// Of one packet.
inline void end_sojourn(Packet& packet, lb::PortSignals& port, Instant start) {
  Sojourns(port).end(packet, start);
}

}  // namespace eddy
