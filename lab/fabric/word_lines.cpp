#include "lab/fabric/word_lines.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "net/quantity.h"

namespace eddy::lab {
namespace {

constexpr std::string_view kBlanks = " \t\r";

WordLines::Line words_of(std::string_view text, int line) {
  WordLines::Line words;
  text = text.substr(0, text.find('#'));
  size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.push_back({text.substr(at, end - at), line, static_cast<int>(at) + 1});
    at = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

}  // namespace

WordLines::WordLines(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  std::string_view rest = text_;
  for (int line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (Line words = words_of(rest.substr(0, end), line); !words.empty())
      lines_.push_back(std::move(words));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    last_line_ = line;
  }
}

void WordLines::problem(const Word& at, const std::string& text) {
  if (problems_.size() < kMaxProblems)
    problems_.push_back(name_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                        ": " + text);
}

void WordLines::problem(int line, const std::string& text) {
  problem(Word{{}, line, 1}, text);
}

std::optional<int64_t> WordLines::number(const Word& word, int64_t least, int64_t most) {
  const auto parsed = parse_integer(word.text);
  if (parsed && parsed.value() >= least && parsed.value() <= most) return parsed.value();
  problem(word, "'" + std::string(word.text) + "' is no whole number from " +
                    std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

Result<std::string> read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Result<std::string>::failure(path + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  std::string all = std::move(text).str();
  if (all.size() > WordLines::kMaxBytes)
    return Result<std::string>::failure(path + ": larger than " +
                                        std::to_string(WordLines::kMaxBytes) + " octets");
  return all;
}

}  // namespace eddy::lab
