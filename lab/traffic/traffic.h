// make_traffic: every flow of an experiment, from a seed.
//
// The same (experiment, seed) gives the same flows on every machine, whatever the scheme, and every
// traffic item has its own random streams: adding one shifts nothing in another. Loads count octets
// on the line: payload, headers of every packet and line overhead, of data only, sent once. The
// core's capacity is what the leaves of the sources have towards other switches, with every link
// healthy. Times are the experiment's, unscaled or scaled as the topology is. Owner: the caller.
// Bounds: kMaxFlows. Cost: about 200 ns a flow. Source: reference D.7, E.0, E.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/traffic/flow.h"
#include "lab/traffic/waits.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

struct Trace {
  // By start; those that start together as they were made; behind all, those that wait.
  std::vector<Flow> flows;
  Waits waits;
  std::vector<TrafficSummary> items;
  std::vector<std::string> warnings;  // "traffic.0: what"
  // The time in the first trace's file that is the run's beginning, as in the file; nullopt = no
  // trace.
  std::optional<Duration> file_origin;

  uint64_t digest() const;  // FNV-1a over all of every flow that decides what is sent
};

// All problems at once: "traffic.0.sources.1: what, what would be valid", or of a file "file:line:
// what".
Result<Trace> make_traffic(const config::Experiment& experiment, const Topology& topology,
                           uint64_t seed, const ReadTrafficFile& read);

}  // namespace eddy::lab
