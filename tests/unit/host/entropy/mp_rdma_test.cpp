#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "host/registry.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::kFirstEntropy;
using host::kSamePort;
using testing::ElementsAre;

// One flow of the law alone; the window is the test's.
struct Ways {
  explicit Ways(const ParameterValues& given = {{"explore", 0}}, uint64_t seed = 1) {
    host::NicOptions options = host_options(plain_config());
    options.seed = seed;
    law = host::find_law(host::entropies(), "mp_rdma")->make({options, given});
    state.unacked = state.next = state.sent_end = 1'000;
    state.window = 20;
    EXPECT_EQ(law->open(0, {kDataPort, 20}, state), kSamePort);
  }

  uint16_t send() {
    ++state.next;
    return law->next_send(0, state, Instant());
  }
  std::vector<uint16_t> send_all() {
    std::vector<uint16_t> ports;
    while (state.in_flight() < state.window) ports.push_back(send());
    return ports;
  }
  uint16_t repeat() { return law->next_send(0, state, Instant()); }
  // Of a packet that the port brought, after which the window is as given.
  void ack(uint16_t port, uint32_t window, bool marked = false, uint64_t arrived = 0) {
    ++state.unacked;
    state.window = window;
    EXPECT_EQ(law->on_ack(0, {.packets = 1, .arrived = arrived, .entropy = port, .marked = marked},
                          state),
              kSamePort);
  }

  std::unique_ptr<host::Entropy> law;
  host::SendState state;
};

bool drawn(uint16_t port) {
  return port >= kFirstEntropy && (port < 50'001 || port > 50'009);
}

TEST(MpRdmaWays, TheFirstWindowGoesByWaysDrawn) {
  Ways flow;
  const std::vector<uint16_t> ports = flow.send_all();
  ASSERT_EQ(ports.size(), 20u);
  EXPECT_GE(std::set(ports.begin(), ports.end()).size(), 19u);
  for (const uint16_t port : ports) EXPECT_GE(port, kFirstEntropy);
}

TEST(MpRdmaWays, AReplyLetsAPacketGoByItsWay) {
  Ways flow;
  flow.send_all();
  flow.ack(50'001, 20);
  EXPECT_THAT(flow.send_all(), ElementsAre(50'001));
  for (const int port : {50'002, 50'003, 50'002}) flow.ack(static_cast<uint16_t>(port), 20);
  EXPECT_THAT(flow.send_all(), ElementsAre(50'002, 50'003, 50'002)) << "in the order of replies";
}

TEST(MpRdmaWays, AWindowThatGrowsLetsTwoGoAndNoMore) {
  Ways flow;
  flow.send_all();
  flow.ack(50'001, 21);
  EXPECT_THAT(flow.send_all(), ElementsAre(50'001, 50'001));
  flow.ack(50'002, 24);
  const std::vector<uint16_t> ports = flow.send_all();
  ASSERT_EQ(ports.size(), 4u);
  EXPECT_EQ(ports[0], 50'002);
  EXPECT_EQ(ports[1], 50'002);
  EXPECT_TRUE(drawn(ports[2]) && drawn(ports[3])) << "the rest by lot";
}

TEST(MpRdmaWays, AWindowThatShrinksTakesBackTheYoungestCredit) {
  Ways flow;
  flow.send_all();
  flow.ack(50'001, 20);
  flow.ack(50'002, 19, true);
  EXPECT_THAT(flow.send_all(), ElementsAre(50'001)) << "50002 gave none";
  flow.ack(50'003, 19);
  flow.ack(50'004, 19);
  flow.ack(50'005, 17, true);
  EXPECT_THAT(flow.send_all(), ElementsAre(50'003));
}

TEST(MpRdmaWays, AWayThatIsTooSlowGetsNothing) {
  Ways flow({{"explore", 0}, {"delta", 10}});
  flow.send_all();
  flow.ack(50'001, 20, false, 1'018);
  flow.ack(50'002, 20, false, 1'008);
  EXPECT_THAT(flow.send_all(), ElementsAre(50'001, 50'002)) << "ten behind";
  flow.ack(50'003, 20, false, 1'007);
  const std::vector<uint16_t> ports = flow.send_all();
  ASSERT_EQ(ports.size(), 1u);
  EXPECT_TRUE(drawn(ports[0]));
}

TEST(MpRdmaWays, WhatIsSentAgainGoesByTheLastGoodWay) {
  Ways flow;
  flow.send_all();
  EXPECT_GE(flow.repeat(), kFirstEntropy);
  flow.ack(50'001, 20);
  flow.ack(50'002, 20, true);
  EXPECT_EQ(flow.repeat(), 50'001) << "50002 is marked";
  EXPECT_THAT(flow.send_all(), ElementsAre(50'001, 50'002)) << "and takes no credit";
}

TEST(MpRdmaWays, ATimeoutTakesAllCreditBack) {
  Ways flow;
  flow.send_all();
  flow.ack(50'001, 20);
  EXPECT_EQ(flow.law->on_timeout(0, flow.state, at(1_us)), kSamePort);
  EXPECT_TRUE(drawn(flow.send()));
}

TEST(MpRdmaWays, OneRoundInAHundredTriesANewWay) {
  Ways flow({{"explore", 10}});
  flow.send_all();
  int tried = 0;
  for (int round = 0; round < 10'000; ++round) {
    EXPECT_EQ(flow.law->on_round(0, {}, flow.state), kSamePort);
    flow.ack(50'001, 20);
    tried += drawn(flow.send()) ? 1 : 0;
    flow.ack(50'001, 20);
    EXPECT_EQ(flow.send(), 50'001) << "one packet only";
  }
  EXPECT_NEAR(tried, 100, 30);
}

// A paused flow: credits of 32 ways in turn are kept, of the others the packets go by lot.
TEST(MpRdmaWays, TheListOfCreditsIsBounded) {
  Ways flow;
  flow.state.window = 100;
  flow.send_all();
  for (uint16_t i = 0; i < 50; ++i) flow.ack(static_cast<uint16_t>(60'000 + i), 100);
  const std::vector<uint16_t> ports = flow.send_all();
  ASSERT_EQ(ports.size(), 50u);
  for (uint16_t i = 0; i < 32; ++i) EXPECT_EQ(ports[i], 60'000 + i);
  int others = 0;
  for (size_t i = 32; i < 50; ++i) others += ports[i] < 60'000 || ports[i] >= 60'050 ? 1 : 0;
  EXPECT_GE(others, 17);
}

// Of a peer that does not echo, or of one that lies.
TEST(MpRdmaWays, PortsThatNoDataPacketHasGetNoCredit) {
  Ways flow;
  flow.send_all();
  for (const int port : {0, 4'791, 49'151}) flow.ack(static_cast<uint16_t>(port), 20);
  for (const uint16_t port : flow.send_all()) EXPECT_GE(port, kFirstEntropy);
}

// Eight ways by the port, of which one marks all and one loses all: who has the traffic after a
// while? The window is a law's as the paper's: 1 / window more, or half a packet less.
TEST(MpRdmaWays, GoodWaysGrowAndBadOnesShrink) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Ways flow({{"explore", 10}}, seed);
    double window = 20;
    std::vector<uint16_t> flying = flow.send_all();
    std::array<int, 8> sent{};
    for (int reply = 0; reply < 20'000 && !flying.empty(); ++reply) {
      const uint16_t port = flying.front();
      flying.erase(flying.begin());
      if (port % 8 == 3) {
        ++flow.state.unacked;  // lost, and repaired by somebody else
        for (const uint16_t next : flow.send_all()) flying.push_back(next);
        continue;
      }
      const bool marked = port % 8 == 5;
      window = std::clamp(window + (marked ? -0.5 : 1 / window), 1.0, 20.0);
      flow.ack(port, static_cast<uint32_t>(window), marked);
      if (reply % 20 == 0) flow.law->on_round(0, {}, flow.state);
      for (const uint16_t next : flow.send_all()) {
        flying.push_back(next);
        if (reply > 2'000) ++sent[next % 8];
      }
    }
    int all = 0;
    for (const int way : sent) all += way;
    EXPECT_LT(sent[3] * 100, all) << seed;
    EXPECT_LT(sent[5] * 20, all) << seed;
  }
}

}  // namespace
}  // namespace eddy::test
