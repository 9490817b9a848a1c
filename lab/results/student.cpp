#include "lab/results/student.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace eddy::lab {

double student_t_975(size_t degrees) {
  static constexpr std::array<double, 30> kTable = {
      12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
      2.2010,  2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
      2.0796,  2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
  if (degrees <= kTable.size()) return kTable[degrees == 0 ? 0 : degrees - 1];
  // Fisher's expansion around the normal distribution: right to four digits from here on.
  constexpr double kZ = 1.959964;
  const auto n = static_cast<double>(degrees);
  const double z3 = kZ * kZ * kZ;
  return kZ + (z3 + kZ) / (4 * n) + (5 * z3 * kZ * kZ + 16 * z3 + 3 * kZ) / (96 * n * n);
}

double student_p(double t, size_t degrees) {
  const auto n = static_cast<double>(degrees);
  const double angle = std::atan(std::abs(t) / std::sqrt(n));
  const double cos2 = std::cos(angle) * std::cos(angle);
  const bool odd = degrees % 2 == 1;
  // The series ends after degrees / 2 terms: the probability of a value within +-t.
  double term = odd ? std::cos(angle) : 1;
  double sum = degrees == 1 ? 0 : term;
  for (size_t k = odd ? 3 : 2; k < degrees; k += 2) {
    const auto i = static_cast<double>(k);
    term *= cos2 * (i - 1) / i;
    sum += term;
  }
  constexpr double kTwoOverPi = 0.63661977236758134;
  const double inside = odd ? kTwoOverPi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
  return std::max(0.0, 1 - inside);
}

Estimate estimate(std::span<const double> values) {
  Estimate out{.count = values.size()};
  if (values.empty()) return out;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) out.mean += value / n;
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.half_width = student_t_975(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return out;
}

}  // namespace eddy::lab
