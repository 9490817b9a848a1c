#include <algorithm>
#include <vector>

#include "switch/explain/step_lines.h"

namespace eddy::explain {
namespace {

std::string path_id(const PathOption& path) {
  const size_t second = path.path.index() & 0xff;
  return std::to_string(path.path.index() >> 8) +
         (second == 0xff ? "" : "." + std::to_string(second));
}

// Why packets do not take it, or would rather not; the worst first. Empty: nothing keeps them off.
std::string against(const PathOption& path) {
  if (!path.row.live) return "port down";
  if (path.row.failed) {
    const char* const why = path.row.failure == lb::PathFailure::silent ? "no answers"
                            : path.row.failure == lb::PathFailure::forced
                                ? "slow without load"
                                : "too many rounds for it";
    return std::string("failed: ") + why + (path.row.last ? ", but the last" : "");
  }
  std::string text;
  if (path.paused) text = "paused by PFC";
  if (path.warned)
    text += (text.empty() ? "" : ", ") + std::string("warned, severity ") +
            std::to_string(path.severity) + (path.named ? ", because of this destination" : "");
  if (path.row.unanswered > 0)
    text += (text.empty() ? "" : ", ") + std::to_string(path.row.unanswered) + " unanswered";
  return text;
}

Json row_of(const Explanation& of, size_t member, const Names& names) {
  const PathOption& path = of.paths[member];
  Json row{{"member", member},
           {"port", names.port(path.port)},
           {"path", path_id(path)},
           {"weight", path.weight},
           {"taken", member == of.member},
           {"wanted", of.choice.by == lb::Preview::By::scheme && member == of.choice.wanted},
           {"usable", path.chosen_from},
           {"queued_bytes", path.queued},
           {"backlog_bytes", path.backlog},
           {"utilisation_percent", uint64_t{path.utilisation} * 100 / 65'536},
           {"paused", path.paused},
           {"warned", path.warned},
           {"failed", path.row.failed},
           {"against", against(path)}};
  if (path.hops != 0) row["hops"] = path.hops;
  if (path.detour) row["detour"] = true;
  if (path.warned) row["severity"] = path.severity;
  if (path.row.measured) {
    row["delay_ns"] = path.row.delay.ns();
    row["age_ns"] = path.row.age.ns();
    row["load_percent"] = uint64_t{path.row.congestion} * 100 / UINT8_MAX;
  }
  const lb::PathKnowledge& told = path.row.told;
  if (told.best) row["best"] = *told.best;
  if (told.utilisation) row["told_percent"] = uint64_t{*told.utilisation} * 100 / UINT8_MAX;
  if (told.age) row["told_age_ns"] = told.age->ns();
  if (told.busy) row["busy_ns"] = told.busy->ns();
  return row;
}

uint64_t number(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number_integer() ? found->get<uint64_t>() : 0;
}
std::string text(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}
bool flag(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_boolean() && found->get<bool>();
}

std::vector<std::string> cells_of(const Json& row) {
  const bool measured = row.contains("delay_ns");
  const char* mark = flag(row, "taken") ? "->" : flag(row, "wanted") ? "*" : "";
  return {mark,
          std::to_string(number(row, "member")),
          text(row, "port"),
          text(row, "path"),
          grouped(number(row, "queued_bytes")),
          grouped(number(row, "backlog_bytes")),
          std::to_string(number(row, "utilisation_percent")) + " %",
          measured ? time_text(Duration::nanoseconds(static_cast<int64_t>(number(row, "delay_ns"))))
                   : "",
          row.contains("load_percent") ? std::to_string(number(row, "load_percent")) + " %" : "",
          text(row, "against")};
}

}  // namespace

Json path_rows(const Explanation& of, const Names& names) {
  Json rows = Json::array();
  for (size_t member = 0; member < of.options; ++member) rows.push_back(row_of(of, member, names));
  return rows;
}

std::string path_table(const Json& rows) {
  std::vector<std::vector<std::string>> lines{
      {"", "member", "port", "path", "queue", "backlog", "line", "delay", "load", "against it"}};
  if (!rows.is_array()) return "";
  for (const Json& row : rows)
    if (row.is_object()) lines.push_back(cells_of(row));
  std::vector<size_t> widths(lines[0].size());
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string out;
  for (const auto& line : lines) {
    std::string shown = std::string(14, ' ');
    for (size_t i = 0; i < line.size(); ++i)
      shown += line[i] + std::string(widths[i] - line[i].size() + 2, ' ');
    shown.erase(shown.find_last_not_of(' ') + 1);
    out += shown + "\n";
  }
  return out;
}

}  // namespace eddy::explain
