#include "net/quantity.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

namespace eddy {
namespace {

struct Unit {
  std::string_view name;
  int64_t scale;  // in the base unit
  bool printed;   // used by to_string; the rest are only read
};

// Smallest first.
constexpr std::array kTimeUnits = {
    Unit{"ps", 1, true},
    Unit{"ns", 1'000, true},
    Unit{"us", 1'000'000, true},
    Unit{"ms", 1'000'000'000, true},
    Unit{"s", 1'000'000'000'000, true},
    Unit{"min", 60'000'000'000'000, false},
    Unit{"h", 3'600'000'000'000'000, false},
};
constexpr std::array kSizeUnits = {
    Unit{"B", 1, true},
    Unit{"kB", 1'000, false},
    Unit{"KiB", 1'024, true},
    Unit{"MB", 1'000'000, false},
    Unit{"MiB", 1'048'576, true},
    Unit{"GB", 1'000'000'000, false},
    Unit{"GiB", 1'073'741'824, true},
};
constexpr std::array kRateUnits = {
    Unit{"bps", 1, true},
    Unit{"kbps", 1'000, true},
    Unit{"Mbps", 1'000'000, true},
    Unit{"Gbps", 1'000'000'000, true},
    Unit{"Tbps", 1'000'000'000'000, true},
};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Digits with at most one point among them, at least one digit: whole and fraction as written.
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
  size_t length = 0;  // characters taken
};

std::optional<Decimal> take_decimal(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  Decimal decimal{text.substr(0, end), {}, end};
  if (decimal.whole.empty()) return std::nullopt;
  if (end == text.size() || text[end] != '.') return decimal;
  const size_t start = ++end;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == start) return std::nullopt;
  decimal.fraction = text.substr(start, end - start);
  decimal.length = end;
  return decimal;
}

// decimal * scale when that is a whole number of 63 bits.
std::optional<int64_t> scaled_exactly(const Decimal& decimal, int64_t scale) {
  constexpr __int128 kLimit = std::numeric_limits<int64_t>::max();
  constexpr size_t kFractionDigits = 18;  // 10^18 times the largest scale fits 127 bits
  const size_t significant = decimal.fraction.find_last_not_of('0') + 1;
  if (significant > kFractionDigits) return std::nullopt;
  __int128 value = 0;
  for (char c : decimal.whole) {
    value = value * 10 + (c - '0');
    if (value > kLimit) return std::nullopt;
  }
  __int128 part = 0;
  __int128 parts = 1;
  for (char c : decimal.fraction.substr(0, significant)) {
    part = part * 10 + (c - '0');
    parts *= 10;
  }
  part *= scale;
  value = value * scale + part / parts;
  if (part % parts != 0 || value > kLimit) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string expectation(std::string_view what, std::string_view example,
                        std::span<const Unit> units) {
  std::string text = "a " + std::string(what) + " is a number with one of";
  for (const Unit& unit : units) text += " " + std::string(unit.name);
  return text + ", such as " + std::string(example);
}

struct Grammar {
  std::string_view what;
  std::string_view example;
  std::span<const Unit> units;
};

Result<int64_t> parse_with_unit(std::string_view text, const Grammar& grammar) {
  const auto fail = [&](const std::string& reason) {
    return Result<int64_t>::failure(quoted(text) + " " + reason + ": " +
                                    expectation(grammar.what, grammar.example, grammar.units));
  };
  const std::optional<Decimal> decimal = take_decimal(text);
  if (!decimal) return fail("is not a " + std::string(grammar.what));
  std::string_view name = text.substr(decimal->length);
  if (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  if (name.empty()) return fail("has no unit");
  for (const Unit& unit : grammar.units) {
    if (unit.name != name) continue;
    if (const auto value = scaled_exactly(*decimal, unit.scale)) return *value;
    return fail("is too large or finer than 1" + std::string(grammar.units.front().name));
  }
  return fail("has an unknown unit");
}

std::string print_with_unit(int64_t value, std::span<const Unit> units) {
  const Unit* best = &units.front();
  for (const Unit& unit : units)
    if (unit.printed && value != 0 && value % unit.scale == 0) best = &unit;
  return std::to_string(value / best->scale) + std::string(best->name);
}

constexpr Grammar kDuration{"duration", "50us", kTimeUnits};
constexpr Grammar kSize{"size", "64KiB", kSizeUnits};
constexpr Grammar kRate{"rate", "100Gbps", kRateUnits};

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const Result<int64_t> value = parse_with_unit(text, kDuration);
  if (!value) return value.problems();
  return Duration::picoseconds(value.value());
}

Result<Bytes> parse_bytes(std::string_view text) {
  const Result<int64_t> value = parse_with_unit(text, kSize);
  if (!value) return value.problems();
  return Bytes(value.value());
}

Result<BitRate> parse_bit_rate(std::string_view text) {
  const Result<int64_t> value = parse_with_unit(text, kRate);
  if (!value) return value.problems();
  return BitRate::bits_per_second(value.value());
}

Result<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    return Result<int64_t>::failure(quoted(text) + " is too large");
  if (error != std::errc{} || stop != end)
    return Result<int64_t>::failure(quoted(text) + " is not a whole number");
  return value;
}

Result<double> parse_decimal(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  const std::optional<Decimal> decimal = take_decimal(digits);
  double value = 0;
  if (!decimal || decimal->length != digits.size())
    return Result<double>::failure(quoted(text) + " is not a decimal number such as 0.2");
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{}) return Result<double>::failure(quoted(text) + " is out of range");
  return value;
}

Result<bool> parse_flag(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return Result<bool>::failure(quoted(text) + " is neither true nor false");
}

std::string to_string(Duration value) {
  return print_with_unit(value.ps(), kTimeUnits);
}
std::string to_string(Bytes value) {
  return print_with_unit(value.count(), kSizeUnits);
}
std::string to_string(BitRate value) {
  return print_with_unit(value.bps(), kRateUnits);
}

}  // namespace eddy
