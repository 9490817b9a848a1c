// ECN marks at enqueue follow the RED curve on the queue that the packet finds.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr int64_t kKmin = 20'000;
constexpr int64_t kKmax = 60'000;
constexpr size_t kFrame = 1000;

config::SwitchConfig marking_switch(double pmax) {
  config::SwitchConfig config = hosts_switch(2);
  config.buffer.size = 64_MiB;
  config.buffer.profiles["lossless"].xoff = 8_MiB;
  config.buffer.wred["default"] = {true, Bytes(kKmin), Bytes(kKmax), pmax};
  config.ports[1].queues[0].wred = "default";
  config.ports[1].queues[0].dynamic_th = 4;
  return config;
}

uint64_t marks(OneSwitch& rig, size_t queue) {
  return count(rig.object(), 1, QueueId(queue), QueueCounter::ecn_marked_packets);
}

// Sends one ECN-capable packet into a queue that holds `found` octets; was it marked?
bool is_marked(OneSwitch& rig, uint8_t ecn = kEcnCapable0) {
  const uint64_t before = marks(rig, 3);
  rig.send(0, 1, kLosslessDscp, kFrame, ecn);
  return marks(rig, 3) != before;
}

void hold_queue(OneSwitch& rig) {
  rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
}

TEST(Marking, NeverUpToKminAndAlwaysFromKmaxOn) {
  OneSwitch rig(marking_switch(0.5));
  hold_queue(rig);
  for (int64_t found = 0; found <= 2 * kKmax; found += kFrame) {
    const bool marked = is_marked(rig);
    EXPECT_FALSE(marked && found <= kKmin) << found;
    EXPECT_TRUE(marked || found < kKmax) << found;
  }
}

TEST(Marking, BetweenThemTheShareIsTheCurve) {
  constexpr double kPmax = 0.5;
  constexpr int kRounds = 300;
  OneSwitch rig(marking_switch(kPmax));
  int marked = 0;
  double expected = 0;
  for (int round = 0; round < kRounds; ++round) {
    hold_queue(rig);
    for (int64_t found = 0; found < kKmax; found += kFrame) {
      const bool hit = is_marked(rig);
      if (found <= kKmin) continue;
      marked += hit ? 1 : 0;
      expected += kPmax * static_cast<double>(found - kKmin) / (kKmax - kKmin);
    }
    rig.inject(1, pause_frame(bit(kLossless), 0));
    rig.run_for(60_us);
  }
  // The variance of a sum of Bernoulli draws is below their expected number: four sigma.
  EXPECT_NEAR(marked, expected, 4 * std::sqrt(expected));
}

TEST(Marking, OnlyEcnCapablePacketsAndCeIsOnTheWire) {
  OneSwitch rig(marking_switch(1));
  hold_queue(rig);
  for (int64_t found = 0; found < kKmax; found += kFrame) rig.send(0, 1, kLosslessDscp, kFrame);
  EXPECT_FALSE(is_marked(rig, kEcnNotCapable));
  EXPECT_TRUE(is_marked(rig, kEcnCapable1));
  rig.inject(1, pause_frame(bit(kLossless), 0));
  rig.run_for(1_ms);
  const auto& seen = rig.seen(1);
  ASSERT_EQ(seen.size(), 62u);
  Ipv4Header unmarked, marked;
  ASSERT_EQ(decode(ConstOctets(seen[60].frame).subspan(14), unmarked), CodecVerdict::ok);
  ASSERT_EQ(decode(ConstOctets(seen[61].frame).subspan(14), marked), CodecVerdict::ok);
  EXPECT_EQ(unmarked.ecn, kEcnNotCapable);
  EXPECT_EQ(marked.ecn, kEcnCongestion);
}

TEST(Marking, LossyQueuesMarkToo) {
  OneSwitch rig(marking_switch(1));
  for (int i = 0; i < 80; ++i) rig.send(0, 1, kLossyDscp, kFrame, kEcnCapable0);
  EXPECT_GT(marks(rig, 0), 0u);
}

// Two switches, or two seeds, must not throw the same dice.
std::vector<bool> dice(size_t switch_id, uint64_t seed) {
  config::SwitchConfig config = marking_switch(0.5);
  config.id = SwitchId(switch_id);
  config.seed = seed;
  OneSwitch rig(config);
  hold_queue(rig);
  std::vector<bool> marked;
  for (int64_t found = 0; found < kKmax; found += kFrame) marked.push_back(is_marked(rig));
  return marked;
}

TEST(Marking, DrawsAreOfTheSeedAndTheSwitch) {
  EXPECT_EQ(dice(1, 1), dice(1, 1));
  EXPECT_NE(dice(1, 1), dice(2, 1));
  EXPECT_NE(dice(1, 1), dice(1, 2));
}

}  // namespace
}  // namespace eddy::test
