#include "pfc/scheduler.h"

#include "config/config.h"
#include "net/assert.h"

namespace eddy::pfc {
namespace {

constexpr int32_t kQuantumPerWeight = 1'024;

}  // namespace

SchedulerPlan SchedulerPlan::of(const config::PortConfig& port) {
  SchedulerPlan plan;
  for (size_t i = 0; i < kPriorities; ++i) {
    const config::QueueConfig& queue = port.queues[i];
    ASSERT(queue.weight >= 1);  // a quantum of 0 would never afford a packet
    if (queue.scheduler == config::SchedulerType::strict)
      plan.strict = static_cast<uint8_t>(plan.strict | 1u << i);
    plan.quantum[i] = queue.weight * kQuantumPerWeight;
    plan.max_rate[i] = queue.max_rate;
  }
  return plan;
}

}  // namespace eddy::pfc
