#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "lab/conformance/burst.h"
#include "lb/agents/flowcut_acks.h"
#include "lb/flowcuts.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;
using conformance::Framed;
using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

constexpr PortId kHost{60};
constexpr PriorityGroupId kGroup{4};

// A switch whose paths are all this shard's; what is sent is kept.
class Wire final : public Voice {
 public:
  explicit Wire(Paths& paths) : paths_(paths) {}

  PathView view() override { return paths_.measured_view(now); }
  LeafId leaf() const override { return LeafId(1); }
  PathTable* paths() override { return &paths_.measured(); }
  bool is_own_set(uint16_t) const override { return true; }
  bool owns(PathKey) const override { return true; }
  bool wants_answer(PathKey) const override { return false; }
  bool stamps_prove() const override { return proves; }
  void wake_others() override { ++woken; }
  Duration proof_lag() const override { return lag; }
  bool send(const Utterance& utterance) override {
    sent.push_back(utterance);
    return true;
  }
  void disbelieve(PortId) override { ++disbelieved; }
  bool pause_host(PortId port, PriorityGroupId pg, bool on) override {
    EXPECT_EQ(port, kHost);
    EXPECT_EQ(pg, kGroup);
    if (has_pfc) pauses.push_back(on);
    return has_pfc;
  }

  std::vector<ShimKind> kinds() const {
    std::vector<ShimKind> kinds;
    for (const Utterance& each : sent) kinds.push_back(each.message.shim.kind);
    return kinds;
  }

  Instant now = Instant::at(1'000_us);
  std::vector<Utterance> sent;
  std::vector<bool> pauses;
  bool has_pfc = true;
  int disbelieved = 0;
  int woken = 0;
  Duration lag;
  bool proves = true;

 private:
  Paths& paths_;
};

struct Rig {
  explicit Rig(size_t members = 2, ParameterMap parameters = {}, test::Entity entity = {})
      : paths({make_set(members)}), selector(make("flowcut", paths, parameters, entity)) {}

  Packet send(uint64_t flow = 1) {
    Packet packet = make_packet(flow);
    packet.ingress_port = kHost;
    packet.pg = kGroup;
    (void)select_one(*selector, paths.measured_view(wire.now), packet);
    return packet;
  }
  MemberIndex member(uint64_t flow = 1) { return send(flow).member; }
  static HeardFrame ack(uint64_t flow, uint16_t number, uint32_t echoed_ns, uint32_t hold_ns = 0) {
    HeardFrame frame;
    frame.message.shim.kind = ShimKind::flowcut_ack;
    frame.message.shim.tolerable_delay = number;
    frame.message.shim.echoed_ns = echoed_ns;
    frame.message.shim.hold_ns = hold_ns;
    frame.message.order_hash = make_packet(flow).order_hash;
    return frame;
  }
  // A round trip that took so long.
  void hear(uint64_t flow, uint16_t number, Duration rtt = 10_us) {
    HeardFrame frame = ack(flow, number, PathRecord::wire_time(wire.now - rtt));
    hear(frame);
  }
  void hear(HeardFrame& frame) { selector->agent()->on_frames(wire, {&frame, 1}); }
  // Packets and acknowledgements, one in flight at least, until something is said.
  int until_said(Duration rtt, uint64_t flow = 1) {
    for (int samples = 1; samples < 100; ++samples) {
      const uint16_t number = send(flow).note;
      (void)send(flow);
      hear(flow, number, rtt);
      if (!wire.sent.empty() || !wire.pauses.empty()) return samples;
    }
    return 0;
  }

  Paths paths;
  std::unique_ptr<Selector> selector;
  Wire wire{paths};
};

TEST(Flowcuts, NumbersGoRoundWithoutTheOneThatIsNone) {
  EXPECT_EQ(number_after(65'533), 65'534);
  EXPECT_EQ(number_after(65'534), 0);
  EXPECT_EQ(numbers_between(65'534, 0), 1);
  EXPECT_EQ(numbers_between(65'530, 5), 10);
  EXPECT_EQ(numbers_between(7, 7), 0);
  EXPECT_EQ(numbers_between(7, 6), 65'534);
}

// Reference I, I-13.
TEST(Flowcuts, TheAverageTakesElevenSamplesOfFiveAndFiveOfEight) {
  const auto samples = [](Norm norm) {
    Trend trend;
    int count = 0;
    while (trend.average <= 4 * kNormOne && count < 100) {
      trend.take(norm, 12);
      ++count;
    }
    return count;
  };
  EXPECT_EQ(samples(5 * kNormOne), 11);
  EXPECT_EQ(samples(8 * kNormOne), 5);
}

TEST(Flowcuts, TheGradientIsThatOfNorms) {
  Trend trend;
  trend.take(3 * kNormOne, 50);
  EXPECT_EQ(trend.gradient, kNormOne);
  trend.take(3 * kNormOne, 50);
  EXPECT_EQ(trend.gradient, kNormOne / 2);
  trend.take(1 * kNormOne, 50);
  EXPECT_EQ(trend.gradient, -kNormOne * 3 / 4);
}

TEST(Flowcuts, ANormIsAtLeastOneAndSaturates) {
  EXPECT_EQ(norm_of(10, 20), kNormOne);
  EXPECT_EQ(norm_of(50, 20), kNormOne * 5 / 2);
  EXPECT_EQ(norm_of(1'000'000, 20), UINT16_MAX);
  EXPECT_EQ(norm_of(50, 0), UINT16_MAX);
}

TEST(Flowcuts, TheLeastTimeIsThatOfOneToTwoPeriods) {
  LeastTimes times(100);
  EXPECT_EQ(times.take(2, 50, 10), 50u);
  EXPECT_EQ(times.take(2, 70, 20), 50u);
  EXPECT_EQ(times.take(3, 90, 20), 90u) << "of other hops";
  EXPECT_EQ(times.take(2, 70, 120), 50u);
  EXPECT_EQ(times.take(2, 80, 220), 70u);
  EXPECT_EQ(times.take(2, 90, 520), 90u);
}

TEST(Flowcut, AFlowStaysWhileSomethingIsInFlight) {
  Rig rig;
  const MemberIndex first = rig.member();
  rig.paths.queue(first, 1'000'000);
  rig.paths.port(first).paused_queues = 1 << 3;
  for (int i = 0; i < 40; ++i) EXPECT_EQ(rig.member(), first);
}

TEST(Flowcut, WithNothingInFlightItTakesTheLeastWaiting) {
  Rig rig(4);
  for (const MemberIndex least : {2, 0, 3, 1}) {
    for (size_t i = 0; i < 4; ++i) rig.paths.queue(i, i == least ? 999 : 1'000);
    const Packet packet = rig.send();
    EXPECT_EQ(packet.member, least);
    rig.hear(1, packet.note);
  }
  EXPECT_EQ(rig.wire.disbelieved, 0);
}

TEST(Flowcut, APausedPortComesLast) {
  Rig rig;
  rig.paths.queue(1, 1'000'000);
  rig.paths.port(0).paused_queues = 1 << 3;
  EXPECT_EQ(rig.member(), 1);
}

TEST(Flowcut, OnlyTheLastAcknowledgementFreesIt) {
  Rig rig;
  std::vector<uint16_t> numbers;
  for (int i = 0; i < 3; ++i) numbers.push_back(rig.send().note);
  const MemberIndex first = rig.member();
  rig.paths.queue(first, 1'000'000);
  rig.hear(1, numbers[1]);  // the first one's was lost
  EXPECT_EQ(rig.member(), first);
  rig.hear(1, numbers[2]);
  EXPECT_EQ(rig.member(), first);
  rig.hear(1, rig.send().note);
  EXPECT_NE(rig.member(), first);
}

TEST(Flowcut, WhatIsDoubledLateForgedOrImpossibleChangesNothing) {
  Rig rig;
  const uint16_t first = rig.send().note;
  const uint16_t last = rig.send().note;
  const MemberIndex member = rig.member();
  rig.paths.queue(member, 1'000'000);
  rig.hear(1, first);
  const uint32_t now_ns = PathRecord::wire_time(rig.wire.now);
  std::vector<HeardFrame> frames = {
      Rig::ack(1, first, now_ns - 10'000),                              // doubled
      Rig::ack(1, static_cast<uint16_t>(first - 1), now_ns - 10'000),   // late
      Rig::ack(1, static_cast<uint16_t>(last + 100), now_ns - 10'000),  // of what was never sent
      Rig::ack(1, kShimUnnumbered, now_ns - 10'000),                    // of nothing
      Rig::ack(2, last, now_ns - 10'000),                               // of a flow not known
      Rig::ack(1, static_cast<uint16_t>(last + 1), now_ns + 1),         // from the future
      Rig::ack(1, static_cast<uint16_t>(last + 1), now_ns - 10, 11),    // waited longer than that
  };
  int disbelieved = 0;
  for (HeardFrame& frame : frames) {
    rig.hear(frame);
    EXPECT_EQ(rig.wire.disbelieved, ++disbelieved);
    EXPECT_EQ(rig.member(), member);
  }
  EXPECT_TRUE(rig.wire.sent.empty());
}

// Several shards hear each frame; one knows the flow.
TEST(Flowcut, AnotherShardsFlowIsNoForgery) {
  Rig rig;
  rig.wire.lag = 2_us;
  HeardFrame frame = Rig::ack(1, 5, 0);
  rig.hear(frame);
  EXPECT_EQ(rig.wire.disbelieved, 0);
}

TEST(Flowcut, NumbersGoOnAfterwardsSoThatLateOnesAreKnown) {
  Rig rig;
  const uint16_t first = rig.send().note;
  rig.hear(1, first);
  EXPECT_EQ(rig.send().note, number_after(first));
  rig.hear(1, first);
  EXPECT_EQ(rig.wire.disbelieved, 1);
}

TEST(Flowcut, ASlowFlowIsStoppedAndLeavesItsPortWhenItIsEmpty) {
  Rig rig;
  rig.hear(1, rig.send().note, 10_us);  // the least
  const MemberIndex slow = rig.member();
  EXPECT_EQ(rig.until_said(50_us), 11);
  ASSERT_EQ(rig.wire.kinds(), std::vector{ShimKind::flow_xoff});
  EXPECT_FALSE(rig.wire.sent[0].by_path);
  EXPECT_EQ(rig.wire.sent[0].port, kHost);
  EXPECT_EQ(rig.wire.sent[0].message.order_hash, make_packet(1).order_hash);
  EXPECT_EQ(rig.wire.sent[0].message.hold_us, 1'000);
  const Packet last = rig.send();
  EXPECT_EQ(last.member, slow);
  rig.hear(1, last.note, 50_us);
  ASSERT_EQ(rig.wire.kinds(), (std::vector{ShimKind::flow_xoff, ShimKind::flow_xon}));
  EXPECT_EQ(rig.wire.sent[1].port, kHost);
  rig.paths.queue(slow == 0 ? 1 : 0, 1'000'000);
  EXPECT_NE(rig.member(), slow) << "though it has the shortest queue";
}

TEST(Flowcut, AFlowThatWasStoppedRestsForTwoRoundTrips) {
  Rig rig;
  rig.hear(1, rig.send().note, 10_us);
  ASSERT_NE(rig.until_said(320_us), 0);
  rig.hear(1, rig.send().note, 320_us);
  ASSERT_EQ(rig.wire.sent.size(), 2u);
  rig.wire.sent.clear();
  rig.wire.now = rig.wire.now + 638_us;
  EXPECT_EQ(rig.until_said(320_us), 0);
  rig.wire.now = rig.wire.now + 4_us;
  EXPECT_NE(rig.until_said(320_us), 0);
}

TEST(Flowcut, AHostThatGoesOnIsStoppedAgain) {
  Rig rig(2, {{"stop", "100us"}});
  rig.hear(1, rig.send().note, 10_us);
  ASSERT_NE(rig.until_said(80_us), 0);
  EXPECT_EQ(rig.wire.sent[0].message.hold_us, 100);
  rig.wire.sent.clear();
  rig.wire.now = rig.wire.now + 90_us;
  EXPECT_EQ(rig.until_said(80_us), 0);
  rig.wire.now = rig.wire.now + 20_us;
  EXPECT_EQ(rig.until_said(80_us), 1);
  EXPECT_EQ(rig.wire.kinds(), std::vector{ShimKind::flow_xoff});
}

struct PfcRig : Rig {
  PfcRig() : Rig(2, {{"drain", "pfc"}, {"stop", "100us"}}) {
    for (const uint64_t flow : {1, 2}) hear(flow, send(flow).note, 10_us);
  }
  void slow_down(uint64_t flow) {
    for (int samples = 0; samples < 11; ++samples) {
      const uint16_t number = send(flow).note;
      (void)send(flow);
      hear(flow, number, 50_us);
    }
  }
  void empty(uint64_t flow) { hear(flow, send(flow).note, 50_us); }
};

TEST(Flowcut, PfcStopsTheGroupUntilItsFlowIsEmpty) {
  PfcRig rig;
  EXPECT_EQ(rig.until_said(50_us), 11);
  EXPECT_EQ(rig.wire.pauses, std::vector{true});
  EXPECT_EQ(rig.selector->agent()->next_deadline(), rig.wire.now + 100_us);
  const MemberIndex slow = rig.member();
  rig.empty(1);
  EXPECT_EQ(rig.wire.pauses, (std::vector{true, false}));
  EXPECT_EQ(rig.selector->agent()->next_deadline(), Instant::never());
  EXPECT_NE(rig.member(), slow);
  EXPECT_TRUE(rig.wire.sent.empty()) << "hosts are told nothing of flows";
}

TEST(Flowcut, PfcGoesOnWhenTheLastOfItsFlowsIsEmpty) {
  PfcRig rig;
  rig.slow_down(1);
  rig.slow_down(2);
  rig.empty(1);
  EXPECT_EQ(rig.wire.pauses, std::vector{true});
  rig.empty(2);
  EXPECT_EQ(rig.wire.pauses, (std::vector{true, false}));
}

TEST(Flowcut, PfcEndsAfterItsTimeThoughAFlowIsNotEmpty) {
  PfcRig rig;
  rig.slow_down(1);
  rig.wire.now = rig.wire.now + 100_us;
  rig.selector->agent()->on_timers(rig.wire);
  EXPECT_EQ(rig.wire.pauses, (std::vector{true, false}));
  EXPECT_EQ(rig.selector->agent()->next_deadline(), Instant::never());
  rig.wire.now = rig.wire.now + 5_us;
  const uint16_t number = rig.send().note;
  (void)rig.send();
  rig.hear(1, number, 50_us);
  EXPECT_EQ(rig.wire.pauses, (std::vector{true, false, true})) << "it goes on, and is slow";
  rig.empty(1);
  EXPECT_EQ(rig.wire.pauses, (std::vector{true, false, true, false}));
}

TEST(Flowcut, WithoutPfcAFlowGoesOnWhereItIs) {
  PfcRig rig;
  rig.wire.has_pfc = false;
  EXPECT_EQ(rig.until_said(50_us), 0);
  EXPECT_EQ(rig.selector->agent()->next_deadline(), Instant::never());
}

TEST(Flowcut, NobodyIsStoppedWithoutAnotherWayOrIfNotAsked) {
  for (const size_t members : {size_t{1}, size_t{2}}) {
    Rig rig(members, {{"drain", members == 1 ? "flow" : "none"}});
    rig.hear(1, rig.send().note, 10_us);
    EXPECT_EQ(rig.until_said(300_us), 0);
  }
}

TEST(Flowcut, TheGradientStopsAFlowEarlierIfAsked) {
  Rig rig(2, {{"gradient_percent", "20"}});
  rig.hear(1, rig.send().note, 10_us);
  EXPECT_EQ(rig.until_said(30_us), 1);  // 12 % of 2
}

// Two hops of 100 Gb/s... the rig's lines have 40 Gb/s: 1,250 octets are 250 ns on each.
TEST(Flowcut, TheTimeOnLinesIsNoDelay) {
  Rig rig;
  const auto hear = [&](uint16_t number, Duration rtt, uint32_t octets) {
    HeardFrame frame = Rig::ack(1, number, PathRecord::wire_time(rig.wire.now - rtt));
    frame.message.shim.feedback_congestion = 2;
    frame.message.value = octets;
    rig.hear(frame);
  };
  hear(rig.send().note, 600_ns, 1'250);  // 100 ns
  for (int i = 0; i < 40; ++i) {
    const uint16_t number = rig.send().note;
    (void)rig.send();
    hear(number, 899_ns, 1'250);  // less than four times that
  }
  EXPECT_TRUE(rig.wire.sent.empty());
}

TEST(Flowcut, ASilentFlowIsOverOnceItsPathIsProven) {
  Rig rig;
  const MemberIndex first = rig.member();
  rig.paths.queue(first, 1'000);
  const Instant sent = rig.wire.now;
  rig.wire.now = sent + 3_ms;
  const auto would_take = [&] {  // asked with another instance's eyes: nothing is kept of it
    Packet packet = make_packet(1);
    (void)select_one(*rig.selector, rig.paths.measured_view(rig.wire.now), packet);
    return packet.member;
  };
  EXPECT_EQ(would_take(), first) << "nothing is proven";
  rig.wire.now = rig.wire.now + 3_ms;
  rig.paths.drained(0, first, sent + 3_ms - 1_us);
  EXPECT_EQ(would_take(), first) << "what is proven was sent before";
  rig.wire.now = rig.wire.now + 3_ms;
  rig.paths.drained(0, first, rig.wire.now - 1_ms);
  rig.paths.port(first).paused_queues = 1 << 3;
  EXPECT_EQ(would_take(), first) << "it is paused";
  rig.paths.port(first).paused_queues = 0;
  rig.wire.now = rig.wire.now + 900_us;
  EXPECT_EQ(would_take(), first) << "not silent for long enough";
  rig.wire.now = rig.wire.now + 3_ms;
  rig.paths.drained(0, first, rig.wire.now - 1_us);
  EXPECT_NE(would_take(), first);
}

TEST(Flowcut, WhatCannotBeProvenIsOverMuchLater) {
  Rig rig;
  const MemberIndex first = rig.member();
  rig.paths.queue(first, 1'000);
  rig.wire.now = rig.wire.now + 60_ms;
  EXPECT_EQ(rig.member(), first);
  rig.wire.now = rig.wire.now + 66_ms;
  EXPECT_NE(rig.member(), first);
}

TEST(Flowcut, ADeadPortIsLeftAtOnceAndItsAcknowledgementsAreOld) {
  Rig rig;
  const Packet before = rig.send();
  rig.paths.live() = before.member == 0 ? 0b10 : 0b01;
  const Packet after = rig.send();
  EXPECT_NE(after.member, before.member);
  rig.hear(1, before.note);
  EXPECT_EQ(rig.wire.disbelieved, 1);
  rig.paths.live() = 0b11;
  rig.paths.queue(after.member, 1'000'000);
  EXPECT_EQ(rig.member(), after.member) << "it is still in flight";
}

// 16 lines of four places.
TEST(Flowcut, AFullTableLetsFlowsGoByTheirHashAndCountsThem) {
  Rig rig(8, {{"flows", "64"}});
  constexpr uint64_t kFlows = 1'000;
  std::vector<MemberIndex> members;
  const PathView view = rig.paths.measured_view(rig.wire.now);
  std::vector<uint64_t> placeless;
  for (uint64_t flow = 0; flow < kFlows; ++flow) {
    Packet packet = make_packet(flow);
    const uint32_t before = view.placeless();
    members.push_back(select_one(*rig.selector, view, packet));
    if (view.placeless() != before) placeless.push_back(flow);
    EXPECT_EQ(packet.note == kShimUnnumbered, view.placeless() != before);
  }
  EXPECT_EQ(placeless.size(), kFlows - 64);
  EXPECT_EQ(rig.selector->flow_table(rig.wire.now, 0, 64).used, 64u);
  for (const uint64_t flow : placeless) EXPECT_EQ(rig.member(flow), members[flow]);
  // One that has a place at last goes where it went, as something may be on its way there.
  for (uint64_t flow = 0; flow < kFlows; ++flow) {
    Packet packet = make_packet(flow);
    (void)select_one(*rig.selector, view, packet);
    if (packet.note != kShimUnnumbered) rig.hear(flow, packet.note);
  }
  size_t placed = 0;
  for (const uint64_t flow : placeless) {
    const Packet packet = rig.send(flow);
    EXPECT_EQ(packet.member, members[flow]);
    placed += packet.note != kShimUnnumbered ? 1 : 0;
  }
  EXPECT_GT(placed, 32u);
}

TEST(Flowcut, DataIsNumberedInItsShimAndControlIsNot) {
  Rig rig;
  Packet data = rig.send();
  Packet control = data;
  control.set(kPacketRoceControl);
  Packet none = data;
  none.note = kShimUnnumbered;
  std::array<Dressing, 3> burst{};
  burst[0].packet = &data;
  burst[1].packet = &control;
  burst[2].packet = &none;
  rig.selector->agent()->dress(rig.wire, burst);
  EXPECT_EQ(burst[0].fields.written, kFieldSequence);
  EXPECT_EQ(burst[0].fields.sequence, data.note);
  EXPECT_EQ(burst[1].fields.written, 0);
  EXPECT_EQ(burst[2].fields.written, 0);
}

TEST(Flowcut, OnlyAFullOneOverhears) {
  EXPECT_EQ(Rig(2).selector->agent()->speech().overhears, 0);
  EXPECT_EQ(Rig(2, {{"mode", "full"}}).selector->agent()->speech().overhears,
            kind_bit(ShimKind::flowcut_ack));
}

// A packet of another leaf, with its number.
struct Passing : Framed {
  Passing(uint64_t flow, uint16_t number, uint8_t flags = 0) {
    fill(flow, 0);
    packet.set(kPacketShim);
    packet.l2_len = kEthernetHeader + kShimHeader;
    packet.ingress_port = kHost;
    encode(Shim{.flags = flags, .tolerable_delay = number},
           Octets(octets).subspan(kEthernetHeader));
  }
};

TEST(Flowcut, OnTheWayItIsHashedUnlessEachSwitchChooses) {
  for (const char* mode : {"ingress", "full"}) {
    Rig rig(8, {{"mode", mode}});
    std::set<MemberIndex> members;
    for (uint64_t flow = 0; flow < 100; ++flow) {
      Passing passing(flow, 7);
      rig.paths.queue(5, 0);
      for (size_t i = 0; i < 8; ++i) rig.paths.queue(i, i == 5 ? 0 : 1'000);
      members.insert(select_one(*rig.selector, rig.paths.view(rig.wire.now), passing.packet));
      EXPECT_EQ(passing.packet.note, kShimUnnumbered);
    }
    EXPECT_EQ(members.size(), std::string_view(mode) == "full" ? 1u : 8u);
  }
}

TEST(Flowcut, OnTheWayNumbersOfAnotherKindAreNone) {
  Rig rig(8, {{"mode", "full"}});
  std::set<MemberIndex> members;
  for (size_t i = 1; i < 8; ++i) rig.paths.queue(i, 1'000);
  for (uint64_t flow = 0; flow < 100; ++flow) {
    Passing passing(flow, 7, kShimTolerableDelay);
    members.insert(select_one(*rig.selector, rig.paths.view(rig.wire.now), passing.packet));
  }
  EXPECT_EQ(members.size(), 8u);
}

TEST(Flowcut, OnTheWayAcknowledgementsGoBackAsTheirPacketsCame) {
  Rig rig(2, {{"mode", "full"}});
  const auto pass = [&](uint16_t number) {
    Passing passing(1, number);
    return select_one(*rig.selector, rig.paths.view(rig.wire.now), passing.packet);
  };
  const auto overhear = [&](uint64_t flow, uint16_t number) {
    HeardFrame frame = Rig::ack(flow, number, 0);
    frame.for_us = false;
    rig.hear(frame);
    return frame.stops;
  };
  const MemberIndex first = pass(65'534);
  EXPECT_EQ(pass(0), first);
  rig.paths.queue(first, 1'000);
  EXPECT_FALSE(overhear(2, 0)) << "of another flow: it goes on by routes";
  EXPECT_TRUE(overhear(1, 65'534));
  EXPECT_EQ(pass(1), first);
  EXPECT_FALSE(overhear(1, 65'534)) << "old";
  EXPECT_TRUE(overhear(1, 1));
  EXPECT_NE(pass(2), first);
  ASSERT_EQ(rig.wire.sent.size(), 2u);
  EXPECT_FALSE(rig.wire.sent[0].by_path);
  EXPECT_EQ(rig.wire.sent[0].port, kHost);
  EXPECT_EQ(rig.wire.sent[0].message.shim.tolerable_delay, 65'534);
}

// The egress leaf.
struct AckRig {
  explicit AckRig(FlowcutAcks::Plan plan = {.packets = 3, .wait = 2_us}) : acks(plan) {}

  void arrive(uint64_t flow, uint16_t number, uint8_t flags = 0) {
    Packet packet = make_packet(flow);
    packet.ingress_port = PortId(9);
    Arrival arrival;
    arrival.packet = &packet;
    arrival.shim.flags = flags;
    arrival.shim.tolerable_delay = number;
    arrival.shim.sent_ns = number * 10u;
    arrival.shim.hop_count = 3;
    acks.arrived(wire, {&arrival, 1});
  }
  void on_timers() {
    if (acks.next_deadline() <= wire.now) acks.on_timers(wire);
  }
  std::vector<uint16_t> numbers() const {
    std::vector<uint16_t> numbers;
    for (const Utterance& each : wire.sent) numbers.push_back(each.message.shim.tolerable_delay);
    return numbers;
  }

  Paths paths{{make_set(4)}};
  Wire wire{paths};
  FlowcutAcks acks;
};

TEST(FlowcutAcks, OneFrameForSoManyPackets) {
  AckRig rig;
  for (uint16_t i = 0; i < 7; ++i) {
    rig.wire.now = rig.wire.now + 100_ns;
    rig.arrive(1, i);
  }
  EXPECT_EQ(rig.numbers(), (std::vector<uint16_t>{2, 5}));
  const Utterance& first = rig.wire.sent[0];
  EXPECT_TRUE(first.by_path);
  EXPECT_EQ(first.message.shim.kind, ShimKind::flowcut_ack);
  EXPECT_EQ(first.message.order_hash, make_packet(1).order_hash);
  EXPECT_EQ(first.message.value, make_packet(1).wire_len);
  EXPECT_EQ(first.message.shim.echoed_ns, 20u);
  EXPECT_EQ(first.message.shim.hold_ns, 0u);
  EXPECT_EQ(first.message.shim.feedback_congestion, 4);
}

TEST(FlowcutAcks, OrForThoseOfATime) {
  AckRig rig;
  const Instant first = rig.wire.now;
  rig.arrive(1, 0);
  rig.wire.now = first + 500_ns;
  rig.arrive(1, 1);
  rig.arrive(2, 9);
  EXPECT_EQ(rig.acks.next_deadline(), first + 2_us);
  rig.wire.now = first + 2_us;
  rig.on_timers();
  EXPECT_EQ(rig.numbers(), std::vector<uint16_t>{1});
  EXPECT_EQ(rig.wire.sent[0].message.shim.hold_ns, 1'500u) << "of the last of them";
  EXPECT_EQ(rig.acks.next_deadline(), first + 2'500_ns);
  rig.wire.now = first + 2'500_ns;
  rig.on_timers();
  EXPECT_EQ(rig.numbers(), (std::vector<uint16_t>{1, 9}));
  EXPECT_EQ(rig.acks.next_deadline(), Instant::never());
}

TEST(FlowcutAcks, WhatHasNoNumberIsNotAcknowledged) {
  AckRig rig({.packets = 1, .wait = 0_us});
  rig.arrive(1, kShimUnnumbered);
  rig.arrive(1, 5, kShimTolerableDelay);
  EXPECT_TRUE(rig.wire.sent.empty());
  EXPECT_EQ(rig.acks.next_deadline(), Instant::never());
}

TEST(FlowcutAcks, ALatePacketTakesNothingBack) {
  AckRig rig;
  rig.arrive(1, 5);
  rig.arrive(1, 4);
  rig.wire.now = rig.wire.now + 2_us;
  rig.on_timers();
  EXPECT_EQ(rig.numbers(), std::vector<uint16_t>{5});
}

TEST(FlowcutAcks, ByThePortOfThePacketsIfAsked) {
  AckRig rig({.packets = 1, .wait = 0_us, .back_by_port = true});
  rig.arrive(1, 5);
  ASSERT_EQ(rig.wire.sent.size(), 1u);
  EXPECT_FALSE(rig.wire.sent[0].by_path);
  EXPECT_EQ(rig.wire.sent[0].port, PortId(9));
}

TEST(FlowcutAcks, WithoutRoomTheOldestGoesEarly) {
  AckRig rig;
  for (uint64_t flow = 0; flow <= FlowcutAcks::kMost; ++flow) rig.arrive(flow, 7);
  ASSERT_EQ(rig.wire.sent.size(), 1u);
  EXPECT_EQ(rig.wire.sent[0].message.order_hash, make_packet(0).order_hash);
  rig.wire.now = rig.wire.now + 2_us;
  rig.on_timers();
  EXPECT_EQ(rig.wire.sent.size(), FlowcutAcks::kMost + 1u);
}

// What came in by one shard is in its host's queue only when another has read it.
TEST(FlowcutAcks, WithSeveralShardsNothingIsSaidEarly) {
  AckRig rig;
  rig.wire.lag = 4_us;
  const Instant first = rig.wire.now;
  for (uint16_t i = 0; i < 4; ++i) rig.arrive(1, i);
  EXPECT_TRUE(rig.wire.sent.empty());
  EXPECT_EQ(rig.acks.next_deadline(), first + 6_us);
  rig.wire.now = first + 6_us;
  rig.wire.proves = false;
  rig.on_timers();
  EXPECT_TRUE(rig.wire.sent.empty());
  EXPECT_EQ(rig.wire.woken, 1);
  EXPECT_EQ(rig.acks.next_deadline(), first + 8_us);
  rig.wire.now = first + 8_us;
  rig.wire.proves = true;
  rig.on_timers();
  EXPECT_EQ(rig.numbers(), (std::vector<uint16_t>{2, 3}));
}

TEST(FlowcutAcks, ARebaseMovesWhatWaits) {
  AckRig rig;
  rig.wire.now = Rebase::kDue + 1_us;
  rig.arrive(1, 5);
  rig.acks.rebase(Rebase{});
  EXPECT_EQ(rig.acks.next_deadline(), Rebase::kDue + 3_us - Rebase::kPeriod);
}

}  // namespace
}  // namespace eddy::lb
