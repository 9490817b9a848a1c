#include "config/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "net/quantity.h"

namespace eddy::config {
namespace {

constexpr std::string_view kBalancer = "load_balancer";
constexpr std::string_view kScheme = "load_balancer.scheme";
constexpr std::string_view kPlugin = "load_balancer.plugin";
constexpr std::string_view kControl = "control";
constexpr std::string_view kWhole = "matrix";

// One word, list or empty map and where it goes.
struct Leaf {
  std::string path;
  Position at;
  const Node* value;
};

void flatten(const Node& changes, const std::string& prefix, std::vector<Leaf>& leaves) {
  for (const Node::Member& member : changes.members) {
    const std::string path = prefix + member.key;
    const bool deeper = member.value.kind == Node::Kind::map && !member.value.members.empty();
    if (deeper && path != kWhole)
      flatten(member.value, path + ".", leaves);
    else
      leaves.push_back({path, member.key_at, &member.value});
  }
}

// What the keys say of the node at hand; nothing: it is none of theirs.
class Place {
 public:
  explicit Place(const Section& root) : section_(&root) {}

  void enter(std::string_view step) {
    const Type* below = nullptr;
    if (section_ != nullptr) {
      const auto found =
          std::ranges::find(section_->keys, step, [](const Key& each) { return each.info.name; });
      if (found != section_->keys.end()) below = &found->type;
    } else if (type_ != nullptr) {
      below = type_->element.get();  // of a list or a mapping
    }
    type_ = below;
    section_ = below != nullptr && below->shape == Type::Shape::section ? below->section : nullptr;
  }
  // The section that a lone word stands for here.
  const Section* of_a_word() const {
    return type_ != nullptr && type_->short_form ? section_ : nullptr;
  }

 private:
  const Section* section_;
  const Type* type_ = nullptr;
};

// The way from the root to the node of a leaf, which is made where it is missing.
class Descent {
 public:
  Descent(const Section& section, const Leaf& leaf, std::vector<Problem>& problems)
      : place_(section), leaf_(leaf), problems_(problems) {}

  // nullptr and a problem when there can be no such node.
  Node* find(Node& root) {
    Node* node = &root;
    for (size_t start = 0; node != nullptr && start <= leaf_.path.size();) {
      const size_t end = std::min(leaf_.path.find('.', start), leaf_.path.size());
      const std::string step = leaf_.path.substr(start, end - start);
      node = below(*node, step, std::string_view(leaf_.path).substr(0, start == 0 ? 0 : start - 1));
      place_.enter(step);
      start = end + 1;
    }
    return node;
  }

 private:
  Node* refuse(std::string text) {
    problems_.push_back({leaf_.at, std::move(text)});
    return nullptr;
  }
  Node* below(Node& node, const std::string& step, std::string_view above) {
    if (step.empty())
      return refuse(
          fmt::format("'{}' is no path, write keys with single dots between", leaf_.path));
    switch (node.kind) {
      case Node::Kind::scalar:
        if (const Section* section = place_.of_a_word()) {
          node = expand_short_form(*section, node);
          return below(node, step, above);
        }
        return refuse(fmt::format("{} is one word, it has no '{}' below it", above, step));
      case Node::Kind::list:
        return entry(node, step, above);
      case Node::Kind::null:  // no map of an experiment has numbers for keys
        node = {.kind = step == "0" ? Node::Kind::list : Node::Kind::map, .at = leaf_.at};
        return below(node, step, above);
      case Node::Kind::map:
        break;
    }
    const auto found = std::ranges::find(node.members, step, &Node::Member::key);
    if (found != node.members.end()) return &found->value;
    return &node.members.emplace_back(Node::Member{step, leaf_.at, {.at = leaf_.at}}).value;
  }
  Node* entry(Node& list, const std::string& step, std::string_view above) {
    const auto number = parse_integer(step);
    const auto count = static_cast<int64_t>(list.items.size());
    if (!number || number.value() < 0 || number.value() > count)
      return refuse(fmt::format("{} has {} entries, '{}' is none of them; {} would add one", above,
                                count, step, count));
    if (number.value() == count) list.items.push_back({.at = leaf_.at});
    return &list.items[static_cast<size_t>(number.value())];
  }

  Place place_;  // of the node that below() is to descend from
  const Leaf& leaf_;
  std::vector<Problem>& problems_;
};

const Node* text_below(const Node& map, std::string_view key) {
  const auto found = std::ranges::find(map.members, key, &Node::Member::key);
  return found == map.members.end() ? nullptr : &found->value;
}

// Parameters belong to their scheme, and a scheme to its plugin; `control` is of the load balancer
// whatever its scheme.
void forget_other_scheme(Node& root, const std::vector<Leaf>& leaves) {
  const auto balancer = std::ranges::find(root.members, kBalancer, &Node::Member::key);
  if (balancer == root.members.end()) return;
  const auto changes = [&](const Leaf& leaf) {
    if (leaf.path != kScheme && leaf.path != kPlugin) return false;
    const Node* now = text_below(balancer->value, leaf.path.substr(kBalancer.size() + 1));
    return now == nullptr || now->text != leaf.value->text;
  };
  if (std::ranges::none_of(leaves, changes)) return;
  std::erase_if(balancer->value.members,
                [](const Node::Member& each) { return each.key != kControl; });
}

}  // namespace

void overlay(const Section& section, Node& root, const Node& changes,
             std::vector<Problem>& problems) {
  std::vector<Leaf> leaves;
  flatten(changes, "", leaves);
  // First of all: parameters given with a scheme come on top of it.
  forget_other_scheme(root, leaves);
  for (const Leaf& leaf : leaves) {
    if (std::ranges::count(leaf.path, '.') >= static_cast<long>(kMaxDepth)) {
      problems.push_back({leaf.at, fmt::format("the path has more than {} steps", kMaxDepth)});
      continue;
    }
    if (Node* node = Descent(section, leaf, problems).find(root)) *node = *leaf.value;
  }
}

}  // namespace eddy::config
