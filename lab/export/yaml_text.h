// Yaml: a tree of maps, lists and scalars, written as YAML 1.1 and 1.2 read it alike.
//
// Texts are always quoted, so that no name of a user's becomes a number, a truth or syntax; keys
// are, where they are not plain words. Maps keep the order in which keys were set. Plain values;
// cost: linear in the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eddy::lab {

class Yaml {
 public:
  Yaml(const char* text) : Yaml(std::string(text)) {}  // NOLINT: a text is a value
  Yaml(std::string text);                              // NOLINT
  Yaml(int number);                                    // NOLINT
  Yaml(bool truth);                                    // NOLINT
  static Yaml map() { return Yaml(Kind::map); }
  static Yaml list() { return Yaml(Kind::list); }
  static Yaml list(const std::vector<std::string>& texts);
  // Lines that stand as they are; with anything but printable octets and line ends it is quoted.
  static Yaml block(std::string lines);

  Yaml& set(const std::string& key, Yaml value);  // of a map; a key once
  Yaml& add(Yaml value);                          // to a list

  // The document, with its last line's end.
  std::string text() const;

 private:
  enum class Kind : uint8_t { plain, quoted, block, map, list };
  explicit Yaml(Kind kind) : kind_(kind) {}
  bool is_scalar() const { return kind_ == Kind::plain || kind_ == Kind::quoted; }
  bool fits_on_a_line() const;
  std::string scalar() const;
  void write(std::string& out, size_t indent) const;
  void write_after_key(std::string& out, size_t indent) const;
  void write_block(std::string& out, size_t indent) const;

  Kind kind_;
  std::string text_;
  std::vector<std::pair<std::string, Yaml>> items_;  // a list's have no keys
};

}  // namespace eddy::lab
