// The sentences at the top of a page: what was run, which variant did best, what was lost, which
// claims hold.
//
// Numbers are means over seeds with half of their 95 % interval. Owner: the caller. Cost: linear in
// the runs.
#pragma once

#include <string>
#include <vector>

#include "lab/page/source.h"

namespace eddy::lab {

std::vector<std::string> summary_words(const PageSource& source);

}  // namespace eddy::lab
