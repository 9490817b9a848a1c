// The one list of what a result holds: keys of a run in result.json, columns of flows.sqlite.
//
// Files, their JSON Schema and the tables in docs/lab.md are made from it, so they cannot disagree.
// Units are in the list. Immutable; any thread. Cost of a run's values: linear in its flows for the
// bins, else constant. Source: reference D.5, D.6.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lab/results/json_type.h"
#include "lab/run/run_record.h"

struct sqlite3_stmt;

namespace eddy::lab {

inline constexpr int kResultSchemaVersion = 1;

struct ResultKey {
  std::string_view name;
  JsonType type;
  std::string_view unit;  // empty: none
  std::string_view help;
  Json (*value)(const RunRecord& run);
  bool nullable = false;
};
std::span<const ResultKey> result_keys();

// A column of a table of flows.sqlite. Values are integers, reals or texts.
struct FlowColumn {
  std::string_view name;
  std::string_view type;  // SQLite's
  std::string_view unit;
  std::string_view help;
  void (*bind)(sqlite3_stmt* statement, int at, const FlowResult& flow);
};
std::span<const FlowColumn> flow_columns();

std::span<const BinKey> bin_keys();

Json run_values(const RunRecord& run);
// JSON Schema (draft 2020-12) of result.json.
std::string result_schema();
// The tables of docs/lab.md between its marks.
std::string result_markdown();

}  // namespace eddy::lab
