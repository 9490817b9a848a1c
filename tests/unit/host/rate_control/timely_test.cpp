// The numbers are worked out by hand from TIMELY's algorithm 1, with its beta of 0.8, HPCC's
// simulator's alpha of 0.875 and min_rtt of 20 us, and a line of 100 Gb/s.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/registry.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

Instant after_us(double microseconds) {
  return at(Duration::picoseconds(static_cast<int64_t>(microseconds * 1e6)));
}

// A flow of which a packet at a time is under way.
class Timely {
 public:
  explicit Timely(std::map<std::string, int64_t> parameters = {}) : one_(config(parameters)) {
    qpn_ = one_.send(10'000);
  }
  // A packet leaves when the pace allows it, and is answered so much later; the rate in Mb/s.
  double step(double rtt_us) {
    leave(1);
    return answer(0, rtt_us);
  }
  // So many leave together.
  void leave(size_t packets) {
    now_ += 100'000;
    one_.nic.on_timers(after_us(now_));
    for (size_t i = 0; i < packets; ++i) {
      EXPECT_EQ(one_.transmit_data(after_us(now_), 1).size(), 1u);
    }
  }
  // All up to the one `ahead` of the first that is under way have been answered.
  double answer(uint32_t ahead, double rtt_us) {
    one_.ack(qpn_, next_ + ahead, after_us(now_ + rtt_us));
    next_ += ahead + 1;
    return rate();
  }
  double rate() { return static_cast<double>(one_.nic.rate_of(qpn_, after_us(now_)).bps()) / 1e6; }
  void nak() { one_.nak(qpn_, next_, after_us(now_ + 1)); }

 private:
  static config::HostConfig config(const std::map<std::string, int64_t>& parameters) {
    config::HostConfig config;
    config.congestion_control = "timely";
    config.window = false;
    config.rto = 1'000_ms;
    for (const auto& [name, value] : parameters) config.law_parameters["timely." + name] = value;
    return config;
  }

  OneNic one_;
  uint32_t qpn_ = 0;
  uint32_t next_ = 0;
  double now_ = 0;
};

TEST(Timely, BetweenTheThresholdsTheChangeOfTheDelayDecides) {
  Timely timely;
  EXPECT_DOUBLE_EQ(timely.step(100), 100'000) << "the first delay is noted";
  EXPECT_DOUBLE_EQ(timely.step(104), 86'000) << "0.875 x 4 us is 0.175 of 20 us: 1 - 0.8 x 0.175";
  EXPECT_DOUBLE_EQ(timely.step(104), 84'495) << "0.125 x 3.5 us is 0.021875: 1 - 0.0175";
  EXPECT_DOUBLE_EQ(timely.step(100), 84'505) << "0.125 x 0.4375 - 0.875 x 4 us: smaller";
  EXPECT_DOUBLE_EQ(timely.step(100), 84'515);
}

TEST(Timely, TheSixthStepInARowIsHyper) {
  Timely timely;
  timely.step(100);
  double rate = timely.step(104);
  timely.step(104);
  rate = timely.step(100);
  for (int i = 2; i <= 5; ++i) EXPECT_DOUBLE_EQ(timely.step(100), rate += 10) << i;
  for (int i = 6; i <= 8; ++i) EXPECT_DOUBLE_EQ(timely.step(100), rate += 50) << i;
  EXPECT_LT(timely.step(102), rate);  // a cut: the row begins anew
  rate = timely.step(90);
  for (int i = 2; i <= 5; ++i) EXPECT_DOUBLE_EQ(timely.step(90), rate += 10) << i;
  EXPECT_DOUBLE_EQ(timely.step(90), rate += 50);
}

TEST(Timely, BelowTheLowThresholdItGrowsWhateverTheChange) {
  Timely timely;
  timely.step(100);
  double rate = timely.step(1'000);  // 1 - 0.8 (1 - 500 / 1000)
  EXPECT_DOUBLE_EQ(rate, 60'000);
  for (int i = 0; i < 8; ++i)
    EXPECT_DOUBLE_EQ(timely.step(i % 2 == 0 ? 49.9 : 10), rate += 10) << "never hyper";
  EXPECT_LT(timely.step(50), rate) << "not below it";
}

TEST(Timely, HpccsProgramCountsStepsBelowTheLowThreshold) {
  Timely timely({{"hyper_below_low", 1}});
  timely.step(100);
  double rate = timely.step(1'000);
  for (int i = 1; i <= 5; ++i) EXPECT_DOUBLE_EQ(timely.step(30), rate += 10);
  EXPECT_DOUBLE_EQ(timely.step(30), rate += 50);
}

TEST(Timely, AboveTheHighThresholdItShrinksWhateverTheChange) {
  Timely timely;
  timely.step(2'000);
  EXPECT_DOUBLE_EQ(timely.step(1'000), 60'000) << "1 - 0.8 (1 - 500 / 1000)";
  EXPECT_DOUBLE_EQ(timely.step(625), 50'400) << "1 - 0.8 (1 - 500 / 625)";
  EXPECT_DOUBLE_EQ(timely.step(500), 50'410) << "not above it, and smaller";
}

TEST(Timely, TheRateHasALowestAndIsNeverAboveTheLine) {
  Timely timely;
  timely.step(100);
  EXPECT_DOUBLE_EQ(timely.step(100), 100'000) << "at the line rate already";
  EXPECT_DOUBLE_EQ(timely.step(400), 10) << "0.875 x 300 us is 13 of 20 us: all of it";
  EXPECT_DOUBLE_EQ(timely.step(100), 20);
}

TEST(Timely, ParametersAreThoseThatAreGiven) {
  Timely timely({{"t_low", (10_us).ps()},
                 {"t_high", (200_us).ps()},
                 {"min_rtt", (10_us).ps()},
                 {"alpha", 500},
                 {"beta", 500},
                 {"additive_increase", 1'000'000'000},
                 {"hyper_increase", 3'000'000'000},
                 {"hyper_after", 1},
                 {"min_rate", 7'000'000'000}});
  timely.step(100);
  EXPECT_DOUBLE_EQ(timely.step(104), 90'000) << "0.5 x 4 us is 0.2 of 10 us: 1 - 0.5 x 0.2";
  EXPECT_DOUBLE_EQ(timely.step(9), 91'000);
  EXPECT_DOUBLE_EQ(timely.step(250), 81'900) << "1 - 0.5 (1 - 200 / 250)";
  EXPECT_DOUBLE_EQ(timely.step(100), 82'900) << "0.5 x (0.5 x -46.5 + 0.5 x 241) - 0.5 x 150";
  EXPECT_DOUBLE_EQ(timely.step(90), 85'900);
  EXPECT_DOUBLE_EQ(timely.step(190), 7'000);
}

TEST(Timely, TheChangeIsAShareOfTheBaseRttIfThatIsAsked) {
  Timely timely({{"min_rtt", kAutomatic}});  // 8 us
  timely.step(100);
  EXPECT_DOUBLE_EQ(timely.step(101), 91'250) << "0.875 of 8 us: 1 - 0.8 x 0.109375";
}

TEST(Timely, AStepIsARoundTrip) {
  Timely timely;
  timely.leave(4);
  timely.answer(0, 100);
  for (const double rtt : {200.0, 300.0, 400.0})  // of what left before the first answer
    EXPECT_DOUBLE_EQ(timely.answer(0, rtt), 100'000);
  EXPECT_DOUBLE_EQ(timely.step(104), 86'000) << "from 100 us";
}

TEST(Timely, OrAStepIsASegment) {
  Timely timely({{"segment", 2 * 1'024}});
  timely.step(100);                             // noted
  EXPECT_DOUBLE_EQ(timely.step(400), 100'000);  // the first packet of two
  EXPECT_DOUBLE_EQ(timely.step(104), 86'000);
  EXPECT_DOUBLE_EQ(timely.step(400), 86'000);
}

TEST(Timely, WhatTellsNoDelayIsNoStep) {
  Timely timely;
  timely.step(100);
  timely.leave(3);
  EXPECT_DOUBLE_EQ(timely.answer(2, 400), 100'000) << "of three at once nobody knows";
  timely.leave(1);
  timely.nak();
  EXPECT_DOUBLE_EQ(timely.rate(), 100'000) << "losses do not move it";
}

}  // namespace
}  // namespace eddy::test
