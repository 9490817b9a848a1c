#include "config/keys/makers.h"

#include <fmt/format.h>

#include "net/quantity.h"

namespace eddy::config {

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

void check_name(Reader& reader, const Node::Member& member) {
  const Type name{.max = kLongestText, .text_pattern = kNamePattern, .text_says = kNameSays};
  std::string ignored;
  std::string wrong = Codec<std::string>::parse(member.key, name, ignored);
  if (member.key == "none" || member.key == "auto")
    wrong = fmt::format("'{}' cannot be a name, it is a word of its own", member.key);
  if (!wrong.empty()) reader.problem(member.key_at, wrong);
}

void read_value(const ValueKind& kind, Reader& reader, const Node& node, const Type& type,
                void* out) {
  if (kind.parse) {
    if (!expect_kind(reader, node, Node::Kind::scalar, type)) return;
    const std::string wrong = kind.parse(node.text, type, out);
    if (!wrong.empty()) reader.problem(node.at, fmt::format("{}: {}", reader.path(), wrong));
  } else if (type.short_form && node.kind == Node::Kind::scalar) {
    read_section(*type.section, reader, expand_short_form(*type.section, node), out);
  } else {
    read_section(*type.section, reader, node, out);
  }
}

Value print_value(const ValueKind& kind, const void* value, const Type& type) {
  if (!kind.format) return print_section(*type.section, value);
  return {.text = type.shape == Type::Shape::text, .word = kind.format(value, type)};
}

void dilate_value(const ValueKind& kind, void* value, const Type& type, int64_t factor) {
  if (kind.dilate)
    kind.dilate(value, factor);
  else if (!kind.parse)
    dilate_section(*type.section, value, factor);
}

Key value_key(const KeyInfo& info, const Type& type, const Place& place, const ValueKind& kind) {
  return {info, type,
          [=](Reader& reader, const Node& node, void* object) {
            read_value(kind, reader, node, type, place(object));
          },
          [=](const void* object) { return print_value(kind, place(object), type); },
          [=](void* object, int64_t factor) { dilate_value(kind, place(object), type, factor); }};
}

namespace {

// Each element in turn.
template <class Visit>
void each_of(const SequenceKind& kind, const void* sequence, Visit visit) {
  const size_t size = kind.size(sequence);
  const auto* element = static_cast<const std::byte*>(kind.read(sequence));
  for (size_t i = 0; i < size; ++i, element += kind.stride) visit(i, element);
}

auto dilate_each(const SequenceKind& kind, const Type& element, const Place& place) {
  return [=](void* object, int64_t factor) {
    void* const sequence = place(object);
    const size_t size = kind.size(sequence);
    auto* item = static_cast<std::byte*>(kind.data(sequence));
    for (size_t i = 0; i < size; ++i, item += kind.stride)
      dilate_value(kind.element, item, element, factor);
  };
}

}  // namespace

Key list_key(const KeyInfo& info, const Type& element, const Place& place,
             const SequenceKind& kind) {
  const Type type{.shape = Type::Shape::list, .element = std::make_shared<const Type>(element)};
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    if (!expect_kind(reader, node, Node::Kind::list, type)) return;
    void* out = place(object);
    kind.clear(out);
    for (const Node& item : node.items) {
      Reader::Scope scope(reader, std::to_string(kind.size(out)), item.at);
      read_value(kind.element, reader, item, element, kind.add(out));
    }
  };
  const auto print = [=](const void* object) {
    Value value{.kind = Value::Kind::list, .flow = kind.element.format != nullptr};
    each_of(kind, place(object), [&](size_t, const void* item) {
      value.items.push_back(print_value(kind.element, item, element));
      value.items.back().flow = true;
    });
    return value;
  };
  return {info, type, read, print, dilate_each(kind, element, place)};
}

Key indexed_key(const KeyInfo& info, const Type& element, const Place& place,
                const SequenceKind& kind, size_t count) {
  Type type{.shape = Type::Shape::mapping, .element = std::make_shared<const Type>(element)};
  type.key_says = count == kPriorities ? "0 to 7" : "0 to 63";
  type.key_pattern = count == kPriorities ? "^[0-7]$" : "^([0-9]|[1-5][0-9]|6[0-3])$";
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    if (!expect_kind(reader, node, Node::Kind::map, type)) return;
    auto* first = static_cast<std::byte*>(kind.data(place(object)));
    for (const Node::Member& entry : node.members) {
      Reader::Scope scope(reader, entry.key, entry.key_at);
      if (const auto index = read_index(reader, entry, 0, count - 1))
        read_value(kind.element, reader, entry.value, element, first + *index * kind.stride);
    }
  };
  const auto print = [=](const void* object) {
    Value value{.kind = Value::Kind::map, .flow = kind.element.format != nullptr};
    each_of(kind, place(object), [&](size_t i, const void* item) {
      value.members.push_back({std::to_string(i), print_value(kind.element, item, element)});
      value.members.back().value.flow = true;
    });
    return value;
  };
  return {info, type, read, print, dilate_each(kind, element, place)};
}

Key named_key(const KeyInfo& info, const Type& element, const Place& place, const MapKind& kind) {
  Type type{.shape = Type::Shape::mapping, .element = std::make_shared<const Type>(element)};
  type.key_says = "names";
  type.key_pattern = kNamePattern;
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    if (!expect_kind(reader, node, Node::Kind::map, type)) return;
    void* out = place(object);
    for (const Node::Member& entry : node.members) {
      Reader::Scope scope(reader, entry.key, entry.key_at);
      check_name(reader, entry);
      read_value(kind.element, reader, entry.value, element, kind.entry(out, entry.key));
    }
  };
  const auto print = [=](const void* object) {
    Value value{.kind = Value::Kind::map};
    kind.each(place(const_cast<void*>(object)), [&](const std::string& name, const void* entry) {
      value.members.push_back({name, print_value(kind.element, entry, element)});
    });
    return value;
  };
  const auto dilate = [=](void* object, int64_t factor) {
    kind.each(place(object), [&](const std::string&, void* entry) {
      dilate_value(kind.element, entry, element, factor);
    });
  };
  return {info, type, read, print, dilate};
}

Section section_with(std::string_view name, std::string_view help, std::vector<Key> keys,
                     const void* defaults) {
  Section section{name, help, std::move(keys), {}};
  section.defaults = print_all_keys(section, defaults);
  return section;
}

}  // namespace eddy::config
