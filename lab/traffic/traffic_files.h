// TrafficFiles: where the files that an experiment's traffic names are found.
//
// A name with a '.' or '/' is a path, relative to the experiment's folder. Any other name is that
// of a workload, NAME.csv, in the first of these that has it: the experiment's folder, its
// `workloads`, `workloads` beside it (as config/experiments has), `workloads` of data_folders().
// Files have at most kMaxTrafficFile octets. Control plane only; keeps nothing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "lab/fabric/text_table.h"
#include "net/result.h"

namespace eddy::lab {

inline constexpr size_t kMaxTrafficFile = size_t{64} << 20;

class TrafficFiles {
 public:
  // The folder of the experiment's file.
  explicit TrafficFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Result<NamedText> operator()(const std::string& name) const;

 private:
  std::vector<std::filesystem::path> candidates(const std::string& name) const;

  std::filesystem::path folder_;
};

}  // namespace eddy::lab
