#include "config/keys/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>

#include "config/keys/hint.h"
#include "net/quantity.h"

namespace eddy::config {
namespace {

std::string out_of_range(std::string_view text, const Type& type) {
  return fmt::format("'{}' is out of range, valid is {}", text, range_says(type));
}

template <class Quantity>
std::string parse_quantity(const Result<Quantity>& parsed, std::string_view text, const Type& type,
                           int64_t (*raw)(Quantity), Quantity& out) {
  if (!parsed) return parsed.problems().front();
  const int64_t value = raw(parsed.value());
  if (value < type.min || value > type.max) return out_of_range(text, type);
  out = parsed.value();
  return {};
}

std::string not_a(std::string_view text, std::string_view what) {
  return fmt::format("'{}' is not {}", text, what);
}

template <class T>
std::string take(std::optional<T> parsed, std::string_view text, const Type& type, T& out) {
  if (!parsed) return not_a(text, says(type));
  out = *parsed;
  return {};
}

// "3/1" or "3/255": first and second choice.
std::optional<PathId> parse_path_id(std::string_view text) {
  const auto part = [](std::string_view digits) -> std::optional<size_t> {
    uint8_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
  };
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto first = part(text.substr(0, slash));
  const auto second = part(text.substr(slash + 1));
  if (!first || !second) return std::nullopt;
  return PathId(*first << 8 | *second);
}

}  // namespace

std::string Codec<bool>::parse(std::string_view text, const Type&, bool& out) {
  const Result<bool> parsed = parse_flag(text);
  if (!parsed) return parsed.problems().front();
  out = parsed.value();
  return {};
}
std::string Codec<bool>::format(const bool& value) {
  return value ? "true" : "false";
}

std::string Codec<int64_t>::parse(std::string_view text, const Type& type, int64_t& out) {
  const Result<int64_t> parsed = parse_integer(text);
  if (!parsed) return fmt::format("{}, valid is {}", parsed.problems().front(), range_says(type));
  return parse_quantity<int64_t>(
      parsed, text, type, [](int64_t n) { return n; }, out);
}
std::string Codec<int64_t>::format(const int64_t& value) {
  return std::to_string(value);
}

// A switch's seed, which the lab draws, is any 64 bits; other numbers stay below their type's
// limit.
std::string Codec<uint64_t>::parse(std::string_view text, const Type& type, uint64_t& out) {
  uint64_t whole = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, whole);
  if (type.max == INT64_MAX && error == std::errc{} && stop == end && whole > INT64_MAX) {
    out = whole;
    return {};
  }
  int64_t value = 0;
  std::string wrong = Codec<int64_t>::parse(text, type, value);
  if (wrong.empty()) out = static_cast<uint64_t>(value);
  return wrong;
}
std::string Codec<uint64_t>::format(const uint64_t& value) {
  return std::to_string(value);
}

std::string Codec<double>::parse(std::string_view text, const Type& type, double& out) {
  const Result<double> parsed = parse_decimal(text);
  if (!parsed) return fmt::format("{}, valid is {}", parsed.problems().front(), range_says(type));
  const double value = parsed.value();
  if (value < static_cast<double>(type.min) || value > static_cast<double>(type.max))
    return out_of_range(text, type);
  out = value;
  return {};
}
std::string Codec<double>::format(const double& value) {
  std::array<char, 400> text{};
  const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed).ptr;
  return {text.data(), end};
}

std::string Codec<std::string>::parse(std::string_view text, const Type& type, std::string& out) {
  const size_t length = text.size();
  if (length == 0 || length > static_cast<size_t>(type.max))
    return fmt::format("'{}' has {} characters, valid is 1 to {}", text.substr(0, 40), length,
                       type.max);
  // A text may come to a terminal by ways that are not ours, DPDK's messages for instance.
  const auto is_control = [](unsigned char c) {
    return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
  };
  if (std::any_of(text.begin(), text.end(), is_control))
    return fmt::format("'{}' has a control character", text.substr(0, 40));
  const auto& pattern = type.text_pattern;
  if (!pattern.empty() &&
      !std::regex_match(text.begin(), text.end(), std::regex(pattern.begin(), pattern.end())))
    return fmt::format("'{}' is not valid, write {}", text, type.text_says);
  out = text;
  return {};
}
std::string Codec<std::string>::format(const std::string& value) {
  return value;
}

std::string Codec<Duration>::parse(std::string_view text, const Type& type, Duration& out) {
  return parse_quantity<Duration>(
      parse_duration(text), text, type, [](Duration d) { return d.ps(); }, out);
}
std::string Codec<Duration>::format(const Duration& value) {
  return to_string(value);
}

std::string Codec<Bytes>::parse(std::string_view text, const Type& type, Bytes& out) {
  return parse_quantity<Bytes>(
      parse_bytes(text), text, type, [](Bytes b) { return b.count(); }, out);
}
std::string Codec<Bytes>::format(const Bytes& value) {
  return to_string(value);
}

std::string Codec<BitRate>::parse(std::string_view text, const Type& type, BitRate& out) {
  return parse_quantity<BitRate>(
      parse_bit_rate(text), text, type, [](BitRate r) { return r.bps(); }, out);
}
std::string Codec<BitRate>::format(const BitRate& value) {
  return to_string(value);
}

std::string Codec<MacAddress>::parse(std::string_view text, const Type& type, MacAddress& out) {
  const auto mac = parse_mac(text);
  if (mac && (mac->is_multicast() || mac->is_zero()))
    return fmt::format("'{}' is not the address of one station, it must be unicast and not zero",
                       text);
  return take(mac, text, type, out);
}
std::string Codec<MacAddress>::format(const MacAddress& value) {
  return to_string(value);
}

std::string Codec<IpAddress>::parse(std::string_view text, const Type& type, IpAddress& out) {
  return take(parse_ip(text), text, type, out);
}
std::string Codec<IpAddress>::format(const IpAddress& value) {
  return to_string(value);
}

std::string Codec<IpPrefix>::parse(std::string_view text, const Type& type, IpPrefix& out) {
  return take(parse_ip_prefix(text), text, type, out);
}
std::string Codec<IpPrefix>::format(const IpPrefix& value) {
  return to_string(value);
}

std::string Codec<PathId>::parse(std::string_view text, const Type& type, PathId& out) {
  return take(parse_path_id(text), text, type, out);
}
std::string Codec<PathId>::format(const PathId& value) {
  return fmt::format("{}/{}", value.index() >> 8, value.index() & 0xff);
}

std::string parse_choice(std::string_view text, const Type& type, size_t& out) {
  const auto found = std::ranges::find(type.choices, text);
  if (found == type.choices.end())
    return fmt::format("'{}' is unknown{}", text, hint(text, type.choices));
  out = static_cast<size_t>(found - type.choices.begin());
  return {};
}

}  // namespace eddy::config
