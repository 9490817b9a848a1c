// Long flows through a crowded fabric port go into the isolated class, and short ones go by.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "switch/dataplane/queues/long_flows.h"
#include "tests/unit/dataplane/pipeline/isolation_rig.h"

namespace eddy::test::isolation {
namespace {

using namespace eddy::literals;

constexpr PortId kPort{3};
constexpr LongFlows::Rule kRule{.enough = 10'000, .life = 40_us};

Instant at(Duration time) {
  return Instant() + time;
}

TEST(LongFlows, AFlowIsLongOnceItHasHadEnough) {
  LongFlows flows;
  for (int i = 1; i < 10; ++i) EXPECT_FALSE(flows.note(kPort, 7, 1'000, kRule, at(1_us * i)));
  EXPECT_FALSE(flows.note(PortId(4), 7, 1'000, kRule, at(10_us))) << "of another port";
  EXPECT_TRUE(flows.note(kPort, 7, 1'000, kRule, at(10_us)));
  EXPECT_FALSE(flows.note(kPort, 7, 1'000, kRule, at(11_us))) << "it is already";
}

TEST(LongFlows, WhatWasCountedLongAgoDoesNotCount) {
  LongFlows flows;
  EXPECT_FALSE(flows.note(kPort, 7, 9'000, kRule, at(1_us)));
  EXPECT_FALSE(flows.note(kPort, 7, 1'000, kRule, at(42_us)));
  EXPECT_TRUE(flows.note(kPort, 7, 9'000, kRule, at(82_us)));
}

// A hundred short flows take turns with a long one, which has a quarter of what goes by.
TEST(LongFlows, IsFoundAmongAnyNumberOfShortOnes) {
  LongFlows flows;
  constexpr LongFlows::Rule kLater{.enough = 100'000, .life = 1_s};
  uint32_t found_after = 0;
  for (uint32_t i = 0; i < 2'000 && found_after == 0; ++i) {
    for (uint32_t k = 0; k < 3; ++k)
      EXPECT_FALSE(flows.note(kPort, 100 + (3 * i + k) % 100, 1'000, kLater, at(1_us)));
    if (flows.note(kPort, 7, 1'000, kLater, at(1_us))) found_after = i + 1;
  }
  EXPECT_GE(found_after, 100u);
  EXPECT_LE(found_after, 200u);
}

TEST(LongFlows, EightLongOnesHoldTheirPlaces) {
  LongFlows flows;
  for (uint32_t tag = 1; tag <= LongFlows::kPlaces; ++tag)
    EXPECT_TRUE(flows.note(kPort, tag, 10'000, kRule, at(1_us)));
  EXPECT_FALSE(flows.note(kPort, 99, 1'000'000, kRule, at(1_us)));
  for (const LongFlows::Flow& flow : flows.of(kPort)) EXPECT_TRUE(flow.is_long);
}

// Host ports 0 and 1, and an uplink that is slow: 8 us a packet of 1,000 octets.
config::SwitchConfig slow_uplink() {
  config::SwitchConfig config = leaf_spine({.spines = 1}).leaves[0];
  config.isolation.enabled = true;
  config.isolation.crowded = Bytes(20'000);
  config.isolation.long_flow = Bytes(30'000);
  config.ports[2].speed = 1_Gbps;
  return config;
}
struct Uplink : OneSwitch {
  explicit Uplink(const config::SwitchConfig& config = slow_uplink(), size_t shards = 1)
      : OneSwitch(config, shards) {
    inject(2, frame_of(hello()));
    run_for(1_us);
  }
  // One packet each microsecond, numbered on.
  void fill(int packets, uint16_t flow = 7, size_t to_host = 1) {
    for (int i = 0; i < packets; ++i) {
      isolation::send(*this, {.port = 0, .number = ++number, .to_host = to_host, .flow = flow});
      run_for(1_us);
    }
  }
  uint64_t long_flows() { return count(object(), 2, PortCounter::isolation_long_flows); }
  uint64_t begun() {
    return count(object(), 0, PortCounter::isolation_begun_packets) +
           count(object(), 1, PortCounter::isolation_begun_packets);
  }
  uint16_t number = 0;
};

TEST(LongFlows, AShortFlowGoesByALongOneInOrder) {
  Uplink rig;
  rig.fill(50);
  EXPECT_EQ(rig.long_flows(), 0u) << "20 found no crowd, 30 less what has left are not enough";
  rig.fill(50);
  EXPECT_EQ(rig.long_flows(), 1u);
  EXPECT_TRUE(cims(rig, 2).empty()) << "nobody else need know";
  rig.fill(1, 8);
  const uint16_t of_short = rig.number;
  rig.run_for(2_ms);
  const std::vector<Seen> up = data_at(rig, 2);
  ASSERT_EQ(up.size(), rig.number);
  std::vector<uint16_t> of_long;
  for (const Seen& seen : up)
    if (seen.number != of_short) of_long.push_back(seen.number);
  EXPECT_TRUE(std::ranges::is_sorted(of_long));
  EXPECT_EQ(up.back().dscp, kIsolated);
  const auto gone_by = std::ranges::find(up, Seen{kNormal, of_short});
  ASSERT_NE(gone_by, up.end());
  EXPECT_GT(up.end() - gone_by, 10) << "it has overtaken the long one";
}

TEST(LongFlows, ReturnsOnceThePortIsNoLongerCrowded) {
  Uplink rig;
  rig.fill(100);
  ASSERT_EQ(rig.long_flows(), 1u);
  rig.run_for(2_ms);
  rig.fill(1);
  rig.run_for(100_us);
  EXPECT_EQ(data_at(rig, 2).back(), (Seen{kNormal, rig.number}));
  rig.run_for(2_ms);
  EXPECT_EQ(leftovers(rig.object()), "");
}

// What waits there is not what crowds it.
TEST(LongFlows, APortThatIsPausedFindsNone) {
  Uplink rig;
  rig.inject(2, pause_frame(1u << kNormal, 0xffff));
  rig.run_for(1_us);
  rig.fill(200);
  EXPECT_EQ(rig.long_flows(), 0u);
  EXPECT_EQ(rig.begun(), 0u);
}

TEST(LongFlows, CongestedHostsComeFirst) {
  Uplink rig;
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(1_us);
  rig.fill(1, 7, 1);
  EXPECT_EQ(rig.begun(), 1u);
  rig.fill(150, 9, 2);
  EXPECT_EQ(rig.long_flows(), 0u);
  rig.fill(150, 9, 2);
  EXPECT_EQ(rig.long_flows(), 1u) << "five lives later";
}

TEST(LongFlows, SwitchedOffFindsNone) {
  config::SwitchConfig config = slow_uplink();
  config.isolation.long_flows = false;
  Uplink rig(config);
  rig.fill(200);
  EXPECT_EQ(rig.long_flows(), 0u);
  EXPECT_EQ(rig.begun(), 0u);
}

TEST(LongFlows, SwitchedOffUnderTrafficKeepsOrder) {
  Uplink rig;
  rig.fill(100);
  config::SwitchConfig off = slow_uplink();
  off.isolation.long_flows = false;
  ASSERT_TRUE(rig.object().reconfigure(off).ok());
  rig.fill(100);
  rig.run_for(4_ms);
  const std::vector<Seen> up = data_at(rig, 2);
  ASSERT_EQ(up.size(), 200u);
  EXPECT_TRUE(std::ranges::is_sorted(up, {}, &Seen::number));
  rig.fill(1);
  rig.run_for(100_us);
  EXPECT_EQ(data_at(rig, 2).back(), (Seen{kNormal, rig.number}));
}

// The host's port and the uplink are different shards'.
TEST(LongFlows, SeveralShardsActAsOne) {
  config::SwitchConfig config = slow_uplink();
  spread_over_workers(config, 2);
  ASSERT_NE(config.ports[2].worker, config.ports[1].worker);
  Uplink rig(config, 2);
  for (int i = 0; i < 150; ++i) {
    send(rig, {.port = 1, .number = ++rig.number});
    rig.run_for(1_us);
  }
  EXPECT_EQ(rig.long_flows(), 1u);
  EXPECT_GT(rig.begun(), 10u);
  rig.run_for(3_ms);
  const std::vector<Seen> up = data_at(rig, 2);
  EXPECT_EQ(up.size(), 150u);
  EXPECT_TRUE(std::ranges::is_sorted(up, {}, &Seen::number));
}

}  // namespace
}  // namespace eddy::test::isolation
