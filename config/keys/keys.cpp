#include "config/keys/keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/keys/hint.h"
#include "net/quantity.h"

namespace eddy::config {
namespace {

std::string_view kind_says(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return "one word";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map of keys";
  }
  return {};
}

std::vector<std::string_view> names_of(const Section& section) {
  std::vector<std::string_view> names;
  for (const Key& key : section.keys) names.push_back(key.info.name);
  return names;
}

// What a key is called now, or a near one.
std::string hint_for(const Section& section, std::string_view unknown) {
  for (const Key& key : section.keys)
    if (!key.info.former.empty() && key.info.former == unknown)
      return fmt::format(", it is called '{}' now", key.info.name);
  return hint(unknown, names_of(section));
}

void report_unknown(const Section& section, Reader& reader, const Node& node) {
  const std::vector<std::string_view> names = names_of(section);
  for (const Node::Member& member : node.members)
    if (std::ranges::find(names, member.key) == names.end())
      reader.problem(member.key_at, fmt::format("unknown key '{}'{}", member.key.substr(0, 64),
                                                hint_for(section, member.key)));
}

void report_inapplicable(const Section& section, Reader& reader, const Node& node,
                         const void* object) {
  for (const Key& key : section.keys) {
    if (key.info.applies == nullptr || key.info.applies(object)) continue;
    const auto member = std::ranges::find(node.members, key.info.name, &Node::Member::key);
    if (member == node.members.end()) continue;
    reader.problem(member->key_at,
                   fmt::format("{}: the key '{}' has no effect here, it goes with {}",
                               reader.path(), key.info.name, key.info.applies_says));
  }
}

using FormatNumber = std::string (*)(int64_t);

// How the limits of a shape are written; nullptr: it has none.
FormatNumber limit_format(Type::Shape shape) {
  switch (shape) {
    case Type::Shape::integer:
    case Type::Shape::real:
      return [](int64_t n) { return std::to_string(n); };
    case Type::Shape::duration:
      return [](int64_t ps) { return to_string(Duration::picoseconds(ps)); };
    case Type::Shape::size:
      return [](int64_t bytes) { return to_string(Bytes(bytes)); };
    case Type::Shape::rate:
      return [](int64_t bps) { return to_string(BitRate::bits_per_second(bps)); };
    case Type::Shape::boolean:
    case Type::Shape::text:
    case Type::Shape::choice:
    case Type::Shape::mac:
    case Type::Shape::address:
    case Type::Shape::prefix:
    case Type::Shape::path_id:
    case Type::Shape::list:
    case Type::Shape::mapping:
    case Type::Shape::section:
    case Type::Shape::scheme:
    case Type::Shape::open:
      return nullptr;
  }
  return nullptr;
}

// " 0 to 7"
std::string limits(const Type& type) {
  const FormatNumber format = limit_format(type.shape);
  if (format == nullptr) return "";
  if (type.max == std::numeric_limits<int64_t>::max())
    return fmt::format(", at least {}", format(type.min));
  return fmt::format(" {} to {}", format(type.min), format(type.max));
}

std::string shape_says(const Type& type) {
  switch (type.shape) {
    case Type::Shape::boolean:
      return "true or false";
    case Type::Shape::integer:
      return "a whole number" + limits(type);
    case Type::Shape::real:
      return "a decimal number" + limits(type);
    case Type::Shape::text:
      return type.text_says.empty() ? "a text" : std::string(type.text_says);
    case Type::Shape::choice:
      return join(type.choices, "or");
    case Type::Shape::duration:
      return "a duration with its unit (50us)" + limits(type);
    case Type::Shape::size:
      return "a size with its unit (64KiB)" + limits(type);
    case Type::Shape::rate:
      return "a rate with its unit (100Gbps)" + limits(type);
    case Type::Shape::mac:
      return "a MAC address (02:00:00:00:00:01)";
    case Type::Shape::address:
      return "an IP address (10.1.0.1, fd00::1)";
    case Type::Shape::prefix:
      return "an IP prefix (10.1.0.0/24, fd00::/64)";
    case Type::Shape::path_id:
      return "first and second choice (3/1; 3/255 = hop by hop)";
    case Type::Shape::list:
      return "a list, each " + says(*type.element);
    case Type::Shape::mapping:
      return fmt::format("a map from {} to {}", type.key_says, says(*type.element));
    case Type::Shape::section:
      return fmt::format("{}the keys of {}", type.short_form ? "a word or " : "",
                         type.section->name);
    case Type::Shape::scheme:
      return "a scheme and its parameters";
    case Type::Shape::open:
      return std::string(type.text_says);
  }
  return {};
}

}  // namespace

std::string says(const Type& type) {
  if (type.absent.empty()) return shape_says(type);
  return fmt::format("{} or {}", shape_says(type), type.absent);
}

std::string range_says(const Type& type) {
  const std::string text = limits(type);
  const std::string range = text.substr(text.find_first_not_of(", "));
  return type.absent.empty() ? range : fmt::format("{} or {}", range, type.absent);
}

std::string as_word(const Value& value) {
  if (value.kind == Value::Kind::word) return value.word;
  const bool is_list = value.kind == Value::Kind::list;
  std::string text(1, is_list ? '[' : '{');
  const auto separate = [&] {
    if (text.size() > 1) text += ", ";
  };
  for (const Value& item : value.items) {
    separate();
    text += as_word(item);
  }
  for (const Value::Member& member : value.members) {
    separate();
    text += member.key + ": " + as_word(member.value);
  }
  return text + (is_list ? ']' : '}');
}

Reader::Scope::Scope(Reader& reader, std::string_view step, Position at)
    : reader_(reader), length_(reader.path_.size()) {
  if (!reader.path_.empty()) reader.path_ += '.';
  reader.path_ += step;
  reader.positions_.record(reader.path_, at);
}

void read_section(const Section& section, Reader& reader, const Node& node, void* object) {
  const Type type{.shape = Type::Shape::section, .section = &section};
  if (!expect_kind(reader, node, Node::Kind::map, type)) return;
  report_unknown(section, reader, node);
  for (const Key& key : section.keys) {
    const auto member = std::ranges::find(node.members, key.info.name, &Node::Member::key);
    if (member == node.members.end()) {
      if (key.info.required)
        reader.problem(node.at, fmt::format("{}: the key '{}' is missing, it is {}", reader.path(),
                                            key.info.name, says(key.type)));
      continue;
    }
    const bool word = member->value.kind == Node::Kind::scalar;
    Reader::Scope scope(reader, key.info.name, word ? member->value.at : member->key_at);
    key.read(reader, member->value, object);
  }
  report_inapplicable(section, reader, node, object);
}

void dilate_section(const Section& section, void* object, int64_t factor) {
  for (const Key& key : section.keys)
    if (!key.info.machine_time) key.dilate(object, factor);
}

Value print_section(const Section& section, const void* object) {
  Value value = print_all_keys(section, object);
  for (const Key& key : section.keys)
    if (key.info.applies != nullptr && !key.info.applies(object))
      std::erase_if(value.members, [&](const auto& each) { return each.key == key.info.name; });
  return value;
}

Value print_all_keys(const Section& section, const void* object) {
  Value value{.kind = Value::Kind::map};
  for (const Key& key : section.keys) {
    Value printed = key.print(object);
    printed.key_class = key.info.key_class;
    value.members.push_back({std::string(key.info.name), std::move(printed)});
  }
  return value;
}

Node expand_short_form(const Section& section, const Node& word) {
  Node node{.kind = Node::Kind::map, .at = word.at};
  node.members.push_back({std::string(section.keys.front().info.name), word.at, word});
  return node;
}

bool expect_kind(Reader& reader, const Node& node, Node::Kind kind, const Type& type) {
  if (node.kind == kind) return true;
  const bool container = kind != Node::Kind::scalar;
  if (node.kind == Node::Kind::null && container) return false;  // an empty section
  const std::string place = reader.path().empty() ? "" : fmt::format("{}: ", reader.path());
  const std::string found =
      node.kind == Node::Kind::null ? "no value" : fmt::format("this is {}", kind_says(node.kind));
  reader.problem(node.at, fmt::format("{}{}, write {}", place, found, says(type)));
  return false;
}

}  // namespace eddy::config
