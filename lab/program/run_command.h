// `eddylab run`: a sweep, or one run of it in this process.
//
// Owner: main; one call a process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eddy::lab {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kInterrupted = 130;  // as a shell has it

struct RunArguments {
  std::string experiment;  // ID or file
  std::string size = "full";
  std::string seeds;  // empty: the experiment's
  std::vector<std::string> sets;
  std::vector<std::string> variants;  // empty: all
  size_t jobs = 1;
  size_t threads = 1;  // of a run; 0: as many as its windows are worth and the machine has
  std::string out = "results";
  bool resume = true;
  bool check = false;
  bool hpcc = false;
  bool conweave = false;
  bool flow_series = false;
  std::string timeline;  // a path; empty: none
  std::string capture;   // a link or a port; empty: none
  bool progress = false;
  bool quiet = false;
  uint64_t memory_mib = 0;
  int report_fd = -1;  // where a child says how far it is
};

int run_command(const RunArguments& arguments);

// Prints each with the program's name before it.
int complain(int code, const std::vector<std::string>& problems);

}  // namespace eddy::lab
