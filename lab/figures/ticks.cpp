#include "lab/figures/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace eddy::lab {
namespace {

double step_of(double span, int wanted) {
  const double raw = span / wanted;
  const double decade = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * decade * (1 + 1e-9)) return factor * decade;
  return 10 * decade;
}

// "0.5", "200", "10k", "3M".
std::string number(double value) {
  constexpr double kTenThousand = 1e4;
  constexpr double kThousand = 1e3;
  constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  if (std::abs(value) < kTenThousand) return fmt::format("{:.6g}", value);
  size_t unit = 0;
  while (std::abs(value) >= kThousand * (1 - 1e-9) && unit + 1 < kUnits.size()) {
    value /= kThousand;
    ++unit;
  }
  return fmt::format("{:.6g}{}", value, kUnits[unit]);
}

std::vector<Tick> linear_ticks(double low, double high, int wanted) {
  const double step = step_of(high - low, wanted);
  std::vector<Tick> out;
  const auto first = static_cast<int64_t>(std::floor(low / step + 1e-9));
  const auto last = static_cast<int64_t>(std::ceil(high / step - 1e-9));
  for (int64_t i = first; i <= last; ++i) {
    const double at = static_cast<double>(i) * step;
    out.push_back({at, number(at)});
  }
  return out;
}

// Decades, with 2 and 5 between them named where there are few.
std::vector<Tick> logarithmic_ticks(double low, double high) {
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  constexpr int kFew = 3;
  const bool few = last - first <= kFew;
  std::vector<Tick> all;
  for (int decade = first; decade <= last; ++decade)
    for (int digit = 1; digit <= (decade == last ? 1 : 9); ++digit) {
      const double at = digit * std::pow(10, decade);
      const bool named = digit == 1 || (few && (digit == 2 || digit == 5));
      all.push_back({at, named ? number(at) : ""});
    }
  // From the last mark at or below `low` to the first at or above `high`.
  size_t from = 0;
  while (from + 1 < all.size() && all[from + 1].at <= low * (1 + 1e-9)) ++from;
  size_t to = all.size() - 1;
  while (to > from + 1 && all[to - 1].at >= high * (1 - 1e-9)) --to;
  std::vector<Tick> out(all.begin() + static_cast<ptrdiff_t>(from),
                        all.begin() + static_cast<ptrdiff_t>(to) + 1);
  // An axis within a decade may lie between 2 and 5: it is read by its ends.
  if (std::ranges::count_if(out, [](const Tick& tick) { return !tick.label.empty(); }) < 2)
    for (Tick& tick : out) tick.label = number(tick.at);
  return out;
}

}  // namespace

std::vector<Tick> ticks(double low, double high, bool logarithmic, int wanted) {
  return logarithmic ? logarithmic_ticks(low, high) : linear_ticks(low, high, wanted);
}

}  // namespace eddy::lab
