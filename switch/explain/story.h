// Story: an Explanation as JSON for programs, with lines of text in it for people.
//
// {"switch", "at_ns", "generation", "port", "packet": {...}, "steps": [{"number", "step", "text",
// ...}], "fate", "reason", "text"}: steps have the numbers and names of docs/packet_walk.md, and
// those that had nothing to do with the packet are left out; a step's further members are named in
// docs/explain.md; the step "select" has "paths", a row for each that there is. Numbers are whole,
// or probabilities from 0 to 1; what is not known is absent. Pure functions of their arguments.
#pragma once

#include <string>

#include "switch/dataplane/state/explanation.h"
#include "switch/explain/json.h"
#include "switch/explain/names.h"

namespace eddy::explain {

Json story_of(const Explanation& explanation, const Names& names);
// The texts of a story, as lines; `story` may be anybody's, and what is not as expected is left
// out.
std::string lines_of(const Json& story);

}  // namespace eddy::explain
