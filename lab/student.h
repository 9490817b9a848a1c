// Means with confidence intervals over a few seeds.
//
// Cost: constant a value. Source: Student's t distribution, two-sided.
#pragma once

#include <cstddef>
#include <span>

namespace eddy::lab {

// The 97.5th percentile of Student's t; degrees >= 1.
double student_t_975(size_t degrees);

struct Estimate {
  size_t count = 0;
  double mean = 0;
  double half_width = 0;  // of the 95 % confidence interval; 0 with fewer than two values
};
Estimate estimate(std::span<const double> values);

}  // namespace eddy::lab
