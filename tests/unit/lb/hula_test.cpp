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
using testing::UnorderedElementsAre;

constexpr Instant kStart = Instant() + 1_s;
constexpr Duration kPause = 101_us;  // ends any flowlet of the default gap

PathSet to_leaf(size_t leaf, size_t members, size_t first_port) {
  PathSet set = make_set(members, first_port);
  set.leaf = LeafId(leaf);
  return set;
}

// A switch that speaks HULA; the test says what comes by its ports.
class Node : public Voice {
 public:
  using Probe = std::tuple<size_t, uint32_t, int, uint32_t>;  // port, leaf, utilisation, round

  explicit Node(std::vector<PathSet> sets, LeafId leaf = LeafId::none(),
                const ParameterMap& parameters = {}, test::Entity entity = {})
      : leaf_(leaf), paths_(std::move(sets)), hula_(make("hula", paths_, parameters, entity)) {}

  PathView view() override { return paths_.view(now_); }
  LeafId leaf() const override { return leaf_; }
  PathTable* paths() override { return nullptr; }
  bool is_own_set(uint16_t) const override { return true; }
  bool owns(PathKey path) const override {
    return paths_.sets()[path.set].members[path.member].port != not_ours;
  }
  bool wants_answer(PathKey) const override { return false; }
  bool stamps_prove() const override { return true; }
  void wake_others() override {}
  Duration proof_lag() const override { return {}; }
  bool send(const Utterance& utterance) override {
    EXPECT_EQ(utterance.message.shim.kind, ShimKind::hula_probe);
    EXPECT_FALSE(utterance.by_path);
    sent.emplace_back(utterance.port.index(), utterance.message.top_of_rack,
                      utterance.message.utilisation, utterance.message.sequence);
    return true;
  }
  void disbelieve(PortId port) override { disbelieved.push_back(port.index()); }

  void hear(size_t port, uint32_t leaf, uint8_t utilisation, uint32_t round, bool here = true) {
    HeardFrame frame{.message = {.shim = {.kind = ShimKind::hula_probe},
                                 .top_of_rack = leaf,
                                 .utilisation = utilisation,
                                 .sequence = round},
                     .port = PortId(port),
                     .here = here};
    hula_->agent()->on_frames(*this, {&frame, 1});
  }
  // A new flow each time, or the one that is named.
  MemberIndex send_packet(uint16_t set = 0, uint64_t flow = 0) {
    Packet packet = make_packet(flow != 0 ? flow : ++flows_);
    const PathView view = paths_.view(now_, warnings);
    const MemberIndex member = select_one(*hula_, view, packet, set);
    ties = view.ties();
    return member;
  }
  std::set<MemberIndex> members_of(size_t flows, uint16_t set = 0) {
    std::set<MemberIndex> members;
    for (size_t i = 0; i < flows; ++i) members.insert(send_packet(set));
    return members;
  }
  void wait(Duration time) { now_ = now_ + time; }
  void poll() {
    if (hula_->agent()->next_deadline() <= now_) hula_->agent()->on_timers(*this);
  }
  void rebase(const Rebase& rebase) {
    rebase.shift(now_);
    hula_->rebase(rebase);
    paths_.rebase(rebase);
  }
  PathKnowledge knowledge(MemberIndex member) { return hula_->knowledge(now_, 0, member); }
  Instant now() const { return now_; }
  Instant deadline() { return hula_->agent()->next_deadline(); }
  Paths& world() { return paths_; }
  void load(size_t port, uint32_t percent) { paths_.load(port, percent, now_); }

  std::vector<Probe> sent;
  std::vector<size_t> disbelieved;
  uint32_t ties = 0;  // of the last packet
  PortId not_ours = PortId::none();
  const WarningTable* warnings = nullptr;

 private:
  LeafId leaf_;
  Paths paths_;
  std::unique_ptr<Selector> hula_;
  Instant now_ = kStart;
  uint64_t flows_ = 100;
};

// Leaf 1 with four uplinks, ports 0 to 3, to leaf 2.
struct Leaf : Node {
  explicit Leaf(const ParameterMap& parameters = {}, test::Entity entity = {})
      : Node({to_leaf(2, 4, 0)}, LeafId(1), parameters, entity) {}
};

TEST(Hula, WhatIsKnownOfAPathIsWhatWasToldOfItUntilThatIsNotBelieved) {
  Leaf leaf(ParameterMap{{"failure", "100us"}});
  leaf.hear(0, 2, 100, 1);
  leaf.wait(30_us);
  leaf.hear(1, 2, 40, 1);
  leaf.wait(20_us);
  const PathKnowledge left = leaf.knowledge(0), best = leaf.knowledge(1), none = leaf.knowledge(2);
  EXPECT_EQ(left.best, false);
  EXPECT_EQ(left.utilisation, 100);
  EXPECT_EQ(left.age, 50_us);
  EXPECT_EQ(best.best, true);
  EXPECT_EQ(best.utilisation, 40);
  EXPECT_EQ(best.age, 20_us);
  EXPECT_EQ(none.best, false);
  EXPECT_FALSE(none.utilisation || none.age || none.busy);
  leaf.wait(50_us);
  EXPECT_FALSE(leaf.knowledge(0).utilisation.has_value());
  EXPECT_EQ(leaf.knowledge(1).best, true);
  leaf.wait(30_us);
  EXPECT_EQ(leaf.knowledge(1).best, false);
}

TEST(Hula, ALessFullPathWinsAndABusierBestOneStillCounts) {
  Leaf leaf;
  leaf.hear(0, 2, 100, 1);
  EXPECT_EQ(leaf.send_packet(), 0);
  leaf.hear(1, 2, 100, 1);
  EXPECT_EQ(leaf.send_packet(), 0) << "as full as the best is not better";
  leaf.hear(1, 2, 99, 2);
  EXPECT_EQ(leaf.send_packet(), 1);
  leaf.hear(0, 2, 99, 2);
  EXPECT_EQ(leaf.send_packet(), 1);
  leaf.hear(1, 2, 200, 3);  // the best has got worse, and its word counts
  EXPECT_EQ(leaf.send_packet(), 1);
  leaf.hear(0, 2, 199, 3);
  EXPECT_EQ(leaf.send_packet(), 0);
  EXPECT_EQ(leaf.ties, 0u);
  EXPECT_THAT(leaf.disbelieved, IsEmpty());
}

// The probe comes against the data: the port's own line counts as it is outwards.
TEST(Hula, TheFullerOfOwnLineAndProbeCounts) {
  Leaf leaf;
  leaf.load(0, 60);  // 153 of 256
  leaf.hear(0, 2, 100, 1);
  leaf.hear(1, 2, 154, 1);
  EXPECT_EQ(leaf.send_packet(), 0);
  leaf.hear(1, 2, 152, 2);
  EXPECT_EQ(leaf.send_packet(), 1);
}

TEST(Hula, ALineThatIsFullIsNotWorseThanTheWorstThatAProbeCanSay) {
  Leaf leaf;
  leaf.load(0, 100);
  leaf.hear(0, 2, 0, 1);
  leaf.hear(1, 2, 255, 1);
  EXPECT_EQ(leaf.send_packet(), 0);
}

TEST(Hula, AFlowletKeepsItsHop) {
  Leaf leaf;
  leaf.hear(0, 2, 100, 1);
  EXPECT_EQ(leaf.send_packet(0, 7), 0);
  leaf.hear(1, 2, 10, 1);
  leaf.wait(100_us);
  EXPECT_EQ(leaf.send_packet(0, 7), 0);
  leaf.wait(kPause);
  EXPECT_EQ(leaf.send_packet(0, 7), 1);
}

// Three probes of 80 us: half of what a DRE of 20 us and one eighth remembers.
TEST(Hula, ANextHopThatNothingCameByForThreeProbesIsNotUsed) {
  Leaf leaf;
  leaf.hear(3, 2, 0, 1);
  leaf.wait(240_us - 1_ns);
  EXPECT_EQ(leaf.members_of(50), (std::set<MemberIndex>{3}));
  leaf.wait(1_ns);
  EXPECT_EQ(leaf.members_of(200).size(), 4u) << "by hash";
  EXPECT_EQ(leaf.ties, 1u);
  leaf.hear(2, 2, 255, 5);  // the next one wins
  EXPECT_EQ(leaf.members_of(50), (std::set<MemberIndex>{2}));
}

TEST(Hula, AFullerPathWinsOnceTheBestIsSilent) {
  Leaf leaf;
  leaf.hear(3, 2, 0, 1);
  leaf.hear(1, 2, 200, 1);
  EXPECT_EQ(leaf.send_packet(), 3);
  leaf.wait(240_us);
  leaf.hear(1, 2, 200, 4);
  EXPECT_EQ(leaf.send_packet(), 1);
}

TEST(Hula, TimesAreAsConfigured) {
  Leaf leaf({{"probe", "200us"}, {"failure", "500us"}, {"gap", "50us"}});
  leaf.hear(3, 2, 0, 1);
  leaf.wait(499_us);
  leaf.hear(1, 2, 200, 1);
  EXPECT_EQ(leaf.send_packet(0, 7), 3);
  leaf.wait(50_us);
  leaf.hear(1, 2, 200, 2);
  EXPECT_EQ(leaf.send_packet(0, 7), 3) << "of the same flowlet";
  leaf.wait(50_us + 1_ns);
  EXPECT_EQ(leaf.send_packet(0, 7), 1);
}

TEST(Hula, ANextHopWhosePortIsDownIsNotUsed) {
  Leaf leaf;
  leaf.hear(3, 2, 0, 1);
  EXPECT_EQ(leaf.send_packet(0, 7), 3);
  leaf.world().live() = 0b0111;
  const std::set<MemberIndex> used = leaf.members_of(100);
  EXPECT_EQ(used, (std::set<MemberIndex>{0, 1, 2}));
  EXPECT_NE(leaf.send_packet(0, 7), 3);
}

// Without probes: a leaf that speaks another scheme. Its flows spread, keep their paths, and count.
TEST(Hula, FlowsToALeafThatIsSilentGoByTheirHash) {
  Leaf leaf;
  EXPECT_EQ(leaf.members_of(200).size(), 4u);
  const MemberIndex member = leaf.send_packet(0, 7);
  EXPECT_EQ(leaf.ties, 1u);
  leaf.wait(1_s);
  EXPECT_EQ(leaf.send_packet(0, 7), member);
}

TEST(Hula, OldDoubledAndForeignProbesAreNotBelieved) {
  Leaf leaf;
  leaf.hear(0, 2, 100, 5);
  leaf.hear(0, 2, 0, 5);  // doubled
  leaf.hear(0, 2, 0, 4);  // overtaken
  leaf.hear(1, 1, 0, 6);  // of our own leaf
  leaf.hear(1, 9, 0, 6);  // of one that there is not
  leaf.hear(1, 0xffffff, 0, 6);
  leaf.hear(7, 2, 0, 6);  // by a port that does not lead there
  EXPECT_THAT(leaf.disbelieved, ElementsAre(0u, 0u, 1u, 1u, 1u, 7u));
  leaf.hear(1, 2, 99, 1);  // ports have rounds of their own
  EXPECT_EQ(leaf.send_packet(), 1);
  EXPECT_EQ(leaf.disbelieved.size(), 6u);
}

TEST(Hula, RoundsWrap) {
  Leaf leaf;
  leaf.hear(0, 2, 100, 0xffffffff);
  leaf.hear(1, 2, 50, 0xffffffff);
  leaf.hear(0, 2, 20, 0);
  EXPECT_EQ(leaf.send_packet(), 0);
  EXPECT_THAT(leaf.disbelieved, IsEmpty());
}

// A forged round far ahead silences the true ones for as long as it is believed itself.
TEST(Hula, WhatWasForgedIsForgotten) {
  Leaf leaf;
  leaf.hear(0, 2, 10, 5);
  leaf.hear(1, 2, 0, 1'000'000'000);
  EXPECT_EQ(leaf.send_packet(), 1);
  leaf.wait(120_us);
  leaf.hear(0, 2, 10, 6);
  leaf.hear(1, 2, 80, 6);
  EXPECT_EQ(leaf.disbelieved.size(), 1u);
  leaf.wait(120_us);
  leaf.hear(0, 2, 10, 7);
  leaf.hear(1, 2, 80, 7);
  EXPECT_EQ(leaf.disbelieved.size(), 1u);
  EXPECT_EQ(leaf.send_packet(), 0);
}

// A spine: ports 0 to 3 lead to leaves 1 to 4.
struct Spine : Node {
  Spine() : Node({to_leaf(1, 1, 0), to_leaf(2, 1, 1), to_leaf(3, 1, 2), to_leaf(4, 1, 3)}) {}
};

TEST(Hula, ASpineTellsTheOtherLeavesOnceARound) {
  Spine spine;
  spine.load(1, 50);
  spine.hear(1, 2, 0, 1);
  EXPECT_THAT(spine.sent, UnorderedElementsAre(Node::Probe{0, 2, 128, 1}, Node::Probe{2, 2, 128, 1},
                                               Node::Probe{3, 2, 128, 1}));
  spine.sent.clear();
  spine.hear(1, 2, 0, 1);
  EXPECT_THAT(spine.sent, IsEmpty());
  EXPECT_THAT(spine.disbelieved, ElementsAre(1u));
  spine.hear(1, 2, 200, 2);
  EXPECT_EQ(spine.sent.size(), 3u);
  EXPECT_EQ(std::get<2>(spine.sent[0]), 200);
}

TEST(Hula, ASpineBeginsNoProbesAndALeafPassesNoneOn) {
  Spine spine;
  spine.poll();
  EXPECT_EQ(spine.deadline(), Instant::never());
  EXPECT_THAT(spine.sent, IsEmpty());
  Leaf leaf;
  leaf.hear(0, 2, 0, 1);
  EXPECT_THAT(leaf.sent, IsEmpty());
}

// In a pod of two leaves, ports 0 and 1, below two cores, ports 2 and 3, which lead to leaf 3.
struct Aggregation : Node {
  Aggregation() : Node({to_leaf(1, 1, 0), to_leaf(2, 1, 1), to_leaf(3, 2, 2)}) {}
};

TEST(Hula, ProbesFromBelowGoEverywhereAndThoseFromAboveDownOnly) {
  Aggregation agg;
  agg.hear(0, 1, 10, 1);
  EXPECT_THAT(agg.sent, UnorderedElementsAre(Node::Probe{1, 1, 10, 1}, Node::Probe{2, 1, 10, 1},
                                             Node::Probe{3, 1, 10, 1}));
  agg.sent.clear();
  agg.hear(2, 3, 40, 1);
  EXPECT_THAT(agg.sent, UnorderedElementsAre(Node::Probe{0, 3, 40, 1}, Node::Probe{1, 3, 40, 1}));
}

TEST(Hula, ABetterOneOfTheSameRoundIsKeptButNotPassedOn) {
  Aggregation agg;
  agg.hear(2, 3, 40, 1);
  agg.sent.clear();
  agg.hear(3, 3, 20, 1);
  EXPECT_THAT(agg.sent, IsEmpty());
  EXPECT_EQ(agg.send_packet(2), 1);
  agg.hear(2, 3, 40, 2);  // no longer the best: not accepted
  EXPECT_THAT(agg.sent, IsEmpty());
  agg.hear(3, 3, 20, 2);
  EXPECT_THAT(agg.sent, UnorderedElementsAre(Node::Probe{0, 3, 20, 2}, Node::Probe{1, 3, 20, 2}));
}

// A valley: leaf 1 lies below, so what a core says of it is wrong.
TEST(Hula, AProbeThatWentDownDoesNotComeUpAgain) {
  Aggregation agg;
  agg.hear(2, 1, 0, 1);
  agg.hear(1, 3, 0, 1);
  EXPECT_THAT(agg.sent, IsEmpty());
  EXPECT_THAT(agg.disbelieved, ElementsAre(2u, 1u));
  EXPECT_EQ(agg.send_packet(0), 0);
}

// What another shard heard is believed, and passed on there.
TEST(Hula, OneShardPassesOn) {
  Aggregation agg;
  agg.hear(2, 3, 40, 1, /*here=*/false);
  EXPECT_EQ(agg.send_packet(2), 0);
  agg.hear(3, 3, 20, 1);
  EXPECT_THAT(agg.sent, IsEmpty()) << "this round went on there";
  agg.hear(3, 9, 20, 1, /*here=*/false);
  EXPECT_THAT(agg.disbelieved, IsEmpty()) << "counted there";
}

TEST(Hula, ALeafProbesOncePerPeriodByEachOfItsPorts) {
  Leaf leaf;
  leaf.not_ours = PortId(3);
  leaf.poll();
  ASSERT_EQ(leaf.sent.size(), 3u);
  const auto [port, of, utilisation, round] = leaf.sent[0];
  EXPECT_EQ(of, 1u);
  EXPECT_EQ(utilisation, 0);
  leaf.sent.clear();
  leaf.poll();
  EXPECT_THAT(leaf.sent, IsEmpty());
  const Instant next = leaf.deadline();
  EXPECT_GT(next, leaf.now());
  EXPECT_LE(next, leaf.now() + 80_us);
  leaf.wait(next - leaf.now());
  leaf.poll();
  EXPECT_THAT(leaf.sent,
              UnorderedElementsAre(Node::Probe{0, 1, 0, round + 1}, Node::Probe{1, 1, 0, round + 1},
                                   Node::Probe{2, 1, 0, round + 1}));
  EXPECT_EQ(leaf.deadline(), next + 80_us);
  leaf.wait(1_ms);  // late: rounds are left out, not caught up
  leaf.sent.clear();
  leaf.poll();
  EXPECT_EQ(leaf.sent.size(), 3u);
  EXPECT_EQ(std::get<3>(leaf.sent[0]), round + 13);
}

TEST(Hula, LeavesDoNotProbeAllAtOnce) {
  std::set<Instant> begin;
  for (const size_t number : {1u, 2u, 17u, 33u}) {
    Node leaf({to_leaf(40, 2, 0)}, LeafId(number));
    leaf.poll();
    begin.insert(leaf.deadline());
  }
  EXPECT_EQ(begin.size(), 4u);
}

TEST(Hula, RoundsAndWhatIsBelievedOutliveARebase) {
  for (const auto way : {Rebase::Way::back, Rebase::Way::forward}) {
    Leaf leaf;
    if (way == Rebase::Way::back) leaf.wait(Rebase::kPeriod);
    leaf.poll();
    const uint32_t round = std::get<3>(leaf.sent[0]);
    leaf.hear(3, 2, 0, 1);
    const Duration rest = leaf.deadline() - leaf.now();
    leaf.rebase(Rebase(way));
    EXPECT_EQ(leaf.deadline() - leaf.now(), rest);
    leaf.sent.clear();
    leaf.wait(rest);
    leaf.poll();
    EXPECT_EQ(std::get<3>(leaf.sent[0]), round + 1);
    EXPECT_EQ(leaf.send_packet(), 3);
    leaf.wait(240_us);
    EXPECT_EQ(leaf.members_of(200).size(), 4u);
  }
}

// RLB asks for another member than the best one: the one that was heard to be least full.
TEST(Hula, UnderRlbTheNextBestIsTheLeastFullOfTheOthers) {
  Leaf leaf({}, {.rlb = true});
  WarningTable warnings(leaf.world().sets(), kMaxPorts);
  leaf.warnings = &warnings;
  leaf.hear(0, 2, 10, 1);
  leaf.hear(1, 2, 90, 1);
  leaf.hear(2, 2, 50, 1);
  leaf.hear(3, 2, 40, 1);
  leaf.load(3, 30);  // 76 of 256
  for (const MemberIndex expected : {0, 2, 3}) {
    EXPECT_EQ(leaf.send_packet(), expected);
    (void)warnings.mark({.port = PortId(expected),
                         .leaf = LeafId(2),
                         .queue = QueueId(3),
                         .severity = 20,
                         .sequence = 1,
                         .source = 100u + expected,
                         .origin = 200u + expected,
                         .expiry = kStart + 1_s});
  }
}

}  // namespace
}  // namespace eddy::lb
