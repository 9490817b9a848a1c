// Parameters of path selection schemes and of hosts' laws: declared once beside the struct they
// fill; the YAML loader, the documentation and the parser all read that declaration.
//
//   struct Parameters { Duration gap = 50_us; };
//   static constexpr auto parameters() {
//     return std::array{ranged<&Parameters::gap>("gap", 1_us, 1_s, {"help", "source"})};
//   }
//
// The default is the member's initialiser. Inside ParameterInfo values are int64 in the base unit
// of their kind: 1, picoseconds, octets, bit/s, 0/1, or the index of the choice. A member that is a
// std::optional may be `auto`: then it is empty, and its owner derives it. Control plane only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "net/result.h"
#include "net/units.h"

namespace eddy {

enum class ParameterKind : uint8_t { count, duration, size, flag, choice, rate };

using ParameterMap = std::map<std::string, std::string>;

// Values in the base unit of their kind, by name.
using ParameterValues = std::map<std::string, int64_t, std::less<>>;

inline constexpr int64_t kAutomatic = std::numeric_limits<int64_t>::min();

struct ParameterInfo {
  std::string_view name;
  ParameterKind kind{};
  int64_t fallback = 0;  // when the configuration says nothing
  int64_t min = 0;
  int64_t max = 0;
  std::span<const std::string_view> choices;  // kind choice: the values by index
  std::string_view automatic;                 // the word for kAutomatic; empty: it is no value
  std::string_view help;
  std::string_view source;
};

std::string_view to_string(ParameterKind kind);
// A value in the words of the configuration file: "50us", "64KiB", "agebit".
std::string value_text(const ParameterInfo& info, int64_t value);
// What is valid, for messages and documentation: "1us to 1s", "agebit or exact".
std::string valid_text(const ParameterInfo& info);
// The value in the base unit, or what is wrong with it and what would be valid.
Result<int64_t> parse_value(const ParameterInfo& info, std::string_view text);
// Unknown names, bad units, values out of range. `owner` is the scheme or law,
// for the messages.
Problems check_parameters(std::string_view owner, std::span<const ParameterInfo> declared,
                          const ParameterMap& given);

// A declared parameter of the struct P: its description and how to store it.
template <class P>
struct Declared {
  ParameterInfo info;
  void (*store)(P&, int64_t) = nullptr;
};

namespace parameter_detail {
template <class T>
struct MemberOf;
template <class P, class V>
struct MemberOf<V P::*> {
  using Struct = P;
  using Value = V;
};
template <auto Member>
using StructOf = typename MemberOf<decltype(Member)>::Struct;
template <auto Member>
using ValueOf = typename MemberOf<decltype(Member)>::Value;

template <class V>
struct InnerOf {
  using Type = V;
  static constexpr std::string_view kAutomaticWord{};
};
template <class V>
struct InnerOf<std::optional<V>> {
  using Type = V;
  static constexpr std::string_view kAutomaticWord = "auto";
};
template <auto Member>
using InnerValueOf = typename InnerOf<ValueOf<Member>>::Type;

constexpr int64_t base(int64_t value) {
  return value;
}
constexpr int64_t base(Duration value) {
  return value.ps();
}
constexpr int64_t base(Bytes value) {
  return value.count();
}
constexpr int64_t base(BitRate value) {
  return value.bps();
}
template <class V>
constexpr int64_t base(const std::optional<V>& value) {
  return value ? base(*value) : kAutomatic;
}

template <class V>
constexpr V from_base(int64_t value) {
  using Inner = typename InnerOf<V>::Type;
  if constexpr (!std::is_same_v<V, Inner>)
    return value == kAutomatic ? V{} : V{from_base<Inner>(value)};
  else if constexpr (std::is_same_v<V, Duration>)
    return Duration::picoseconds(value);
  else if constexpr (std::is_same_v<V, BitRate>)
    return BitRate::bits_per_second(value);
  else
    return static_cast<V>(value);
}

template <class V>
constexpr ParameterKind kind_of() {
  if constexpr (std::is_same_v<V, Duration>)
    return ParameterKind::duration;
  else if constexpr (std::is_same_v<V, Bytes>)
    return ParameterKind::size;
  else if constexpr (std::is_same_v<V, BitRate>)
    return ParameterKind::rate;
  else
    return ParameterKind::count;
}

template <auto Member>
constexpr Declared<StructOf<Member>> declared(ParameterInfo info) {
  return {info, [](StructOf<Member>& parameters, int64_t value) {
            parameters.*Member = from_base<ValueOf<Member>>(value);
          }};
}
}  // namespace parameter_detail

// What a parameter is for, and where its default is from.
struct ParameterText {
  std::string_view help;
  std::string_view source;
};

// An int64_t, Duration, Bytes or BitRate between min and max, or such an optional.
template <auto Member>
constexpr auto ranged(std::string_view name, parameter_detail::InnerValueOf<Member> min,
                      parameter_detail::InnerValueOf<Member> max, ParameterText text) {
  using Value = parameter_detail::InnerValueOf<Member>;
  const parameter_detail::StructOf<Member> defaults{};
  return parameter_detail::declared<Member>(
      {name,
       parameter_detail::kind_of<Value>(),
       parameter_detail::base(defaults.*Member),
       parameter_detail::base(min),
       parameter_detail::base(max),
       {},
       parameter_detail::InnerOf<parameter_detail::ValueOf<Member>>::kAutomaticWord,
       text.help,
       text.source});
}

// An enum class whose enumerators are 0, 1, ... in the order of `names`.
template <auto Member>
constexpr auto choice(std::string_view name, std::span<const std::string_view> names,
                      ParameterText text) {
  const parameter_detail::StructOf<Member> defaults{};
  return parameter_detail::declared<Member>({name,
                                             ParameterKind::choice,
                                             static_cast<int64_t>(defaults.*Member),
                                             0,
                                             static_cast<int64_t>(names.size()) - 1,
                                             names,
                                             {},
                                             text.help,
                                             text.source});
}

template <auto Member>
constexpr auto flag(std::string_view name, ParameterText text) {
  const parameter_detail::StructOf<Member> defaults{};
  return parameter_detail::declared<Member>(
      {name, ParameterKind::flag, defaults.*Member ? 1 : 0, 0, 1, {}, {}, text.help, text.source});
}

// The descriptions alone, as a constant the registry can point to.
template <class Owner>
inline constexpr auto kParameterInfos = [] {
  constexpr auto kDeclared = Owner::parameters();
  std::array<ParameterInfo, kDeclared.size()> infos{};
  for (size_t i = 0; i < infos.size(); ++i) infos[i] = kDeclared[i].info;
  return infos;
}();

template <class Owner>
Result<typename Owner::Parameters> parse_parameters(std::string_view owner,
                                                    const ParameterMap& given) {
  Problems problems = check_parameters(owner, kParameterInfos<Owner>, given);
  if (!problems.empty()) return problems;
  typename Owner::Parameters parameters;
  for (const auto& parameter : Owner::parameters()) {
    const auto found = given.find(std::string(parameter.info.name));
    if (found != given.end())
      parameter.store(parameters, parse_value(parameter.info, found->second).value());
  }
  return parameters;
}

// Of values that were checked when they were read; a time may have been stretched since, beyond
// what a file may say. Those without a value are as declared.
template <class Owner>
typename Owner::Parameters parameters_from(const ParameterValues& given) {
  typename Owner::Parameters parameters;
  for (const auto& parameter : Owner::parameters()) {
    const auto found = given.find(parameter.info.name);
    if (found != given.end()) parameter.store(parameters, found->second);
  }
  return parameters;
}

}  // namespace eddy
