// Typed events from the data plane to control, instead of log lines: a ring of fixed size a shard.
//
// Writer: the shard. Reader: one control thread. A full ring loses the newest event and counts it.
// Cost: a copy of 32 octets; memory is touched when first written. Source: architecture, section 8.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy {

#define EDDY_EVENTS(X)                                                                     \
  X(link_up, "port became usable")                                                         \
  X(link_down, "port is no longer usable")                                                 \
  X(lossless_drop, "a packet was lost in a lossless priority group; value = drops")        \
  X(pfcwd_storm, "PFC watchdog detected a storm")                                          \
  X(pfcwd_restored, "PFC watchdog saw the storm end")                                      \
  X(pfc_sent, "priority paused (value 1) or resumed (value 0) towards the peer")           \
  X(pfc_received, "priority paused (value 1) or resumed (value 0) by the peer")            \
  X(pfc_predicted, "a priority group nears XOFF; value = severity, 1 to 63")               \
  X(path_warned, "paths behind the port are warned (value = severity) or clear (value 0)") \
  X(host_hot, "a host here, or a flow to it, is congested (value = tag) or no more (0)")   \
  X(path_failed, "a path is taken out of use: it seems to have failed")                    \
  X(path_returned, "a path is used again")                                                 \
  X(pfc_budget_exceeded, "a port is paused beyond its pause budget")                       \
  X(scheme_failed, "a plugin's scheme threw an exception: its packets go by ecmp now")     \
  X(neighbor_learned, "neighbor resolved")                                                 \
  X(neighbor_lost, "neighbor aged out")                                                    \
  X(peer_learned, "fabric peer's MAC learned by LLDP")                                     \
  X(rx_loss, "the device lost frames on a port with lossless groups; value = frames")      \
  X(poll_gap_exceeded, "99.9th percentile of the poll gap is above poll_gap; value = ns")  \
  X(snapshot_adopted, "a new configuration is in force; value = generation")

enum class EventKind : uint8_t {
#define EDDY_EVENT_ENUM(name, help) name,
  EDDY_EVENTS(EDDY_EVENT_ENUM)
#undef EDDY_EVENT_ENUM
};
std::string_view to_string(EventKind kind);
std::string_view help_of(EventKind kind);

struct Event {
  Instant at;
  uint64_t value = 0;
  PortId port = PortId::none();
  Priority priority{0};
  EventKind kind{};
  int32_t epoch = 0;  // how often the clock of `at` has begun anew

  // Since the switch started.
  constexpr int64_t at_ns() const {
    return (int64_t{epoch} << Rebase::kPeriodBits) + at.since_zero().ns();
  }
};

// What the value of path_failed and path_returned says.
struct PathEvent {
  LeafId leaf;
  PathId path;
  uint8_t why = 0;  // lb::PathFailure

  constexpr uint64_t packed() const {
    return uint64_t{leaf.index()} << 32 | uint64_t{path.index()} << 8 | why;
  }
  static constexpr PathEvent of(uint64_t value) {
    return {LeafId(static_cast<uint16_t>(value >> 32)), PathId(static_cast<uint16_t>(value >> 8)),
            static_cast<uint8_t>(value)};
  }
};

class EventRing {
 public:
  explicit EventRing(size_t capacity_power_of_two);
  void push(const Event& event) {
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) > mask_) {
      lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    slots_[tail & mask_] = event;
    tail_.store(tail + 1, std::memory_order_release);
  }
  bool pop(Event& event);
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  Reserved<Event> slots_;
  uint64_t mask_;
  std::atomic<uint64_t> lost_{0};
  alignas(64) std::atomic<uint64_t> head_{0};
  alignas(64) std::atomic<uint64_t> tail_{0};
};

}  // namespace eddy
