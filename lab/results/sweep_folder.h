// SweepFolder: a folder of results, held by the one sweep that writes into it.
//
// Two sweeps into one folder would each overwrite runs of the other and leave runs out that are
// half written. Processes of one mpirun or Slurm job share the folder: each has a part of the runs,
// and its own number is what it holds. The lock goes with the process, however that ends; its file
// stays. Owner: the program. Cost: a few system calls.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "lab/run/sweep.h"
#include "net/result.h"

namespace eddy::lab {

class SweepFolder {
 public:
  // Makes what is missing of `folder`. Refused, in one line, where it cannot be written or another
  // one holds it.
  static Result<std::unique_ptr<SweepFolder>> claim(const std::filesystem::path& folder,
                                                    const Rank& rank = {});
  ~SweepFolder();
  SweepFolder(const SweepFolder&) = delete;
  SweepFolder& operator=(const SweepFolder&) = delete;

 private:
  SweepFolder() = default;
  std::vector<int> locks_;
};

// Makes the folder, with those above it, and sees whether files can be made in it.
[[nodiscard]] Problems make_folder(const std::filesystem::path& folder);
// Whether a file can be put there, before much work goes into it.
[[nodiscard]] Problems check_writable(const std::filesystem::path& file);

}  // namespace eddy::lab
