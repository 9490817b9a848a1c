// A connection matrix of htsim (`.cm`) as a flow file of this lab.
//
// A head of `Nodes`, `Connections`, `Triggers`, `Failures`, then a line a flow: "src->dst start T
// size S", with `id`, `prio` and triggers beside; T is in picoseconds, S in octets. Flows that
// start by a trigger wait for others, which a flow file cannot say: they are left out, and said.
// Problems are told with file:line:column, kept by whom the file belongs to. Owner: one import.
// Cost: linear in the text. Source: htsim, datacenter/connection_matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/fabric/word_lines.h"
#include "net/units.h"
#include "system/import_report.h"

namespace eddy::lab {

struct HtsimMatrix {
  size_t flows = 0;
  Duration last;     // start
  std::string text;  // as ConWeave's simulator has it
};

// Nothing: problems of `file` say why. `hosts`: of the topology.
std::optional<HtsimMatrix> read_htsim_matrix(WordLines& file, const std::string& name,
                                             int64_t hosts, ImportReport& report);

}  // namespace eddy::lab
