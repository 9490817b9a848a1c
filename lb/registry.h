// The registry: every path selection scheme by name, its parameters, and how to make one.
//
// A scheme is lb/schemes/<name>.cpp, one line in lb/schemes.txt and tests/unit/lb/<name>_test.cpp;
// CMake generates schemes() from the list. File name = YAML name = metric label. Owner: constants
// of the program. Thread: any. Control plane only; a Selector allocates all it needs when it is
// made. Schemes of plugins (lb/schemes/plugin.h) are in no list: a configuration that has one leads
// to it, so whoever has a configuration asks scheme_of(). Source: architecture, section 5.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "lb/agent.h"
#include "lb/parameters.h"
#include "lb/selector.h"
#include "lb/selector_init.h"
#include "net/result.h"

namespace eddy::config {
struct LoadBalancerConfig;
}  // namespace eddy::config

namespace eddy::lb {

struct SchemeInfo;
using MakeSelector = Result<std::unique_ptr<Selector>> (*)(const SelectorInit& init);
using HostedMake = Result<std::unique_ptr<Selector>> (*)(const SchemeInfo& scheme,
                                                         const SelectorInit& init);

struct SchemeProbes;  // lb/schemes/probes.h

// What a scheme asks of a fabric without tiers.
struct Grouped {
  uint8_t channels =
      0;  // of a lossless class, so that none waits in a circle; 0: it is for any fabric
  bool detours = false;  // beside the shortest paths
};

struct SchemeInfo {
  std::string_view name;
  std::string_view summary;
  std::span<const ParameterInfo> parameters;
  // While the live members stay the same and its packets follow closely (within `gap` where the
  // scheme has one), a flow keeps its path.
  bool promises_order = false;
  Grouped grouped;
  // What it chooses does not depend on PortSignals::queued_bytes. Stands where plugins that do not
  // know it have 0.
  bool blind_to_queues = false;
  Speech speech;  // of the bare scheme
  ShimNeed needs = ShimNeed::none;
  ShimNeed needs_with_rlb = ShimNeed::none;
  MakeSelector make = nullptr;           // the bare scheme
  MakeSelector make_with_rlb = nullptr;  // with SelectorInit::rlb around it
  // Of a plugin's scheme: the program's own function, which calls one of these two; null: they are
  // called directly.
  HostedMake hosted = nullptr;
  const SchemeProbes* probes = nullptr;  // of the conformance suite; null: compiled without
};

std::span<const SchemeInfo> schemes();
const SchemeInfo* find_scheme(std::string_view name);  // nullptr when there is none
// The one that the configuration means, of a plugin or of schemes(); nullptr when there is none.
const SchemeInfo* scheme_of(const config::LoadBalancerConfig& chosen);

Result<std::unique_ptr<Selector>> make_selector(const SchemeInfo& scheme, const SelectorInit& init);
Result<std::unique_ptr<Selector>> make_selector(std::string_view scheme, const SelectorInit& init);
Result<std::unique_ptr<Selector>> make_selector(const config::LoadBalancerConfig& chosen,
                                                const SelectorInit& init);
// Of the scheme as make_selector() would make it; none for an unknown one.
ShimNeed shim_need(std::string_view scheme, bool rlb);
ShimNeed shim_need(const config::LoadBalancerConfig& chosen, bool rlb);
bool probes_idle(std::string_view scheme, bool rlb);
bool probes_idle(const config::LoadBalancerConfig& chosen, bool rlb);
// Empty when make_selector() would take them. Each problem starts with the parameter's name.
Problems check_parameters(std::string_view scheme, const ParameterMap& parameters);

}  // namespace eddy::lb
