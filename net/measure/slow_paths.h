// What makes a flow's path slow: the parameters of flowcut in switches and in NICs, declared once,
// and the test that they make.
//
// Pure. Source: reference A.12.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "net/measure/round_trips.h"
#include "net/text/parameters.h"
#include "net/units.h"

namespace eddy {

// Lists of parameters as one, in order.
template <class P, size_t... kCounts>
constexpr auto joined(const std::array<Declared<P>, kCounts>&... lists) {
  std::array<Declared<P>, (kCounts + ...)> all{};
  size_t count = 0;
  const auto add = [&](const auto& list) {
    for (const Declared<P>& each : list) all[count++] = each;
  };
  (add(lists), ...);
  return all;
}

// Of a struct that has them as members.
template <auto kRatio, auto kAlpha, auto kGradient, auto kRelearn>
constexpr auto slow_path_parameters() {
  return std::array{
      ranged<kRatio>("ratio_percent", 100, 3'000,
                     {"a flow whose round trip is above so much of the least one is drained: "
                      "stopped until nothing of it is in flight",
                      "reference A.12"}),
      ranged<kAlpha>("alpha_percent", 1, 100,
                     {"weight of a new round trip in the moving average", "reference A.12"}),
      ranged<kGradient>(
          "gradient_percent", 0, 3'000,
          {"a flow whose round trip grows by more than this from one to the next, of the least "
           "one and on average, is drained, too; 0: not for that",
           "reference A.12"}),
      ranged<kRelearn>(
          "relearn", Duration::milliseconds(1), Duration::seconds(100),
          {"the least round trip is that of the last one to two of these", "reference A.12"})};
}

class SlowPaths {
 public:
  SlowPaths(int64_t ratio_percent, int64_t alpha_percent, int64_t gradient_percent)
      : alpha_percent_(static_cast<int>(alpha_percent)),
        ratio_(static_cast<int32_t>(ratio_percent * kNormOne / 100)),
        gradient_(gradient_percent == 0 ? INT32_MAX
                                        : static_cast<int32_t>(gradient_percent * kNormOne / 100)) {
  }

  // Takes a round trip of the flow. True: its path is slow.
  bool take(Trend& trend, Norm norm) const {
    trend.take(norm, alpha_percent_);
    return trend.average > ratio_ || trend.gradient > gradient_;
  }

 private:
  int alpha_percent_;
  int32_t ratio_;     // as Norm
  int32_t gradient_;  // likewise; none: above all
};

}  // namespace eddy
