#include "lab/import/ns3_units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "lab/fabric/text_table.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

struct Split {
  double number;
  std::string_view unit;
};

std::optional<Split> split(std::string_view text) {
  Split out{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, out.number);
  if (error != std::errc() || !std::isfinite(out.number)) return std::nullopt;
  out.unit = std::string_view(rest, static_cast<size_t>(end - rest));
  return out;
}

// Bits of "Mb/s", "MBps", "Kib/s" and the like; 0: no unit of a rate.
double bits_of(std::string_view unit) {
  if (unit.empty()) return 1;
  for (const std::string_view tail : {"ps", "/s"})
    if (unit.ends_with(tail)) {
      unit.remove_suffix(tail.size());
      if (unit.empty() || (unit.back() != 'b' && unit.back() != 'B')) return 0;
      const double octets = unit.back() == 'B' ? 8 : 1;
      unit.remove_suffix(1);
      if (unit.empty()) return octets;
      constexpr std::string_view kPrefixes = "kMGT";
      const size_t power = unit[0] == 'K' ? 0 : kPrefixes.find(unit[0]);
      const bool binary = unit.size() == 2 && unit[1] == 'i';
      if (power == std::string_view::npos || (unit.size() != 1 && !binary)) return 0;
      return octets * std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
    }
  return 0;
}

// Picoseconds; 0: no unit of a time.
double picoseconds_of(std::string_view unit) {
  constexpr double kSecond = 1e12;
  if (unit.empty() || unit == "s") return kSecond;
  if (unit == "ms") return 1e9;
  if (unit == "us") return 1e6;
  if (unit == "ns") return 1e3;
  if (unit == "ps") return 1;
  if (unit == "fs") return 1e-3;
  if (unit == "min") return 60 * kSecond;
  if (unit == "h") return 3600 * kSecond;
  return 0;
}

constexpr double kMost = 9.2e18;  // below 2^63

}  // namespace

Result<BitRate> parse_ns3_rate(std::string_view text) {
  const auto parts = split(text);
  const double bits = parts ? bits_of(parts->unit) : 0;
  if (bits == 0 || parts->number < 0 || parts->number * bits > kMost)
    return Result<BitRate>::failure(in_quotes(text) +
                                    " is no rate, such as 100Gbps or 40Mb/s would be valid");
  return BitRate::bits_per_second(std::llround(parts->number * bits));
}

Result<Duration> parse_ns3_time(std::string_view text) {
  const auto parts = split(text);
  const double unit = parts ? picoseconds_of(parts->unit) : 0;
  if (unit == 0 || parts->number < 0 || parts->number * unit > kMost)
    return Result<Duration>::failure(in_quotes(text) +
                                     " is no time, such as 1000ns or 0.001ms would be valid");
  // Exact where our own parser knows the text; "2.5e-6" it does not.
  const std::string ours = std::string(text) + (parts->unit.empty() ? "s" : "");
  if (const auto exact = parse_duration(ours)) return exact;
  return Duration::picoseconds(std::llround(parts->number * unit));
}

Result<double> parse_real(std::string_view text) {
  const auto parts = split(text);
  if (parts && parts->unit.empty()) return parts->number;
  return Result<double>::failure(in_quotes(text) + " is no number, such as 0.2 would be valid");
}

std::string in_decimals(double value) {
  constexpr size_t kLongest = 400;  // 1e308 and 5e-324 with all their zeros
  std::array<char, kLongest> digits{};
  const auto written =
      std::to_chars(digits.data(), digits.data() + kLongest, value, std::chars_format::fixed);
  return {digits.data(), written.ptr};
}

}  // namespace eddy::lab
