// Which file an experiment's ID stands for.
//
// An argument with a '.' or '/' is a file. Any other is ID.yaml in config/experiments, below the
// current folder or else in the tree that the program was built in. Control plane only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "net/result.h"

namespace eddy::lab {

Result<std::filesystem::path> experiment_file(const std::string& argument);
// All IDs, sorted.
std::vector<std::filesystem::path> all_experiments();

}  // namespace eddy::lab
