#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "host/registry.h"
#include "net/shim.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::kFirstEntropy;
using host::kSamePort;
using host::kStopSending;
using host::NicCounter;
using testing::ElementsAre;
using testing::IsEmpty;

// What a packet of 1,024 octets takes on a line of 100 Gb/s: 1,106 octets with all that is around.
constexpr Duration kCutLine = Duration::picoseconds(88'480);

// One flow of the law alone; every call is made by hand. Ten packets are in flight.
struct Cutter {
  explicit Cutter(const ParameterValues& given = {}, uint64_t seed = 1) {
    host::NicOptions options = host_options(plain_config());
    options.seed = seed;
    law = host::find_law(host::entropies(), "flowcut")->make({options, given});
    EXPECT_EQ(law->open(0, {kDataPort, 20}, state), kSamePort);
    state.next = state.sent_end = 10;
    state.end = 1'000;
  }

  // One packet arrives and another leaves; beside the lines' share it took `rtt`.
  uint16_t ack(Duration rtt, uint8_t hops = 0) {
    ++state.unacked;
    ++state.next;
    ++state.sent_end;
    return told(rtt + kCutLine * (hops + 1), hops);
  }
  uint16_t told(Duration rtt, uint8_t hops = 0) {
    return law->on_ack(0, {.packets = 1, .rtt = rtt, .now = now, .hops = hops}, state);
  }
  // Until it is to stop; how many it took.
  int acks_until_stop(Duration rtt, int most = 100) {
    for (int count = 1; count <= most; ++count)
      if (ack(rtt) == kStopSending) return count;
    return 0;
  }
  // All that was sent arrives.
  uint16_t drain() {
    while (state.unacked + 1 < state.sent_end) {
      ++state.unacked;
      EXPECT_EQ(told(50_us), kSamePort);
    }
    ++state.unacked;
    return told(50_us);
  }

  std::unique_ptr<host::Entropy> law;
  host::SendState state;
  Instant now = at(1_ms);
};

// Reference I-13.
TEST(FlowcutOfNic, AFlowWhoseRoundTripsAreLongIsStopped) {
  for (const auto& [times, samples] : {std::pair{5, 11}, std::pair{8, 5}, std::pair{4, 0}}) {
    Cutter flow;
    EXPECT_EQ(flow.ack(10_us), kSamePort);
    EXPECT_EQ(flow.acks_until_stop(10_us * times), samples) << times;
  }
}

TEST(FlowcutOfNic, ItGoesOnByAnotherPortWhenAllHasArrived) {
  Cutter flow;
  flow.ack(10_us);
  ASSERT_NE(flow.acks_until_stop(50_us), 0);
  const uint16_t port = flow.drain();
  EXPECT_GE(port, kFirstEntropy);
  EXPECT_NE(port, kDataPort);
}

TEST(FlowcutOfNic, TheNewPortIsNeverTheOldOneAndOfTheSeed) {
  const auto port_of = [](uint64_t seed) {
    Cutter flow({}, seed);
    flow.ack(10_us);
    flow.acks_until_stop(50_us);
    return flow.drain();
  };
  std::set<uint16_t> ports;
  for (uint64_t seed = 1; seed <= 50; ++seed) ports.insert(port_of(seed));
  EXPECT_GE(ports.size(), 48u);
  EXPECT_FALSE(ports.contains(kDataPort));
  EXPECT_EQ(port_of(7), port_of(7));
}

TEST(FlowcutOfNic, TwoRoundTripsPassBeforeTheNextStop) {
  Cutter flow;
  flow.ack(10_us);
  flow.acks_until_stop(50_us);
  flow.drain();
  const Instant over = flow.now + (50_us + kCutLine) * 2;  // the last one that was judged
  flow.state.next = flow.state.sent_end = flow.state.unacked + 10;
  EXPECT_EQ(flow.acks_until_stop(50_us, 30), 0) << "at once";
  flow.now = over - 1_ps;
  EXPECT_EQ(flow.ack(50_us), kSamePort);
  flow.now = over;
  EXPECT_EQ(flow.ack(50_us), kStopSending);
}

TEST(FlowcutOfNic, ItsAverageIsANewOneOnANewWay) {
  Cutter flow;
  flow.ack(10_us);
  flow.acks_until_stop(50_us);
  flow.drain();
  flow.now = flow.now + 1_ms;
  flow.state.next = flow.state.sent_end = flow.state.unacked + 10;
  EXPECT_EQ(flow.acks_until_stop(50_us), 11) << "as at first, against the least that is known";
}

// What a packet takes on its lines says nothing of queues.
TEST(FlowcutOfNic, LinesAreTakenOffAndHopsAreApart) {
  Cutter flow({{"ratio_percent", 200}, {"alpha_percent", 100}});
  EXPECT_EQ(flow.told(100_ns + kCutLine), kSamePort);
  EXPECT_EQ(flow.told(200_ns + kCutLine), kSamePort);
  EXPECT_EQ(flow.told(900_ns + kCutLine * 4, 3), kSamePort) << "the first with three hops";
  EXPECT_EQ(flow.told(1'800_ns + kCutLine * 4, 3), kSamePort);
  EXPECT_EQ(flow.told(1'810_ns + kCutLine * 4, 3), kStopSending);
}

TEST(FlowcutOfNic, ALeastRoundTripIsForgottenInTime) {
  Cutter flow({{"relearn", (1_ms).ps()}});
  flow.ack(10_us);
  flow.now = flow.now + 2'500_us;
  EXPECT_EQ(flow.acks_until_stop(50_us), 0) << "50 us are the least now";
  EXPECT_EQ(flow.acks_until_stop(250_us), 11);
}

TEST(FlowcutOfNic, GrowthStopsAFlowWhereItIsAsked) {
  Cutter calm, alert({{"gradient_percent", 50}, {"alpha_percent", 50}});
  for (Cutter* flow : {&calm, &alert}) flow->ack(10_us);
  EXPECT_EQ(calm.ack(30_us), kSamePort);
  EXPECT_EQ(alert.ack(30_us), kStopSending) << "2 more than the one before, by half";
}

TEST(FlowcutOfNic, WhatHasNothingLeftToSendIsNotStopped) {
  Cutter flow;
  flow.ack(10_us);
  flow.state.end = flow.state.next + 20;
  EXPECT_EQ(flow.acks_until_stop(20_us, 19), 0);
  EXPECT_EQ(flow.ack(1_ms), kSamePort) << "that was the last one to send";
}

TEST(FlowcutOfNic, WithNothingInFlightItMovesWithoutAStop) {
  Cutter flow;
  flow.ack(10_us);
  flow.state.next = flow.state.sent_end = flow.state.unacked + 1;
  flow.ack(50_us);
  flow.state.unacked = flow.state.next;
  uint16_t port = kSamePort;
  for (int i = 0; i < 10 && port == kSamePort; ++i) port = flow.told(50_us + kCutLine);
  EXPECT_GE(port, kFirstEntropy);
}

TEST(FlowcutOfNic, ATimeoutOrANakEndsTheStopByTheOldPort) {
  for (const bool timeout : {true, false}) {
    Cutter flow({{"settle", (1_ms).ps()}});
    flow.ack(10_us);
    flow.acks_until_stop(50_us);
    const uint16_t port = timeout ? flow.law->on_timeout(0, flow.state, flow.now)
                                  : flow.law->on_nak(0, {.now = flow.now, .nak = true}, flow.state);
    EXPECT_EQ(port, kDataPort);
    EXPECT_EQ(flow.acks_until_stop(50_us, 30), 0) << "copies may be on their way";
    flow.now = flow.now + 1_ms;
    EXPECT_EQ(flow.ack(50_us), kStopSending);
    flow.state.next = flow.state.unacked;  // goes back: sent_end says what is out
    EXPECT_EQ(flow.told(50_us), kSamePort);
  }
}

struct CutRig {
  CutRig() : one(config()) {}

  static config::HostConfig config() {
    config::HostConfig config = plain_config();
    config.entropy = "flowcut";
    config.law_parameters["flowcut.alpha_percent"] = 100;
    return config;
  }
  // Ten packets leave at 0; the first is answered after 10 us, the second after `second`.
  uint32_t flow(Duration second) {
    const uint32_t qpn = one.send(40);
    EXPECT_THAT(one.transmit_data(at(0_us), 10), testing::SizeIs(10));
    one.ack(qpn, 0, at(10_us));
    one.ack(qpn, 1, at(second));
    return qpn;
  }

  OneNic one;
};

TEST(FlowcutOfNic, TheNicSendsNothingUntilAllIsAcknowledged) {
  CutRig rig;
  const uint32_t qpn = rig.flow(50_us);
  EXPECT_FALSE(rig.one.transmit(at(50_us)));
  rig.one.ack(qpn, 8, at(60_us));
  EXPECT_FALSE(rig.one.transmit(at(60_us))) << "one is missing";
  rig.one.ack(qpn, 9, at(70_us));
  const auto next = rig.one.transmit(at(70_us));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->roce.bth.psn, 10u);
  EXPECT_NE(next->roce.source_port, kDataPort);
  EXPECT_EQ(rig.one.count(NicCounter::flow_drains), 1u);
  EXPECT_EQ(rig.one.count(NicCounter::flow_stopped_ns), 20'000u);
  EXPECT_EQ(rig.one.transmit(at(71_us))->roce.source_port, next->roce.source_port);
}

TEST(FlowcutOfNic, AFlowThatIsNotSlowKeepsItsPort) {
  CutRig rig;
  (void)rig.flow(39_us);
  EXPECT_EQ(rig.one.transmit(at(39_us))->roce.source_port, kDataPort);
  EXPECT_EQ(rig.one.count(NicCounter::flow_drains), 0u);
}

TEST(FlowcutOfNic, OtherFlowsOfTheNicGoOn) {
  CutRig rig;
  (void)rig.flow(50_us);
  const uint32_t other = rig.one.send(2, 500, 0, 8_us, at(50_us));
  EXPECT_NE(other, 0u);
  EXPECT_THAT(rig.one.transmit_data(at(51_us)), ElementsAre(500, 501));
}

TEST(FlowcutOfNic, ATimeoutSendsAgainByTheOldPort) {
  CutRig rig;
  (void)rig.flow(50_us);
  const Instant due = at(50_us + 4_ms);
  rig.one.nic.on_timers(due);
  const auto again = rig.one.transmit(due);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->roce.bth.psn, 2u);
  EXPECT_EQ(again->roce.source_port, kDataPort);
  EXPECT_EQ(rig.one.count(NicCounter::timeouts), 1u);
}

TEST(FlowcutOfNic, ANakSendsAgainByTheOldPort) {
  CutRig rig;
  const uint32_t qpn = rig.flow(50_us);
  rig.one.nak(qpn, 5, at(55_us));
  const auto again = rig.one.transmit(at(55_us));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->roce.bth.psn, 5u);
  EXPECT_EQ(again->roce.source_port, kDataPort);
}

}  // namespace
}  // namespace eddy::test
