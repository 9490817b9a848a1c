#include "switch/control/top/top_screen.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "switch/control/report/table.h"

namespace eddy::control {
namespace {

constexpr Report kViews[] = {Report::ports, Report::queues, Report::pgs,   Report::pfc,
                             Report::drops, Report::rlb,    Report::paths, Report::workers};
constexpr size_t kLinesAround = 4;  // title, views, heads; keys
constexpr size_t kPage = 10;

constexpr const char* kHelp[] = {
    "1 to 8, Tab        what is shown: ports, queues, priority groups, PFC, drops, RLB,",
    "                   paths, workers",
    "s, S               sort by the next column, by the one before; r  the other way round",
    "o                  rows in the order of the switch",
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

size_t row_count(const Json& report) {
  const auto rows = report.find("rows");
  return rows == report.end() ? 0 : rows->size();
}

// "[1 ports]  2 queues": those left of the chosen one give way where there is no room.
std::string views_line(const TopState& state, size_t columns) {
  std::string line;
  size_t end = 0;
  for (size_t i = 0; i < std::size(kViews); ++i) {
    const std::string name = std::to_string(i + 1) + " " + std::string(to_string(kViews[i]));
    line += (line.empty() ? "" : " ") + (i == state.view ? "[" + name + "]" : " " + name + " ");
    if (i == state.view) end = line.size();
  }
  return end > columns ? line.substr(end - columns) : line;
}

std::string title_line(const TopState& state, const Json& report) {
  std::string line =
      report.value("switch", "") + "  up " +
      duration_text(report.value("uptime_ns", uint64_t{0}) * kPicosecondsANanosecond) +
      "  generation " + std::to_string(report.value("generation", uint64_t{0})) + "  " +
      std::to_string(row_count(report)) + " rows";
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
  state = {.view = view % std::size(kViews), .sort_key = "", .paused = state.paused};
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

}  // namespace

std::span<const Report> top_views() {
  return kViews;
}

void press(TopState& state, std::string_view key, const Json& report) {
  constexpr std::string_view kDigits = "12345678";
  if (key.size() == 1 && kDigits.find(key) != std::string_view::npos)
    return choose(state, kDigits.find(key));
  if (key == "\t") return choose(state, state.view + 1);
  if (key == "q" || key == "\x03") state.ended = true;
  if (key == "p" || key == " ") state.paused = !state.paused;
  if (key == "h" || key == "?") state.help = !state.help;
  if (key == "r") state.reversed = !state.reversed;
  if (key == "s") sort_by_next(state, report, 1);
  if (key == "S") sort_by_next(state, report, -1);
  if (key == "o") state.sort_key.clear();
  move(state, key, report);
}

Screen top_screen(const TopState& state, const Json& report, const std::string& problem,
                  ScreenSize size) {
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
  lines.push_back(problem.empty() ? "h help  q end  p pause  s sort  1-8 views" : problem);
  for (std::string& line : lines) line = cut(line, size.columns);
  return screen;
}

}  // namespace eddy::control
