// Text tables from files: CSV under its header line, or columns between blanks under their count of
// rows, as simulators write; with comments (#) and blank lines.
//
// Input is hostile: what is wrong is said as "file:line: what, what would be valid", of a cell as
// "file:line:column: ...", at most kMaxTableProblems times. Cells point into the text, which must
// outlive them. Control plane only. Cost: linear in the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"

namespace eddy::lab {

inline constexpr size_t kMaxTableProblems = 20;

struct TableRow {
  size_t line = 0;              // from 1
  const char* begin = nullptr;  // of the line
  std::vector<std::string_view> cells;
};

// A file under the name by which messages call it.
struct NamedText {
  std::string name;
  std::string text;
};

class TextTable {
 public:
  // Between blanks; the first line says how many rows follow. The first row decides by its number
  // of cells which of the layouts the file has; a layout names its columns.
  struct Blank {
    std::vector<std::string_view> layouts;
  };

  // Rows of as many cells as `header` has; every other row is a problem.
  TextTable(const NamedText& file, std::string_view header);
  TextTable(const NamedText& file, const Blank& format);
  // Without what precedes the table; empty when there is none.
  static std::string_view first_line(std::string_view text);

  const std::vector<TableRow>& rows() const { return rows_; }
  size_t columns() const { return columns_; }  // 0: between blanks, and there is no row
  void problem(size_t line, const std::string& text);
  void problem(const TableRow& row, size_t cell, const std::string& text);
  bool ok() const { return problems_.empty(); }
  const Problems& problems() const { return problems_; }

 private:
  void add_blank_row(const TableRow& row, std::string_view text, const Blank& format);
  void add_problem(const std::string& place, const std::string& text);

  std::string name_;
  size_t columns_ = 0;
  size_t first_row_ = 0;  // line, of those between blanks
  std::vector<TableRow> rows_;
  Problems problems_;
};

// `text` in quotes for a message: cut short, and without what a terminal would obey.
std::string in_quotes(std::string_view text);

}  // namespace eddy::lab
