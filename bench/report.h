// Samples and results of benchmarks: medians, their spread, a table and bench.json's form.
//
// A result's value is the median of its samples, its spread the interquartile range over the
// median: both shrug off the rounds that another process disturbed.
#pragma once

#include <string>
#include <vector>

namespace eddy::bench {

struct Result {
  std::string name;
  double value = 0;
  std::string unit;
  double spread = 0;  // interquartile range / median
};

inline constexpr const char* kCyclesPerPacket = "cycles/packet";

double median(std::vector<double> samples);
Result summarize(const std::string& name, const std::vector<double>& samples,
                 const std::string& unit = kCyclesPerPacket);

void print(const std::vector<Result>& results);
// {"results": [{"name", "value", "unit", "spread"}]}; false when the file cannot be written.
[[nodiscard]] bool write_json(const std::vector<Result>& results, const std::string& file);

}  // namespace eddy::bench
