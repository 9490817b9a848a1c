// A YAML text as a tree of words with positions, and nothing else of YAML: one document, no
// anchors, aliases, tags or duplicate keys.
//
// Input is hostile: at most 1 MiB of UTF-8 without control characters, at most 32 levels deep. The
// parser's exceptions end here. Owner: the caller; control plane only. Cost: linear in the text.
// Source: YAML 1.2; architecture, section 8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace eddy::config {

inline constexpr size_t kMaxFileBytes = size_t{1} << 20;
inline constexpr size_t kMaxDepth = 32;

struct Position {  // both from 1; 0 = unknown
  int line = 0;
  int column = 0;
  int source = 0;  // 0 = the file; else from 1, what was given beside it
  auto operator<=>(const Position&) const = default;
};

struct Node {
  enum class Kind : uint8_t { null, scalar, list, map };
  struct Member;

  Kind kind = Kind::null;
  Position at;
  std::string text;             // scalar
  std::vector<Node> items;      // list
  std::vector<Member> members;  // map, in the order of the text
};

struct Node::Member {
  std::string key;
  Position key_at;
  Node value;
};

struct Problem {
  Position at;
  std::string text;
};

// The root of `text` (null for an empty one). What is wrong is added to `problems`; the tree then
// holds what could be read.
Node parse_yaml(std::string_view text, std::vector<Problem>& problems);

}  // namespace eddy::config
