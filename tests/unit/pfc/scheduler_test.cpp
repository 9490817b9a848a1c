#include "pfc/scheduler.h"

#include <gtest/gtest.h>

#include <random>

#include "config/config.h"

namespace eddy::pfc {
namespace {

using namespace eddy::literals;

// Queues of endless packets of one length each.
struct Port {
  explicit Port(const config::PortConfig& config) {
    scheduler.configure(SchedulerPlan::of(config));
    len.fill(1'000);
  }
  std::optional<QueueId> send(uint8_t backlogged, uint8_t stopped = 0) {
    const auto queue =
        scheduler.pick(backlogged, stopped, [&](QueueId q) { return len[q.index()]; });
    if (!queue) return queue;
    scheduler.sent(*queue, len[queue->index()]);
    sent[queue->index()] += len[queue->index()];
    return queue;
  }
  Scheduler scheduler;
  std::array<int64_t, kPriorities> len{};
  std::array<int64_t, kPriorities> sent{};
};

config::PortConfig weighted(int w0, int w3, int w4) {
  config::PortConfig config = config::default_port("p");
  config.queues[0].weight = w0;
  config.queues[3].weight = w3;
  config.queues[4].weight = w4;
  return config;
}

TEST(Scheduler, NothingToSend) {
  Port port(config::default_port("p"));
  EXPECT_FALSE(port.send(0).has_value());
  EXPECT_FALSE(port.send(0x18, 0x18).has_value());
}

TEST(Scheduler, StrictQueuesGoFirstTheHighestBefore) {
  Port port(config::default_port("p"));  // 6 and 7 are strict
  EXPECT_EQ(port.send(0xFF), QueueId(7));
  EXPECT_EQ(port.send(0x7F), QueueId(6));
  EXPECT_EQ(port.send(0xC8, 0x80), QueueId(6));
  EXPECT_EQ(port.send(0xC8, 0xC0), QueueId(3));
}

TEST(Scheduler, OneQueueAloneAlwaysSends) {
  Port port(weighted(1, 1, 1));
  port.len[3] = 9'000;  // nine quanta
  for (int i = 0; i < 100; ++i) ASSERT_EQ(port.send(0x08), QueueId(3));
}

TEST(Scheduler, SharesFollowTheWeightsWithinOneQuantum) {
  Port port(weighted(14, 15, 30));
  port.len = {64, 0, 0, 1'500, 9'000, 0, 0, 0};
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(port.send(0x19).has_value());
    const int64_t rounds = port.sent[3] / (15 * 1'024);
    for (const auto& [queue, weight] : {std::pair{0, 14}, {3, 15}, {4, 30}}) {
      const int64_t slack = weight * 1'024 + port.len[queue];
      ASSERT_LE(std::abs(port.sent[queue] - rounds * weight * 1'024), slack + weight * 1'024)
          << "queue " << queue << " after " << i;
    }
  }
}

TEST(Scheduler, APausedQueueKeepsItsDeficitAndIsNeverServed) {
  const unsigned seed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  Port port(weighted(14, 15, 15));
  for (int i = 0; i < 20'000; ++i) {
    const auto stopped = static_cast<uint8_t>(random());
    std::array<int64_t, kPriorities> before{};
    for (size_t q = 0; q < kPriorities; ++q) before[q] = port.scheduler.deficit(QueueId(q));
    const auto queue = port.send(0x3F, stopped);
    if (queue) {
      ASSERT_EQ(stopped >> queue->index() & 1, 0);
    }
    for (size_t q = 0; q < 6; ++q) {
      const int64_t deficit = port.scheduler.deficit(QueueId(q));
      if ((stopped >> q & 1) != 0) {
        ASSERT_EQ(deficit, before[q]);
      }
      ASSERT_GE(deficit, 0);
      ASSERT_LT(deficit, 15 * 1'024 + 1'000);  // flapping pauses hoard nothing
    }
  }
}

TEST(Scheduler, AnEmptyQueueLosesItsDeficit) {
  Port port(config::default_port("p"));
  ASSERT_EQ(port.send(0x08), QueueId(3));
  EXPECT_GT(port.scheduler.deficit(QueueId(3)), 0);
  (void)port.send(0x10);
  EXPECT_EQ(port.scheduler.deficit(QueueId(3)), 0);
}

TEST(Scheduler, PickingTwiceWithoutSendingPicksTheSame) {
  Port port(config::default_port("p"));
  const auto len = [](QueueId) { return int64_t{1'500}; };
  for (int i = 0; i < 50; ++i) {
    const auto first = port.scheduler.pick(0x1B, 0, len);
    ASSERT_TRUE(first.has_value());
    ASSERT_EQ(port.scheduler.pick(0x1B, 0, len), first);
    port.scheduler.sent(*first, 1'500);
  }
}

// Bursts of which only a part can be sent: the rest is picked again in the same order.
TEST(Scheduler, WhatIsRestoredWasNeverPicked) {
  const unsigned seed = 23;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  Port port(weighted(1, 2, 3));
  port.len = {64, 300, 700, 1'500, 9'000, 0, 0, 0};
  for (int burst = 0; burst < 2'000; ++burst) {
    const auto backlogged = static_cast<uint8_t>(random() & 0x1F);
    const auto stopped = static_cast<uint8_t>(random() & random());
    const size_t sent = random() % 8;
    Scheduler::State middle = port.scheduler.state();
    std::vector<std::optional<QueueId>> refused;
    for (size_t i = 0; i < 8; ++i) {
      if (i == sent) middle = port.scheduler.state();
      // A queue is empty while its last packet is in the burst, which makes the scheduler forget.
      const auto queue = port.send(i % 3 == 2 ? backlogged & ~1 : backlogged, stopped);
      if (i >= sent) refused.push_back(queue);
    }
    port.scheduler.restore(middle);
    ASSERT_EQ(port.scheduler.state(), middle);
    for (size_t i = sent; i < 8; ++i)
      ASSERT_EQ(port.send(i % 3 == 2 ? backlogged & ~1 : backlogged, stopped), refused[i - sent]);
  }
}

Instant at(Duration since) {
  return Instant::at(since);
}

QueueRates limited_to(BitRate rate) {
  config::PortConfig config = config::default_port("p");
  config.queues[3].max_rate = rate;
  QueueRates rates;
  rates.configure(SchedulerPlan::of(config));
  return rates;
}

TEST(QueueRates, UnlimitedQueuesNeverStop) {
  QueueRates rates;
  rates.configure(SchedulerPlan::of(config::default_port("p")));
  rates.sent(QueueId(3), 1'000'000_B, at(0_us));
  EXPECT_EQ(rates.stopped(at(0_us)), 0);
  EXPECT_EQ(rates.next_eligible(0xFF), Instant::never());
}

TEST(QueueRates, StopsAfterTheBurstUntilExactlyTheDeadline) {
  QueueRates rates = limited_to(1_Gbps);  // 8 ns an octet
  const Instant start = at(1'000_us);
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(rates.stopped(start), 0) << i;
    rates.sent(QueueId(3), 1_KiB, start);
  }
  EXPECT_EQ(rates.stopped(start), 0);  // the burst is used up but not exceeded
  rates.sent(QueueId(3), 1_KiB, start);
  EXPECT_EQ(rates.stopped(start), 0x08);
  EXPECT_EQ(rates.next_eligible(0x08), start + 8'192_ns);
  EXPECT_EQ(rates.stopped(start + 8'192_ns - 1_ps), 0x08);
  EXPECT_EQ(rates.stopped(start + 8'192_ns), 0);
}

TEST(QueueRates, ReconfiguringGrantsNoBurst) {
  QueueRates rates = limited_to(1_Gbps);
  rates.sent(QueueId(3), 17_KiB, at(0_us));
  config::PortConfig config = config::default_port("p");
  config.queues[3].max_rate = 2_Gbps;
  rates.configure(SchedulerPlan::of(config));
  EXPECT_EQ(rates.stopped(at(1_us)), 0x08);
}

TEST(QueueRates, HoldsTheRateInTheLongRun) {
  QueueRates rates = limited_to(100_Mbps);
  Instant now = at(0_us);
  int64_t sent = 0;
  while (now < at(100'000_us)) {
    rates.sent(QueueId(3), 1'500_B, now);
    sent += 1'500;
    now = std::max(now, rates.eligible_at(QueueId(3)));
  }
  EXPECT_NEAR(static_cast<double>(sent), 1'250'000 + 16'384, 1'500);
}

}  // namespace
}  // namespace eddy::pfc
