// A configuration of eddyd from SONiC's config_db.json, and what was made of its tables.
//
// Ports with their addresses, buffers, priority groups, queues, schedulers, WRED, QoS maps, PFC and
// its watchdog. Every table is told in the report: what of it was taken, what is only near, what
// has no counterpart. Problems are told all at once with "file:line:", and then there is no
// configuration. What comes out is one that eddyd takes: it has been loaded. Owner: the caller;
// control plane only. Cost: linear in the file, and loading. Source: docs/import.md; SONiC's
// CONFIG_DB schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"
#include "system/import_report.h"

namespace eddy::control {

struct SonicImported {
  std::string yaml;
  ImportReport report;
  std::vector<std::string> warnings;  // of eddyd's about what was made
};

// `name` stands for the file in messages.
Result<SonicImported> import_sonic(const std::string& name, std::string_view text);

}  // namespace eddy::control
