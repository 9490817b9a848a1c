// Flow: one flow of an experiment's traffic; and what an item of the traffic amounts to.
//
// Values. Bounds: kMaxFlows a run. Source: reference D.7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lab/fabric/text_table.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

inline constexpr uint32_t kNoRequest = 0xffffffff;
inline constexpr size_t kMaxFlows = size_t{1} << 24;

struct Flow {
  uint32_t source = 0;  // index of Topology::hosts
  uint32_t destination = 0;
  Bytes size{0};                  // payload octets
  Instant start;                  // never: it waits (waits.h), and has not begun
  uint16_t traffic = 0;           // index of Experiment::traffic
  uint16_t source_port = 0;       // 49,152 to 65,535
  uint32_t request = kNoRequest;  // incast, collective: its number within the item, from 0
  uint16_t file_port = 0;         // trace: the destination port that HPCC's files give; 0 = none
  bool operator==(const Flow&) const = default;
};

// What one item of the traffic amounts to, for results.
struct TrafficSummary {
  std::string name;
  std::string_view type;  // as in files
  bool measured = true;
  size_t flows = 0;
  Bytes bytes{0};             // payload
  std::string cdf;            // poisson: the file and its FNV-1a digest
  uint64_t cdf_digest = 0;    //
  double mean_size = 0;       // poisson: of the distribution, octets of payload
  double mean_wire_size = 0;  // and with headers and line overhead
  BitRate reference{};        // poisson: what the load is a share of
  BitRate offered{};          // poisson, incast by rate: wire bits a second, all sources
};

// The file behind a workload's name or a path, or why it cannot be had.
using ReadTrafficFile = std::function<Result<NamedText>(const std::string& name)>;

}  // namespace eddy::lab
