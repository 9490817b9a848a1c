#include "config/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>

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

// Edits that turn one word into the other: insert, delete, replace, swap neighbours.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
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

// Seeds are any 64 bits; other numbers stay below their type's limit.
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

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
  constexpr size_t kLongest = 64;  // a longer word is no slip of any of ours
  if (text.empty() || text.size() > kLongest) return {};
  std::string_view best;
  size_t best_distance = text.size() / 3 + 1;  // more edits than this are another word
  for (std::string_view candidate : candidates) {
    const size_t distance = edit_distance(text, candidate);
    if (distance > best_distance || distance >= candidate.size()) continue;
    if (distance == best_distance && !best.empty()) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string hint(std::string_view text, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest(text, candidates);
  if (!near.empty()) return fmt::format(", did you mean '{}'?", near);
  if (candidates.empty()) return ", there is none";
  return fmt::format(", valid {} {}", candidates.size() == 1 ? "is" : "are",
                     join(candidates, "and"));
}

std::string join(std::span<const std::string_view> words, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace eddy::config
