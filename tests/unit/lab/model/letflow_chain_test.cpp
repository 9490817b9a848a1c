#include "lab/model/letflow_chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace eddy::lab {
namespace {

// The paper's figure 7: 100 flows over 40 and 10 Gb/s.
ChainSetting figure_7(double gap) {
  return {.first_rate = 40e9, .second_rate = 10e9, .flows = 100, .gap = gap, .burst = 1'500};
}

// Rates in bits a second are those of packets of a bit.
ChainSetting slow(size_t flows, double gap, ChainFormula formula) {
  return {.first_rate = 4,
          .second_rate = 1,
          .flows = flows,
          .gap = gap,
          .burst = 1.0 / 8,
          .formula = formula};
}

class Exponential {
 public:
  double operator()(double rate) {
    return -std::log(1 - std::uniform_real_distribution<>()(draw_)) / rate;
  }
  uint64_t draw() { return draw_(); }

 private:
  std::mt19937_64 draw_{1};
};

TEST(LetFlowChain, ComesNearTheIdealSplitAt300And500MicrosecondsAlone) {
  constexpr uint64_t kSteps = 100'000'000'000;
  for (const double gap : {300e-6, 500e-6}) {
    const ChainSetting setting = figure_7(gap);
    const FlowSplit split = LetFlowChain(setting).after(kSteps, 50);
    EXPECT_DOUBLE_EQ(ideal_first(setting), 80);
    EXPECT_LT(distance_from(split, 80), 2) << gap;
    EXPECT_GE(quantile_of(split, 0.05), 76u) << gap;
    EXPECT_LE(quantile_of(split, 0.95), 81u) << gap;
  }
  // Too short a gap has fewer on the fast path than are ideal; with too long a one they do not get
  // there.
  for (const double gap : {30e-6, 50e-6, 900e-6}) {
    const LetFlowChain chain(figure_7(gap));
    EXPECT_GT(distance_from(chain.after(kSteps, 50), 80), 10) << gap;
    EXPECT_EQ(distance_from(chain.at_last(), 80) < 2, gap > 500e-6) << gap;
  }
}

TEST(LetFlowChain, AShareOfStepsIsThatOfStepsOneAfterTheOther) {
  const LetFlowChain chain(slow(6, 0.7, ChainFormula::of_an_instant));
  FlowSplit split = chain.after(0, 3);
  EXPECT_EQ(split[3], 1);
  for (int step = 0; step < 37; ++step) {
    FlowSplit next(split.size());
    for (size_t first = 0; first < split.size(); ++first) {
      next[first] += split[first] * (1 - chain.gains(first) - chain.loses(first));
      if (first + 1 < split.size()) next[first + 1] += split[first] * chain.gains(first);
      if (first > 0) next[first - 1] += split[first] * chain.loses(first);
    }
    split = next;
  }
  const FlowSplit at_once = chain.after(37, 3);
  for (size_t first = 0; first < split.size(); ++first)
    EXPECT_NEAR(at_once[first], split[first], 1e-12) << first;
  const FlowSplit late = chain.after(1'000'000, 0);
  const FlowSplit last = chain.at_last();
  for (size_t first = 0; first < last.size(); ++first)
    EXPECT_NEAR(late[first], last[first], 1e-9) << first;
}

// Formula (1): someone looks at an instant, and the next packet is of this flow and late.
TEST(LetFlowChain, TheChanceIsThatOfAnInstant) {
  constexpr int kLooks = 60'000;
  constexpr double kRate = 0.5, kAll = 2, kGap = 1.2;
  Exponential time;
  int late = 0;
  for (int i = 0; i < kLooks; ++i) {
    const double before = time(kRate), behind = time(kRate);
    late += behind < time(kAll - kRate) && before + behind > kGap ? 1 : 0;
  }
  const double found = static_cast<double>(late) / kLooks;
  const double said =
      std::exp(log_timeout_probability(kRate, kAll, kGap, ChainFormula::of_an_instant));
  EXPECT_NEAR(found, said, 4 * std::sqrt(said / kLooks));
  // The other one is less: a long silence is seen more often than it begins.
  EXPECT_DOUBLE_EQ(std::exp(log_timeout_probability(kRate, kAll, kGap, ChainFormula::of_a_packet)),
                   kRate / kAll * std::exp(-kRate * kGap));
  EXPECT_LT(kRate / kAll * std::exp(-kRate * kGap), said - 0.01);
}

TEST(LetFlowChain, TheChanceOfAFlowAloneIsALimit) {
  const auto chance = [](double rate) {
    return std::exp(log_timeout_probability(rate, 2, 1.5, ChainFormula::of_an_instant));
  };
  EXPECT_NEAR(chance(2), chance(2 - 1e-7), 1e-6);
  EXPECT_NEAR(chance(2), (2 * 1.5 + 1) * std::exp(-2 * 1.5), 1e-12);
}

// Flows that remember when they sent last, and packets one after the other.
double simulated_mean(size_t flows, double gap) {
  constexpr int kPackets = 60'000;
  Exponential time;
  std::vector<bool> is_first(flows);
  std::vector<double> last(flows);
  size_t first = flows / 2;
  for (size_t i = 0; i < first; ++i) is_first[i] = true;
  double now = 0, sum = 0;
  for (int packet = 0; packet < kPackets; ++packet) {
    const double fast = first > 0 ? 4 : 0, slow = first < flows ? 1 : 0;
    now += time(fast + slow);
    const bool path = static_cast<double>(time.draw() % 1'000) < 1'000 * fast / (fast + slow);
    size_t left = time.draw() % (path ? first : flows - first);
    size_t flow = 0;
    while (is_first[flow] != path || left-- > 0) ++flow;
    if (now - last[flow] > gap && time.draw() % 2 == 0) {
      is_first[flow] = !path;
      first += path ? size_t{0} - 1 : 1;
    }
    last[flow] = now;
    sum += static_cast<double>(first);
  }
  return sum / kPackets;
}

TEST(LetFlowChain, FewFlowsDoAsTheChainSays) {
  for (const double gap : {0.5, 2.0, 4.0}) {
    const LetFlowChain chain(slow(4, gap, ChainFormula::of_a_packet));
    EXPECT_NEAR(simulated_mean(4, gap), mean_of(chain.at_last()), 0.08) << gap;
  }
}

TEST(LetFlowChain, OfManyFlowsBothFormulasSayTheSame) {
  ChainSetting setting = figure_7(100e-6);
  const double of_an_instant = mean_of(LetFlowChain(setting).at_last());
  setting.formula = ChainFormula::of_a_packet;
  EXPECT_NEAR(mean_of(LetFlowChain(setting).at_last()), of_an_instant, 0.5);
}

TEST(LetFlowChain, AGapThatNoFlowEverWaitsLeavesThemWhereTheyAre) {
  const LetFlowChain chain(figure_7(10));
  EXPECT_DOUBLE_EQ(mean_of(chain.after(1'000'000, 50)), 50);
  EXPECT_NEAR(mean_of(chain.at_last()), 80, 0.1);
}

TEST(LetFlowChain, PathsAlikeShareFlowsEqually) {
  ChainSetting setting = slow(9, 1, ChainFormula::of_an_instant);
  setting.second_rate = setting.first_rate;
  EXPECT_NEAR(mean_of(LetFlowChain(setting).at_last()), 4.5, 1e-9);
  EXPECT_NEAR(balanced_first(setting), 4.5, 1e-9);
  EXPECT_DOUBLE_EQ(ideal_first(setting), 4.5);
}

TEST(LetFlowChain, IsBalancedWhereAsManyGoAsCome) {
  ChainSetting setting = figure_7(300e-6);
  setting.formula = ChainFormula::of_a_packet;
  const LetFlowChain chain(setting);
  const double balanced = balanced_first(setting);
  const auto below = static_cast<size_t>(balanced);
  EXPECT_GT(chain.gains(below), chain.loses(below));
  EXPECT_LT(chain.gains(below + 1), chain.loses(below + 1));
}

TEST(FlowSplit, HasMeanQuantilesAndDistance) {
  const FlowSplit split = {0.25, 0.5, 0, 0.25};
  EXPECT_DOUBLE_EQ(mean_of(split), 1.25);
  EXPECT_EQ(quantile_of(split, 0.25), 0u);
  EXPECT_EQ(quantile_of(split, 0.26), 1u);
  EXPECT_EQ(quantile_of(split, 0.9), 3u);
  EXPECT_DOUBLE_EQ(distance_from(split, 1), 0.75);
}

}  // namespace
}  // namespace eddy::lab
