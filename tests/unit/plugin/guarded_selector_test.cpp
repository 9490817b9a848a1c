#include "plugin/guarded_selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <vector>

#include "lb/registry.h"
#include "tests/support/paths.h"

namespace eddy::plugin {
namespace {

using lb::MemberIndex;
using lb::PathView;
using namespace eddy::literals;

// Takes the first path, and throws where it is told to.
class Thrower final : public lb::Selector {
 public:
  struct Orders {
    int calls = 0;
    bool throws = false;
    bool in_the_middle = false;  // of a burst, whose first packet is in the loop
  };
  explicit Thrower(Orders& orders) : orders_(orders) {}

  void select(const PathView& view, std::span<Packet* const> burst,
              std::span<const uint16_t>) override {
    if (orders_.in_the_middle) view.report_away(0);
    act();
    for (Packet* packet : burst) packet->member = 0;
  }
  MemberIndex again(const PathView&, Packet&, uint16_t, lb::Trip&) override {
    act();
    return 0;
  }
  void follow(const PathView&, Packet& packet, uint16_t, MemberIndex member) override {
    act();
    packet.member = member;
  }
  lb::FlowTableUse flow_table(Instant, size_t, size_t) override {
    act();
    return {.places = 8, .used = 1};
  }
  lb::PathAgent* agent() override { return &agent_; }
  lb::FlowStage* stage(lb::StagePlace) override { return nullptr; }
  void rebase(const Rebase&) override { act(); }

 private:
  class Agent final : public lb::PathAgent {
   public:
    explicit Agent(Thrower& thrower)
        : PathAgent({.timers = true, .line_percent = 7}), thrower_(thrower) {}
    Instant next_deadline() const override {
      thrower_.act();
      return Instant{} + 5_us;
    }
    void on_timers(lb::Voice&) override { thrower_.act(); }
    void dress(lb::Voice&, std::span<lb::Dressing> burst) override {
      burst[0].fields.written = lb::kFieldEpoch;
      thrower_.act();
    }
    void arrived(lb::Voice&, std::span<const lb::Arrival>) override { thrower_.act(); }
    void on_feedback(lb::Voice&, std::span<const lb::Feedback>) override { thrower_.act(); }
    void on_frames(lb::Voice&, std::span<lb::HeardFrame>) override { thrower_.act(); }
    void on_replies(lb::Voice&, std::span<const lb::Reply>) override { thrower_.act(); }

   private:
    Thrower& thrower_;
  };

  void act() {
    ++orders_.calls;
    if (orders_.throws || orders_.in_the_middle) throw std::runtime_error("out of ideas");
  }
  Orders& orders_;
  Agent agent_{*this};
};

// Nothing of it is called here.
class NoVoice final : public lb::Voice {
 public:
  explicit NoVoice(const PathView& view) : view_(view) {}
  PathView view() override { return view_; }
  LeafId leaf() const override { return LeafId::none(); }
  lb::PathTable* paths() override { return nullptr; }
  bool is_own_set(uint16_t) const override { return false; }
  bool owns(lb::PathKey) const override { return false; }
  bool wants_answer(lb::PathKey) const override { return false; }
  bool stamps_prove() const override { return false; }
  void wake_others() override {}
  Duration proof_lag() const override { return {}; }
  bool send(const lb::Utterance&) override { return false; }
  void disbelieve(PortId) override {}

 private:
  PathView view_;
};

class Guarded : public testing::Test {
 protected:
  static constexpr size_t kPackets = 8;

  Guarded() {
    for (size_t i = 0; i < kPackets; ++i) packets_.push_back(lb::test::make_packet(i));
    for (Packet& packet : packets_) burst_.push_back(&packet);
    sets_.resize(kPackets);
    guarded_ =
        std::make_unique<GuardedSelector>(std::make_unique<Thrower>(orders_), init_, trouble_);
    ecmp_ = std::move(*lb::make_selector("ecmp", init_));
  }
  PathView select() {
    const PathView view = paths_.view();
    guarded_->select(view, burst_, sets_);
    return view;
  }
  std::vector<int> members() const {
    std::vector<int> out;
    for (const Packet& packet : packets_) out.push_back(packet.member);
    return out;
  }
  std::vector<int> of_ecmp() {
    std::vector<Packet> copies = packets_;
    std::vector<Packet*> burst;
    for (Packet& packet : copies) burst.push_back(&packet);
    ecmp_->select(paths_.view(), burst, sets_);
    std::vector<int> out;
    for (const Packet& packet : copies) out.push_back(packet.member);
    return out;
  }

  lb::test::Paths paths_{{lb::test::make_set(8)}};
  const lb::ParameterMap none_;
  const lb::SelectorInit init_{
      .sets = paths_.sets(), .seed = 5, .parameters = none_, .lines = paths_.lines()};
  Thrower::Orders orders_;
  config::SchemeTrouble trouble_;
  std::vector<Packet> packets_;
  std::vector<Packet*> burst_;
  std::vector<uint16_t> sets_;
  std::unique_ptr<GuardedSelector> guarded_;
  std::unique_ptr<lb::Selector> ecmp_;
};

TEST_F(Guarded, WhileAllIsWellTheSchemeChooses) {
  const PathView view = select();
  EXPECT_EQ(members(), std::vector<int>(kPackets, 0));
  EXPECT_EQ(view.away(), 0u);
  EXPECT_EQ(view.fallback(), 0u);
  EXPECT_EQ(guarded_->flow_table({}, 0, 4).places, 8u);
  EXPECT_EQ(trouble_.selectors, 0u);
}

TEST_F(Guarded, AfterAnExceptionAllGoByEcmp) {
  orders_.throws = true;
  const PathView first = select();
  EXPECT_EQ(members(), of_ecmp());
  EXPECT_THAT(members(), testing::Contains(testing::Ne(0)));
  EXPECT_EQ(first.fallback(), kPackets);
  EXPECT_TRUE(first.failed());
  EXPECT_NE(first.away(), 0u) << "nobody would ask";
  EXPECT_EQ(first.away() & 0xff, 0u) << "but no packet is in the loop";
  EXPECT_EQ(trouble_.selectors, 1u);
  EXPECT_TRUE(trouble_.written);
  EXPECT_STREQ(trouble_.what.data(), "out of ideas");

  orders_.throws = false;  // it is not asked again, whatever it would say
  const PathView second = select();
  EXPECT_EQ(members(), of_ecmp());
  EXPECT_EQ(orders_.calls, 1);
  EXPECT_FALSE(second.failed()) << "said once";
  EXPECT_EQ(second.fallback(), kPackets);
  guarded_.reset();
  EXPECT_EQ(trouble_.selectors, 0u) << "one that is gone sends nothing by ecmp";
}

TEST_F(Guarded, PacketsChosenForHaveTheirPortAndPath) {
  orders_.throws = true;
  (void)select();
  for (const Packet& packet : packets_) {
    const lb::PathMember& member = paths_.sets()[0].members[packet.member];
    EXPECT_EQ(packet.egress_port, member.port);
    EXPECT_EQ(packet.path, member.path);
  }
}

TEST_F(Guarded, APacketThatIsInTheLoopAlreadyIsLeftThere) {
  orders_.in_the_middle = true;
  packets_[0].member = 99;
  const PathView view = select();
  EXPECT_EQ(packets_[0].member, 99);
  EXPECT_EQ(view.away() & 0xff, 1u);
  EXPECT_EQ(view.fallback(), kPackets - 1);
}

TEST_F(Guarded, EveryFunctionIsGuarded) {
  orders_.throws = true;
  lb::Trip trip;
  const PathView view = paths_.view();
  (void)guarded_->flow_table({}, 0, 4);
  EXPECT_EQ(trouble_.selectors, 1u);
  // Said with the next packets, which go by ecmp.
  const MemberIndex member = guarded_->again(view, packets_[0], 0, trip);
  EXPECT_EQ(member, of_ecmp()[0]);
  EXPECT_EQ(packets_[0].member, member);
  EXPECT_TRUE(view.failed());
  guarded_->follow(view, packets_[1], 0, 3);
  EXPECT_EQ(packets_[1].member, 3) << "behind those of its flow";
  EXPECT_EQ(view.fallback(), 2u);
  guarded_->rebase({});
  EXPECT_EQ(guarded_->flow_table({}, 0, 4).places, 0u);
  EXPECT_EQ(orders_.calls, 1);
}

TEST_F(Guarded, ItsAgentSpeaksUntilItThrows) {
  NoVoice voice(paths_.view());
  std::array<lb::Dressing, 1> dressed;
  const auto call_all = [&](lb::PathAgent& agent) {
    agent.on_timers(voice);
    agent.dress(voice, dressed);
    agent.arrived(voice, {});
    agent.on_feedback(voice, {});
    agent.on_frames(voice, {});
    agent.on_replies(voice, {});
  };
  lb::PathAgent& agent = *guarded_->agent();
  EXPECT_EQ(agent.speech().line_percent, 7);
  EXPECT_EQ(agent.next_deadline(), Instant{} + 5_us);
  call_all(agent);
  EXPECT_EQ(orders_.calls, 7);
  EXPECT_EQ(dressed[0].fields.written, lb::kFieldEpoch);
  orders_.throws = true;
  agent.dress(voice, dressed);
  EXPECT_EQ(dressed[0].fields.written, 0) << "not half dressed";
  EXPECT_EQ(trouble_.selectors, 1u);
  call_all(agent);
  EXPECT_EQ(agent.next_deadline(), Instant::never());
  EXPECT_EQ(orders_.calls, 8);
  (void)select();
  EXPECT_EQ(members(), of_ecmp()) << "what its agent heard is lost to it";
}

TEST_F(Guarded, EachFunctionOfAnAgentCanBeTheFirstToThrow) {
  orders_.throws = true;
  NoVoice voice(paths_.view());
  const std::vector<std::function<void(lb::PathAgent&)>> calls = {
      [&](lb::PathAgent& agent) { EXPECT_EQ(agent.next_deadline(), Instant::never()); },
      [&](lb::PathAgent& agent) { agent.on_timers(voice); },
      [&](lb::PathAgent& agent) { agent.arrived(voice, {}); },
      [&](lb::PathAgent& agent) { agent.on_feedback(voice, {}); },
      [&](lb::PathAgent& agent) { agent.on_frames(voice, {}); },
      [&](lb::PathAgent& agent) { agent.on_replies(voice, {}); }};
  for (const auto& call : calls) {
    GuardedSelector fresh(std::make_unique<Thrower>(orders_), init_, trouble_);
    call(*fresh.agent());
    EXPECT_EQ(trouble_.selectors, 1u);
  }
  EXPECT_EQ(orders_.calls, 6);
}

TEST_F(Guarded, EachFunctionCanBeTheFirstToThrow) {
  orders_.throws = true;
  lb::Trip trip;
  const PathView view = paths_.view();
  const auto fresh = [&] {
    return GuardedSelector(std::make_unique<Thrower>(orders_), init_, trouble_);
  };
  EXPECT_EQ(fresh().again(view, packets_[0], 0, trip), of_ecmp()[0]);
  fresh().follow(view, packets_[0], 0, 2);
  fresh().rebase({});
  EXPECT_EQ(orders_.calls, 3);
  EXPECT_EQ(trouble_.selectors, 0u);
}

}  // namespace
}  // namespace eddy::plugin
