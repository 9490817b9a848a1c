// `eddylab conformance`: the suite of lab/conformance over path selection schemes.
//
// Owner: main; one call a process.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace eddy::lab {

struct ConformanceArguments {
  std::vector<std::string> schemes;  // empty: all
  bool list = false;
  bool json = false;
};

void declare_conformance(CLI::App& app, ConformanceArguments& arguments);

// Exit codes as of all of eddylab; kFailed: a check found something.
int conformance_command(const ConformanceArguments& arguments);

}  // namespace eddy::lab
