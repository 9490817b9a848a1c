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
#include <functional>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/text_table.h"
#include "lab/fabric/topology.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

inline constexpr uint32_t kNoRequest = 0xffffffff;
inline constexpr size_t kMaxFlows = size_t{1} << 24;

struct Flow {
  uint32_t source = 0;  // index of Topology::hosts
  uint32_t destination = 0;
  Bytes size{0};  // payload octets
  Instant start;
  uint16_t traffic = 0;           // index of Experiment::traffic
  uint16_t source_port = 0;       // 49,152 to 65,535
  uint32_t request = kNoRequest;  // incast: its number within the item, from 0
  bool operator==(const Flow&) const = default;
};

// What one item of the traffic amounts to, for results.
struct TrafficSummary {
  std::string name;
  size_t flows = 0;
  Bytes bytes{0};             // payload
  std::string cdf;            // poisson: the file and its FNV-1a digest
  uint64_t cdf_digest = 0;    //
  double mean_size = 0;       // poisson: of the distribution, octets of payload
  double mean_wire_size = 0;  // and with headers and line overhead
  BitRate reference{};        // poisson: what the load is a share of
  BitRate offered{};          // poisson, incast by rate: wire bits a second, all sources
};

struct Trace {
  std::vector<Flow> flows;  // by start; those that start together as they were made
  std::vector<TrafficSummary> items;
  std::vector<std::string> warnings;  // "traffic.0: what"

  uint64_t digest() const;  // FNV-1a over every member of every flow
};

// The file behind a workload's name or a path, or why it cannot be had.
using ReadTrafficFile = std::function<Result<NamedText>(const std::string& name)>;

// All problems at once: "traffic.0.sources.1: what, what would be valid", or of a file "file:line:
// what".
Result<Trace> make_traffic(const config::Experiment& experiment, const Topology& topology,
                           uint64_t seed, const ReadTrafficFile& read);

}  // namespace eddy::lab
