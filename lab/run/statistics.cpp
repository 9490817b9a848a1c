#include "lab/run/statistics.h"

#include <algorithm>
#include <cmath>

namespace eddy::lab {

Statistics statistics(std::vector<double>& values) {
  Statistics result;
  result.count = values.size();
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  for (const double value : values) result.mean += value;
  result.mean /= static_cast<double>(values.size());
  const auto rank = [&](double share) {
    const auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::clamp<size_t>(at, 1, values.size()) - 1];
  };
  result.p50 = rank(0.5);
  result.p95 = rank(0.95);
  result.p99 = rank(0.99);
  result.p999 = rank(0.999);
  result.max = values.back();
  return result;
}

}  // namespace eddy::lab
