#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "net/byte_order.h"
#include "net/random.h"
#include "tests/support/packet_pool.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;
using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

constexpr Instant kStart = Instant() + 1_s;
// A line of 40 Gb/s whose queue is marked from 160,000 octets on: a hop takes 32 us.
constexpr Duration kHop = 32_us;
constexpr Duration kBase = 8_us;  // Paths measures one way: half of 16 us

// A leaf with some paths to one other, of which the test says how they are.
class Leaf {
 public:
  explicit Leaf(size_t members, const ParameterMap& parameters = {}, test::Entity entity = {})
      : paths_({make_set(members)}), hermes_(make("hermes", paths_, parameters, entity)) {}

  // What was measured, just now. `percent` of the packets were marked.
  void measure(MemberIndex member, Duration above_base, uint32_t percent) {
    paths_.measure(0, member, kBase + above_base, now_);
    paths_.measured().at(0, member).marked = static_cast<uint16_t>(percent * 65'535 / 100);
  }
  void measure_all(size_t members, Duration above_base, uint32_t percent) {
    for (size_t i = 0; i < members; ++i) measure(static_cast<MemberIndex>(i), above_base, percent);
  }
  MemberIndex send(uint64_t flow = 1) {
    Packet packet = make_packet(flow);
    return select(packet);
  }
  // With a sequence number.
  MemberIndex send(uint64_t flow, uint32_t psn, int more_flags = 0) {
    Packet* packet = pool_.get(frame_with(psn));
    const Packet line = make_packet(flow);
    packet->order_hash = line.order_hash;
    packet->wire_len = line.wire_len;
    packet->queue = line.queue;
    packet->flags = static_cast<uint16_t>(kPacketIp | kPacketRoce | more_flags);
    packet->l2_len = 14;
    packet->l3_len = 20;
    const MemberIndex member = select(*packet);
    pool_.put(packet);
    return member;
  }
  // So many packets of a flow, one a microsecond: 8.5 Gb/s.
  MemberIndex send_many(uint64_t flow, int packets, Duration gap = 1_us) {
    MemberIndex member = 0;
    for (int i = 0; i < packets; ++i) {
      member = send(flow);
      wait(gap);
    }
    return member;
  }
  void wait(Duration time) { now_ = now_ + time; }
  Instant now() const { return now_; }
  Paths& paths() { return paths_; }

 private:
  static std::array<uint8_t, 64> frame_with(uint32_t psn) {
    std::array<uint8_t, 64> frame{};
    store_be24(frame.data() + 14 + 20 + 8 + 9, psn);
    return frame;
  }
  MemberIndex select(Packet& packet) {
    return select_one(*hermes_, paths_.measured_view(now_), packet);
  }

  Paths paths_;
  std::unique_ptr<Selector> hermes_;
  Instant now_ = kStart;
  eddy::test::PacketPool pool_{1};
};

constexpr int kLargeFlow = 600;  // packets of 1,058 octets: more than 600,000

// Whether a flow over member 0, which is so, moves to an idle member 1.
bool leaves(Duration above_base, uint32_t percent, const ParameterMap& parameters = {}) {
  Leaf leaf(2, parameters);
  leaf.measure(1, 90_us, 90);
  leaf.measure(0, 0_us, 0);
  EXPECT_EQ(leaf.send_many(1, kLargeFlow), 0);
  leaf.measure(0, above_base, percent);
  leaf.measure(1, 0_us, 0);
  return leaf.send() == 1;
}

// Which of two members a new flow takes: member 1 is gray for sure.
bool is_good(Duration above_base, uint32_t percent) {
  Leaf leaf(2);
  leaf.measure(0, above_base, percent);
  leaf.measure(1, 25_us, 0);
  for (uint64_t flow = 1; flow < 10; ++flow)
    if (leaf.send(flow) != 0) return false;
  return true;
}

// Golden vector I-11, for 40 Gb/s and marking from 160,000 octets: a hop of 32 us, so a path is
// good below base + 20 us and congested above base + 48 us.
TEST(Hermes, ClassesFollowDelayAndMarks) {
  EXPECT_TRUE(is_good(20_us - 1_ns, 39));
  EXPECT_FALSE(is_good(20_us, 39));
  EXPECT_FALSE(is_good(20_us - 1_ns, 41));
  EXPECT_TRUE(leaves(48_us + 1_ns, 41));
  EXPECT_FALSE(leaves(48_us, 41));
  EXPECT_FALSE(leaves(48_us + 1_ns, 39));
}

TEST(Hermes, ThresholdsAreTaken) {
  EXPECT_TRUE(leaves(48_us, 41, {{"high", "47us"}}));
  EXPECT_FALSE(leaves(48_us + 1_ns, 41, {{"high", "49us"}}));
  EXPECT_FALSE(leaves(48_us + 1_ns, 41, {{"notable_delay", "49us"}}));
  EXPECT_FALSE(leaves(48_us + 1_ns, 41, {{"notable_ecn_percent", "41"}}));
  EXPECT_FALSE(leaves(48_us + 1_ns, 41, {{"ecn_percent", "42"}}));
}

// A better path has a hop's delay less (golden vector I-11: 32 us) and 5 % fewer marks.
TEST(Hermes, OnlyANotablyBetterPathIsTaken) {
  const auto moves_to = [](Duration above_base, uint32_t percent) {
    Leaf leaf(2);
    leaf.measure(1, 90_us, 90);
    leaf.measure(0, 0_us, 0);
    EXPECT_EQ(leaf.send_many(1, kLargeFlow), 0);
    leaf.measure(0, 60_us, 50);
    leaf.measure(1, above_base, percent);
    return leaf.send() == 1;
  };
  EXPECT_TRUE(moves_to(60_us - kHop - 1_ns, 44));  // gray: nothing is good
  EXPECT_FALSE(moves_to(60_us - kHop, 44));
  EXPECT_FALSE(moves_to(60_us - kHop - 1_ns, 46));
  EXPECT_TRUE(moves_to(0_us, 0));
}

TEST(Hermes, AGoodPathGoesBeforeAGrayOne) {
  Leaf leaf(3);
  leaf.measure_all(3, 90_us, 90);
  leaf.measure(0, 0_us, 0);
  EXPECT_EQ(leaf.send_many(1, kLargeFlow), 0);
  leaf.measure(0, 90_us, 90);
  leaf.measure(1, 25_us, 0);
  leaf.measure(2, 10_us, 0);
  EXPECT_EQ(leaf.send(1), 2);
  EXPECT_EQ(leaf.send(2), 2);
}

// Of good paths the one on which this leaf sends least.
TEST(Hermes, NewFlowsSpreadByWhatIsSent) {
  Leaf leaf(4);
  leaf.measure_all(4, 0_us, 0);
  MemberMask used = 0;
  for (uint64_t flow = 1; flow <= 4; ++flow) used |= bit_of(leaf.send_many(flow, 10));
  EXPECT_EQ(used, 0b1111u);
  const MemberIndex heavy = leaf.send_many(5, 200);
  for (uint64_t flow = 6; flow < 20; ++flow) EXPECT_NE(leaf.send(flow), heavy);
}

// S: what has sent little stays where it is.
TEST(Hermes, ShortFlowsStay) {
  Leaf leaf(2);
  leaf.measure(1, 90_us, 90);
  leaf.measure(0, 0_us, 0);
  const int enough = 600'000 / (17 * 64);  // 1,058 octets are 17 units of 64
  EXPECT_EQ(leaf.send_many(1, enough), 0);
  leaf.measure(0, 90_us, 90);
  leaf.measure(1, 0_us, 0);
  EXPECT_EQ(leaf.send(1), 0);  // this packet is the one that makes it enough
  EXPECT_EQ(leaf.send(1), 1);
}

// R: what sends fast stays, here at 17 Gb/s of 40; 30 % are 12.
TEST(Hermes, FastFlowsStay) {
  Leaf leaf(2);
  leaf.measure(1, 90_us, 90);
  leaf.measure(0, 0_us, 0);
  EXPECT_EQ(leaf.send_many(1, 2 * kLargeFlow, 500_ns), 0);
  leaf.measure(0, 90_us, 90);
  leaf.measure(1, 0_us, 0);
  EXPECT_EQ(leaf.send(1), 0);
  leaf.wait(300_us);  // and the register sinks
  leaf.measure(0, 90_us, 90);
  leaf.measure(1, 0_us, 0);
  EXPECT_EQ(leaf.send(1), 1);
}

// A flow's register has 16 bits for units of 64 octets: 4 MB in a moment fill it.
TEST(Hermes, AFlowThatFillsItsRegisterIsFast) {
  Leaf leaf(2);
  leaf.measure(1, 90_us, 90);
  leaf.measure(0, 0_us, 0);
  EXPECT_EQ(leaf.send_many(1, (1 << 16) / 17 + 1, 0_us), 0);
  leaf.measure(0, 90_us, 90);
  leaf.measure(1, 0_us, 0);
  EXPECT_EQ(leaf.send(1), 0);
}

TEST(Hermes, AMovedFlowRests) {
  Leaf leaf(2);
  leaf.measure(1, 90_us, 90);
  leaf.measure(0, 0_us, 0);
  EXPECT_EQ(leaf.send_many(1, kLargeFlow), 0);
  leaf.measure(0, 90_us, 90);
  leaf.measure(1, 0_us, 0);
  EXPECT_EQ(leaf.send(1), 1);
  leaf.measure(0, 0_us, 0);
  leaf.measure(1, 90_us, 90);
  leaf.wait(98_us);
  EXPECT_EQ(leaf.send(1), 1);
  leaf.wait(4_us);
  EXPECT_EQ(leaf.send(1), 0);
}

TEST(Hermes, AFlowIsNewAfterAMillisecond) {
  Leaf leaf(2);
  leaf.measure(0, 0_us, 0);
  leaf.measure(1, 90_us, 90);
  EXPECT_EQ(leaf.send(1), 0);
  leaf.wait(990_us);
  leaf.measure(0, 90_us, 90);
  leaf.measure(1, 0_us, 0);
  EXPECT_EQ(leaf.send(1), 0);
  leaf.wait(1_ms + 3_us);
  leaf.measure(1, 0_us, 0);
  EXPECT_EQ(leaf.send(1), 1);
}

TEST(Hermes, WhatIsUnknownIsGray) {
  Leaf leaf(2);
  leaf.measure(0, 25_us, 0);  // gray, too
  MemberMask used = 0;
  for (uint64_t flow = 1; flow < 20; ++flow) used |= bit_of(leaf.send_many(flow, 2));
  EXPECT_EQ(used, 0b11u);
  leaf.measure(0, 0_us, 0);
  for (uint64_t flow = 20; flow < 40; ++flow) EXPECT_EQ(leaf.send(flow), 0);
}

// One packet in 50 is sent again: 2 %.
TEST(Hermes, APathThatLosesPacketsFails) {
  for (const int again_after : {50, 150}) {
    Leaf leaf(2);
    leaf.measure_all(2, 0_us, 0);
    const MemberIndex lossy = leaf.send(1, 0);
    uint32_t psn = 0;
    MemberMask used = 0;
    for (int i = 1; i <= 400; ++i) {
      psn = i % again_after == 0 ? psn - 1 : psn + 1;
      used = leaf.send(1, psn);
      leaf.wait(1_us);
    }
    EXPECT_EQ(used != lossy, again_after == 50) << again_after;
    for (uint64_t flow = 2; flow < 20 && used != lossy; ++flow) EXPECT_NE(leaf.send(flow), lossy);
  }
}

TEST(Hermes, AFailedPathIsTriedAgain) {
  Leaf leaf(2, {{"penalty", "100us"}});
  leaf.measure_all(2, 0_us, 0);
  const MemberIndex lossy = leaf.send(1, 0);
  for (int i = 0; i < 120; ++i) (void)leaf.send(1, 0);
  for (uint64_t flow = 2; flow < 10; ++flow) EXPECT_NE(leaf.send_many(flow, 10), lossy);
  leaf.wait(20_us);  // which makes 100 us
  MemberMask used = 0;
  for (uint64_t flow = 10; flow < 18; ++flow) used |= bit_of(leaf.send_many(flow, 30, 1_ns));
  EXPECT_TRUE(contains(used, lossy));
}

// Loss where there is no room is congestion.
TEST(Hermes, ACongestedPathDoesNotFail) {
  Leaf leaf(2, {{"size", "1000000B"}});
  leaf.measure_all(2, 0_us, 0);
  const MemberIndex lossy = leaf.send(1, 0);
  leaf.measure(lossy, 90_us, 90);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(leaf.send(1, 0), lossy);
}

// Acknowledgements that go by the scheme: one a packet that tells the same number, as NAKs and CNPs
// do. As data that would be a retransmission each, and the path would fail.
TEST(Hermes, TheNumbersOfRepliesTellOfNoLoss) {
  Leaf leaf(2, {}, {.control_by_scheme = true});
  leaf.measure_all(2, 0_us, 0);
  const MemberIndex first = leaf.send(1, 7, kPacketRoceControl);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(leaf.send(1, 7, kPacketRoceControl), first);
}

TEST(Hermes, SequenceNumbersWrap) {
  Leaf leaf(2);
  leaf.measure(0, 0_us, 0);
  leaf.measure(1, 90_us, 90);
  for (uint32_t i = 0; i < 60; ++i)
    for (uint64_t flow = 1; flow <= 3; ++flow)
      EXPECT_EQ(leaf.send(flow, (0xfffff0 + i) & 0xffffff), 0);
  EXPECT_EQ(leaf.send(4), 0);
}

// It may have overtaken itself.
TEST(Hermes, AFlowThatHasJustMovedLosesNothing) {
  Leaf leaf(2);
  leaf.measure_all(2, 0_us, 0);
  const MemberIndex member = leaf.send(1, 1'000);
  leaf.paths().live() &= ~bit_of(member);
  const MemberIndex other = leaf.send(1, 1'001);
  leaf.paths().live() |= bit_of(member);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(leaf.send(1, 1'000), other);
}

// Three flows in turn are silent for longer than an RTO and send again what they sent.
TEST(Hermes, ThreeTimeoutsFailAPathThatDoesNotAnswer) {
  for (const size_t silent : {0u, 1u})
    for (const bool answers : {false, true}) {
      const auto member = static_cast<MemberIndex>(silent);
      const auto other = static_cast<MemberIndex>(1 - silent);
      Leaf leaf(2, {{"penalty", "1s"}});
      leaf.measure(member, 0_us, 0);
      leaf.measure(other, 90_us, 90);
      for (uint64_t flow = 1; flow <= 3; ++flow) EXPECT_EQ(leaf.send(flow, 7), member);
      leaf.wait(4_ms + 10_us);
      if (answers) leaf.measure(member, 0_us, 0);
      for (uint64_t flow = 1; flow <= 3; ++flow) EXPECT_EQ(leaf.send(flow, 7), other);
      leaf.measure(member, 0_us, 0);
      for (uint64_t flow = 4; flow < 10; ++flow)
        EXPECT_EQ(leaf.send(flow), answers ? member : other);
    }
}

TEST(Hermes, SilenceWithoutRetransmissionIsNoTimeout) {
  Leaf leaf(2);
  leaf.measure(0, 0_us, 0);
  leaf.measure(1, 90_us, 90);
  for (uint32_t psn = 0; psn < 20; ++psn) {
    EXPECT_EQ(leaf.send(1, psn), 0);
    leaf.wait(5_ms);
    leaf.measure(0, 0_us, 0);
  }
}

TEST(Hermes, KeepsOffPathsThatOthersCallFailed) {
  Leaf leaf(2);
  leaf.measure_all(2, 0_us, 0);
  const MemberIndex first = leaf.send(1);
  leaf.paths().measured().set_failed(0, first, PathFailure::silent);
  for (uint64_t flow = 1; flow < 10; ++flow) EXPECT_NE(leaf.send(flow), first);
  leaf.paths().measured().set_failed(0, 1 - first, PathFailure::silent);
  leaf.paths().live() = bit_of(first);
  EXPECT_EQ(leaf.send(1), first);  // where all have failed, one is as good as another
}

// The same bursts for two leaves, of which one is given their packets one by one.
class Twins {
 public:
  explicit Twins(uint32_t flows, const ParameterMap& parameters)
      : psns_(flows),
        whole_(make("hermes", paths_of_whole_, parameters)),
        apart_(make("hermes", paths_of_apart_, parameters)) {}

  // Time goes on, mostly by little, and paths become other ones.
  void change() {
    constexpr std::array kPauses = {1_ns, 1_us, 10_us, 10_us, 100_us, 300_us, 2_ms, 6_ms};
    now_ = now_ + kPauses[random_.below(kPauses.size())];
    const uint16_t set = static_cast<uint16_t>(random_.below(2));
    const auto member = static_cast<MemberIndex>(random_.below(4));
    const auto marked = static_cast<uint16_t>(random_.below(65'536));
    const Duration delay = kBase + Duration::microseconds(random_.below(120));
    const uint32_t what = random_.below(16);
    for (Paths* paths : {&paths_of_whole_, &paths_of_apart_}) {
      paths->measure(set, member, delay, now_);
      paths->measured().at(set, member).marked = marked;
      if (what < 2)
        paths->measured().set_failed(set, member,
                                     what == 0 ? PathFailure::silent : PathFailure::none);
    }
  }
  void fill() {
    burst_.clear();
    for (uint32_t left = 1 + random_.below(kBurst); left > 0; --left) {
      const uint32_t flow = random_.below(static_cast<uint32_t>(psns_.size()));
      const bool again = random_.below(30) == 0;
      uint32_t& psn = psns_[flow];
      psn += again ? 0 : 1;
      burst_.push_back({flow, psn, 64 + random_.below(9'000), random_.below(40) == 0,
                        static_cast<uint16_t>(random_.below(100) == 0 ? 0 : flow % 2)});
    }
  }
  void compare() {
    const PathView of_whole = paths_of_whole_.measured_view(now_);
    const PathView of_apart = paths_of_apart_.measured_view(now_);
    std::vector<Packet*> whole, apart;
    std::vector<uint16_t> sets;
    for (const Sent& sent : burst_) {
      whole.push_back(make_one(sent));
      apart.push_back(make_one(sent));
      sets.push_back(sent.set);
    }
    whole_->select(of_whole, whole, sets);
    for (size_t i = 0; i < apart.size(); ++i)
      apart_->select(of_apart, {&apart[i], 1}, {&sets[i], 1});
    ASSERT_EQ(of_whole.ties(), of_apart.ties());
    for (size_t i = 0; i < whole.size(); ++i) {
      ASSERT_EQ(whole[i]->member, apart[i]->member) << i;
      ASSERT_EQ(whole[i]->egress_port, apart[i]->egress_port) << i;
      ASSERT_EQ(whole[i]->path, apart[i]->path) << i;
      pool_.put(whole[i]);
      pool_.put(apart[i]);
    }
  }

 private:
  struct Sent {
    uint32_t flow;
    uint32_t psn;
    uint32_t octets;
    bool control;
    uint16_t set;
  };
  // Two flows in three have numbers.
  Packet* make_one(const Sent& sent) {
    std::array<uint8_t, 64> frame{};
    store_be24(frame.data() + 14 + 20 + 8 + 9, sent.psn);
    Packet* const packet = pool_.get(frame);
    const Packet line = make_packet(sent.flow);
    packet->order_hash = line.order_hash;
    packet->balance_hash = line.balance_hash;
    packet->queue = line.queue;
    packet->wire_len = sent.octets;
    packet->flags = static_cast<uint16_t>(kPacketIp | (sent.flow % 3 != 0 ? kPacketRoce : 0) |
                                          (sent.control ? kPacketRoceControl : 0));
    packet->l2_len = 14;
    packet->l3_len = 20;
    return packet;
  }

  RandomStream random_{1, 2, 3};
  std::vector<uint32_t> psns_;
  std::vector<Sent> burst_;
  Paths paths_of_whole_{{make_set(4), make_set(5)}};
  Paths paths_of_apart_{{make_set(4), make_set(5)}};
  std::unique_ptr<Selector> whole_, apart_;
  Instant now_ = kStart;
  eddy::test::PacketPool pool_{2 * kBurst};
};

// Flows of a burst are looked at four at a time: of a few flows, which meet themselves, of so many
// that the table has no room, of those that may be moved at once, and of those that never end.
TEST(Hermes, ABurstGoesWhereItsPacketsGoOneByOne) {
  for (const uint32_t flows : {3u, 40u, 1'000u})
    for (const ParameterMap& parameters :
         {ParameterMap{{"flows", "64"}}, ParameterMap{{"size", "0B"}, {"rate_percent", "100"}},
          ParameterMap{{"flow_life", "100ms"}, {"rto", "10us"}, {"penalty", "100us"}},
          ParameterMap{{"size", "20000B"}, {"loss_percent", "100"}, {"timeouts", "255"}}}) {
      Twins twins(flows, parameters);
      for (int round = 0; round < 1'000; ++round) {
        twins.change();
        twins.fill();
        ASSERT_NO_FATAL_FAILURE(twins.compare()) << flows << " flows, round " << round;
      }
    }
}

TEST(Hermes, AsksForTheShimOnSamples) {
  EXPECT_EQ(shim_need("hermes", false), ShimNeed::sampled);
  EXPECT_EQ(shim_need("hermes", true), ShimNeed::sampled);
}

}  // namespace
}  // namespace eddy::lb
