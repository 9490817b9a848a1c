#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "lb/agent.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;
using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Instant kStart = Instant() + 1_s;
constexpr QueueId kQueue(3);  // that of make_packet()
using Members = std::set<MemberIndex>;

PathSet to_leaf(size_t leaf, size_t members, size_t first_port) {
  PathSet set = make_set(members, first_port);
  set.leaf = LeafId(leaf);
  return set;
}

// A leaf with four uplinks, ports 0 to 3, to leaf 2, and one, port 9, to leaf 3; or a switch in
// between. An idle path takes 8 us one way, so that one of up to 28 us is clear.
class Node : public Voice {
 public:
  // By which member of which set, path, leaf that it leads to, what was left.
  using Sent = std::tuple<uint16_t, size_t, uint32_t, uint32_t>;

  explicit Node(const ParameterMap& parameters = {}, test::Entity entity = {})
      : paths_({to_leaf(2, 4, 0), to_leaf(3, 1, 9)}),
        plb_(make("plb", paths_, parameters, entity)) {}

  PathView view() override { return paths_.view_with(now_, aids()); }
  LeafId leaf() const override { return LeafId(1); }
  PathTable* paths() override { return &paths_.measured(); }
  bool is_own_set(uint16_t) const override { return true; }
  bool owns(PathKey) const override { return true; }
  bool wants_answer(PathKey) const override { return false; }
  bool stamps_prove() const override { return true; }
  void wake_others() override {}
  Duration proof_lag() const override { return {}; }
  bool send(const Utterance& utterance) override {
    EXPECT_EQ(utterance.message.shim.kind, ShimKind::notify);
    EXPECT_EQ(utterance.message.reason, NotifyReason::kicked_out);
    EXPECT_TRUE(utterance.by_path);
    sent.emplace_back(utterance.path.set, utterance.message.shim.path.index(),
                      utterance.message.value >> 16, utterance.message.value & 0xffff);
    return true;
  }
  void disbelieve(PortId port) override { disbelieved.push_back(port.index()); }

  // One way, and the fullest link beyond our own.
  void measure(MemberIndex member, Duration delay, uint8_t full = 0) {
    const Instant at = paths_.measured().record_time(now_);
    paths_.measure(0, member, delay, at);
    paths_.measured().at(0, member).take_congestion(full, at);
  }
  void measure_all(const std::array<Duration, 4>& delays, uint8_t full = 0) {
    for (MemberIndex i = 0; i < 4; ++i) measure(i, delays[i], full);
  }
  MemberIndex send_packet(uint64_t flow = 0) {
    Packet packet = make_packet(flow != 0 ? flow : ++flows_);
    const PathView at = view();
    const MemberIndex member = select_one(*plb_, at, packet);
    ties = at.ties();
    return member;
  }
  Members members_of(size_t flows) {
    Members members;
    for (size_t i = 0; i < flows; ++i) members.insert(send_packet());
    return members;
  }
  // What a packet by the member can bear, in 64 ns.
  uint16_t tolerable(MemberIndex member) {
    Packet packet = make_packet(1);
    packet.member = member;
    Dressing dressing{.packet = &packet, .set = 0};
    plb_->agent()->dress(*this, {&dressing, 1});
    EXPECT_NE(dressing.fields.written & kFieldDelay, 0);
    return dressing.fields.tolerable_delay;
  }
  void notice(MemberIndex member, uint32_t sent_ns = 1, size_t leaf = 2,
              NotifyReason reason = NotifyReason::kicked_out, bool here = true) {
    HeardFrame frame{.message = {.shim = {.kind = ShimKind::notify,
                                          .path = PathId(static_cast<size_t>(member) << 8 | 0xff),
                                          .sent_ns = sent_ns},
                                 .reason = reason,
                                 .value = static_cast<uint32_t>(leaf << 16)},
                     .port = PortId(member),
                     .here = here};
    plb_->agent()->on_frames(*this, {&frame, 1});
  }
  // A packet of leaf 2 for another leaf that comes to port 9, whose queue is stopped.
  void stop(uint16_t left, uint64_t ahead, size_t path = 5, size_t to = 7, size_t from = 2) {
    const Waiting waiting{.port = PortId(9),
                          .queue = kQueue,
                          .source = LeafId(from),
                          .destination = LeafId(to),
                          .path = PathId(path),
                          .tolerable_delay = left,
                          .ahead = ahead};
    plb_->agent()->on_waits(*this, {&waiting, 1});
  }
  void wait(Duration time) { now_ = now_ + time; }
  // Beyond what a look is good for.
  void look_anew() { wait(11_us); }
  void rebase(const Rebase& rebase) {
    rebase.shift(now_);
    plb_->rebase(rebase);
    paths_.rebase(rebase);
  }
  Instant now() const { return now_; }
  Paths& world() { return paths_; }

  std::vector<Sent> sent;
  std::vector<size_t> disbelieved;
  uint32_t ties = 0;  // of the last packet
  const WarningTable* warnings = nullptr;

 private:
  PathAids aids() { return {.warnings = warnings, .paths = &paths_.measured()}; }

  Paths paths_;
  std::unique_ptr<Selector> plb_;
  Instant now_ = kStart;
  uint64_t flows_ = 100;
};

TEST(Plb, AClearPathWithTheLeastDelayIsTaken) {
  Node leaf;
  leaf.measure_all({20_us, 14_us, 11_us, 12_us + 1_ns});
  EXPECT_EQ(leaf.members_of(20), Members{2});
  EXPECT_EQ(leaf.ties, 0u);
  leaf.measure(3, 12_us);
  leaf.look_anew();
  EXPECT_EQ(leaf.members_of(40), (Members{2, 3})) << "1 us is no difference";
  EXPECT_EQ(leaf.ties, 1u);
}

// F-32: a delay that is just low is low. 8 us and 20.
TEST(Plb, ADelayOfJustTheLimitIsLow) {
  Node leaf;
  leaf.measure_all({28_us, 28_us + 1_ns, 40_us, 40_us}, 255);
  leaf.measure(1, 28_us + 1_ns, 10);
  EXPECT_EQ(leaf.members_of(20), Members{0});
}

TEST(Plb, OfSlowPathsTheHaltedOneWithTheFullestLinkIsTaken) {
  Node leaf;
  leaf.measure(0, 40_us, 100);
  leaf.measure(1, 50_us, 243);  // 0.95 of 256 is 243.2
  leaf.measure(2, 30_us, 244);  // congested, though faster
  leaf.measure(3, 30_us, 255);
  EXPECT_EQ(leaf.members_of(20), Members{1});
  leaf.world().load(0, 94, leaf.now());  // our own line counts, too: 240
  leaf.look_anew();
  EXPECT_EQ(leaf.members_of(20), Members{1});
}

TEST(Plb, OfCongestedPathsTheOneWithTheLeastDelayIsTaken) {
  Node leaf;
  leaf.measure_all({90_us, 70_us, 60_us, 80_us}, 250);
  EXPECT_EQ(leaf.members_of(20), Members{2});
}

TEST(Plb, PathsThatWereNeverMeasuredAreClear) {
  Node leaf;
  EXPECT_EQ(leaf.members_of(100).size(), 4u);
  EXPECT_EQ(leaf.ties, 1u);
  leaf.measure(0, 8_us);
  leaf.measure(1, 12_us);
  leaf.look_anew();
  EXPECT_EQ(leaf.members_of(100), (Members{0, 2, 3}));
}

TEST(Plb, APathThatHasFallenSilentIsOut) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 12_us, 12_us});
  leaf.wait(257_us);  // 16 base round trips
  leaf.measure(1, 25_us);
  leaf.measure(2, 20_us);
  EXPECT_EQ(leaf.members_of(20), Members{2});
}

TEST(Plb, AFlowStaysWhileItsPathIsNotCongested) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 12_us, 12_us});
  EXPECT_EQ(leaf.send_packet(7), 0);
  leaf.measure(0, 60_us, 100);  // halted
  leaf.look_anew();
  EXPECT_EQ(leaf.send_packet(7), 0);
  EXPECT_NE(leaf.send_packet(), 0);
  leaf.measure(0, 60_us, 255);  // congested
  leaf.look_anew();
  EXPECT_NE(leaf.send_packet(7), 0);
}

TEST(Plb, AMovedFlowRestsUnlessItIsKickedOut) {
  Node leaf;
  leaf.measure_all({40_us, 8_us, 20_us, 20_us}, 255);
  leaf.measure(0, 8_us);
  EXPECT_EQ(leaf.members_of(20), (Members{0, 1}));
  leaf.measure(1, 12_us);
  leaf.look_anew();
  EXPECT_EQ(leaf.send_packet(7), 0);
  leaf.measure(0, 60_us, 255);
  leaf.look_anew();
  EXPECT_EQ(leaf.send_packet(7), 1);
  leaf.measure(1, 60_us, 255);
  leaf.look_anew();
  EXPECT_EQ(leaf.send_packet(7), 1) << "100 us";
  leaf.wait(88_us);
  leaf.measure_all({60_us, 60_us, 20_us, 25_us}, 255);
  EXPECT_EQ(leaf.send_packet(7), 1);
  leaf.wait(1_us + 1_ns);
  EXPECT_EQ(leaf.send_packet(7), 2);
  leaf.notice(2);
  EXPECT_EQ(leaf.send_packet(7), 3);
}

TEST(Plb, FromOneCongestedPathToAnotherOnlyIfThatIsNotablyFaster) {
  Node leaf;
  leaf.measure_all({8_us, 90_us, 90_us, 90_us}, 255);
  EXPECT_EQ(leaf.send_packet(7), 0);
  leaf.measure(0, 80_us, 255);
  leaf.measure(2, 60_us, 255);
  leaf.look_anew();
  EXPECT_EQ(leaf.send_packet(7), 0);
  EXPECT_EQ(leaf.send_packet(), 2);
  leaf.measure(0, 80_us + 1_ns, 255);
  leaf.look_anew();
  EXPECT_EQ(leaf.send_packet(7), 2);
}

TEST(Plb, AFlowThatWasSilentForItsLifeIsNew) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 12_us, 12_us});
  EXPECT_EQ(leaf.send_packet(7), 0);
  leaf.wait(1_ms);
  leaf.measure_all({12_us, 8_us, 12_us, 12_us});
  EXPECT_EQ(leaf.send_packet(7), 0);
  leaf.wait(1_ms + 1_ns);
  leaf.measure_all({12_us, 8_us, 12_us, 12_us});
  EXPECT_EQ(leaf.send_packet(7), 1);
}

// The next best path's delay less its own; 64 ns a unit.
TEST(Plb, APacketCanBearWhatTheNextBestPathTakesMore) {
  Node leaf;
  leaf.measure_all({20_us, 14_us, 30_us, 16_us});
  leaf.send_packet();
  EXPECT_EQ(leaf.tolerable(1), 31) << "2 us";
  EXPECT_EQ(leaf.tolerable(0), 0);
  EXPECT_EQ(leaf.tolerable(3), 0);
  leaf.notice(3);  // what is out is no alternative
  leaf.send_packet();
  EXPECT_EQ(leaf.tolerable(1), 93) << "6 us";
  leaf.world().live() = 0b0010;
  leaf.send_packet();
  EXPECT_EQ(leaf.tolerable(1), kShimUnlimitedDelay);
}

TEST(Plb, AKickedOutPathIsLeftAtOnceAndForAWhile) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 20_us, 20_us});
  EXPECT_EQ(leaf.send_packet(7), 0);
  leaf.notice(0);
  EXPECT_EQ(leaf.send_packet(7), 1);
  EXPECT_EQ(leaf.members_of(20), Members{1});
  leaf.wait(200_us - 1_ns);  // the longer of 200 us and two base round trips
  EXPECT_EQ(leaf.members_of(20), Members{1});
  leaf.look_anew();
  EXPECT_EQ(leaf.members_of(20), Members{0});
  EXPECT_EQ(leaf.send_packet(7), 1) << "a flow that moved does not come back by itself";
}

// It must have been sent after the notice came: with 8 us on the way, 8 us and a step later.
TEST(Plb, ALowDelayThatWasMeasuredSinceEndsIt) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 20_us, 20_us});
  leaf.notice(0);
  EXPECT_EQ(leaf.send_packet(), 1);
  leaf.wait(8_us);
  leaf.measure(0, 8_us);
  EXPECT_EQ(leaf.send_packet(), 1);
  leaf.wait(1_us);
  leaf.measure(0, 8_us);
  leaf.look_anew();
  EXPECT_EQ(leaf.send_packet(), 0);
}

TEST(Plb, AHighDelayThatWasMeasuredSinceDoesNotEndIt) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 20_us, 20_us});
  leaf.notice(0);
  leaf.wait(60_us);
  leaf.measure(0, 28_us + 1_ns);
  leaf.measure(1, 100_us, 255);
  leaf.measure(2, 100_us, 255);
  leaf.measure(3, 100_us, 255);
  EXPECT_NE(leaf.send_packet(), 0);
}

TEST(Plb, WhileAllPathsAreOutAllAreIn) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 20_us, 20_us});
  for (MemberIndex i = 0; i < 4; ++i) leaf.notice(i, 10u + i);
  EXPECT_EQ(leaf.members_of(20), Members{0});
}

TEST(Plb, NoticesThatAreDoubledOrOfNoPathAreNotBelieved) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 20_us, 20_us});
  leaf.notice(0, 77);
  leaf.wait(100_us);
  leaf.notice(0, 77);  // doubled: it ends when it would have
  leaf.notice(7, 78);  // no such path
  leaf.notice(0, 79, 9);
  leaf.notice(0, 80, 0xffff);
  leaf.notice(1, 81, 2, NotifyReason::path_busy);
  EXPECT_THAT(leaf.disbelieved, ElementsAre(0u, 7u, 0u, 0u, 1u));
  EXPECT_EQ(leaf.send_packet(), 1);
  leaf.wait(101_us);
  EXPECT_EQ(leaf.send_packet(), 0);
  leaf.notice(0, 82, 9, NotifyReason::kicked_out, /*here=*/false);
  EXPECT_EQ(leaf.disbelieved.size(), 5u) << "counted on its shard";
}

// Paths of port 9 at 40 Gb/s: 20,000 octets take 4 us, which are 62.5 units.
TEST(Plb, ASwitchTellsTheLeafWhatItsPacketCannotBear) {
  Node node;
  node.stop(63, 20'000);
  EXPECT_THAT(node.sent, IsEmpty());
  node.stop(62, 20'000);
  EXPECT_THAT(node.sent, ElementsAre(Node::Sent{0, 5, 7, 62}));
}

TEST(Plb, WhatPacketsWaitedOnAverageCountsToo) {
  Node node;
  node.world().port(9).sojourn_ns = 6'400;
  node.stop(100, 20'000);
  EXPECT_THAT(node.sent, IsEmpty());
  node.stop(99, 20'000);
  EXPECT_EQ(node.sent.size(), 1u);
  node.stop(kShimUnlimitedDelay, 20'000'000, 6);
  EXPECT_EQ(node.sent.size(), 1u) << "there is no other path";
}

TEST(Plb, ALeafIsToldOncePerPathInAWhile) {
  Node node;
  for (int i = 0; i < 5; ++i) node.stop(0, 20'000);
  node.stop(0, 20'000, 6);
  node.stop(0, 20'000, 5, 8);
  node.stop(0, 20'000, 5, 7, 3);
  EXPECT_EQ(node.sent.size(), 4u);
  node.wait(16_us - 1_ns);
  node.stop(0, 20'000);
  EXPECT_EQ(node.sent.size(), 4u);
  node.wait(1_ns);
  node.stop(0, 20'000);
  EXPECT_EQ(node.sent.size(), 5u);
  node.stop(0, 20'000, 5, 7, 40);  // of a leaf to which there is no way
  EXPECT_EQ(node.sent.size(), 5u);
}

// At the leaf's own port, with 4 us to bear: 20,000 octets take as long.
TEST(Plb, AFlowLeavesAPortThatIsStoppedForLongerThanItCanBear) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 20_us, 20_us});
  EXPECT_EQ(leaf.send_packet(7), 0);
  leaf.world().port(0).paused_queues = 1 << 3;
  leaf.world().queue(0, 19'900);
  leaf.look_anew();
  EXPECT_EQ(leaf.send_packet(7), 0);
  leaf.world().queue(0, 20'100);
  leaf.look_anew();
  EXPECT_EQ(leaf.send_packet(7), 1);
  leaf.world().port(0).paused_queues = 0;
  leaf.look_anew();
  EXPECT_EQ(leaf.send_packet(), 0);
}

TEST(Plb, ALongQueueThatIsNotStoppedIsNoReason) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 20_us, 20_us});
  leaf.world().queue(0, 2'000'000);
  EXPECT_EQ(leaf.send_packet(), 0);
}

TEST(Plb, WithOrderGuardAFlowWaitsForProof) {
  Node leaf(ParameterMap{{"order_guard", "true"}});
  leaf.measure_all({8_us, 12_us, 20_us, 20_us});
  EXPECT_EQ(leaf.send_packet(7), 0);
  leaf.notice(0);
  leaf.world().drained(0, 0, leaf.now());
  EXPECT_EQ(leaf.send_packet(7), 0) << "what was given at that instant is not proven";
  leaf.wait(1_us);
  leaf.world().drained(0, 0, leaf.now());
  EXPECT_EQ(leaf.send_packet(7), 1);
  leaf.world().live() = 0b1101;  // its path is gone
  EXPECT_NE(leaf.send_packet(7), 1);
}

TEST(Plb, AMemberThatDiesIsLeft) {
  Node leaf;
  leaf.measure_all({8_us, 12_us, 20_us, 20_us});
  EXPECT_EQ(leaf.send_packet(7), 0);
  leaf.world().live() = 0b1110;
  EXPECT_EQ(leaf.send_packet(7), 1);
}

TEST(Plb, WhatIsKnownOutlivesARebase) {
  for (const auto way : {Rebase::Way::back, Rebase::Way::forward}) {
    Node leaf;
    if (way == Rebase::Way::back) leaf.wait(Rebase::kPeriod);
    leaf.measure_all({8_us, 12_us, 20_us, 20_us});
    EXPECT_EQ(leaf.send_packet(7), 0);
    leaf.notice(0);
    leaf.rebase(Rebase(way));
    EXPECT_EQ(leaf.send_packet(7), 1);
    leaf.wait(201_us);
    leaf.measure_all({8_us, 12_us, 20_us, 20_us});
    EXPECT_EQ(leaf.send_packet(7), 1);
    EXPECT_EQ(leaf.send_packet(), 0);
  }
}

TEST(Plb, UnderRlbTheNextPathIsTheBestOfTheOthers) {
  Node leaf({}, {.rlb = true});
  WarningTable warnings(leaf.world().sets(), kMaxPorts);
  leaf.warnings = &warnings;
  leaf.measure_all({8_us, 14_us, 12_us, 20_us});
  for (const MemberIndex expected : {0, 2, 1}) {
    EXPECT_EQ(leaf.send_packet(), expected);
    (void)warnings.mark({.port = PortId(expected),
                         .leaf = LeafId(2),
                         .queue = kQueue,
                         .severity = 20,
                         .sequence = 1,
                         .source = 100u + expected,
                         .origin = 200u + expected,
                         .expiry = kStart + 1_s});
  }
  EXPECT_EQ(leaf.tolerable(0), 62) << "4 us: not of those that RLB asked for";
}

}  // namespace
}  // namespace eddy::lb
