// What a reader must know of a result before its numbers: the one list that `run`, `show` and the
// page say first.
//
// Each is a sentence about all runs of the result, however many they are; the gravest stand first.
// Pure functions. Owner: the caller. Cost: linear in the runs.
#pragma once

#include <string>
#include <vector>

#include "lab/results/result_keys.h"

namespace eddy::lab {

// Empty: there is nothing to be warned of.
std::vector<std::string> result_warnings(const Json& result);

// Whether there is a run in it that measured no flow, which is a failure: it has no numbers.
bool measured_nothing(const Json& result);

// The warnings as lines, each after `prefix`.
std::string warning_lines(const Json& result, const std::string& prefix);

}  // namespace eddy::lab
