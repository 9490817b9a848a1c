#include "lab/check/late_pauses.h"

namespace eddy::lab {

LatePauses::LatePauses(World& world, std::optional<Duration> in_time)
    : world_(world),
      in_time_(in_time),
      unread_(world.switch_count()),
      late_(world.lines().size()) {}

void LatePauses::arrive(uint32_t index, const PauseFrame& pause) {
  if (!in_time_) return;
  unsigned on = 0;
  for (size_t i = 0; i < kPriorities; ++i)
    if (pause.quanta[i] != 0) on |= 1U << i;
  const auto ends = static_cast<uint8_t>(pause.enabled & ~on);
  const auto begins = static_cast<uint8_t>(pause.enabled & on);
  const Line& line = world_.lines()[index];
  late_[index] = static_cast<uint8_t>(late_[index] & ~ends);
  for (Unread& each : unread_[line.to])
    if (each.line == index) each.priorities = static_cast<uint8_t>(each.priorities & ~ends);
  if (begins != 0)
    unread_[line.to].push_back({index, world_.delivered(index), world_.now(), begins});
}

void LatePauses::look(uint32_t node) {
  if (unread_[node].empty()) return;
  std::erase_if(unread_[node], [&](const Unread& each) {
    const PortId port = world_.lines()[each.line].to_port;
    const auto& counters = world_.switch_at(node).counters(ShardId(0))[port].port;
    const uint64_t read = counters.read(PortCounter::rx_packets) +
                          counters.read(PortCounter::pfc_rx_packets) +
                          counters.read(PortCounter::pause_rx_packets);
    const bool late = world_.now() - each.arrived > *in_time_;
    if (late) late_[each.line] = static_cast<uint8_t>(late_[each.line] | each.priorities);
    return late || read >= each.place;
  });
}

bool LatePauses::late(uint32_t node, PortId port, Priority priority) {
  const uint32_t line = world_.line_of(node, port);
  const uint32_t peer = world_.lines()[line].to;
  if (peer < unread_.size()) look(peer);
  return (late_[line] >> priority.index() & 1) != 0;
}

}  // namespace eddy::lab
