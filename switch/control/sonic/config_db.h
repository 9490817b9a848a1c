// ConfigDb: a config_db.json of SONiC as tables of entries of fields, each with its line.
//
// Two levels of objects and then texts or lists of texts (which are joined by commas), as
// CONFIG_DB has them. Input is hostile: at most kMostOctets and kMostValues, no deeper than that;
// what is wrong is said as "file:line: what", parsing ends at the first line that is no JSON.
// A key that stands twice is a problem. Control plane only. Cost: linear in the text. Source:
// SONiC, src/sonic-config-engine; docs/import.md.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"

namespace eddy::control {

class ConfigDb {
 public:
  static constexpr size_t kMostOctets = size_t{16} << 20;
  static constexpr size_t kMostValues = 1'000'000;

  struct Field {
    std::string text;
    int line = 0;
  };
  struct Entry {
    std::string key;  // "Ethernet0|3-4"
    int line = 0;
    std::map<std::string, Field, std::less<>> fields;
    const Field* find(std::string_view field) const;
  };
  struct Table {
    int line = 0;
    std::vector<Entry> entries;  // in their order
    const Entry* find(std::string_view key) const;
  };

  // `name` stands for the file in messages.
  static Result<ConfigDb> parse(const std::string& name, std::string_view text);

  // An empty one where the file has none.
  const Table& table(std::string_view name) const;
  const std::map<std::string, Table, std::less<>>& tables() const { return tables_; }

 private:
  friend class ConfigDbReader;
  std::map<std::string, Table, std::less<>> tables_;
};

// "[BUFFER_PROFILE|x]" of old releases is "x" of new ones; lists between commas.
std::string sonic_reference(std::string_view text);
std::vector<std::string> sonic_list(std::string_view text);
// "3-4", "0,2-3": numbers below `end`; nothing: it is none.
std::optional<std::vector<size_t>> sonic_range(std::string_view text, size_t end);

}  // namespace eddy::control
