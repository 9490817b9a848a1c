#include "lab/import/settings.h"

#include <algorithm>
#include <utility>

#include "net/text/printable.h"

namespace eddy::lab {
namespace {

std::vector<std::string> keys_of(std::string_view key) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= key.size();) {
    const size_t dot = std::min(key.find('.', begin), key.size());
    out.emplace_back(key.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return out;
}

std::string comments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += "# " + printable(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

// A map's key with what is below it; a key with a value has nothing below.
struct Settings::Node {
  std::string key;
  const Entry* entry = nullptr;
  std::vector<Node> below;

  Node& child(const std::string& name) {
    const auto found = std::ranges::find(below, name, &Node::key);
    if (found != below.end()) return *found;
    return below.emplace_back(Node{name, nullptr, {}});
  }
  void write(std::string& out, size_t indent) const {
    for (const Node& node : below) {
      out += std::string(indent, ' ') + node.key + ":";
      if (node.entry != nullptr) {
        out += (node.entry->value.starts_with('\n') ? "" : " ") + node.entry->value;
        if (!node.entry->from.empty()) out += "  # " + printable(node.entry->from);
      }
      out += "\n";
      node.write(out, indent + 2);
    }
  }
};

void Settings::set(std::string_view key, std::string value, std::string from) {
  std::vector<std::string> path = keys_of(key);
  const auto found = std::ranges::find(entries_, path, &Entry::path);
  Entry entry{std::move(path), std::move(value), std::move(from)};
  if (found != entries_.end())
    *found = std::move(entry);
  else
    entries_.push_back(std::move(entry));
}

bool Settings::has(std::string_view key) const {
  return std::ranges::find(entries_, keys_of(key), &Entry::path) != entries_.end();
}

std::string Settings::yaml(std::string_view head) const {
  Node root;
  for (const Entry& entry : entries_) {
    Node* node = &root;
    for (const std::string& key : entry.path) node = &node->child(key);
    node->entry = &entry;
  }
  std::string out = comments(head);
  root.write(out, 0);
  return out;
}

std::string in_yaml(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace eddy::lab
