// What experiments claim and what came out, as a document: a table of all claims, then a section an
// experiment. docs/results.md is made by it, and `eddylab claims` prints it.
//
// Pure functions. Owner: the caller. Cost: linear in the results. Numbers are those of
// lab/results/result_tables.h and claims.h.
#pragma once

#include <string>
#include <vector>

#include "lab/results/claims.h"

namespace eddy::lab {

struct ClaimsSource {
  Json result;          // whole or kept
  Json expect;          // the claims, of today's experiment or of the result
  std::string source;   // paper and figure; empty: not known
  std::string numbers;  // link to the kept result; empty: there is none
  std::string notes;    // link to what is said about it in words; empty: nothing
};
// An experiment with claims of which there is no result.
struct UnseenExperiment {
  std::string id;
  size_t claims = 0;  // in numbers
};

std::string claims_markdown(const std::vector<ClaimsSource>& sources,
                            const std::vector<UnseenExperiment>& unseen);
// For scripts: the claims of all sources, one after the other.
Json claims_json(const std::vector<ClaimsSource>& sources);

}  // namespace eddy::lab
