// ECN marks, at enqueue or at dequeue, follow the RED curve on the queue that the
// packet finds, or leaves behind.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/manual_io.h"
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

config::SwitchConfig late_marking_switch() {
  config::SwitchConfig config = marking_switch(0);  // all from kmax on, and none below
  config.buffer.wred["default"].mark = config::WredMark::dequeue;
  return config;
}

bool arrived_marked(const Frame& frame) {
  Ipv4Header ip;
  EXPECT_EQ(decode(ConstOctets(frame).subspan(14), ip), CodecVerdict::ok);
  return ip.ecn == kEcnCongestion;
}

// 100 frames wait: the first 40 leave 60 and more behind, whenever and in what bursts they leave.
constexpr int kWaiting = 100;
constexpr size_t kLeaveKmax = kWaiting - kKmax / static_cast<int64_t>(kFrame);

TEST(Marking, AtDequeueItGoesByWhatWaitsBehind) {
  OneSwitch rig(late_marking_switch());
  hold_queue(rig);
  for (int i = 0; i < kWaiting; ++i)
    EXPECT_FALSE(is_marked(rig, i == 5 ? kEcnNotCapable : kEcnCapable0));
  rig.inject(1, pause_frame(bit(kLossless), 0));
  rig.run_for(1_ms);
  const auto& seen = rig.seen(1);
  ASSERT_EQ(seen.size(), static_cast<size_t>(kWaiting));
  for (size_t i = 0; i < seen.size(); ++i)
    EXPECT_EQ(arrived_marked(seen[i].frame), i < kLeaveKmax && i != 5) << i;
  EXPECT_EQ(marks(rig, 3), kLeaveKmax - 1);
}

// A poll that comes late sends in bursts, and a device takes some of each only.
TEST(Marking, AtDequeueIsTheSameInBurstsThatAreRefusedInPart) {
  const config::SwitchConfig config = late_marking_switch();
  auto made = Switch::create(config, {.shards = 1});
  ASSERT_TRUE(made.ok());
  Switch& object = **made;
  PacketPool pool(1024, 256);
  ManualIo io(pool);
  io.links = {{PortId(0), true}, {PortId(1), true}};
  io.transmit_limit = 0;
  UdpSpec spec = between(config, 0, 1, kLosslessDscp);
  spec.frame_len = kFrame;
  spec.readable_len = 96;
  spec.ecn = kEcnCapable0;
  for (int i = 0; i < kWaiting; ++i) io.arrive(PortId(0), udp_frame(spec), kFrame);
  Instant now;
  for (int i = 0; i < 200 && io.sent.size() < kWaiting; ++i) {
    io.transmit_limit = i < 10 ? 0 : i % 3;
    object.shard(ShardId(0)).poll(io, now);
    now = now + 11_us;
    io.complete(now);
  }
  ASSERT_EQ(io.sent.size(), static_cast<size_t>(kWaiting));
  // The first was asked when it was tried first, and little had come in by then.
  size_t marked = 0;
  for (size_t i = 0; i < io.sent.size(); ++i) {
    const bool ce = arrived_marked(io.sent[i].frame);
    marked += ce ? 1 : 0;
    if (i > 32) {
      EXPECT_EQ(ce, i < kLeaveKmax) << i;
    }
  }
  EXPECT_EQ(count(object, 1, QueueId(3), QueueCounter::ecn_marked_packets), marked);
}

TEST(Marking, DrawsAreOfTheSeedAndTheSwitch) {
  EXPECT_EQ(dice(1, 1), dice(1, 1));
  EXPECT_NE(dice(1, 1), dice(2, 1));
  EXPECT_NE(dice(1, 1), dice(1, 2));
}

}  // namespace
}  // namespace eddy::test
