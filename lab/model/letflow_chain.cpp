#include "lab/model/letflow_chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace eddy::lab {
namespace {

constexpr double kBitsAnOctet = 8;
constexpr double kNever = -std::numeric_limits<double>::infinity();

// Rows of one number after the other. What leaves a state may be far less than what stays, so rows
// are made whole by dividing, which keeps both.
class Matrix {
 public:
  explicit Matrix(size_t order) : order_(order), cells_(order * order) {}
  double& at(size_t row, size_t column) { return cells_[row * order_ + column]; }

  FlowSplit times(const FlowSplit& split) const {
    FlowSplit out(order_);
    for (size_t row = 0; row < order_; ++row) add_row(row, split[row], out.data());
    return out;
  }
  Matrix squared() const {
    Matrix out(order_);
    for (size_t row = 0; row < order_; ++row) {
      double* const to = &out.cells_[row * order_];
      for (size_t between = 0; between < order_; ++between)
        add_row(between, cells_[row * order_ + between], to);
      const double sum = std::accumulate(to, to + order_, 0.0);
      std::transform(to, to + order_, to, [&](double cell) { return cell / sum; });
    }
    return out;
  }

 private:
  void add_row(size_t row, double factor, double* to) const {
    if (factor == 0) return;
    const double* const from = &cells_[row * order_];
    for (size_t column = 0; column < order_; ++column) to[column] += factor * from[column];
  }

  size_t order_;
  std::vector<double> cells_;
};

void make_whole(FlowSplit& split) {
  const double sum = std::accumulate(split.begin(), split.end(), 0.0);
  for (double& share : split) share /= sum;
}

}  // namespace

// e^(-rate gap) is in both terms of (1), and may be too small for a double.
double log_timeout_probability(double rate, double all, double gap, ChainFormula formula) {
  if (formula == ChainFormula::of_a_packet) return std::log(rate / all) - rate * gap;
  constexpr double kNone = 1e-12;
  const double others = all - rate;
  // Over [0, gap]: that no other flow was faster. Of a flow that is nearly alone the limit.
  const double within = others * gap < kNone ? gap : -std::expm1(-others * gap) / others;
  return std::log(rate * within + rate / all * std::exp(-others * gap)) - rate * gap;
}

LetFlowChain::LetFlowChain(const ChainSetting& setting)
    : log_gains_(setting.flows + 1), log_loses_(setting.flows + 1) {
  constexpr double kOtherPath = 0.5;
  const double burst_bits = kBitsAnOctet * setting.burst;
  const double first_rate = setting.first_rate / burst_bits;
  const double second_rate = setting.second_rate / burst_bits;
  for (size_t first = 0; first <= setting.flows; ++first) {
    const size_t second = setting.flows - first;
    // A path without flows sends nothing.
    const double all = (first > 0 ? first_rate : 0) + (second > 0 ? second_rate : 0);
    const auto leave = [&](double rate, size_t flows) {
      const auto count = static_cast<double>(flows);
      if (flows == 0) return kNever;
      return std::log(kOtherPath * count) +
             log_timeout_probability(rate / count, all, setting.gap, setting.formula);
    };
    log_loses_[first] = leave(first_rate, first);
    log_gains_[first] = leave(second_rate, second);
  }
}

FlowSplit LetFlowChain::after(uint64_t steps, size_t first) const {
  const size_t states = log_gains_.size();
  Matrix power(states);
  for (size_t state = 0; state < states; ++state) {
    power.at(state, state) = 1 - gains(state) - loses(state);
    if (state + 1 < states) power.at(state, state + 1) = gains(state);
    if (state > 0) power.at(state, state - 1) = loses(state);
  }
  FlowSplit split(states);
  split[first] = 1;
  for (; steps > 0; steps >>= 1) {
    if ((steps & 1) != 0) {
      split = power.times(split);
      make_whole(split);
    }
    if (steps > 1) power = power.squared();
  }
  return split;
}

double LetFlowChain::gains(size_t first) const {
  return std::exp(log_gains_[first]);
}

double LetFlowChain::loses(size_t first) const {
  return std::exp(log_loses_[first]);
}

// In the long run as many go from a state to the next as come back.
FlowSplit LetFlowChain::at_last() const {
  FlowSplit split = {0};
  for (size_t state = 0; state + 1 < log_gains_.size(); ++state)
    split.push_back(split.back() + log_gains_[state] - log_loses_[state + 1]);
  const double largest = *std::ranges::max_element(split);
  for (double& share : split) share = std::exp(share - largest);
  make_whole(split);
  return split;
}

double ideal_first(const ChainSetting& setting) {
  return static_cast<double>(setting.flows) * setting.first_rate /
         (setting.first_rate + setting.second_rate);
}

double balanced_first(const ChainSetting& setting) {
  constexpr int kHalvings = 60;
  const double burst_bits = kBitsAnOctet * setting.burst;
  const double wanted = std::log(setting.first_rate / setting.second_rate) / setting.gap;
  const auto all = static_cast<double>(setting.flows);
  double low = 0, high = all;  // the difference of rates falls from infinity to minus infinity
  for (int i = 0; i < kHalvings; ++i) {
    const double first = (low + high) / 2;
    const double difference =
        (setting.first_rate / first - setting.second_rate / (all - first)) / burst_bits;
    (difference > wanted ? low : high) = first;
  }
  return low;
}

double mean_of(const FlowSplit& split) {
  double mean = 0;
  for (size_t first = 0; first < split.size(); ++first)
    mean += static_cast<double>(first) * split[first];
  return mean;
}

size_t quantile_of(const FlowSplit& split, double share) {
  double below = 0;
  for (size_t first = 0; first + 1 < split.size(); ++first) {
    below += split[first];
    if (below >= share) return first;
  }
  return split.size() - 1;
}

double distance_from(const FlowSplit& split, double first) {
  double distance = 0;
  for (size_t each = 0; each < split.size(); ++each)
    distance += std::abs(static_cast<double>(each) - first) * split[each];
  return distance;
}

}  // namespace eddy::lab
