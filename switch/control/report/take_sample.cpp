#include "switch/control/report/sample.h"

namespace eddy::control {
namespace {

PortState read_state(const Switch& object, PortId port) {
  PortState state;
  const lb::PortSignals& signals = object.signals(port);
  state.up = signals.up.load(std::memory_order_relaxed) != 0;
  state.dre_bytes = signals.dre_bytes.load(std::memory_order_relaxed);
  for (size_t i = 0; i < kPriorities; ++i) {
    state.queued_bytes[i] = signals.queued_bytes[i].load(std::memory_order_relaxed);
    state.pgs[i] = object.pg_status(port, PriorityGroupId(i));
    state.queues[i] = object.queue_status(port, QueueId(i));
  }
  state.peer_mac = object.peer_mac(port);
  return state;
}

}  // namespace

Sample take_sample(const Switch& object, Backend& backend, int64_t now_ns) {
  Sample sample;
  sample.at_ns = now_ns;
  sample.buffer = object.buffer_status();
  sample.workers = backend.worker_stats();
  for (size_t s = 0; s < object.shard_count(); ++s)
    for (size_t step = 0; step < sample.waits.size(); ++step)
      sample.waits[step] += object.waits(ShardId(s)).count(step);
  for (size_t p = 0; p < object.port_count(); ++p) {
    const PortId port(p);
    PortNumbers sum;
    for (size_t s = 0; s < object.shard_count(); ++s)
      sum += read_numbers(object.counters(ShardId(s)), port);
    sample.numbers.push_back(sum);
    sample.ports.push_back(read_state(object, port));
    sample.ports.back().device = backend.device_info(port);
  }
  return sample;
}

}  // namespace eddy::control
