// Means with confidence intervals over a few seeds.
//
// Cost: constant a value, linear in the degrees of freedom for a probability. Source: Student;
// Handbook, 26.7.3 and 26.7.4 (docs/papers.md).
#pragma once

#include <cstddef>
#include <span>

namespace eddy::lab {

// The 97.5th percentile of Student's t; degrees >= 1.
double student_t_975(size_t degrees);

// How probable a value as far from 0 as `t`, or further, is by chance: two-sided; degrees >= 1.
double student_p(double t, size_t degrees);

struct Estimate {
  size_t count = 0;
  double mean = 0;
  double half_width = 0;  // of the 95 % confidence interval; 0 with fewer than two values
};
Estimate estimate(std::span<const double> values);

}  // namespace eddy::lab
