// Frames of every kind that an agent makes: lost, doubled, reordered, forged, stale, cut off, and
// too many. None does more than to be counted, but what the agent itself believes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "net/random.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/paths/agent_host.h"
#include "tests/support/manual_io.h"
#include "tests/unit/dataplane/agents/agent_rig.h"

namespace eddy::test {
namespace {

using lb::HeardFrame;
using lb::Voice;

constexpr LeafId kUs(1);
constexpr LeafId kThem(2);
constexpr size_t kHost = 0;
constexpr size_t kUplink = 1;
constexpr std::array kKinds = {ShimKind::probe,       ShimKind::notify,     ShimKind::clear,
                               ShimKind::flowcut_ack, ShimKind::hula_probe, ShimKind::flow_xoff,
                               ShimKind::flow_xon};

Frame control_frame(const ShimControl& message) {
  Frame frame(128);
  size_t length = encode(EthernetHeader{host_mac(1, 1), host_mac(9, 9), kEtherTypeShim}, frame);
  length += encode(message, Octets(frame).subspan(length));
  frame.resize(pad_frame(frame, length));
  return frame;
}

// A leaf with one uplink to one other leaf, whose agent hears all kinds.
struct Rig : ForgetsTalks {
  explicit Rig(const char* scheme = "talker") : rig(leaf(scheme)) { rig.run_for(10_us); }

  static config::SwitchConfig leaf(const char* scheme) {
    config::SwitchConfig config = leaf_spine({.leaves = 2, .spines = 1, .hosts = 1}).leaves[0];
    config.load_balancer.scheme = scheme;
    config.path_service = {.common_clock = true, .base_rtt = 8_us, .probe = Duration{}};
    return config;
  }
  static ShimControl of(ShimKind kind, LeafId from = kThem, LeafId to = kUs) {
    return {.shim = {.kind = kind, .source_leaf = from, .destination_leaf = to}};
  }
  Talk& talk() { return test::talk(rig.config.id); }
  uint64_t count(PortCounter which) { return test::count(rig.object(), kUplink, which); }
  void hear(const Frame& frame) {
    rig.inject(kUplink, frame);
    rig.run_for(100_ns);
  }
  OneSwitch rig;
};

class Forged : public testing::TestWithParam<ShimKind> {};

TEST_P(Forged, AFrameInOurNameOrOfALeafWeDoNotKnowIsNotHeard) {
  Rig rig;
  rig.hear(control_frame(Rig::of(GetParam(), kUs)));
  rig.hear(control_frame(Rig::of(GetParam(), LeafId(77))));
  EXPECT_EQ(rig.count(PortCounter::agent_frames_forged), 2u);
  EXPECT_TRUE(rig.talk().frames.empty());
  rig.hear(control_frame(Rig::of(GetParam())));
  EXPECT_EQ(rig.talk().frames.size(), 1u);
  EXPECT_EQ(rig.count(PortCounter::agent_frames_heard), 1u);
  EXPECT_EQ(rig.count(PortCounter::agent_frames_unspoken), 0u);
  EXPECT_EQ(leftovers(rig.rig.object()), "");
}

TEST_P(Forged, FromAHostNothingIsHeard) {
  Rig rig;
  rig.rig.inject(kHost, control_frame(Rig::of(GetParam())));
  rig.rig.run_for(1_us);
  EXPECT_TRUE(rig.talk().frames.empty());
  EXPECT_EQ(drops(rig.rig.object(), DropReason::control_on_host_port), 1u);
}

TEST_P(Forged, WithoutItsBodyOrOfAnotherVersionItIsMalformed) {
  Rig rig;
  Frame sound = control_frame(Rig::of(GetParam()));
  Frame version = sound;
  version[14] = static_cast<uint8_t>(0x20 | static_cast<uint8_t>(GetParam()));
  rig.hear(version);
  EXPECT_EQ(drops(rig.rig.object(), DropReason::shim_bad_version), 1u);
  Frame big = sound;
  big.resize(200);
  rig.hear(big);
  uint64_t malformed = 1;
  if (GetParam() != ShimKind::probe) {  // which has none
    Frame cut = sound;
    cut.resize(14 + kShimHeader + 2);
    rig.hear(cut);
    ++malformed;
  }
  EXPECT_EQ(drops(rig.rig.object(), DropReason::control_malformed), malformed);
  EXPECT_TRUE(rig.talk().frames.empty());
}

TEST_P(Forged, ASchemeThatDoesNotListenIsNotTold) {
  Rig rig("modest");
  rig.hear(control_frame(Rig::of(GetParam())));
  EXPECT_EQ(rig.talk().calls, 0);
  EXPECT_EQ(rig.count(PortCounter::consumed_packets), 1u);
  EXPECT_EQ(rig.count(PortCounter::agent_frames_heard), 0u);
  const bool measures = GetParam() == ShimKind::probe;  // which is the path service's to answer
  EXPECT_EQ(rig.count(PortCounter::agent_frames_unspoken), measures ? 0u : 1u);
}

TEST_P(Forged, WhatNobodyHereSpeaksIsUsedUpAndCounted) {
  Rig rig("quiet");
  rig.hear(control_frame(Rig::of(GetParam())));
  EXPECT_EQ(rig.talk().calls, 0);
  EXPECT_EQ(rig.count(PortCounter::consumed_packets), 1u);
  EXPECT_EQ(rig.count(PortCounter::agent_frames_unspoken), 1u);
  EXPECT_EQ(leftovers(rig.rig.object()), "");
}

TEST_P(Forged, OfAStormAPollHearsSoMuchAndNoMore) {
  const config::SwitchConfig config = Rig::leaf("talker");
  auto object = std::move(*Switch::create(config, {}));
  PacketPool pool(1'000);
  ManualIo io(pool);
  for (size_t port = 0; port < config.ports.size(); ++port)
    io.links.push_back({PortId(port), true});
  object->shard(ShardId(0)).poll(io, Instant::at(1_us));
  const Frame frame = control_frame(Rig::of(GetParam()));
  for (int i = 0; i < 500; ++i) io.arrive(PortId(kUplink), frame);
  object->shard(ShardId(0)).poll(io, Instant::at(2_us));
  EXPECT_EQ(talk(config.id).frames.size(), size_t{AgentHost::kMostHeard});
  EXPECT_EQ(test::count(*object, kUplink, PortCounter::agent_frames_heard), AgentHost::kMostHeard);
  EXPECT_EQ(test::count(*object, kUplink, PortCounter::agent_frames_unheard),
            500u - AgentHost::kMostHeard);
  EXPECT_EQ(test::count(*object, kUplink, PortCounter::consumed_packets), 500u);
  object.reset();
  forget_talks();
}

INSTANTIATE_TEST_SUITE_P(Kinds, Forged, testing::ValuesIn(kKinds));

class AgentForgery : public testing::Test, ForgetsTalks {};

// The agent decides what is old, by numbers of its own; the host counts it.
TEST_F(AgentForgery, WhatAnAgentKnowsToBeOldIsCounted) {
  AgentRig rig;
  rig.run_for(5_us);
  uint32_t newest = 0;
  std::vector<uint32_t> believed;
  rig.of_leaf(1).on_frames = [&](Voice& voice, std::span<HeardFrame> burst) {
    for (const HeardFrame& frame : burst) {
      if (frame.message.value <= newest) {
        voice.disbelieve(frame.port);
        continue;
      }
      newest = frame.message.value;
      believed.push_back(newest);
    }
  };
  rig.speak(rig.of_leaf(0), [](Voice& voice) {
    for (const uint32_t value : {2u, 1u, 2u, 3u, 3u})  // reordered and doubled
      EXPECT_TRUE(voice.send({.message = {.shim = {.kind = ShimKind::notify}, .value = value}}));
  });
  EXPECT_THAT(believed, testing::ElementsAre(2, 3));
  EXPECT_EQ(rig.count(1, PortCounter::agent_frames_stale), 3u);
}

// Lost on the way: nobody waits for it.
TEST_F(AgentForgery, AFrameThatIsLostHoldsNothing) {
  AgentRig rig({.spine_count = 1});
  rig.run_for(5_us);
  rig.fabric.set_link(rig.spines[0], PortId(1), false);
  rig.speak(rig.of_leaf(0), [](Voice& voice) {
    EXPECT_TRUE(voice.send({.message = {.shim = {.kind = ShimKind::notify}, .value = 1}}));
  });
  EXPECT_TRUE(rig.of_leaf(1).frames.empty());
  EXPECT_EQ(leftovers(rig.spine(0)), "");
  EXPECT_EQ(leftovers(rig.leaf(0)), "");
  EXPECT_EQ(drops(rig.spine(0), DropReason::no_live_path), 1u);
}

TEST_F(AgentForgery, AFrameGoesRoundNoMoreThanSoManySwitches) {
  Rig rig;
  ShimControl message = Rig::of(ShimKind::notify, kThem, kThem);
  message.shim.hop_count = ControlFrames::kMostHops;
  rig.hear(control_frame(message));
  EXPECT_EQ(drops(rig.rig.object(), DropReason::ttl_expired), 1u);
  message.shim.destination_leaf = LeafId(99);
  rig.hear(control_frame(message));
  EXPECT_EQ(drops(rig.rig.object(), DropReason::no_route), 1u);
}

// A report may name a place that no path has.
TEST_F(AgentForgery, AReportOfAPlaceThatIsNoneIsNotWritten) {
  AgentRig rig;
  rig.run_for(5_us);
  rig.of_leaf(0).dress = [](Voice&, std::span<lb::Dressing> burst) {
    for (lb::Dressing& dressing : burst) {
      dressing.fields.written = lb::kFieldReport;
      dressing.fields.report_place = 200;
      dressing.fields.report_load = 255;
    }
  };
  rig.send(0);
  rig.run_for(20_us);
  ASSERT_EQ(rig.of_leaf(1).arrivals.size(), 1u);
  EXPECT_EQ(rig.of_leaf(1).arrivals[0].shim.flags & kShimFeedback, 0);
  EXPECT_EQ(rig.of_leaf(1).arrivals[0].shim.feedback_congestion, 0);
}

// Any octets in a shim's place: the switch keeps its promises, whatever the agent makes of them.
TEST_F(AgentForgery, AnyOctetsAreBorne) {
  Rig rig;
  rig.talk().on_frames = [](Voice& voice, std::span<HeardFrame> burst) {
    for (HeardFrame& frame : burst) {
      frame.stops = (frame.message.value & 1) != 0;
      (void)voice.send({.message = frame.message, .path = {0, 0}});
      (void)voice.send({.message = frame.message, .by_path = false, .port = frame.port});
    }
  };
  RandomStream random(7, 0, 0);
  for (int i = 0; i < 20'000; ++i) {
    Frame frame = control_frame(Rig::of(kKinds[static_cast<size_t>(i) % kKinds.size()]));
    for (int n = 0; n < 4; ++n) {
      const uint32_t draw = random.next();
      frame[14 + draw % 52] = static_cast<uint8_t>(draw >> 24);
    }
    rig.rig.inject(kUplink, frame);
    if (i % 16 == 0) rig.rig.run_for(1_us);
  }
  rig.rig.run_for(1_ms);
  EXPECT_TRUE(rig.rig.object().balance().holds());
  EXPECT_EQ(leftovers(rig.rig.object()), "");
}

}  // namespace
}  // namespace eddy::test
