// One value of each type as the word it has in a file, and back. Private to the YAML side.
//
// A parse either sets `out` and returns "", or says what is wrong and what would be valid. Formats
// are canonical: parse(format(x)) == x.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/keys/keys.h"

namespace eddy::config {

// The names of an enumeration's values in a file, in the order of its enumerators.
template <class E>
std::span<const std::string_view> choices_of();

template <class T>
struct Codec;

// Declares a codec whose two functions stand in codec.cpp.
#define EDDY_CODEC(T, kShape)                                                  \
  template <>                                                                  \
  struct Codec<T> {                                                            \
    static constexpr Type::Shape shape = Type::Shape::kShape;                  \
    static std::string parse(std::string_view text, const Type& type, T& out); \
    static std::string format(const T& value);                                 \
  };
EDDY_CODEC(bool, boolean)
EDDY_CODEC(int64_t, integer)
EDDY_CODEC(uint64_t, integer)
EDDY_CODEC(double, real)
EDDY_CODEC(std::string, text)
EDDY_CODEC(Duration, duration)
EDDY_CODEC(Bytes, size)
EDDY_CODEC(BitRate, rate)
EDDY_CODEC(MacAddress, mac)
EDDY_CODEC(IpAddress, address)
EDDY_CODEC(IpPrefix, prefix)
EDDY_CODEC(PathId, path_id)
#undef EDDY_CODEC

template <std::integral T>
struct Codec<T> {
  static constexpr Type::Shape shape = Type::Shape::integer;
  static std::string parse(std::string_view text, const Type& type, T& out) {
    int64_t value = 0;
    std::string wrong = Codec<int64_t>::parse(text, type, value);
    if (wrong.empty()) out = static_cast<T>(value);
    return wrong;
  }
  static std::string format(T value) { return Codec<int64_t>::format(static_cast<int64_t>(value)); }
};

template <class Tag, class Rep>
struct Codec<Id<Tag, Rep>> {
  static constexpr Type::Shape shape = Type::Shape::integer;
  static std::string parse(std::string_view text, const Type& type, Id<Tag, Rep>& out) {
    Rep value = 0;
    std::string wrong = Codec<Rep>::parse(text, type, value);
    if (wrong.empty()) out = Id<Tag, Rep>(value);
    return wrong;
  }
  static std::string format(Id<Tag, Rep> value) { return std::to_string(value.index()); }
};

std::string parse_choice(std::string_view text, const Type& type, size_t& out);

template <class E>
requires std::is_enum_v<E>
struct Codec<E> {
  static constexpr Type::Shape shape = Type::Shape::choice;
  static std::string parse(std::string_view text, const Type& type, E& out) {
    size_t index = 0;
    std::string wrong = parse_choice(text, type, index);
    if (wrong.empty()) out = static_cast<E>(index);
    return wrong;
  }
  static std::string format(E value) {
    return std::string(choices_of<E>()[static_cast<size_t>(value)]);
  }
};

template <class T>
struct Codec<std::optional<T>> {
  static constexpr Type::Shape shape = Codec<T>::shape;
  static std::string parse(std::string_view text, const Type& type, std::optional<T>& out) {
    T value{};
    std::string wrong = Codec<T>::parse(text, type, value);
    if (wrong.empty()) out = value;
    return wrong;
  }
  static std::string format(const std::optional<T>& value) { return Codec<T>::format(*value); }
};

// The value that stands for "not set" where a key has a word for that.
template <class T>
constexpr T absent_value() {
  if constexpr (requires { T::none(); })
    return T::none();
  else
    return T{};
}

// With the word for "not set" taken into account.
template <class T>
std::string parse_word(std::string_view text, const Type& type, T& out) {
  if (type.absent.empty() || text != type.absent) return Codec<T>::parse(text, type, out);
  out = absent_value<T>();
  return {};
}
template <class T>
std::string format_word(const T& value, const Type& type) {
  const bool absent = !type.absent.empty() && value == absent_value<T>();
  return absent ? std::string(type.absent) : Codec<T>::format(value);
}

}  // namespace eddy::config
