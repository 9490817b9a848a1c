// Distinct integer types for the things that are numbered, and the limits of the object.
//
// An id converts to its number only by index(); ids of different kinds do not compare or mix.
// Limits (architecture, section 11): 256 ports, 64 paths a path set, 8 priorities.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace eddy {

template <class Tag, class Rep>
class Id {
 public:
  constexpr Id() = default;
  explicit constexpr Id(size_t n) : n_(static_cast<Rep>(n)) {}
  static constexpr Id none() { return Id(static_cast<Rep>(~Rep{0})); }

  constexpr size_t index() const { return n_; }
  constexpr bool is_none() const { return *this == none(); }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  Rep n_ = 0;
};

using PortId = Id<struct PortTag, uint16_t>;
using ShardId = Id<struct ShardTag, uint8_t>;
using LeafId =
    Id<struct LeafTag, uint16_t>;  // a switch that has hosts, in the shim and in path sets
using SwitchId = Id<struct SwitchTag, uint16_t>;  // any switch, in CPIDs and seeds
using PathId = Id<struct PathTag,
                  uint16_t>;  // first choice in the high byte, second in the low; 0xFF = hop by hop
using Priority = Id<struct PriorityTag, uint8_t>;          // 0..7, the PFC class on the wire
using PriorityGroupId = Id<struct PgTag, uint8_t>;         // 0..7, ingress
using QueueId = Id<struct QueueTag, uint8_t>;              // 0..7, egress
using TrafficClass = Id<struct TrafficClassTag, uint8_t>;  // 0..7, inside the switch

inline constexpr size_t kMaxPorts = 256;
inline constexpr size_t kMaxPaths = 64;
inline constexpr size_t kPriorities = 8;
inline constexpr uint8_t kAllPriorities = 0xFF;  // as a mask
inline constexpr size_t kMaxShards = 16;
inline constexpr size_t kBurst = 32;

}  // namespace eddy
