// A topology file of htsim (`.topo`) as a fabric of this lab.
//
// A head of `Nodes`, `Tiers` (2 or 3) and `Podsize`, then a part for each tier, the lowest first:
// `Tier`, `Downlink_speed_Gbps`, `Radix_Down`, `Radix_Up`, `Downlink_Latency_ns`,
// `Switch_Latency_ns`, `Oversubscribed`, `Bundle`; the first word of a line in any case. Hosts are
// 0 and on, then come switches from below. A switch's latency is half at each of its links, so
// that every way is as long as there. Problems are told with file:line:column, kept by whom the
// file belongs to. Owner: one import. Cost: linear in the links. Source: htsim,
// datacenter/fat_tree_topology.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/fabric/word_lines.h"
#include "net/units.h"
#include "system/import_report.h"

namespace eddy::lab {

struct HtsimTopology {
  int64_t hosts = 0;
  int64_t switches = 0;
  int64_t links = 0;
  Bytes headroom;    // of the switch that needs most: what its links have under way, there and back
  std::string text;  // as HPCC's simulator has it
};

// Nothing: problems of `file` say why. `name` stands for it in the report.
std::optional<HtsimTopology> read_htsim_topology(WordLines& file, const std::string& name,
                                                 ImportReport& report);

}  // namespace eddy::lab
