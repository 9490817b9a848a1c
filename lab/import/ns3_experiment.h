// An experiment of this lab from what HPCC's or ConWeave's simulator is given: config.txt, a
// topology file and a flow file.
//
// Every key of the configuration is told in the report: taken, approximated or ignored; so is what
// those programs do whatever their configuration says, where it is not what this lab does by
// itself. Problems of all three files are told at once, with file:line. Nothing is written here.
// Owner: the caller; control plane only. Cost: linear in the texts, and that of ns3_reach().
// Source: docs/import.md.
#pragma once

#include <string>

#include "lab/fabric/text_table.h"
#include "lab/import/imported.h"
#include "lab/import/ns3_config.h"
#include "net/result.h"

namespace eddy::lab {

struct Ns3Sources {
  NamedText config;
  NamedText topology;
  NamedText flows;
};

// `id` names the experiment's results.
Result<Imported> import_ns3(Ns3Sources sources, Ns3Dialect dialect, const std::string& id);

}  // namespace eddy::lab
