// Ns3Config: the config.txt of HPCC's simulator or of ConWeave's, which descends from it, as keys
// with their words.
//
// A line has a key and its value between blanks; behind it `{...}` or `# ...` is a comment. Three
// keys are maps, "count rate value rate value ..."; LINK_DOWN has three words. As in those
// programs a key that stands again counts for its last line, and what they do not know is skipped:
// the report says both. Problems are told with file:line:column, all at once, kept by whom `file`
// belongs to. Owner: one import. Cost: linear in the text. Source: scratch/third.cc and
// scratch/network-load-balance.cc of those programs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/fabric/word_lines.h"
#include "net/units.h"
#include "system/import_report.h"

namespace eddy::lab {

enum class Ns3Dialect : uint8_t { hpcc, conweave };
std::string_view name_of(Ns3Dialect dialect);  // "HPCC's simulator"

class Ns3Config {
 public:
  // A key's line as far as it is the key's.
  struct Entry {
    WordLines::Word key;
    std::vector<WordLines::Word> values;
    std::string text;  // of both, one blank between
  };

  // `file` stays the caller's, and outlives it.
  Ns3Config(WordLines& file, std::string name, Ns3Dialect dialect, ImportReport& report);

  // Null: the file has no such key.
  const Entry* find(std::string_view key) const;
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  const std::string& name() const { return name_; }

  // The value of a key with one word. Nothing: the key is missing, or its word is wrong and a
  // problem says so. An integer may have a fraction, which those programs do not read.
  std::optional<int64_t> integer(std::string_view key, int64_t least, int64_t most);
  std::optional<double> real(std::string_view key, double least, double most);
  std::optional<BitRate> rate(std::string_view key);
  std::optional<std::string> text(std::string_view key) const;
  // By rate in bit/s; the word of each value. Nothing: missing, or wrong.
  std::optional<std::map<int64_t, WordLines::Word>> by_rate(std::string_view key);
  void problem(std::string_view key, const std::string& text);
  WordLines& file() { return file_; }

  // Every key of the dialect, for tests.
  static std::vector<std::string_view> keys(Ns3Dialect dialect);

 private:
  void read(const WordLines::Line& line, ImportReport& report);
  size_t words_of(const WordLines::Line& line, size_t at);
  void note_rest(const WordLines::Line& line, size_t at, ImportReport& report);

  WordLines& file_;
  std::string name_;
  Ns3Dialect dialect_;
  std::map<std::string, Entry, std::less<>> entries_;
  size_t unknown_ = 0;
};

}  // namespace eddy::lab
