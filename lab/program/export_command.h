// `eddylab export`: an experiment's fabric as a folder of files for containers.
//
// Owner: main; one call a process. Source: docs/containers.md.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace eddy::lab {

struct ExportArguments {
  std::string experiment;
  std::string size = "full";
  uint64_t seed = 1;
  std::vector<std::string> sets;
  std::vector<std::string> variants;
  int64_t time_dilation = 0;
  std::string name;
  std::string to;
  std::string hosts = "eddyhost";
  std::string out;
};

void declare_export(CLI::App& app, ExportArguments& arguments);
int export_command(const ExportArguments& arguments);

}  // namespace eddy::lab
