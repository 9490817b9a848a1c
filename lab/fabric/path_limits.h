// PathLimits: destinations that traffic may reach by some switches only (TrafficConfig::paths).
//
// Such a host's route names a path set of its own, under a leaf id behind those of the leaves, from
// which the switches beside the named ones are barred. Traffic items must agree on a host; only
// sources at other switches than the host's matter. Control plane only. Source: reference E.1
// (rlb-m1: the congested flow is confined to 5 of 40 paths).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/fabric_plan.h"
#include "lab/fabric/topology.h"
#include "net/result.h"

namespace eddy::lab {

class PathLimits {
 public:
  struct Set {
    LeafId id;
    size_t leaf = 0;              // the switch it leads to
    std::vector<bool> barred;     // by switch
    std::vector<size_t> sources;  // switches that need a way, ascending
    std::string key;              // of the traffic item, for messages
  };

  // `topology` needs its switches and hosts only; sets are numbered from `first`.
  PathLimits(const config::Experiment& experiment, const FabricPlan& plan, const Topology& topology,
             LeafId first);

  const std::vector<Set>& sets() const { return sets_; }
  // The set of a host; none: its leaf's.
  LeafId via(size_t host) const { return via_[host]; }
  const Problems& problems() const { return problems_; }

 private:
  struct Use {                       // of a host
    size_t item = 0;                 // the first traffic item that sends to it
    std::vector<std::string> paths;  // sorted
  };

  void read_item(size_t item);
  bool check_names(size_t item);
  // The traffic item sends from these switches to the host, by the paths that it names. All items
  // that send to a host must name the same.
  void claim(size_t item, uint32_t host, const std::vector<size_t>& sources);
  Set& set_for(size_t item, size_t leaf);
  std::vector<bool> barred_beside(const std::vector<std::string>& names) const;
  std::string valid_names() const;
  bool has_hosts(size_t node) const { return !topology_.switches[node].leaf.is_none(); }

  const config::Experiment& experiment_;
  const FabricPlan& plan_;
  const Topology& topology_;
  size_t next_;
  std::map<std::string, size_t> switch_named_;
  std::map<uint32_t, Use> uses_;                    // by host
  std::map<std::pair<size_t, size_t>, bool> told_;  // pairs of items that contradict each other
  std::vector<Set> sets_;
  std::vector<LeafId> via_;
  Problems problems_;
};

}  // namespace eddy::lab
