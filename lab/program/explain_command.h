// `eddylab explain`: what a switch of an experiment would do, at one instant of a run, with a
// packet that is described; the run goes no further.
//
// Owner: main; one call a process. Cost: the run's up to the instant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lab/program/watched_run.h"

namespace eddy::lab {

struct ExplainArguments {
  RunChoice choice;
  std::vector<std::string> packet;
  std::string at;
  std::string switch_name;  // empty: that of the sending host
  bool json = false;
};

void declare_explain(CLI::App& app, ExplainArguments& arguments);

// Exit codes as of all of eddylab.
int explain_command(const ExplainArguments& arguments);

}  // namespace eddy::lab
