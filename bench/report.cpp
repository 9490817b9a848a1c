#include "bench/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace eddy::bench {
namespace {

double quantile(std::vector<double>& samples, double fraction) {
  if (samples.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(fraction * static_cast<double>(samples.size() - 1));
  std::nth_element(samples.begin(), samples.begin() + at, samples.end());
  return samples[static_cast<size_t>(at)];
}

}  // namespace

double median(std::vector<double> samples) {
  return quantile(samples, 0.5);
}

Result summarize(const std::string& name, const std::vector<double>& samples,
                 const std::string& unit) {
  std::vector<double> work = samples;
  const double middle = quantile(work, 0.5);
  const double range = quantile(work, 0.75) - quantile(work, 0.25);
  return {name, middle, unit, middle == 0 ? 0 : std::abs(range / middle)};
}

void print(const std::vector<Result>& results) {
  for (const Result& r : results)
    std::printf("%-28s %9.1f %-14s spread %4.0f %%\n", r.name.c_str(), r.value, r.unit.c_str(),
                100 * r.spread);
}

bool write_json(const std::vector<Result>& results, const std::string& file) {
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) return false;
  std::fputs("{\"results\": [", out);
  for (size_t i = 0; i < results.size(); ++i)
    std::fprintf(out,
                 "%s\n  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"spread\": %.3g}",
                 i == 0 ? "" : ",", results[i].name.c_str(), results[i].value,
                 results[i].unit.c_str(), results[i].spread);
  std::fputs("\n]}\n", out);
  return std::fclose(out) == 0;
}

}  // namespace eddy::bench
