#include "switch/dataplane/state/events.h"

#include <array>
#include <bit>

#include "net/assert.h"

namespace eddy {
namespace {

struct EventInfo {
  std::string_view name;
  std::string_view help;
};
#define EDDY_EVENT_INFO(name, help) EventInfo{#name, help},
constexpr EventInfo kEventInfos[] = {EDDY_EVENTS(EDDY_EVENT_INFO)};
#undef EDDY_EVENT_INFO

}  // namespace

std::string_view to_string(EventKind kind) {
  return kEventInfos[static_cast<size_t>(kind)].name;
}
std::string_view help_of(EventKind kind) {
  return kEventInfos[static_cast<size_t>(kind)].help;
}

EventRing::EventRing(size_t capacity_power_of_two)
    : slots_(capacity_power_of_two), mask_(capacity_power_of_two - 1) {
  ASSERT(std::has_single_bit(capacity_power_of_two));
}

bool EventRing::pop(Event& event) {
  const uint64_t head = head_.load(std::memory_order_relaxed);
  if (head == tail_.load(std::memory_order_acquire)) return false;
  event = slots_[head & mask_];
  head_.store(head + 1, std::memory_order_release);
  return true;
}

}  // namespace eddy
