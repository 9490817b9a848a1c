// A sweep: every variant with every seed, and who runs which.
//
// Items are independent of each other. Among several processes (mpirun, a Slurm array, srun) each
// takes every n-th; they meet in the results' files only. Plain values. Owner: the program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"

namespace eddy::lab {

struct WorkItem {
  size_t variant = 0;  // its number in the experiment
  uint64_t seed = 0;
  bool operator==(const WorkItem&) const = default;
};

// Seeds vary fastest: a variant is complete early.
std::vector<WorkItem> work_items(size_t variants, const std::vector<uint64_t>& seeds);

struct Rank {
  uint32_t index = 0;
  uint32_t count = 1;
  std::string from;  // which environment said so; empty: none
};
using Environment = std::function<std::optional<std::string>(const char* name)>;
// From mpirun's or Slurm's environment.
Result<Rank> rank_of(const Environment& environment);
// Items i with i % count == index.
std::vector<WorkItem> share_of(const std::vector<WorkItem>& items, const Rank& rank);

// "1,2,5-8".
Result<std::vector<uint64_t>> parse_seeds(std::string_view text);

// `word` as a shell reads it back.
std::string shell_quoted(std::string_view word);
std::string command_line(const std::vector<std::string>& words);

}  // namespace eddy::lab
