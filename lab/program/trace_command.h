// `eddylab trace`: the next packets at a switch of a run, from an instant on, explained as they
// come, and what became of them; as `eddyctl trace` does of a running switch.
//
// The run goes on until they have left. Owner: main; one call a process. Cost: the run's up to
// then.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "lab/program/watched_run.h"

namespace eddy::lab {

struct TraceArguments {
  RunChoice choice;
  std::string at = "0s";
  std::string switch_name;
  std::string filter;  // as pcap-filter(7); empty: every packet
  uint64_t count = 10;
  bool json = false;
};

void declare_trace(CLI::App& app, TraceArguments& arguments);

// Exit codes as of all of eddylab.
int trace_command(const TraceArguments& arguments);

}  // namespace eddy::lab
