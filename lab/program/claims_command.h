// `eddylab claims`: what experiments claim, and what came out.
//
// Owner: main; one call a process.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace eddy::lab {

struct ClaimsArguments {
  std::vector<std::string> results;
  bool json = false;
  bool unseen = false;
  std::string keep;  // folder; empty: nothing is kept
};

void declare_claims(CLI::App& app, ClaimsArguments& arguments);

// Exit codes as of all of eddylab. Nothing is written if anything cannot be read.
int claims_command(const ClaimsArguments& arguments);

}  // namespace eddy::lab
