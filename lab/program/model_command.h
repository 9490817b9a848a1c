// `eddylab model`: figures that papers compute (lab/model), alone or beside a run.
//
// Owner: main; one call a process.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace eddy::lab {

struct ModelArguments {
  std::string figure;  // empty: the list of them
  std::vector<std::string> sets;
  std::string compare;  // OUT/EXPERIMENT/SIZE; empty: the model alone
  std::string drawing;  // an SVG file; empty: none
  bool keys = false;
  bool json = false;
};

void declare_model(CLI::App& app, ModelArguments& arguments);

// Exit codes as of all of eddylab; kFailed: a run that cannot be compared.
int model_command(const ModelArguments& arguments);

}  // namespace eddy::lab
