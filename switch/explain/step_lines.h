// The steps of a story, each a JSON object with its line of text; for story.cpp.
#pragma once

#include <string>

#include "switch/dataplane/state/explanation.h"
#include "switch/explain/json.h"
#include "switch/explain/names.h"

namespace eddy::explain {

// "1,234,567"
std::string grouped(uint64_t number);
// "1.5 us"
std::string time_text(Duration time);
std::string percent_text(uint64_t part, uint64_t whole);

Json step(const char* number, const char* name, std::string text);
Json parse_step(const Explanation& of);
Json classify_step(const Explanation& of);
Json route_step(const Explanation& of, const Names& names);
Json isolate_step(const Explanation& of);
Json admit_step(const Explanation& of);
Json select_step(const Explanation& of, const Names& names);
Json resolve_step(const Explanation& of);
Json enqueue_step(const Explanation& of, const Names& names);
// Of the step "select": a row for each path.
Json path_rows(const Explanation& of, const Names& names);
// The rows as a table; those of another program are checked.
std::string path_table(const Json& rows);

}  // namespace eddy::explain
