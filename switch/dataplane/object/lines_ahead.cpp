// What a shard reads and writes for nearly every packet, asked for before its next polls.
//
// Each poll for itself would wait for one line after the other, since what it reads first says what
// it reads next. Here nothing is read but where arrays begin, so that all of them come together.
#include <bit>
#include <cstddef>

#include "net/memory/lines.h"
#include "switch/dataplane/object/shard_impl.h"

namespace eddy {
namespace {

constexpr uint32_t kLooks = 64;     // one call in so many looks which priorities carry packets
constexpr int kMostPriorities = 4;  // with more of them most lines would be asked for in vain

}  // namespace

void ShardImpl::ask_for_lines() {
  if (asked_++ % kLooks == 0) busy_ = busy_priorities();
  ask_for_parts();
  const size_t ports = context_.counters.port_count();
  const Counters& counters = context_.counters;
  for (size_t i = 0; i < ports; ++i) ask_for(&context_.settings(PortId(i)));
  for (size_t i = 0; i < ports; ++i) ask_for(&context_.signals(PortId(i)));
  for (size_t i = 0; i < ports; ++i) ask_for(&egress_.stops(PortId(i)));  // in a port's first line
  for (size_t i = 0; i < ports; ++i) ask_for(&counters[PortId(i)].port[PortCounter::rx_packets]);
  if (std::popcount(busy_) > kMostPriorities) return;
  for (unsigned left = busy_; left != 0; left &= left - 1) {
    const auto priority = static_cast<size_t>(std::countr_zero(left));
    const QueueRow* const rows = egress_.rows() + priority * ports;
    for (size_t i = 0; i < ports; ++i) ask_for(&rows[i]);
    for (size_t i = 0; i < ports; ++i) ask_for(&context_.queue(PortId(i), priority));
    for (size_t i = 0; i < ports; ++i) ask_for(&context_.pg(PortId(i), PriorityGroupId(priority)));
    for (size_t i = 0; i < ports; ++i)
      ask_for(&counters[PortId(i)].queue[priority][QueueCounter::queue_tx_packets]);
  }
}

// What all packets share.
void ShardImpl::ask_for_parts() const {
  ask_for(this);
  ask_for(&context_, 8 * kLineOctets);
  ask_for(&buffer_, 5 * kLineOctets);
  ask_for(&egress_, 6 * kLineOctets);
  ask_for(&departures_, 3 * kLineOctets);
  ask_for(&adjacency_, 2 * kLineOctets);
  ask_for(&forwarder_, 2 * kLineOctets);
  ask_for(&ingress_, 2 * kLineOctets);
  ask_for(&agents_);
  ask_for(&shims_);
  ask_for(&stages_);
  ask_for(&lanes_);
  ask_for(&context_.common.changes);
  ask_for(context_.common.pool_use.data());
  ask_for(context_.next_hops, 2 * kLineOctets);
  ask_for(context_.live, 2 * kLineOctets);
}

// Bit = its queue or its priority group has counted packets on some port.
uint8_t ShardImpl::busy_priorities() const {
  const Counters& counters = context_.counters;
  unsigned busy = 0;
  for (size_t i = 0; i < counters.port_count(); ++i) {
    const PortCounters port = counters[PortId(i)];
    for (size_t priority = 0; priority < kPriorities; ++priority) {
      const bool counted = (port.queue[priority].read(QueueCounter::queue_tx_packets) |
                            port.pg[priority].read(PgCounter::pg_rx_packets)) != 0;
      busy |= unsigned{counted} << priority;
    }
  }
  return static_cast<uint8_t>(busy);
}

}  // namespace eddy
