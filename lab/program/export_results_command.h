// `eddylab export-results`: the tables of a sweep as CSV or Parquet files, by the Python package.
//
// Owner: main. The process becomes python3's, whose exit code is the command's: 0 done, 1 not
// written. Errors: no python3, no package. Source: docs/python.md.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace eddy::lab {

struct ExportResultsArguments {
  std::string results;
  std::string to = ".";
  std::string format = "csv";
};

void declare_export_results(CLI::App& app, ExportResultsArguments& arguments);
// Comes back only with a code of failure.
int export_results_command(const ExportResultsArguments& arguments);

}  // namespace eddy::lab
