#include "lab/fabric/text_table.h"

#include <algorithm>

namespace eddy::lab {
namespace {

constexpr size_t kLongestQuote = 40;
constexpr size_t kMaxFirstLine = 65'536;  // comments before a table are shorter

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return text.substr(text.size());  // empty, but in its place
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> cells;
  while (true) {
    const size_t comma = text.find(',');
    cells.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return cells;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string_view> split_at_blanks(std::string_view text) {
  std::vector<std::string_view> cells;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const size_t end = std::min(text.find_first_of(" \t"), text.size());
    cells.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return cells;
}

// Calls `each(line, text, begin)` for every line that says something.
template <class Each>
void for_each_line(std::string_view rest, Each each) {
  for (size_t line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view text = trimmed(rest.substr(0, end));
    if (!text.empty() && text.front() != '#') each(line, text, rest.data());
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out(text.substr(0, kLongestQuote));
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return "'" + out + (text.size() > kLongestQuote ? "...'" : "'");
}

TextTable::TextTable(const NamedText& file, std::string_view header) : name_(file.name) {
  columns_ = split(header).size();
  bool begun = false;
  for_each_line(file.text, [&](size_t line, std::string_view text, const char* begin) {
    if (!begun) {
      begun = true;
      if (text != header)
        problem(line, in_quotes(text) + " is not the header, write " + std::string(header));
      return;
    }
    rows_.push_back({line, begin, split(text)});
    if (rows_.back().cells.size() == columns_) return;
    problem(line, in_quotes(text) + " has not the columns " + std::string(header));
    rows_.pop_back();
  });
  if (!begun) problem(1, "no table, it begins with the line " + std::string(header));
}

TextTable::TextTable(const NamedText& file, const Blank& format) : name_(file.name) {
  size_t count_line = 0;
  std::string count;
  for_each_line(file.text, [&](size_t line, std::string_view text, const char* begin) {
    if (count_line != 0) return add_blank_row({line, begin, split_at_blanks(text)}, text, format);
    count_line = line;
    count = text;
  });
  if (ok() && count != std::to_string(rows_.size()))
    problem(std::max<size_t>(count_line, 1), in_quotes(count) + " is not the number of rows, " +
                                                 std::to_string(rows_.size()) + " follow");
}

void TextTable::add_blank_row(const TableRow& row, std::string_view text, const Blank& format) {
  const std::string has =
      in_quotes(text) + " has " + std::to_string(row.cells.size()) + " columns, ";
  if (columns_ == 0) {
    std::string valid;
    for (const std::string_view layout : format.layouts) {
      const size_t columns = split_at_blanks(layout).size();
      if (row.cells.size() == columns) columns_ = columns;
      valid +=
          (valid.empty() ? "" : ", or ") + std::to_string(columns) + ": " + std::string(layout);
    }
    if (columns_ == 0) return problem(row.line, has + "valid are " + valid);
    first_row_ = row.line;
  }
  if (row.cells.size() == columns_) return rows_.push_back(row);
  problem(row.line,
          has + "line " + std::to_string(first_row_) + " has " + std::to_string(columns_));
}

std::string_view TextTable::first_line(std::string_view text) {
  std::string_view first;
  for_each_line(text.substr(0, kMaxFirstLine), [&](size_t, std::string_view line, const char*) {
    if (first.empty()) first = line;
  });
  return first;
}

void TextTable::problem(size_t line, const std::string& text) {
  add_problem(std::to_string(line), text);
}

void TextTable::problem(const TableRow& row, size_t cell, const std::string& text) {
  const auto column = row.cells[cell].data() - row.begin + 1;
  add_problem(std::to_string(row.line) + ":" + std::to_string(column), text);
}

void TextTable::add_problem(const std::string& place, const std::string& text) {
  if (problems_.size() < kMaxTableProblems) problems_.push_back(name_ + ":" + place + ": " + text);
}

}  // namespace eddy::lab
