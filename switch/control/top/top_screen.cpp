#include "switch/control/top/top_screen.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "switch/control/report/table.h"

namespace eddy::control {
namespace {

constexpr Report kViews[] = {Report::ports, Report::queues, Report::pgs,   Report::pfc,
                             Report::drops, Report::rlb,    Report::paths, Report::workers};
constexpr std::string_view kViewNames[] = {"ports", "queues", "pgs",   "pfc",
                                           "drops", "rlb",    "paths", "workers"};
constexpr std::string_view kFabricViewNames[] = {"links", "switches", "queues", "pgs",    "pfc",
                                                 "drops", "rlb",      "paths",  "workers"};
constexpr size_t kLinesAround = 4;  // title, views, heads; keys
constexpr size_t kPage = 10;

constexpr const char* kHelp[] = {
    "1 to 9, Tab        what is shown, as the second line names it",
    "s, S               sort by the next column, by the one before; r  the other way round",
    "o                  rows in the order of the switch",
    "/                  filter: rows with this text; Enter keeps it, Esc ends it",
    "p, Space           pause: the numbers stay; again: resume",
    "Up, Down           rows; PgUp and PgDn: ten of them; Home, End",
    "Left, Right        columns",
    "h, ?               this help",
    "q, Ctrl-C          end"};

// An octet a column, whatever language a name is in.
std::string in_ascii(std::string text) {
  constexpr unsigned char kDelete = 0x7f;
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= kDelete) c = '?';
  return text;
}

std::string cut(std::string text, size_t columns) {
  text = in_ascii(std::move(text));
  return text.size() > columns ? text.substr(0, columns) : text;
}

// Numbers before texts, the largest first; what has no value is last, either way round.
void sort_rows(Json& rows, const TopState& state) {
  if (state.sort_key.empty()) {
    if (state.reversed) std::reverse(rows.begin(), rows.end());
    return;
  }
  const auto before = [&](const Json& a, const Json& b) {
    const auto x = a.find(state.sort_key);
    const auto y = b.find(state.sort_key);
    if (x == a.end() || y == b.end()) return x != a.end() && y == b.end();
    if (x->is_string() != y->is_string()) return y->is_string();
    const bool ascending = x->is_string() != state.reversed;
    return ascending ? *x < *y : *y < *x;
  };
  std::stable_sort(rows.begin(), rows.end(), before);
}

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The report without the rows that the filter keeps out.
Json filtered(const TopState& state, const Json& report) {
  if (state.filter.empty() || !report.contains("rows")) return report;
  const TableCells table = table_cells(report);
  const std::string wanted = in_lower_case(state.filter);
  Json out = report;
  out["rows"] = Json::array();
  for (size_t i = 1; i < table.lines.size(); ++i)
    if (std::ranges::any_of(table.lines[i], [&](const std::string& cell) {
          return in_lower_case(cell).find(wanted) != std::string::npos;
        }))
      out["rows"].push_back(report.at("rows")[i - 1]);
  return out;
}

size_t row_count(const Json& report) {
  const auto rows = report.find("rows");
  return rows == report.end() ? 0 : rows->size();
}

// "[1 ports]  2 queues": those left of the chosen one give way where there is no room.
std::string views_line(const TopState& state, size_t columns) {
  std::string line;
  size_t end = 0;
  for (size_t i = 0; i < state.views.size(); ++i) {
    const std::string name = std::to_string(i + 1) + " " + std::string(state.views[i]);
    line += (line.empty() ? "" : " ") + (i == state.view ? "[" + name + "]" : " " + name + " ");
    if (i == state.view) end = line.size();
  }
  return end > columns ? line.substr(end - columns) : line;
}

std::string title_line(const TopState& state, const Json& report) {
  std::string line = report.value("title", "");
  if (line.empty())
    line = report.value("switch", "") + "  up " +
           duration_text(report.value("uptime_ns", uint64_t{0}) * kPicosecondsANanosecond) +
           "  generation " + std::to_string(report.value("generation", uint64_t{0}));
  line += "  " + std::to_string(row_count(report)) + " rows";
  if (!state.filter.empty()) line += " with \"" + state.filter + "\"";
  if (!state.sort_key.empty()) line += "  by " + state.sort_key;
  if (state.reversed) line += " reversed";
  if (state.paused) line += "  PAUSED";
  return line;
}

// The first column, then those from first_column on.
std::string line_of(const std::vector<std::string>& cells, size_t first_column) {
  std::string line = cells.front();
  for (size_t i = std::max<size_t>(1, first_column); i < cells.size(); ++i) line += "  " + cells[i];
  return line;
}

size_t most_first_row(const Json& report) {
  const size_t rows = row_count(report);
  return rows == 0 ? 0 : rows - 1;
}

void choose(TopState& state, size_t view) {
  state = {.views = state.views,
           .view = view,
           .sort_key = "",
           .filter = state.filter,
           .paused = state.paused};
}

// Sorts by the column `step` further on; after the last comes the switch's own order.
void sort_by_next(TopState& state, const Json& report, int step) {
  std::vector<std::string> keys = table_cells(report).keys;
  keys.insert(keys.begin(), "");
  const auto found = std::find(keys.begin(), keys.end(), state.sort_key);
  const auto at = found == keys.end() ? 0 : found - keys.begin();
  const auto count = static_cast<std::ptrdiff_t>(keys.size());
  state.sort_key = keys[static_cast<size_t>((at + step + count) % count)];
  state.first_row = 0;
}

void scroll(TopState& state, const Json& report, std::ptrdiff_t by) {
  const auto most = static_cast<std::ptrdiff_t>(most_first_row(report));
  state.first_row = static_cast<size_t>(
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(state.first_row) + by, 0, most));
}

void move(TopState& state, std::string_view key, const Json& report) {
  const auto most = static_cast<std::ptrdiff_t>(most_first_row(report));
  const size_t columns = table_cells(report).keys.size();
  if (key == "\033[A") scroll(state, report, -1);
  if (key == "\033[B") scroll(state, report, 1);
  if (key == "\033[5~") scroll(state, report, -static_cast<std::ptrdiff_t>(kPage));
  if (key == "\033[6~") scroll(state, report, kPage);
  if (key == "\033[H" || key == "\033[1~") scroll(state, report, -most);
  if (key == "\033[F" || key == "\033[4~") scroll(state, report, most);
  if (key == "\033[C" && state.first_column + 1 < columns) ++state.first_column;
  if (key == "\033[D" && state.first_column > 1) --state.first_column;
}

void start_typing(TopState& state) {
  state.typing = true;
  state.filter.clear();
  state.first_row = 0;
}

// Keys that a filter is typed with.
void type(TopState& state, std::string_view key) {
  constexpr size_t kLongest = 60;
  const bool is_text = key.size() == 1 && key[0] >= ' ' && key[0] < '\x7f';
  if (is_text && state.filter.size() < kLongest) state.filter += key;
  if ((key == "\x7f" || key == "\b") && !state.filter.empty()) state.filter.pop_back();
  if (key == "\033") state.filter.clear();
  if (key == "\r" || key == "\n" || key == "\033") state.typing = false;
  state.first_row = 0;
}

// The last line: what is typed, what is wrong, or the keys.
std::string last_line(const TopState& state, const Json& report, const std::string& problem) {
  if (state.typing) return "/" + state.filter + "_";
  if (!problem.empty()) return problem;
  const std::string note = report.value("note", "");
  if (!note.empty()) return note;
  return "h help  q end  p pause  s sort  / filter  1-" + std::to_string(state.views.size()) +
         " views";
}

}  // namespace

std::span<const Report> top_views() {
  return kViews;
}

std::span<const std::string_view> top_view_names() {
  return kViewNames;
}

std::span<const std::string_view> fabric_view_names() {
  return kFabricViewNames;
}

void press(TopState& state, std::string_view key, const Json& whole_report) {
  constexpr std::string_view kDigits = "123456789";
  if (state.typing && key != "\x03") return type(state, key);
  const Json report = filtered(state, whole_report);
  if (key == "/") return start_typing(state);
  if (key == "\033") state.filter.clear();
  if (key.size() == 1 && kDigits.substr(0, state.views.size()).find(key) != std::string_view::npos)
    return choose(state, kDigits.find(key));
  if (key == "\t") return choose(state, (state.view + 1) % state.views.size());
  if (key == "q" || key == "\x03") state.ended = true;
  if (key == "p" || key == " ") state.paused = !state.paused;
  if (key == "h" || key == "?") state.help = !state.help;
  if (key == "r") state.reversed = !state.reversed;
  if (key == "s") sort_by_next(state, report, 1);
  if (key == "S") sort_by_next(state, report, -1);
  if (key == "o") state.sort_key.clear();
  move(state, key, report);
}

Screen top_screen(const TopState& state, const Json& whole_report, const std::string& problem,
                  ScreenSize size) {
  const Json report = filtered(state, whole_report);
  Screen screen;
  std::vector<std::string>& lines = screen.lines;
  lines = {title_line(state, report), views_line(state, size.columns)};
  const size_t room = size.rows > kLinesAround ? size.rows - kLinesAround : 0;
  if (state.help) {
    lines.emplace_back("Keys");
    for (const char* line : kHelp) lines.emplace_back(line);
  } else {
    Json sorted = report;
    if (sorted.contains("rows")) sort_rows(sorted["rows"], state);
    const TableCells table = table_cells(sorted);
    lines.push_back(table.lines.empty() ? "" : line_of(table.lines[0], state.first_column));
    const size_t first = std::min(state.first_row, most_first_row(report));
    for (size_t i = 0; i < room && first + i + 1 < table.lines.size(); ++i)
      lines.push_back(line_of(table.lines[first + i + 1], state.first_column));
    if (table.lines.size() <= 1) lines.push_back(table.below.substr(0, table.below.find('\n')));
  }
  screen.heads = 2;
  lines.resize(std::max<size_t>(size.rows, 1) - 1);
  lines.push_back(last_line(state, report, problem));
  for (std::string& line : lines) line = cut(line, size.columns);
  return screen;
}

}  // namespace eddy::control
