// Settings: the keys of an experiment in the order in which its file has them, as YAML with the
// line that each is from behind it.
//
// Keys are written with dots ("host.dcqcn.min_rate"); those that share what precedes the last dot
// stand below it. A key that is set again has the later value. Values are YAML already: `in_yaml()`
// makes one of any text. Owner: one import; control plane only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eddy::lab {

class Settings {
 public:
  void set(std::string_view key, std::string value, std::string from = {});
  bool has(std::string_view key) const;
  // The file, below `head`, each line of which becomes a comment.
  std::string yaml(std::string_view head) const;

 private:
  struct Entry {
    std::vector<std::string> path;
    std::string value;
    std::string from;
  };
  struct Node;

  std::vector<Entry> entries_;
};

// A text in quotes, of printable octets alone.
std::string in_yaml(std::string_view text);

}  // namespace eddy::lab
