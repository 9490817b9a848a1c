// `eddylab advise`: what a fabric, or a switch, should have, and what its settings will do.
//
// Owner: main; one call a process.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace eddy::lab {

struct AdviseArguments {
  std::string file;
  std::string size = "full";
  std::vector<std::string> sets;
  std::vector<std::string> variants;
  bool json = false;
};

void declare_advise(CLI::App& app, AdviseArguments& arguments);

// Exit codes as of all of eddylab; a warning changes none.
int advise_command(const AdviseArguments& arguments);

}  // namespace eddy::lab
