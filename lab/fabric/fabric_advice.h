// FabricAdvice: what a whole fabric should have, and what its settings will do: the advice for each
// of its switches (pfc/advice.h) in one list, and beside it that for its hosts.
//
// Pure functions on a topology that is not scaled. Owner: the caller. Cost: linear in ports.
// Source: docs/advice.md.
#pragma once

#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "net/result.h"
#include "pfc/advice.h"

namespace eddy::lab {

struct FabricAdvice {
  pfc::FabricFacts facts;
  Bytes window;  // that hosts should have: the largest BDP of a pair of them
  std::vector<pfc::Recommended> recommended;  // one of each kind; `port` is "leaf1 host1"
  std::vector<pfc::Advice> advice;            // the gravest first
};

Result<FabricAdvice> advise_fabric(const config::Experiment& experiment, const Topology& topology);

}  // namespace eddy::lab
