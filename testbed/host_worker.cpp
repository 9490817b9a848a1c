#include "testbed/host_worker.h"

#include <algorithm>

#include "switch/dpdk/resting.h"

namespace eddy::testbed {

HostWorker::HostWorker(HostGroup& group, std::span<DpdkWire> wires, const Bell& bell,
                       const TscClock& clock, Idler idler)
    : group_(group), wires_(wires), bell_(bell), clock_(clock), idler_(idler) {}

void HostWorker::run() {
  allow_short_sleeps();
  polls_.start();
  uint64_t heard = 0;
  last_ = now();
  uint64_t turn_began = TscClock::cycles();
  while (!stop_.load(std::memory_order_relaxed)) {
    const Instant now = std::max(time_of(clock_.at(turn_began)), last_);
    if (last_ >= Instant()) gaps_.add(now - last_);
    last_ = now;
    const uint64_t rung = bell_.rung.load(std::memory_order_acquire);
    if (rung != heard) {
      heard = rung;
      for (DpdkWire& wire : wires_) wire.adopt();
    }
    const HostPort::Turn turn = group_.poll(now);
    const bool idle = turn.received == 0 && turn.transmitted == 0;
    rest(now, idle);
    const uint64_t turn_ended = TscClock::cycles();
    (idle ? counts_.idle_cycles : counts_.busy_cycles) += turn_ended - turn_began;
    ++counts_.polls;
    turn_began = turn_ended;
    polls_.end_turn();
  }
  polls_.stop();
}

void HostWorker::rest(Instant now, bool idle) {
  if (!idle) return idler_.worked();
  carry_out(idler_.idle(now, group_.next_deadline()));
}

}  // namespace eddy::testbed
