// `eddylab import`: experiments from the files of other simulators.
//
// Owner: main; one call a process. Source: docs/import.md.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace eddy::lab {

struct ImportArguments {
  std::string from;  // hpcc, conweave, htsim
  std::string source;
  std::string second;  // htsim: the topology file
  std::string config;  // these three: in place of what is found
  std::string topology;
  std::string flows;
  std::string out;
};

void declare_import(CLI::App& app, ImportArguments& arguments);
int import_command(const ImportArguments& arguments);

}  // namespace eddy::lab
