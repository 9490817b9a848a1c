// WordLines: a text file as lines of words with positions, and the problems found in it.
//
// Words stand between blanks; from '#' on a line is comment; empty lines are left out. Input is
// hostile: files have at most kMaxBytes, and at most kMaxProblems are told. Lines and columns count
// from 1. Control plane only. Cost: linear in the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"

namespace eddy::lab {

class WordLines {
 public:
  static constexpr size_t kMaxBytes = size_t{16} << 20;
  static constexpr size_t kMaxProblems = 20;

  struct Word {
    std::string_view text;
    int line = 0;
    int column = 0;
  };
  using Line = std::vector<Word>;

  // `name` stands for the file in messages.
  WordLines(std::string name, std::string text);
  WordLines(const WordLines&) = delete;  // words point into the text
  WordLines& operator=(const WordLines&) = delete;

  const std::vector<Line>& lines() const { return lines_; }
  int last_line() const { return last_line_; }

  void problem(const Word& at, const std::string& text);
  void problem(int line, const std::string& text);
  // A whole number within the limits; else a problem.
  std::optional<int64_t> number(const Word& word, int64_t least, int64_t most);
  // What a parser of net/quantity.h makes of it; else a problem.
  template <class T>
  std::optional<T> quantity(const Word& word, Result<T> (*parse)(std::string_view)) {
    auto parsed = parse(word.text);
    if (parsed) return std::move(parsed.value());
    problem(word, parsed.problems().front());
    return std::nullopt;
  }

  const Problems& problems() const { return problems_; }

 private:
  std::string name_;
  std::string text_;
  std::vector<Line> lines_;
  int last_line_ = 1;
  Problems problems_;
};

// The text of a file, or why it cannot be had.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

}  // namespace eddy::lab
