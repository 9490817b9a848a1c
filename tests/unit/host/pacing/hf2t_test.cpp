#include <gtest/gtest.h>

#include "host/registry.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

// One QP of the law alone; a packet takes 1,250 octets of a line of 100 Gb/s, 100 ns.
struct Tuned {
  explicit Tuned(const ParameterValues& given = {})
      : law(host::find_law(host::pacings(), "hf2t")->make({options, given})) {
    pace.rate_bps = options.speed.bps();
    state.next = state.sent_end = 100;
    sent(at(1_us));
  }

  // When the next packet starts that could `gap` after the last one, asked until it may.
  Instant start_of(Duration gap) {
    Instant now = pace.last_start + gap;
    for (;;) {
      const Instant start = law->next_send(0, pace, state, now);
      if (start <= now) return now;
      now = start;
    }
  }
  host::PacedPacket sent(Instant now) {
    pace.last_start = now;
    pace.last_line_octets = 1'250;
    return law->on_sent(0, pace, state);
  }
  // The gap that came of it.
  Duration send(Duration gap) {
    const Instant before = pace.last_start;
    last = sent(start_of(gap));
    return pace.last_start - before;
  }
  // Gaps of 2 us, so that T is 1,024 + 1,024 x 198 / 200 ns.
  void learn() {
    for (int i = 0; i < 200; ++i) EXPECT_EQ(send(2_us), 2_us);
  }
  void burst(int packets) {
    for (int i = 0; i < packets; ++i) EXPECT_EQ(send(100_ns), 100_ns);
  }

  const host::NicOptions options = host_options(plain_config());
  std::unique_ptr<host::Pacing> law;
  host::Pace pace;
  host::SendState state;
  host::PacedPacket last;
};

TEST(Hf2t, AGapOfTOrMoreIsMadeAFlowletsEnd) {
  Tuned qp;
  qp.learn();
  EXPECT_EQ(qp.send(2'036_ns), 2'036_ns);
  EXPECT_FALSE(qp.last.held);
  EXPECT_FALSE(qp.last.flowlet);
  EXPECT_EQ(qp.send(2'037_ns), 102_us);
  EXPECT_TRUE(qp.last.held);
  EXPECT_TRUE(qp.last.flowlet);
  Tuned other;
  other.learn();
  EXPECT_EQ(other.send(99'999_ns), 102_us);
}

TEST(Hf2t, AGapThatEndsAFlowletAnywayIsLeftAsItIs) {
  Tuned qp;
  qp.learn();
  EXPECT_EQ(qp.send(100_us), 100_us);
  EXPECT_FALSE(qp.last.held);
  EXPECT_TRUE(qp.last.flowlet);
  EXPECT_EQ(qp.send(1_ms), 1_ms);
}

TEST(Hf2t, NothingIsHeldBeforeAGapWasSeenNorBackToBack) {
  Tuned qp({{"percentile", 0}});
  EXPECT_EQ(qp.send(50_us), 50_us) << "the first gap of all";
  qp.burst(20);
  EXPECT_EQ(qp.send(40_us), 102_us) << "T is 32,768 ns: back to back ones are no gaps";
}

// 300 packets of 1,226 octets are more than twice 64 KB, one is less than half.
TEST(Hf2t, AlphaFollowsTheLengthOfFlowlets) {
  Tuned qp;
  qp.learn();
  EXPECT_EQ(qp.send(3_us), 102_us);  // after 201 packets: alpha is 4/5 now
  EXPECT_EQ(qp.send(1'640_ns), 102_us);
  EXPECT_EQ(qp.send(2'036_ns), 2'036_ns) << "after one packet alpha is 1 again";
  qp.send(100_us);  // of two
  EXPECT_EQ(qp.send(2'500_ns), 2'500_ns) << "5/4";
  EXPECT_EQ(qp.send(2'560_ns), 102_us);
}

TEST(Hf2t, AlphaHasBounds) {
  Tuned tiny;
  tiny.learn();
  for (int i = 0; i < 20; ++i) tiny.send(100_us);  // each a flowlet; more than 1 % of all gaps
  tiny.burst(1);
  for (int i = 0; i < 4'000; ++i) EXPECT_EQ(tiny.send(2_us), 2_us);
  EXPECT_EQ(tiny.send(8_us), 8_us) << "T is just below 2,048 ns";
  EXPECT_EQ(tiny.send(8'192_ns), 102_us);

  Tuned longs;
  longs.learn();
  for (int i = 0; i < 20; ++i) {
    longs.burst(300);
    longs.send(100_us);
  }
  longs.burst(300);
  for (int i = 0; i < 4'000; ++i) longs.send(300_ns);
  EXPECT_EQ(longs.send(400_ns), 400_ns) << "T is above 1,600 ns: 20 of the gaps are flowlets";
  EXPECT_EQ(longs.send(490_ns), 102_us);
}

TEST(Hf2t, WithoutAdaptionAlphaIsOne) {
  Tuned qp({{"adapt", 0}});
  qp.learn();
  EXPECT_EQ(qp.send(3_us), 102_us);
  EXPECT_EQ(qp.send(2'036_ns), 2'036_ns);
  qp.send(100_us);
  EXPECT_EQ(qp.send(2'045_ns), 102_us);
}

TEST(Hf2t, WhatWasSeenCountsHalfAfterATime) {
  Tuned qp({{"decay", (1_ms).ps()}, {"adapt", 0}});
  qp.learn();
  qp.send(2_ms);  // the 200 are 50 or less now
  for (int i = 0; i < 90; ++i) qp.send(200_ns);
  for (int i = 0; i < 90; ++i) qp.send(200_ns);
  EXPECT_EQ(qp.send(1'900_ns), 1'900_ns) << "a tenth of the gaps were as long";
  qp.send(20_ms);
  for (int i = 0; i < 200; ++i) qp.send(200_ns);
  EXPECT_EQ(qp.send(1'900_ns), 102_us) << "none";
}

TEST(Hf2t, WhatIsSentAgainIsNotHeld) {
  Tuned qp;
  qp.learn();
  qp.state.next = 50;  // gone back
  EXPECT_EQ(qp.send(3_us), 3_us);
  qp.state.next = 100;
  qp.state.repair = host::Repair::pending;
  EXPECT_EQ(qp.send(3_us), 3_us);
  qp.state.repair = host::Repair::listens;
  EXPECT_EQ(qp.send(3_us), 102_us);
}

// The gap of the rate comes first, and may be the one that is made longer.
TEST(Hf2t, BelowLineRateTheRatesGapCounts) {
  Tuned qp;
  qp.learn();
  qp.pace.rate_bps = 10'000'000'000;  // 1 us a packet
  EXPECT_EQ(qp.send(0_us), 1_us);
  qp.pace.rate_bps = 2'000'000'000;  // 5 us
  EXPECT_EQ(qp.send(0_us), 102_us);
  EXPECT_TRUE(qp.last.held);
  qp.pace.rate_bps = 50'000'000;  // 200 us
  EXPECT_EQ(qp.send(0_us), 200_us);
  EXPECT_FALSE(qp.last.held);
}

TEST(Hf2t, ItMayOnlyCount) {
  Tuned qp({{"hold", 0}});
  qp.learn();
  EXPECT_EQ(qp.send(3_us), 3_us);
  EXPECT_FALSE(qp.last.flowlet);
  EXPECT_EQ(qp.send(100_us), 100_us);
  EXPECT_TRUE(qp.last.flowlet);
}

// The NIC counts, and others of its QPs go on.
TEST(Hf2t, TheNicHoldsOneQpAndCounts) {
  config::HostConfig config = plain_config();
  config.pacing = "hf2t";
  config.window = true;
  config.bdp = Bytes(1'024);
  config.law_parameters["hf2t.percentile"] = 0;
  OneNic one(config);
  const uint32_t first = one.send(10);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 1u);
  one.ack(first, 0, at(8_us));
  EXPECT_EQ(one.transmit_data(at(8_us)).size(), 1u) << "the first gap";
  one.ack(first, 1, at(20_us));
  EXPECT_EQ(one.transmit_data(at(20_us)).size(), 0u);
  EXPECT_EQ(one.nic.next_deadline(), at(8_us + 102_us));
  one.send(10, 0, 0, 8_us, at(21_us));
  EXPECT_EQ(one.transmit_data(at(21_us)).size(), 1u) << "the other QP";
  one.nic.on_timers(at(110_us));
  EXPECT_EQ(one.transmit_data(at(110_us)).size(), 1u);
  EXPECT_EQ(one.count(host::NicCounter::held_packets), 1u);
  EXPECT_EQ(one.count(host::NicCounter::flowlets), 1u);
}

}  // namespace
}  // namespace eddy::test
