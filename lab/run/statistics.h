// Statistics: count, mean and percentiles of a set of values.
#pragma once

#include <cstddef>
#include <vector>

namespace eddy::lab {

struct Statistics {
  size_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};
// Percentiles by nearest rank. `values` are sorted in place.
Statistics statistics(std::vector<double>& values);

}  // namespace eddy::lab
