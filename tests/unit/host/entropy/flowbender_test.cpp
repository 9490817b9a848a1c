#include <gtest/gtest.h>

#include <set>

#include "host/registry.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::kSamePort;

// One flow of the law alone; every call is made by hand.
struct Bender {
  explicit Bender(const std::string& control = "dctcp", ParameterValues given = {},
                  uint64_t seed = 1) {
    config::HostConfig config;
    config.congestion_control = control;
    host::NicOptions options = host_options(config);
    options.seed = seed;
    given.emplace("randomise", 0);
    law = host::find_law(host::entropies(), "flowbender")->make({options, given});
    state.unacked = state.next = state.sent_end = 1'000;
    EXPECT_EQ(law->open(0, {kDataPort}, state), kSamePort);
  }

  void send(uint64_t packets) { state.next = state.sent_end = state.next + packets; }
  // The port after the ACK of the next packet.
  uint16_t ack(bool marked, Instant now = Instant()) {
    ++state.unacked;
    return law->on_ack(0, {.packets = 1, .now = now, .marked = marked}, state);
  }
  // A round of 40 packets, the first `marked` of which are; whether the port changes at its end.
  bool round_moves(uint64_t marked) {
    send(40);
    for (uint64_t i = 1; i < 40; ++i) EXPECT_EQ(ack(i <= marked), kSamePort) << i;
    return ack(40 <= marked) != kSamePort;
  }

  std::unique_ptr<host::Entropy> law;
  host::SendState state;
};

TEST(FlowBender, MoreThanFivePercentMarkedMoves) {
  Bender flow;
  EXPECT_FALSE(flow.round_moves(0));
  EXPECT_FALSE(flow.round_moves(2)) << "5 % is not more than 5 %";
  EXPECT_TRUE(flow.round_moves(3));
}

TEST(FlowBender, TheThresholdIsAParameter) {
  Bender flow("dctcp", {{"threshold", 50}});
  EXPECT_FALSE(flow.round_moves(20));
  EXPECT_TRUE(flow.round_moves(21));
  Bender any("dctcp", {{"threshold", 0}});
  EXPECT_FALSE(any.round_moves(0));
  EXPECT_TRUE(any.round_moves(1));
}

TEST(FlowBender, OnlyCongestedRoundsInARowCount) {
  Bender flow("dctcp", {{"epochs", 3}});
  for (const bool congested : {true, true, false, true, true})
    EXPECT_FALSE(flow.round_moves(congested ? 40 : 0));
  EXPECT_TRUE(flow.round_moves(40));
}

TEST(FlowBender, WhatWasSentBeforeAMoveTellsNothing) {
  Bender flow;
  flow.send(40);
  for (int i = 0; i < 39; ++i) flow.ack(true);
  flow.send(30);  // by the old port
  EXPECT_NE(flow.ack(true), kSamePort);
  flow.send(10);  // by the new one
  for (int i = 0; i < 30; ++i) EXPECT_EQ(flow.ack(true), kSamePort);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(flow.ack(false), kSamePort);
}

TEST(FlowBender, AMoveIsOnceInARoundTripAtMost) {
  Bender flow;
  int moves = 0;
  flow.send(20);
  for (int i = 0; i < 2'000; ++i) {
    if (flow.ack(true) != kSamePort) ++moves;
    flow.send(1);
  }
  // A round of the old port that is not counted, and one of the new that is.
  EXPECT_GE(moves, 2'000 / 41 - 1);
  EXPECT_LE(moves, 2'000 / 40 + 1);
}

TEST(FlowBender, TheNewPortIsAnother) {
  std::set<uint16_t> ports;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Bender flow("dctcp", {}, seed);
    const uint16_t port = flow.law->on_timeout(0, flow.state, Instant());
    EXPECT_GE(port, host::kFirstEntropy);
    EXPECT_NE(port, kDataPort);
    EXPECT_NE(flow.law->on_timeout(0, flow.state, Instant()), port);
    ports.insert(port);
  }
  EXPECT_GT(ports.size(), 190u) << "of 16,383";
}

TEST(FlowBender, TheSameSeedMakesTheSamePorts) {
  Bender one("dctcp", {}, 5), two("dctcp", {}, 5), other("dctcp", {}, 6);
  bool differs = false;
  for (int i = 0; i < 10; ++i) {
    const uint16_t port = one.law->on_timeout(0, one.state, Instant());
    EXPECT_EQ(two.law->on_timeout(0, two.state, Instant()), port);
    differs |= other.law->on_timeout(0, other.state, Instant()) != port;
  }
  EXPECT_TRUE(differs);
}

TEST(FlowBender, ATimeoutMovesAtOnceAndBeginsAnew) {
  Bender flow("dctcp", {{"epochs", 2}});
  EXPECT_FALSE(flow.round_moves(40));
  EXPECT_NE(flow.law->on_timeout(0, flow.state, Instant()), kSamePort);
  EXPECT_FALSE(flow.round_moves(40)) << "the first of two again";
  EXPECT_TRUE(flow.round_moves(40));
}

// One, two or three rounds with N = 2; with N = 1 never none.
TEST(FlowBender, RandomisedRowsDifferByOne) {
  const auto rows_of = [](int64_t epochs) {
    std::array<int, 5> rows{};
    Bender flow("dctcp", {{"epochs", epochs}, {"randomise", 1}});
    int row = 0;
    for (int round = 0; round < 600; ++round) {
      ++row;
      if (!flow.round_moves(40)) continue;
      ++rows.at(static_cast<size_t>(std::exchange(row, 0)));
    }
    return rows;
  };
  const std::array<int, 5> two = rows_of(2);
  EXPECT_EQ(two[4], 0);
  for (size_t row = 1; row <= 3; ++row) EXPECT_GT(two[row], 60) << row;
  const std::array<int, 5> one = rows_of(1);
  EXPECT_EQ(one[3], 0);
  EXPECT_NEAR(one[1], 2 * one[2], 60);
}

// With DCQCN marks come back as CNPs, at most one in 50 us.
TEST(FlowBender, WithoutEchoesACnpMakesAnEpochCongested) {
  Bender flow("dcqcn");
  flow.send(20);
  const auto acks_until = [&](Instant from, Duration length) {
    uint16_t port = kSamePort;
    for (Instant now = from; now <= from + length && port == kSamePort; now = now + 1_us) {
      port = flow.ack(true, now);  // whatever this bit says
      flow.send(1);
    }
    return port;
  };
  EXPECT_EQ(acks_until(at(0_us), 200_us), kSamePort);
  flow.law->on_cnp(0, flow.state, at(201_us));
  EXPECT_NE(acks_until(at(201_us), 60_us), kSamePort);
  flow.law->on_cnp(0, flow.state, at(265_us));  // of what the old port sent
  EXPECT_EQ(acks_until(at(265_us), 200_us), kSamePort);
}

TEST(FlowBender, WithoutEchoesAnEpochIsNoShorterThanTheCnpsAreApart) {
  Bender flow("dcqcn", {{"epochs", 2}});
  flow.send(2);
  int moves = 0;
  Instant first = Instant::never();
  for (Instant now = at(0_us); now < at(1_ms); now = now + 1_us) {
    if ((now - at(0_us)).ps() % (50_us).ps() == 0) flow.law->on_cnp(0, flow.state, now);
    const uint16_t port = flow.ack(false, now);
    flow.send(1);
    if (port == kSamePort) continue;
    if (first == Instant::never()) first = now;
    ++moves;
  }
  EXPECT_GE(moves, 7) << "two epochs of 50 us";
  EXPECT_LE(moves, 10);
}

TEST(FlowBender, TheNicSendsFromTheNewPort) {
  config::HostConfig config = plain_config();
  config.entropy = "flowbender";
  OneNic one(config);
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit(at(0_us))->roce.source_port, kDataPort);
  one.nic.on_timers(at(4_ms));
  const uint16_t moved = one.transmit(at(4_ms))->roce.source_port;
  EXPECT_NE(moved, kDataPort);
  EXPECT_EQ(one.transmit(at(4_ms))->roce.source_port, moved);
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).timeouts, 1u);
}

}  // namespace
}  // namespace eddy::test
