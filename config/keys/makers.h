// Makes Keys from members: reading, printing, dilation and the Type all follow from the member's
// C++ type. Private to the YAML side; included by the tables only.
//
// `member` is a pointer to member or an accessor `T& (S&)` that also takes `const S&`.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/keys/codec.h"
#include "config/keys/dilation.h"
#include "config/keys/keys.h"

namespace eddy::config {

template <class T>
concept HasCodec = requires {
  Codec<T>::shape;
};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {
  using Inner = T;
};
template <class S, class M>
using MemberOf = std::remove_cvref_t<std::invoke_result_t<M, S&>>;

// Of ports and profiles.
inline constexpr std::string_view kNamePattern = "^[A-Za-z0-9_/-]{1,32}$";
inline constexpr std::string_view kNameSays = "up to 32 letters, digits, '_', '/' and '-'";
inline constexpr int64_t kLongestText = 1'024;

// The index that a mapping's key names, when it is one below `count`.
std::optional<size_t> read_index(Reader& reader, const Node::Member& member, size_t first,
                                 size_t last);
// A problem when the key is no name.
void check_name(Reader& reader, const Node::Member& member);

template <class T>
Type type_of(const KeyInfo& info) {
  Type type{.min = info.min, .max = info.max, .absent = info.absent};
  if constexpr (HasCodec<T>) {
    type.shape = Codec<T>::shape;
    type.text_pattern = info.pattern;
    type.text_says = info.pattern_says;
    if (type.shape == Type::Shape::text) type.max = std::min(info.max, kLongestText);
    if constexpr (std::is_enum_v<T>) type.choices = choices_of<T>();
    if constexpr (IsOptional<T>::value)
      if constexpr (std::is_enum_v<typename IsOptional<T>::Inner>)
        type.choices = choices_of<typename IsOptional<T>::Inner>();
  } else {
    type.shape = Type::Shape::section;
    type.section = &section_of<T>();
  }
  return type;
}

template <class T>
void read_value(Reader& reader, const Node& node, const Type& type, T& out) {
  if constexpr (HasCodec<T>) {
    if (!expect_kind(reader, node, Node::Kind::scalar, type)) return;
    const std::string wrong = parse_word(node.text, type, out);
    if (!wrong.empty()) reader.problem(node.at, fmt::format("{}: {}", reader.path(), wrong));
  } else if (type.short_form && node.kind == Node::Kind::scalar) {
    read_section(*type.section, reader, expand_short_form(*type.section, node), &out);
  } else {
    read_section(*type.section, reader, node, &out);
  }
}
template <class T>
Value print_value(const T& value, const Type& type) {
  if constexpr (HasCodec<T>)
    return {.text = type.shape == Type::Shape::text, .word = format_word(value, type)};
  else
    return print_section(*type.section, &value);
}

template <class T>
void dilate_value(T& value, const Type& type, int64_t factor) {
  if constexpr (std::is_same_v<T, Duration> || std::is_same_v<T, BitRate>) {
    value = dilated(value, factor);
  } else if constexpr (IsOptional<T>::value) {
    if (value) dilate_value(*value, type, factor);
  } else if constexpr (!HasCodec<T>) {
    dilate_section(*type.section, &value, factor);
  }
}

template <class S, class M>
Key typed_key(M member, const KeyInfo& info, const Type& type) {
  return {info, type,
          [=](Reader& reader, const Node& node, void* object) {
            read_value(reader, node, type, std::invoke(member, *static_cast<S*>(object)));
          },
          [=](const void* object) {
            return print_value(std::invoke(member, *static_cast<const S*>(object)), type);
          },
          [=](void* object, int64_t factor) {
            dilate_value(std::invoke(member, *static_cast<S*>(object)), type, factor);
          }};
}

// One value, or a section of its own keys.
template <class S, class M>
Key key(M member, const KeyInfo& info) {
  return typed_key<S>(member, info, type_of<MemberOf<S, M>>(info));
}
// A section for which a lone word stands: the value of its first key.
template <class S, class M>
Key short_key(M member, const KeyInfo& info) {
  Type type = type_of<MemberOf<S, M>>(info);
  type.short_form = true;
  return typed_key<S>(member, info, type);
}

// A list of values or of sections. `short_form`: a lone word is the first key of its section.
template <class S, class M>
Key list(M member, const KeyInfo& info, const Type& element) {
  using T = typename MemberOf<S, M>::value_type;
  Type type{.shape = Type::Shape::list, .element = std::make_shared<const Type>(element)};
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    if (!expect_kind(reader, node, Node::Kind::list, type)) return;
    auto& out = std::invoke(member, *static_cast<S*>(object));
    out.clear();
    for (const Node& item : node.items) {
      Reader::Scope scope(reader, std::to_string(out.size()), item.at);
      read_value(reader, item, element, out.emplace_back());
    }
  };
  const auto print = [=](const void* object) {
    Value value{.kind = Value::Kind::list, .flow = HasCodec<T>};
    for (const T& item : std::invoke(member, *static_cast<const S*>(object))) {
      value.items.push_back(print_value(item, element));
      value.items.back().flow = true;
    }
    return value;
  };
  const auto dilate = [=](void* object, int64_t factor) {
    for (auto& item : std::invoke(member, *static_cast<S*>(object)))
      dilate_value(item, element, factor);
  };
  return {info, type, read, print, dilate};
}

// An array by number, as a sparse map over what it held before.
template <class S, class M>
Key indexed(M member, const KeyInfo& info) {
  using Array = MemberOf<S, M>;
  using T = typename Array::value_type;
  constexpr size_t kCount = std::tuple_size_v<Array>;
  const Type element = type_of<T>(info);
  Type type{.shape = Type::Shape::mapping, .element = std::make_shared<const Type>(element)};
  type.key_says = kCount == kPriorities ? "0 to 7" : "0 to 63";
  type.key_pattern = kCount == kPriorities ? "^[0-7]$" : "^([0-9]|[1-5][0-9]|6[0-3])$";
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    if (!expect_kind(reader, node, Node::Kind::map, type)) return;
    auto& out = std::invoke(member, *static_cast<S*>(object));
    for (const Node::Member& entry : node.members) {
      Reader::Scope scope(reader, entry.key, entry.key_at);
      if (const auto index = read_index(reader, entry, 0, kCount - 1))
        read_value(reader, entry.value, element, out[*index]);
    }
  };
  const auto print = [=](const void* object) {
    Value value{.kind = Value::Kind::map, .flow = HasCodec<T>};
    const auto& array = std::invoke(member, *static_cast<const S*>(object));
    for (size_t i = 0; i < kCount; ++i) {
      value.members.push_back({std::to_string(i), print_value(array[i], element)});
      value.members.back().value.flow = true;
    }
    return value;
  };
  const auto dilate = [=](void* object, int64_t factor) {
    for (auto& item : std::invoke(member, *static_cast<S*>(object)))
      dilate_value(item, element, factor);
  };
  return {info, type, read, print, dilate};
}

// Sections by name; a name that exists already is changed, not replaced.
template <class S, class M>
Key named(M member, const KeyInfo& info) {
  using T = typename MemberOf<S, M>::mapped_type;
  const Type element = type_of<T>(info);
  Type type{.shape = Type::Shape::mapping, .element = std::make_shared<const Type>(element)};
  type.key_says = "names";
  type.key_pattern = kNamePattern;
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    if (!expect_kind(reader, node, Node::Kind::map, type)) return;
    auto& out = std::invoke(member, *static_cast<S*>(object));
    for (const Node::Member& entry : node.members) {
      Reader::Scope scope(reader, entry.key, entry.key_at);
      check_name(reader, entry);
      read_value(reader, entry.value, element, out[entry.key]);
    }
  };
  const auto print = [=](const void* object) {
    Value value{.kind = Value::Kind::map};
    for (const auto& [name, entry] : std::invoke(member, *static_cast<const S*>(object)))
      value.members.push_back({name, print_value(entry, element)});
    return value;
  };
  const auto dilate = [=](void* object, int64_t factor) {
    for (auto& [name, entry] : std::invoke(member, *static_cast<S*>(object)))
      dilate_value(entry, element, factor);
  };
  return {info, type, read, print, dilate};
}

template <class T>
Section make_section(std::string_view name, std::string_view help, std::vector<Key> keys,
                     const T& defaults) {
  Section section{name, help, std::move(keys), {}};
  section.defaults = print_all_keys(section, &defaults);
  return section;
}

}  // namespace eddy::config
