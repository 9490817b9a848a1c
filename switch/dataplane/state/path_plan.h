// PathPlan: what a leaf measures of its paths, compiled: every time settled, the class resolved,
// and which path set belongs to which leaf.
//
// Immutable; part of a snapshot. A switch without a leaf id measures nothing, but passes on what
// others measure. Source: config/path_service.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "config/config.h"
#include "lb/path_set.h"
#include "lb/path_table.h"
#include "lb/registry.h"
#include "net/ids.h"
#include "net/protocols.h"
#include "net/units.h"
#include "switch/dataplane/state/routes.h"

namespace eddy {

// Where stamped frames of our own wait, and how they are charged.
struct MeasuredClass {
  TrafficClass traffic_class;
  PriorityGroupId pg;
  QueueId queue;
  bool operator==(const MeasuredClass&) const = default;
};

struct PathPlan {
  static constexpr uint16_t kNoSet = UINT16_MAX;
  static constexpr int64_t kPatience = 8;  // base round trips until a request counts as unanswered

  lb::ShimNeed need = lb::ShimNeed::none;
  uint32_t shim_octets = kShimHeader;  // that one is charged with: none where it is free
  bool one_way = false;
  Duration base_rtt;
  Duration sample;
  Duration echo;
  Duration probe;            // 0: none
  bool probes_idle = false;  // somebody wants to know how long paths take that nobody uses
  bool tells_loads = false;  // the configuration gives every packet a shim, whatever the scheme
  Duration rest;       // a path that was not stamped for so long is probed when it is looked at
  Duration proof_lag;  // by how much a stamp may outrun packets on their way between shards
  int smoothing = 4;
  MeasuredClass measured;
  std::optional<MeasuredClass> swept;      // the isolated class, where paths are swept
  config::FailureDetectorConfig detector;  // off where nothing is to be judged
  std::vector<uint16_t> set_of_leaf;       // the leaf's own set; shorter than ids may be
  std::vector<LeafId> leaf_of_set;         // where a set leads
  std::vector<uint8_t> pinned;             // by set: path ids name a second choice
  bool pins = false;                       // some set does
  std::vector<Bytes> capacities;  // by port: what its DRE comes to on a line that never rests

  // `leaves`: where each set leads, which for one that is only for some hosts its id does not say.
  static PathPlan of(const config::SwitchConfig& config, std::span<const lb::PathSet> sets,
                     std::span<const LeafId> leaves, size_t shards);
  uint16_t set_of(LeafId leaf) const {
    return leaf.index() < set_of_leaf.size() ? set_of_leaf[leaf.index()] : kNoSet;
  }
  // Packets to other leaves may get a shim here.
  bool dresses() const { return need != lb::ShimNeed::none || pins; }
  // In which every set is looked at once.
  Duration look_round() const { return probe > Duration{} ? probe : base_rtt * kPatience; }
  lb::PathTable::Parameters table_parameters() const;
  bool operator==(const PathPlan&) const = default;
};

}  // namespace eddy
