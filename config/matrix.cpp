#include "config/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace eddy::config {
namespace {

constexpr size_t kLongestName = 64;
constexpr std::string_view kAxisSays = "a list of values, or of {name: ..., set: {...}}";

const Node* member_of(const Node& map, std::string_view key) {
  const auto found = std::ranges::find(map.members, key, &Node::Member::key);
  return found == map.members.end() ? nullptr : &found->value;
}

std::string text_of(const Node& value) {
  std::string text = value.text;
  for (const Node& item : value.items) text += (text.empty() ? "" : ",") + text_of(item);
  for (const Node::Member& member : value.members)
    text += (text.empty() ? "" : ",") + member.key + ":" + text_of(member.value);
  return text.substr(0, kLongestName);
}

std::string last_step(std::string_view path) {
  const size_t dot = path.rfind('.');
  return std::string(dot == std::string_view::npos ? path : path.substr(dot + 1));
}

bool is_named(const Node& item) {
  return item.kind == Node::Kind::map && member_of(item, "name") != nullptr;
}

class Matrix {
 public:
  explicit Matrix(std::vector<Problem>& problems) : problems_(problems) {}

  void multiply(const std::vector<Variant>& axis, Position at) {
    if (axis.empty()) return;
    if (all_.size() * axis.size() > kMaxVariants) {
      problem(at, fmt::format("matrix: more than {} variants", kMaxVariants));
      return;
    }
    std::vector<Variant> product;
    for (const Variant& before : all_)
      for (const Variant& choice : axis) {
        Variant& both = product.emplace_back(before);
        both.name += (both.name.empty() ? "" : " ") + choice.name;
        both.changes.insert(both.changes.end(), choice.changes.begin(), choice.changes.end());
      }
    all_ = std::move(product);
  }

  std::vector<Variant> axis(const Node::Member& member) {
    if (!is_list(member.value, member.key_at, "matrix." + member.key)) return {};
    if (std::ranges::any_of(member.value.items, is_named)) return named(member.value);
    std::vector<Variant> choices;
    for (const Node& value : member.value.items) {
      Node change{.kind = Node::Kind::map, .at = value.at};
      change.members.push_back({member.key, member.key_at, value});
      choices.push_back({last_step(member.key) + "=" + text_of(value), {std::move(change)}});
    }
    return distinct(std::move(choices), member.value);
  }

  std::vector<Variant> named(const Node& list) {
    std::vector<Variant> choices;
    for (const Node& item : list.items) {
      const Node* name = member_of(item, "name");
      const Node* set = member_of(item, "set");
      const bool valid = name != nullptr && name->kind == Node::Kind::scalar &&
                         !name->text.empty() && item.members.size() == (set != nullptr ? 2 : 1) &&
                         (set == nullptr || set->kind == Node::Kind::map);
      if (!valid)
        problem(item.at, "matrix: a named variant is {name: ..., set: {...}}");
      else
        choices.push_back({name->text.substr(0, kLongestName),
                           set != nullptr ? std::vector<Node>{*set} : std::vector<Node>{}});
    }
    return distinct(std::move(choices), list);
  }

  bool is_list(const Node& node, Position at, const std::string& path) {
    const bool list = node.kind == Node::Kind::list && !node.items.empty();
    if (!list) problem(at, fmt::format("{}: no values, write {}", path, kAxisSays));
    return list;
  }
  std::vector<Variant> take() { return std::move(all_); }

 private:
  void problem(Position at, std::string text) { problems_.push_back({at, std::move(text)}); }
  // Results are told apart by the names.
  std::vector<Variant> distinct(std::vector<Variant> choices, const Node& list) {
    std::set<std::string> seen;
    for (size_t i = 0; i < choices.size(); ++i)
      if (!seen.insert(choices[i].name).second)
        problem(list.items[i].at, fmt::format("matrix: '{}' stands twice", choices[i].name));
    return choices;
  }

  std::vector<Problem>& problems_;
  std::vector<Variant> all_ = {{}};
};

// "traffic.0.load" fixes "traffic.0.load" and "traffic.0" alike.
bool is_fixed(std::string_view path, const std::vector<std::string>& fixed) {
  return std::ranges::any_of(fixed, [path](const std::string& each) {
    return each == path || each.starts_with(std::string(path) + ".") ||
           path.starts_with(each + ".");
  });
}

}  // namespace

std::vector<Variant> expand_matrix(const Node& matrix, const std::vector<std::string>& fixed,
                                   std::vector<Problem>& problems) {
  Matrix all(problems);
  switch (matrix.kind) {
    case Node::Kind::null:
      break;
    case Node::Kind::scalar:
      problems.push_back(
          {matrix.at, fmt::format("matrix: this is one word, write axes with {}", kAxisSays)});
      break;
    case Node::Kind::list:
      if (all.is_list(matrix, matrix.at, "matrix")) all.multiply(all.named(matrix), matrix.at);
      break;
    case Node::Kind::map:
      for (const Node::Member& member : matrix.members)
        if (!is_fixed(member.key, fixed)) all.multiply(all.axis(member), member.key_at);
      break;
  }
  return all.take();
}

}  // namespace eddy::config
