// Kept results: what of a result is worth a file in the tree, so that documents can be made again
// without running anything.
//
// A kept result is a result.json (result_keys.h) with fewer keys, its numbers cut to six digits,
// and what was to be said of it as `remarks`: whatever reads a result reads it. Pure functions.
// Owner: the caller. Cost: linear in the result.
#pragma once

#include <string>
#include <vector>

#include "lab/results/result_keys.h"

namespace eddy::lab {

// With the keys of tables and claims, and the digests that a second run must have. Without the
// commit, of which the digests say more: a run that is the same has the same.
Json kept_result(const Json& result);
// One run a line, so that a change is seen in a diff.
std::string kept_text(const Json& kept);

// What is to be said of a result before its numbers: of a kept one what was said when it was whole.
std::vector<std::string> remarks_of(const Json& result);

}  // namespace eddy::lab
