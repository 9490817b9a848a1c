// Which file an experiment's ID stands for.
//
// An argument with a '.' or '/' is a file. Any other is ID.yaml in the first of data_folders()
// whose `experiments` has it. Control plane only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "net/result.h"

namespace eddy::lab {

Result<std::filesystem::path> experiment_file(const std::string& argument);
// The file of every ID, sorted by ID.
std::vector<std::filesystem::path> all_experiments();

}  // namespace eddy::lab
