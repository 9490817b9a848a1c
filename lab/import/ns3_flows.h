// A flow file of HPCC's or ConWeave's simulator, as those programs read it, and made over into one
// that this lab reads.
//
// The number of flows, then a line a flow: HPCC's "src dst pg dport size start", ConWeave's "src
// dst pg size start"; hosts by their numbers in the topology file, octets, seconds. Those programs
// read as many flows as the first line says and leave the rest alone, where their own files have
// notes. Input is hostile: at most WordLines::kMaxProblems problems are told, with file:line, and
// flows are kMostFlows at most. Owner: one import. Cost: linear in the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lab/import/ns3_config.h"
#include "lab/import/ns3_topology.h"
#include "net/result.h"
#include "net/units.h"
#include "system/import_report.h"

namespace eddy::lab {

struct Ns3Flows {
  std::string text;  // made over, by start
  size_t count = 0;
  Duration first;  // start, as in the file
  Duration last;
  std::optional<int64_t> group;  // the priority group that all have
};

struct Ns3FlowFile {
  std::string name;  // in messages
  std::string_view text;
};

inline constexpr int64_t kMostFlows = int64_t{1} << 24;

// Nothing: `problems` say why.
std::optional<Ns3Flows> read_ns3_flows(const Ns3FlowFile& file, Ns3Dialect dialect,
                                       const Ns3Topology& topology, ImportReport& report,
                                       Problems& problems);

}  // namespace eddy::lab
