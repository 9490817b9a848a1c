// Numbers for a page, cut to as many digits as a figure can show, so that the page stays small.
//
// Cost: constant.
#pragma once

#include <cmath>

namespace eddy::lab {

// To six significant digits; what is no number becomes 0.
inline double rounded(double value) {
  if (!std::isfinite(value)) return 0;
  if (value == 0) return 0;
  constexpr int kDigits = 6;
  const int power = kDigits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double scale = std::pow(10.0, power);
  return power >= 0 ? std::round(value * scale) / scale
                    : std::round(value / std::pow(10.0, -power)) * std::pow(10.0, -power);
}

}  // namespace eddy::lab
