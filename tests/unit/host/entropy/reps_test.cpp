#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <vector>

#include "host/registry.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::kFirstEntropy;
using host::kSamePort;
using testing::ElementsAre;

constexpr uint32_t kBdp = 20;
const ParameterValues kDefaults;

// One flow of the law alone; every call is made by hand.
struct Recycler {
  explicit Recycler(const ParameterValues& given = {{"explore", 0}}, uint64_t seed = 1) {
    host::NicOptions options = host_options(plain_config());
    options.seed = seed;
    law = host::find_law(host::entropies(), "reps")->make({options, given});
    EXPECT_EQ(law->open(0, {kDataPort, kBdp}, state), kSamePort);
  }

  uint16_t send(Instant now = Instant()) { return law->next_send(0, state, now); }
  std::vector<uint16_t> send_many(int count, Instant now = Instant()) {
    std::vector<uint16_t> ports;
    for (int i = 0; i < count; ++i) ports.push_back(send(now));
    return ports;
  }
  void ack(uint16_t port, bool marked = false, Instant now = Instant()) {
    EXPECT_EQ(law->on_ack(0, {.packets = 1, .now = now, .entropy = port, .marked = marked}, state),
              kSamePort);
  }
  void acks(std::initializer_list<int> ports) {
    for (const int port : ports) ack(static_cast<uint16_t>(port));
  }
  void timeout(Instant now) { EXPECT_EQ(law->on_timeout(0, state, now), kSamePort); }

  std::unique_ptr<host::Entropy> law;
  host::SendState state;
};

bool among(uint16_t port, std::initializer_list<int> ports) {
  return std::ranges::find(ports, port) != ports.end();
}

TEST(Reps, UnmarkedPortsComeBackOldestFirstAndOnce) {
  Recycler flow;
  flow.acks({50'001, 50'002, 50'003});
  EXPECT_THAT(flow.send_many(3), ElementsAre(50'001, 50'002, 50'003));
  const uint16_t drawn = flow.send();
  EXPECT_FALSE(among(drawn, {50'001, 50'002, 50'003})) << "each once, then a random one";
  EXPECT_GE(drawn, kFirstEntropy);
}

TEST(Reps, AMarkedPortIsForgotten) {
  Recycler flow;
  flow.ack(50'001, true);
  flow.ack(50'002);
  flow.ack(50'003, true);
  EXPECT_EQ(flow.send(), 50'002);
  EXPECT_FALSE(among(flow.send(), {50'001, 50'003}));
}

TEST(Reps, TheRingHasEightPlacesAndTheOldestGoesFirst) {
  Recycler flow;
  flow.acks({50'001, 50'002, 50'003, 50'004, 50'005, 50'006, 50'007, 50'008, 50'009, 50'010});
  EXPECT_THAT(flow.send_many(8),
              ElementsAre(50'003, 50'004, 50'005, 50'006, 50'007, 50'008, 50'009, 50'010));
  flow.acks({50'021, 50'022});
  EXPECT_THAT(flow.send_many(2), ElementsAre(50'021, 50'022));
}

TEST(Reps, TheFirstPacketsLookForWays) {
  Recycler flow(kDefaults);
  std::set<uint16_t> ports;
  for (uint32_t i = 0; i < kBdp; ++i) {
    flow.ack(50'001);
    ports.insert(flow.send());
  }
  EXPECT_GE(ports.size(), kBdp - 1) << "a bandwidth-delay product is drawn";
  EXPECT_FALSE(ports.contains(50'001));
  EXPECT_THAT(flow.send_many(8), testing::Each(50'001)) << "and then the ring is used";
}

TEST(Reps, ATimeoutFreezesUntilItsTimeIsOver) {
  Recycler flow({{"explore", 5}, {"freeze", (1_ms).ps()}});
  flow.send_many(5);
  flow.acks({50'001, 50'002, 50'003});
  EXPECT_EQ(flow.send(at(0_us)), 50'001);
  flow.timeout(at(10_us));
  EXPECT_THAT(flow.send_many(2, at(20_us)), ElementsAre(50'002, 50'003)) << "fresh ones first";
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(among(flow.send(at(30_us)), {50'001, 50'002, 50'003}));
  const std::vector<uint16_t> round = flow.send_many(3, at(40_us));
  EXPECT_THAT(round, testing::UnorderedElementsAre(50'001, 50'002, 50'003)) << "in turn";
  flow.ack(50'009, false, at(50_us));
  EXPECT_EQ(flow.send(at(50_us)), 50'009) << "what is good now comes first here, too";
  flow.timeout(at(500_us));  // no longer for it
  EXPECT_TRUE(among(flow.send(at(1'009_us)), {50'001, 50'002, 50'003, 50'009}));
  flow.ack(50'011, false, at(1'010_us));
  for (int i = 0; i < 5; ++i) EXPECT_NE(flow.send(at(1'010_us)), 50'011) << "it looks again";
  EXPECT_EQ(flow.send(at(1'010_us)), 50'011);
}

TEST(Reps, WhoStillLooksForWaysIsNotFrozen) {
  Recycler flow({{"explore", 3}});
  flow.send_many(2);
  flow.ack(50'001);
  flow.timeout(at(1_us));
  EXPECT_NE(flow.send(at(2_us)), 50'001);
  EXPECT_EQ(flow.send(at(2_us)), 50'001);
  EXPECT_NE(flow.send(at(2_us)), 50'001) << "not frozen: a random one";
}

TEST(Reps, FrozenWithoutAPortThatDeliveredItDraws) {
  Recycler flow;
  flow.timeout(at(1_us));
  const std::vector<uint16_t> drawn = flow.send_many(20, at(2_us));
  EXPECT_GE(std::set(drawn.begin(), drawn.end()).size(), 18u);
}

// Of a peer that does not echo, or of one that lies.
TEST(Reps, PortsThatNoDataPacketHasAreIgnored) {
  Recycler flow;
  flow.acks({0, 4'791, 49'151});
  EXPECT_GE(flow.send(), kFirstEntropy);
  flow.ack(49'152);
  EXPECT_EQ(flow.send(), 49'152);
}

TEST(Reps, TheSameSeedDrawsTheSamePorts) {
  Recycler one(kDefaults, 5), two(kDefaults, 5), other(kDefaults, 6);
  const std::vector<uint16_t> ports = one.send_many(20);
  EXPECT_EQ(two.send_many(20), ports);
  EXPECT_NE(other.send_many(20), ports);
}

// Eight ways by the port's hash, one of which loses everything: a packet's ACK comes a window
// later, and a timeout once the first loss has been missed for long. Every third ACK is marked, so
// that there are never enough good ports, and who is not frozen draws.
TEST(Reps, AfterATimeoutNoPacketTakesADeadWay) {
  constexpr uint16_t kWays = 8, kDead = 3;
  int hurt = 0;  // of the others no port led there
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Recycler flow(kDefaults, seed);
    std::deque<uint16_t> flying;
    int dead_before = 0;
    const auto step = [&](int i, Instant now) {
      const uint16_t port = flow.send(now);
      const bool dead = i >= 100 && port % kWays == kDead;
      flying.push_back(dead ? kSamePort : port);
      if (flying.size() > kBdp) {
        if (flying.front() != kSamePort) flow.ack(flying.front(), i % 3 == 0, now);
        flying.pop_front();
      }
      return dead;
    };
    for (int i = 0; i < 300; ++i) dead_before += step(i, at(1_us * i)) ? 1 : 0;
    if (dead_before == 0) continue;
    ++hurt;
    flow.timeout(at(300_us));
    int dead_after = 0;
    for (int i = 300; i < 5'000; ++i) dead_after += step(i, at(1_us * i)) ? 1 : 0;
    EXPECT_EQ(dead_after, 0) << seed;
  }
  EXPECT_GE(hurt, 10);
}

TEST(Reps, TheNicDrawsAPortForEachPacketAndRecyclesThoseOfReplies) {
  config::HostConfig config = plain_config();
  config.entropy = "reps";
  config.recovery = "selective_ack";
  config.law_parameters["reps.explore"] = 0;
  OneNic one(config);
  const uint32_t qpn = one.send(100);
  std::set<uint16_t> ports;
  for (int i = 0; i < 10; ++i) ports.insert(one.transmit(at(0_us))->roce.source_port);
  EXPECT_GE(ports.size(), 9u);
  RocePacket good = make_ack({}, qpn, 0, {kAethAckUnlimited, 0});
  good.source_port = 55'555;
  one.receive(good, at(9_us));
  EXPECT_EQ(one.transmit(at(9_us))->roce.source_port, 55'555);
  RocePacket late = make_ack({}, qpn, 0, {kAethAckUnlimited, 0});
  late.bth.psn = kPsnMask;  // before the first
  late.source_port = 55'556;
  one.receive(late, at(10_us));
  EXPECT_EQ(one.transmit(at(10_us))->roce.source_port, 55'556) << "late ones tell of their way";
}

// What answers a packet that was ahead tells of its mark as an ACK does.
TEST(Reps, ANakEchoesTheMarkOfItsPacket) {
  config::HostConfig config = plain_config();
  config.entropy = "reps";
  config.recovery = "irn";
  OneNic one(config);
  const uint32_t qpn = one.expect(10);
  one.data(qpn, 2, at(0_us), kEcnCongestion);
  one.data(qpn, 3, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("N0+2e", "N0+3"));
}

}  // namespace
}  // namespace eddy::test
