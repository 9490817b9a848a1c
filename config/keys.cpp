#include "config/keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/codec.h"
#include "config/key_makers.h"
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

void report_unknown(const Section& section, Reader& reader, const Node& node) {
  const std::vector<std::string_view> names = names_of(section);
  for (const Node::Member& member : node.members)
    if (std::ranges::find(names, member.key) == names.end())
      reader.problem(member.key_at, fmt::format("unknown key '{}'{}", member.key.substr(0, 64),
                                                hint(member.key, names)));
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

// "whole number 0 to 7"
std::string range_says(const Type& type, std::string (*format)(int64_t)) {
  if (type.max == std::numeric_limits<int64_t>::max())
    return type.min == 0 ? "" : fmt::format(", at least {}", format(type.min));
  return fmt::format(" {} to {}", format(type.min), format(type.max));
}

std::string number(int64_t n) {
  return std::to_string(n);
}
std::string duration(int64_t ps) {
  return to_string(Duration::picoseconds(ps));
}
std::string size(int64_t bytes) {
  return to_string(Bytes(bytes));
}
std::string rate(int64_t bps) {
  return to_string(BitRate::bits_per_second(bps));
}

std::string shape_says(const Type& type) {
  switch (type.shape) {
    case Type::Shape::boolean:
      return "true or false";
    case Type::Shape::integer:
      return "a whole number" + range_says(type, number);
    case Type::Shape::real:
      return "a decimal number" + range_says(type, number);
    case Type::Shape::text:
      return "a text";
    case Type::Shape::choice:
      return join(type.choices, "or");
    case Type::Shape::duration:
      return "a duration with its unit (50us)" + range_says(type, duration);
    case Type::Shape::size:
      return "a size with its unit (64KiB)" + range_says(type, size);
    case Type::Shape::rate:
      return "a rate with its unit (100Gbps)" + range_says(type, rate);
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
  }
  return {};
}

}  // namespace

std::string says(const Type& type) {
  if (type.absent.empty()) return shape_says(type);
  return fmt::format("{} or {}", shape_says(type), type.absent);
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
  if (!expect_kind(reader, node, Node::Kind::map, fmt::format("the keys of {}", section.name)))
    return;
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

Value print_section(const Section& section, const void* object) {
  Value value{.kind = Value::Kind::map};
  for (const Key& key : section.keys) {
    if (key.info.applies != nullptr && !key.info.applies(object)) continue;
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

bool expect_kind(Reader& reader, const Node& node, Node::Kind kind, std::string_view valid) {
  if (node.kind == kind) return true;
  const bool container = kind != Node::Kind::scalar;
  if (node.kind == Node::Kind::null && container) return false;  // an empty section
  const std::string place = reader.path().empty() ? "" : fmt::format("{}: ", reader.path());
  if (node.kind == Node::Kind::null)
    reader.problem(node.at, fmt::format("{}no value, write {}", place, valid));
  else
    reader.problem(node.at,
                   fmt::format("{}this is {}, write {}", place, kind_says(node.kind), valid));
  return false;
}

std::optional<size_t> read_index(Reader& reader, const Node::Member& member, size_t first,
                                 size_t last) {
  const Result<int64_t> parsed = parse_integer(member.key);
  const bool canonical = parsed && std::to_string(parsed.value()) == member.key;
  const auto value = static_cast<size_t>(canonical ? parsed.value() : -1);
  if (canonical && value >= first && value <= last) return value;
  reader.problem(member.key_at, fmt::format("'{}' is not a number of this map, valid is {} to {}",
                                            member.key.substr(0, 64), first, last));
  return std::nullopt;
}

bool check_name(Reader& reader, const Node::Member& member, const Type& type) {
  Type name{.shape = Type::Shape::text, .max = 64, .text_pattern = type.key_pattern};
  std::string ignored;
  const std::string wrong = Codec<std::string>::parse(member.key, name, ignored);
  if (!wrong.empty()) reader.problem(member.key_at, wrong);
  return wrong.empty();
}

}  // namespace eddy::config
