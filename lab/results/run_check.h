// Whether a run.json or a result.json has the types that lab/results/result_keys.h declares, before
// anything reads it.
//
// Files of results are input, and may be cut short, edited, or of another program. A key that is
// missing is no problem; a key of another type is. Control plane only. Cost: linear in the file.
#pragma once

#include <string>

#include "lab/results/result_keys.h"
#include "net/result.h"

namespace eddy::lab {

// Each problem begins with `name`, the file's.
Problems check_run_file(const std::string& name, const Json& file);

// The same of a result.json, whose runs are many.
Problems check_result_file(const std::string& name, const Json& file);

// What is said of a file of another schema version; empty: it has ours.
std::string other_version(const std::string& name, const Json& file);

}  // namespace eddy::lab
