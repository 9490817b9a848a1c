// One finished run with what identifies it: all that its files are written from.
//
// Plain values. Owner: the program. Source: reference E.0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/loaded_scheme.h"
#include "lab/fabric/topology.h"
#include "lab/run/run.h"

namespace eddy::lab {

struct RunIdentity {
  std::string experiment;
  std::string title;
  std::string size;
  std::string variant;  // empty: the experiment has but one
  std::string commit;   // of the program; "unknown" when built outside a checkout
  uint64_t
      config_hash{};   // of the printed configuration, without its seeds, and the files it names
  std::string config;  // printed
  const config::LoadedScheme* plugin = nullptr;  // that the scheme is of; null: of the program
  std::optional<std::string> rlb;                // preset; none: without RLB
  int64_t bdp_bytes = 0;                         // of the fabric's longest pair of hosts
  std::vector<std::string> expect;               // what the experiment claims, in words
  std::string replay;                            // the command line that runs it again
  std::vector<std::string> with;                 // beside the results: "--check", "--timeline PATH"
};

struct RunRecord {
  RunIdentity identity;
  RunResult result;
  Topology topology;     // names of the hosts
  std::string pfc_text;  // pfc.txt, if it was asked for
};

}  // namespace eddy::lab
