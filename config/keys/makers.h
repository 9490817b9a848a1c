// Makes Keys from members: reading, printing, dilation and the Type all follow from the member's
// C++ type. Private to the YAML side; included by the tables only.
//
// `member` is a pointer to member or an accessor `T& (S&)`, which must not write.
//
// What knows a type is small and stands here: how its word is parsed, where a member is. All else
// is in makers.cpp and compiled once, not for every member of every struct.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
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

// What is done with a word of one type.
struct ValueKind {
  std::string (*parse)(std::string_view text, const Type& type, void* out) = nullptr;
  std::string (*format)(const void* value, const Type& type) = nullptr;
  void (*dilate)(void* value, int64_t factor) = nullptr;  // null: it stays
};
template <class T>
concept Stretched = std::is_same_v<T, Duration> || std::is_same_v<T, BitRate>;
template <class T>
constexpr auto dilate_of() -> void (*)(void*, int64_t) {
  if constexpr (Stretched<T>)
    return [](void* value, int64_t factor) {
      *static_cast<T*>(value) = dilated(*static_cast<T*>(value), factor);
    };
  else if constexpr (IsOptional<T>::value)
    if constexpr (Stretched<typename IsOptional<T>::Inner>)
      return [](void* value, int64_t factor) {
        if (T& out = *static_cast<T*>(value)) out = dilated(*out, factor);
      };
  return nullptr;
}
template <class T>
constexpr ValueKind make_kind() {
  if constexpr (HasCodec<T>)
    return {[](std::string_view text, const Type& type, void* out) {
              return parse_word(text, type, *static_cast<T*>(out));
            },
            [](const void* value, const Type& type) {
              return format_word(*static_cast<const T*>(value), type);
            },
            dilate_of<T>()};
  else
    return {};  // a section: its keys say
}
template <class T>
inline constexpr ValueKind kKindOf = make_kind<T>();

void read_value(const ValueKind& kind, Reader& reader, const Node& node, const Type& type,
                void* out);
Value print_value(const ValueKind& kind, const void* value, const Type& type);
void dilate_value(const ValueKind& kind, void* value, const Type& type, int64_t factor);

template <class T>
void read_value(Reader& reader, const Node& node, const Type& type, T& out) {
  read_value(kKindOf<T>, reader, node, type, &out);
}
template <class T>
Value print_value(const T& value, const Type& type) {
  return print_value(kKindOf<T>, &value, type);
}
template <class T>
void dilate_value(T& value, const Type& type, int64_t factor) {
  dilate_value(kKindOf<T>, &value, type, factor);
}

// Where a member is in its object, whatever the types of both.
class Place {
 public:
  template <class S, class M>
  static Place of(M member) {
    using Copy = std::array<std::byte, sizeof(M)>;
    static_assert(sizeof(M) <= sizeof(member_));
    Place place;
    std::memcpy(place.member_.data(), &member, sizeof(M));
    place.find_ = [](const std::byte* bytes, void* object) -> void* {
      Copy copy;
      std::memcpy(copy.data(), bytes, sizeof(M));
      return &std::invoke(std::bit_cast<M>(copy), *static_cast<S*>(object));
    };
    return place;
  }
  void* operator()(void* object) const { return find_(member_.data(), object); }
  const void* operator()(const void* object) const { return (*this)(const_cast<void*>(object)); }

 private:
  std::array<std::byte, 16> member_{};
  void* (*find_)(const std::byte* member, void* object) = nullptr;
};

// A vector or an array, whatever its elements.
struct SequenceKind {
  ValueKind element;
  size_t stride = 0;  // octets
  size_t (*size)(const void* sequence) = nullptr;
  void* (*data)(void* sequence) = nullptr;
  const void* (*read)(const void* sequence) = nullptr;  // the same of one that stays as it is
  void (*clear)(void* sequence) = nullptr;              // vectors
  void* (*add)(void* sequence) = nullptr;               // vectors: at the end
};
template <class V>
constexpr SequenceKind make_sequence() {
  using T = typename V::value_type;
  SequenceKind kind{
      kKindOf<T>, sizeof(T),
      [](const void* sequence) { return static_cast<const V*>(sequence)->size(); },
      [](void* sequence) -> void* { return static_cast<V*>(sequence)->data(); },
      [](const void* sequence) -> const void* { return static_cast<const V*>(sequence)->data(); }};
  if constexpr (requires(V sequence) { sequence.emplace_back(); }) {
    kind.clear = [](void* sequence) { static_cast<V*>(sequence)->clear(); };
    kind.add = [](void* sequence) -> void* { return &static_cast<V*>(sequence)->emplace_back(); };
  }
  return kind;
}
template <class V>
inline constexpr SequenceKind kSequenceOf = make_sequence<V>();

// A map by name, whatever it holds.
struct MapKind {
  using Visit = std::function<void(const std::string& name, void* value)>;
  ValueKind element;
  void* (*entry)(void* map, const std::string& name) = nullptr;  // made if there is none
  void (*each)(void* map, const Visit& visit) = nullptr;
};
template <class V>
inline constexpr MapKind kMapOf = {
    kKindOf<typename V::mapped_type>,
    [](void* map, const std::string& name) -> void* { return &(*static_cast<V*>(map))[name]; },
    [](void* map, const MapKind::Visit& visit) {
      for (auto& [name, value] : *static_cast<V*>(map)) visit(name, &value);
    }};

Key value_key(const KeyInfo& info, const Type& type, const Place& place, const ValueKind& kind);
Key list_key(const KeyInfo& info, const Type& element, const Place& place,
             const SequenceKind& kind);
Key indexed_key(const KeyInfo& info, const Type& element, const Place& place,
                const SequenceKind& kind, size_t count);
Key named_key(const KeyInfo& info, const Type& element, const Place& place, const MapKind& kind);
Section section_with(std::string_view name, std::string_view help, std::vector<Key> keys,
                     const void* defaults);

// One value, or a section of its own keys.
template <class S, class M>
Key key(M member, const KeyInfo& info) {
  using T = MemberOf<S, M>;
  return value_key(info, type_of<T>(info), Place::of<S>(member), kKindOf<T>);
}
// A section for which a lone word stands: the value of its first key.
template <class S, class M>
Key short_key(M member, const KeyInfo& info) {
  using T = MemberOf<S, M>;
  Type type = type_of<T>(info);
  type.short_form = true;
  return value_key(info, type, Place::of<S>(member), kKindOf<T>);
}

// A list of values or of sections. `short_form`: a lone word is the first key of its section.
template <class S, class M>
Key list(M member, const KeyInfo& info, const Type& element) {
  return list_key(info, element, Place::of<S>(member), kSequenceOf<MemberOf<S, M>>);
}

// An array by number, as a sparse map over what it held before.
template <class S, class M>
Key indexed(M member, const KeyInfo& info) {
  using Array = MemberOf<S, M>;
  return indexed_key(info, type_of<typename Array::value_type>(info), Place::of<S>(member),
                     kSequenceOf<Array>, std::tuple_size_v<Array>);
}

// Sections by name; a name that exists already is changed, not replaced.
template <class S, class M>
Key named(M member, const KeyInfo& info) {
  using Map = MemberOf<S, M>;
  return named_key(info, type_of<typename Map::mapped_type>(info), Place::of<S>(member),
                   kMapOf<Map>);
}

template <class T>
Section make_section(std::string_view name, std::string_view help, std::vector<Key> keys,
                     const T& defaults) {
  return section_with(name, help, std::move(keys), &defaults);
}

}  // namespace eddy::config
