// SelectorInit: what a selector is made from; and which packets it needs a shim on.
//
// Control plane only. Source: architecture, section 5.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "lb/dre.h"
#include "lb/flow_slots.h"
#include "lb/parameters.h"
#include "lb/path_set.h"
#include "net/ids.h"
#include "net/units.h"

namespace eddy::config {
struct RlbConfig;
}  // namespace eddy::config

namespace eddy::lb {

// A port's line, as far as schemes reckon with it.
struct PortLine {
  BitRate rate;
  Bytes marking;  // the shortest queue that is ECN-marked, of those that mark; 0: none does
  bool operator==(const PortLine&) const = default;
};

// What a selector is made from. `sets` are the snapshot's: the same, in the same order, as every
// PathView shows later. Equal inits make selectors that choose alike, byte for byte.
struct SelectorInit {
  std::span<const PathSet> sets;
  uint64_t seed = 0;
  SwitchId switch_id;
  ShardId shard;
  const ParameterMap& parameters;
  const config::RlbConfig* rlb = nullptr;  // around the scheme; null: none
  std::span<const PortLine> lines;         // by port
  Dre dre{Dre::Parameters{}};              // what PortSignals' register means
  bool control_by_scheme = false;          // RoCE ACK, NAK and CNP; else by ECMP
  std::shared_ptr<FlowSlots> slots;        // for a scheme that keeps as many; null: none are lent
};

// Which packets to another leaf the source leaf gives a shim (net/shim.h), for what it measures.
enum class ShimNeed : uint8_t { none, sampled, every };

}  // namespace eddy::lb
