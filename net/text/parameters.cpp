#include "net/text/parameters.h"

#include <algorithm>

#include "net/quantity.h"

namespace eddy {
namespace {

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

Result<int64_t> parse_choice(const ParameterInfo& info, std::string_view text) {
  const auto found = std::find(info.choices.begin(), info.choices.end(), text);
  if (found != info.choices.end()) return static_cast<int64_t>(found - info.choices.begin());
  return Result<int64_t>::failure("'" + std::string(text) + "' is unknown");
}

template <class T, class Count>
Result<int64_t> converted(const Result<T>& parsed, Count count) {
  if (!parsed) return parsed.problems();
  return count(parsed.value());
}

Result<int64_t> parse_kind(const ParameterInfo& info, std::string_view text) {
  switch (info.kind) {
    case ParameterKind::count:
      return parse_integer(text);
    case ParameterKind::duration:
      return converted(parse_duration(text), [](Duration value) { return value.ps(); });
    case ParameterKind::size:
      return converted(parse_bytes(text), [](Bytes value) { return value.count(); });
    case ParameterKind::flag:
      return converted(parse_flag(text), [](bool value) { return int64_t{value}; });
    case ParameterKind::choice:
      return parse_choice(info, text);
    case ParameterKind::rate:
      return converted(parse_bit_rate(text), [](BitRate value) { return value.bps(); });
  }
  return Result<int64_t>::failure("has no kind");
}

std::string unknown_text(std::string_view owner, std::span<const ParameterInfo> declared,
                         const std::string& name) {
  std::string text = name + ": " + std::string(owner) + " has no such parameter; ";
  if (declared.empty()) return text + "it has none";
  std::vector<std::string_view> names;
  for (const ParameterInfo& info : declared) names.push_back(info.name);
  return text + "valid: " + joined(names);
}

}  // namespace

std::string_view to_string(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::count:
      return "count";
    case ParameterKind::duration:
      return "duration";
    case ParameterKind::size:
      return "size";
    case ParameterKind::flag:
      return "flag";
    case ParameterKind::choice:
      return "choice";
    case ParameterKind::rate:
      return "rate";
  }
  return "";
}

std::string value_text(const ParameterInfo& info, int64_t value) {
  if (!info.automatic.empty() && value == kAutomatic) return std::string(info.automatic);
  switch (info.kind) {
    case ParameterKind::count:
      return std::to_string(value);
    case ParameterKind::duration:
      return to_string(Duration::picoseconds(value));
    case ParameterKind::size:
      return to_string(Bytes(value));
    case ParameterKind::flag:
      return value != 0 ? "true" : "false";
    case ParameterKind::choice:
      return std::string(info.choices[static_cast<size_t>(value)]);
    case ParameterKind::rate:
      return to_string(BitRate::bits_per_second(value));
  }
  return "";
}

std::string valid_text(const ParameterInfo& info) {
  if (info.kind == ParameterKind::choice) return joined(info.choices);
  if (info.kind == ParameterKind::flag) return "true or false";
  const std::string range = value_text(info, info.min) + " to " + value_text(info, info.max);
  return info.automatic.empty() ? range : range + " or " + std::string(info.automatic);
}

Result<int64_t> parse_value(const ParameterInfo& info, std::string_view text) {
  if (!info.automatic.empty() && text == info.automatic) return kAutomatic;
  Result<int64_t> value = parse_kind(info, text);
  if (!value)
    return Result<int64_t>::failure(value.problems().front() + "; valid: " + valid_text(info));
  if (*value >= info.min && *value <= info.max) return value;
  return Result<int64_t>::failure("'" + std::string(text) +
                                  "' is out of range; valid: " + valid_text(info));
}

Problems check_parameters(std::string_view owner, std::span<const ParameterInfo> declared,
                          const ParameterMap& given) {
  Problems problems;
  for (const auto& [name, text] : given) {
    const auto info = std::find_if(declared.begin(), declared.end(),
                                   [&name = name](const auto& each) { return each.name == name; });
    if (info == declared.end()) {
      problems.push_back(unknown_text(owner, declared, name));
      continue;
    }
    const Result<int64_t> value = parse_value(*info, text);
    if (!value) problems.push_back(name + ": " + value.problems().front());
  }
  return problems;
}

}  // namespace eddy
