// The registry: every path selection scheme by name, its parameters, and how to make one.
//
// A scheme is lb/<name>.cpp, one line in lb/schemes.txt and tests/unit/lb/<name>_test.cpp; CMake
// generates schemes() from the list. File name = YAML name = metric label. Owner: constants of the
// program. Thread: any. Control plane only; a Selector allocates all it needs when it is made.
// Source: architecture, section 5.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "lb/dre.h"
#include "lb/parameters.h"
#include "lb/path_set.h"
#include "lb/selector.h"
#include "net/ids.h"
#include "net/result.h"
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
};

// Which packets to another leaf the source leaf gives a shim (net/shim.h), for what it measures.
enum class ShimNeed : uint8_t { none, sampled, every };

using MakeSelector = Result<std::unique_ptr<Selector>> (*)(const SelectorInit& init,
                                                           const ParameterMap& wrapper_parameters);

// A wrapper stands around any scheme and may take another member than it proposed.
struct WrapperInfo {
  std::string_view name;
  std::string_view summary;
  std::span<const ParameterInfo> parameters;
  ShimNeed needs = ShimNeed::none;  // together with the scheme's own
  MakeSelector make = nullptr;
};

struct SchemeInfo {
  std::string_view name;
  std::string_view summary;
  std::span<const ParameterInfo> parameters;
  // While the live members stay the same and its packets follow closely (within `gap` where the
  // scheme has one), a flow keeps its path.
  bool promises_order = false;
  ShimNeed needs = ShimNeed::none;        // the bare scheme's
  MakeSelector make = nullptr;            // the bare scheme; has no wrapper parameters
  std::span<const WrapperInfo> wrappers;  // the same scheme in each of lb/wrappers.h
};

std::span<const SchemeInfo> schemes();
const SchemeInfo* find_scheme(std::string_view name);  // nullptr when there is none

Result<std::unique_ptr<Selector>> make_selector(std::string_view scheme, const SelectorInit& init);
// Of the scheme as make_selector() would make it; none for an unknown one.
ShimNeed shim_need(std::string_view scheme, bool rlb);
// Empty when make_selector() would take them. Each problem starts with the parameter's name.
Problems check_parameters(std::string_view scheme, const ParameterMap& parameters);

}  // namespace eddy::lb
