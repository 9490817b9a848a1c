// Path agents in a fabric: a scheme of the tests that declares everything says and hears all that
// there is, and nothing that it did not declare.
#include "switch/dataplane/paths/agent_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "switch/dataplane/object/shard.h"
#include "tests/support/manual_io.h"
#include "tests/unit/dataplane/agents/agent_rig.h"

namespace eddy::test {
namespace {

using lb::HeardFrame;
using lb::Voice;
using testing::ElementsAre;

lb::Utterance by_path(ShimControl message, lb::MemberIndex member = 0) {
  return {.message = message, .path = {0, member}};
}
ShimControl notify(uint32_t value) {
  return {.shim = {.kind = ShimKind::notify}, .reason = NotifyReason::kicked_out, .value = value};
}
std::vector<uint32_t> values(const std::vector<HeardFrame>& frames) {
  std::vector<uint32_t> out;
  for (const HeardFrame& frame : frames) out.push_back(frame.message.value);
  return out;
}
class Agents : public testing::Test, ForgetsTalks {};

TEST_F(Agents, ATimerIsADeadlineOfTheShardAndIsCalledThen) {
  AgentRig rig;
  rig.run_for(10_us);
  Talk& talk = rig.of_leaf(0);
  std::vector<Instant> called;
  talk.on_timers = [&](Voice& voice) {
    called.push_back(rig.fabric.now());
    if (called.size() < 3) talk.deadline = voice.view().now() + 7_us;
  };
  const Instant first = rig.fabric.now() + 5_us;
  talk.deadline = first;
  rig.fabric.poll(rig.leaves[0]);
  if (rig.fabric.rebase_every == 0) {
    EXPECT_LE(rig.leaf(0).shard(ShardId(0)).next_deadline(), first);
  }
  rig.run_for(100_us);
  ASSERT_EQ(called.size(), 3u);
  EXPECT_EQ(called[1] - called[0], 7_us);
  EXPECT_EQ(called[2] - called[1], 7_us);
}

// Whatever it is asked may set a deadline.
TEST_F(Agents, ADeadlineThatIsSetWhileAPacketIsDressedIsKept) {
  AgentRig rig;
  rig.run_for(10_us);
  Talk& talk = rig.of_leaf(0);
  Instant asked, called;
  talk.dress = [&](Voice& voice, std::span<lb::Dressing>) {
    asked = rig.fabric.now();
    talk.deadline = voice.view().now() + 3_us;
  };
  talk.on_timers = [&](Voice&) { called = rig.fabric.now(); };
  rig.send(0);
  rig.run_for(50_us);
  EXPECT_EQ(called - asked, 3_us);
}

TEST_F(Agents, FieldsOfTheShimArriveAtTheOtherLeaf) {
  AgentRig rig;
  rig.of_leaf(0).dress = [](Voice&, std::span<lb::Dressing> burst) {
    for (lb::Dressing& dressing : burst) {
      EXPECT_EQ(dressing.set, 0);
      EXPECT_LT(dressing.packet->member, 2);
      dressing.fields = {
          .written = lb::kFieldEpoch | lb::kFieldChannel | lb::kFieldDelay | lb::kFieldTail,
          .epoch = 3,
          .tolerable_delay = 1'234,
          .virtual_channel = 2,
          .tail = true,
          .rerouted = true,
          .tail_sent_ns = 77'777};
    }
  };
  rig.send(0);
  rig.run_for(20_us);
  ASSERT_EQ(rig.of_leaf(1).arrivals.size(), 1u);
  const lb::Arrival& arrival = rig.of_leaf(1).arrivals[0];
  EXPECT_EQ(arrival.set, 0);
  EXPECT_TRUE(arrival.fresh);
  EXPECT_LT(arrival.place, 2);
  const Shim& shim = arrival.shim;
  EXPECT_EQ(shim.source_leaf, LeafId(1));
  EXPECT_EQ(shim.epoch, 3);
  EXPECT_EQ(shim.virtual_channel, 2);
  EXPECT_EQ(shim.tolerable_delay, 1'234);
  EXPECT_EQ(shim.hold_ns, 77'777u);
  EXPECT_EQ(shim.flags & (kShimTail | kShimRerouted | kShimTolerableDelay),
            kShimTail | kShimRerouted | kShimTolerableDelay);
  EXPECT_EQ(shim.hop_count, 1) << "the spine's count stands beside epoch and channel";
  EXPECT_EQ(rig.hosts[1]->received.size(), 1u);
  EXPECT_EQ(rig.hosts[1]->received[0].wire_len, 1000u);
}

// A burst of four packets of one flow that come at once; octets 12, and 14 and 15 of their shims.
std::vector<uint32_t> said_in_burst(const config::SwitchConfig& config, uint64_t& undeclared) {
  PacketPool pool{64, 512};
  ManualIo io(pool);
  auto made = Switch::create(config, {.shards = 1});
  EXPECT_TRUE(made.ok());
  Switch& object = **made;
  for (size_t port = 0; port < config.ports.size(); ++port)
    io.links.push_back({PortId(port), true});
  object.shard(ShardId(0)).poll(io, Instant::at(1_ms));
  for (int i = 0; i < 4; ++i)
    io.arrive(PortId(0), udp_frame({.destination_mac = port_mac(config, 0),
                                    .source_mac = host_mac(1, 1),
                                    .source = host_ip(1, 1),
                                    .destination = host_ip(2, 1)}));
  std::vector<uint32_t> said;
  for (int64_t us = 1; us < 20; ++us) {
    const Instant now = Instant::at(1_ms) + Duration::microseconds(us);
    io.complete(now);
    object.shard(ShardId(0)).poll(io, now);
  }
  for (const Sent& sent : io.sent)
    if (sent.frame.size() > kEthernetHeader + kShimHeader)
      said.push_back(uint32_t{sent.frame[kEthernetHeader + 12]} << 16 |
                     load_be16(sent.frame.data() + kEthernetHeader + 14));
  undeclared = count(object, 0, PortCounter::agent_undeclared);
  for (size_t port = 1; port < config.ports.size(); ++port)
    undeclared += count(object, port, PortCounter::agent_undeclared);
  return said;
}

TEST_F(Agents, WhatIsSaidBrieflyIsInEachShimOfABurst) {
  config::SwitchConfig config = leaf_spine({.leaves = 2, .spines = 1, .hosts = 1}).leaves[0];
  config.load_balancer.scheme = "modest";
  Talk& talk = test::talk(config.id);
  int asked = 0;
  talk.dress = [&](Voice&, std::span<lb::Dressing> burst) {
    ++asked;
    for (lb::Dressing& dressing : burst)
      dressing.fields = {.written = lb::kFieldEpoch | lb::kFieldDelay, .epoch = 2};
  };
  talk.dress_briefly = [](std::span<uint32_t> briefs) {
    for (size_t i = 0; i < 4; ++i) briefs[i] = lb::brief_epoch(static_cast<unsigned>(i));
  };
  uint64_t undeclared = 0;
  EXPECT_THAT(said_in_burst(config, undeclared), ElementsAre(0xffff, 0x1ffff, 0x2ffff, 0x3ffff));
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(undeclared, 0u);
  // What it did not declare is nowhere, and it is asked in full, where that is counted.
  talk.dress_briefly = [](std::span<uint32_t> briefs) { briefs[3] = lb::brief_delay(7); };
  EXPECT_THAT(said_in_burst(config, undeclared), ElementsAre(0x2ffff, 0x2ffff, 0x2ffff, 0x2ffff));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(undeclared, 4u);
}

TEST_F(Agents, WhatIsNotWrittenIsAsWithoutAnAgent) {
  AgentRig rig;
  rig.send(0);
  rig.run_for(20_us);
  ASSERT_EQ(rig.of_leaf(1).arrivals.size(), 1u);
  const Shim& shim = rig.of_leaf(1).arrivals[0].shim;
  EXPECT_EQ(shim.epoch | shim.virtual_channel, 0);
  EXPECT_EQ(shim.tolerable_delay, kShimUnlimitedDelay);
  EXPECT_EQ(shim.flags & ~(kShimPinned | kShimRttRequest | kShimSampled), 0);
}

TEST_F(Agents, AFieldThatWasNotDeclaredIsNotWrittenAndCounted) {
  AgentRig rig({.leaves = "modest"});
  rig.of_leaf(0).dress = [](Voice&, std::span<lb::Dressing> burst) {
    for (lb::Dressing& dressing : burst)
      dressing.fields = {.written = lb::kFieldEpoch | lb::kFieldDelay | lb::kFieldReport,
                         .epoch = 1,
                         .tolerable_delay = 1};
  };
  rig.send(0);
  rig.run_for(20_us);
  EXPECT_EQ(rig.count(0, PortCounter::agent_undeclared), 1u);
  EXPECT_TRUE(rig.of_leaf(1).arrivals.empty()) << "nor is it told what it did not ask for";
  EXPECT_EQ(rig.hosts[1]->received.size(), 1u);
  config::SwitchConfig listener = rig.shape.leaves[1];
  listener.load_balancer.scheme = "talker";
  ASSERT_TRUE(rig.leaf(1).reconfigure(listener).ok());
  rig.run_for(1_us);
  rig.send(0);
  rig.run_for(20_us);
  ASSERT_EQ(rig.of_leaf(1).arrivals.size(), 1u);
  EXPECT_EQ(rig.of_leaf(1).arrivals[0].shim.epoch, 1);
  EXPECT_EQ(rig.of_leaf(1).arrivals[0].shim.tolerable_delay, kShimUnlimitedDelay);
}

// A report names a place that arrivals were told of; what was counted of its path goes with it.
TEST_F(Agents, AReportIsFeedbackAtTheOtherEnd) {
  AgentRig rig({.spine_count = 1});
  rig.run_for(5_us);
  rig.of_leaf(1).dress = [&](Voice&, std::span<lb::Dressing> burst) {
    for (lb::Dressing& dressing : burst) {
      if (!dressing.may_report) continue;
      const lb::Arrival& last = rig.of_leaf(1).arrivals.back();
      dressing.fields.written = lb::kFieldReport;
      dressing.fields.report_place = last.place;
      dressing.fields.report_path = last.shim.path;
      dressing.fields.report_load = 99;
    }
  };
  rig.send(0);
  rig.run_for(20_us);  // and its echo
  rig.of_leaf(0).feedback.clear();
  rig.send(1);
  rig.run_for(20_us);
  ASSERT_EQ(rig.of_leaf(0).feedback.size(), 2u);
  const lb::Feedback& load = rig.of_leaf(0).feedback[0];
  EXPECT_EQ(load.kind, lb::kFeedbackLoad);
  EXPECT_EQ(load.value, 99u);
  EXPECT_EQ(load.key.set, 0);
  EXPECT_EQ(load.key.member, 0);
  EXPECT_EQ(rig.of_leaf(0).feedback[1].kind, lb::kFeedbackMarks);
  EXPECT_EQ(rig.record(0, 0).congestion, 0) << "whoever asks for loads keeps them";
}

TEST_F(Agents, AnEchoBringsDelayLoadAndMarks) {
  AgentRig rig({.spine_count = 1});
  rig.run_for(5_us);
  rig.send(0);
  rig.run_for(20_us);
  std::vector<lb::FeedbackKind> kinds;
  for (const lb::Feedback& told : rig.of_leaf(0).feedback) kinds.push_back(told.kind);
  EXPECT_THAT(kinds, ElementsAre(lb::kFeedbackDelay, lb::kFeedbackLoad, lb::kFeedbackMarks));
  EXPECT_GT(rig.of_leaf(0).feedback[0].value, 3'000u) << "three cables, in ns";
}

// TAIL's time stands where an echo's wait does: the echo goes by a later packet.
TEST_F(Agents, ATailPutsAnEchoOff) {
  AgentRig rig({.spine_count = 1});
  rig.run_for(5_us);
  int tails = 1;
  rig.of_leaf(1).dress = [&](Voice&, std::span<lb::Dressing> burst) {
    for (lb::Dressing& dressing : burst)
      if (tails-- > 0) dressing.fields = {.written = lb::kFieldTail, .tail = true};
  };
  rig.send(0);
  rig.run_for(4_us);  // it has arrived, and its echo waits
  const size_t heard = rig.of_leaf(0).feedback.size();
  rig.send(1);
  rig.send(1);
  rig.run_for(5_us);
  EXPECT_EQ(rig.count(1, PortCounter::path_feedback_frames), 0u);
  EXPECT_GT(rig.of_leaf(0).feedback.size(), heard);
  ASSERT_EQ(rig.of_leaf(0).arrivals.size(), 2u);
  EXPECT_EQ(rig.of_leaf(0).arrivals[0].shim.flags & (kShimTail | kShimRttEcho), kShimTail);
  EXPECT_EQ(rig.of_leaf(0).arrivals[1].shim.flags & (kShimTail | kShimRttEcho), kShimRttEcho);
  EXPECT_EQ(rig.count(0, PortCounter::path_samples), 1u);
}

// Every kind, with its body.
TEST_F(Agents, FramesOfEveryKindAreHeardAtTheirLeaf) {
  AgentRig rig;
  rig.run_for(5_us);
  ShimControl told = notify(7);
  told.shim.path = PathId(0x0102);
  const ShimControl clear{.shim = {.kind = ShimKind::clear, .epoch = 2}, .order_hash = 0x1122};
  const ShimControl ack{
      .shim = {.kind = ShimKind::flowcut_ack}, .value = 1'000, .order_hash = 0x3344};
  rig.speak(rig.of_leaf(0), [&](Voice& voice) {
    EXPECT_EQ(voice.leaf(), LeafId(1));
    for (const ShimControl& message : {told, clear, ack}) EXPECT_TRUE(voice.send(by_path(message)));
    EXPECT_TRUE(voice.send(by_path(notify(8), 1)));
  });
  const std::vector<HeardFrame>& heard = rig.of_leaf(1).frames;
  ASSERT_EQ(heard.size(), 4u);
  EXPECT_EQ(heard[0].message.reason, NotifyReason::kicked_out);
  EXPECT_EQ(heard[0].message.shim.source_leaf, LeafId(1));
  EXPECT_EQ(heard[0].message.shim.path, PathId(0x0102));
  for (const HeardFrame& frame : heard) {
    EXPECT_TRUE(frame.here && frame.for_us);
    if (frame.message.shim.kind == ShimKind::clear) {
      EXPECT_EQ(frame.message.order_hash, 0x1122u);
      EXPECT_EQ(frame.message.shim.epoch, 2);
    }
    if (frame.message.shim.kind == ShimKind::flowcut_ack) {
      EXPECT_EQ(frame.message.order_hash, 0x3344u);
      EXPECT_EQ(frame.message.value, 1'000u);
    }
  }
  EXPECT_EQ(rig.count(0, PortCounter::agent_frames), 4u);
  EXPECT_EQ(rig.count(1, PortCounter::agent_frames_heard), 4u);
  for (size_t l = 0; l < 2; ++l) EXPECT_EQ(leftovers(rig.leaf(l)), "");
}

// By port: to the neighbour, whatever leaf that is, which may send it on; and to a host.
TEST_F(Agents, FramesByPortGoToWhoeverIsThere) {
  AgentRig rig({.spines = "talker"});
  rig.run_for(5_us);
  rig.of_spine(0).on_frames = [](Voice& voice, std::span<HeardFrame> burst) {
    EXPECT_TRUE(voice.leaf().is_none());
    for (const HeardFrame& frame : burst) {  // a flood
      EXPECT_EQ(frame.message.shim.kind, ShimKind::hula_probe);
      EXPECT_TRUE(voice.send({.message = frame.message, .by_path = false, .port = PortId(1)}));
    }
  };
  rig.speak(rig.of_leaf(0), [](Voice& voice) {
    const ShimControl probe{.shim = {.kind = ShimKind::hula_probe},
                            .top_of_rack = 1,
                            .utilisation = 200,
                            .sequence = 5};
    EXPECT_TRUE(voice.send({.message = probe, .by_path = false, .port = PortId(1)}));
    const ShimControl xoff{
        .shim = {.kind = ShimKind::flow_xoff}, .order_hash = 0x99, .hold_us = 50};
    EXPECT_TRUE(voice.send({.message = xoff, .by_path = false, .port = PortId(0)}));
  });
  ASSERT_EQ(rig.of_leaf(1).frames.size(), 1u);
  EXPECT_EQ(rig.of_leaf(1).frames[0].message.sequence, 5u);
  EXPECT_EQ(rig.of_leaf(1).frames[0].message.utilisation, 200);
  ASSERT_EQ(rig.hosts[0]->received.size(), 1u);
  ShimControl got;
  ASSERT_EQ(decode(ConstOctets(rig.hosts[0]->received[0].frame).subspan(14), got),
            CodecVerdict::ok);
  EXPECT_EQ(got.order_hash, 0x99u);
  EXPECT_EQ(got.hold_us, 50);
}

// As PLB's switches do: they are no leaf, and have a path set to each.
TEST_F(Agents, ASwitchThatIsNoLeafTellsALeaf) {
  AgentRig rig({.spines = "sparse", .spine_count = 1});
  rig.run_for(5_us);
  rig.speak(rig.of_spine(0), [&](Voice& voice) {
    const lb::PathView view = voice.view();
    for (uint16_t set = 0; set < view.set_count(); ++set)
      EXPECT_TRUE(voice.send({.message = notify(100u + set), .path = {set, 0}}));
  });
  ASSERT_EQ(rig.of_leaf(0).frames.size(), 1u);
  ASSERT_EQ(rig.of_leaf(1).frames.size(), 1u);
  EXPECT_TRUE(rig.of_leaf(0).frames[0].message.shim.source_leaf.is_none());
  EXPECT_EQ(rig.of_leaf(0).frames[0].message.shim.destination_leaf, LeafId(1));
  EXPECT_NE(rig.of_leaf(0).frames[0].message.value, rig.of_leaf(1).frames[0].message.value);
}

// Shims that the configuration takes away: the agent is not asked for its fields.
TEST_F(Agents, WhereFewerPacketsHaveAShimThanDeclaredItDoesNotSpeakInThem) {
  AgentRig rig;
  config::SwitchConfig config = rig.shape.leaves[0];
  config.path_service.shim = config::ShimUse::sampled;
  ASSERT_TRUE(rig.leaf(0).reconfigure(config).ok());
  int asked = 0;
  rig.of_leaf(0).dress = [&](Voice&, std::span<lb::Dressing>) { ++asked; };
  rig.run_for(20_us);
  rig.send(0);
  rig.run_for(20_us);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(rig.count(0, PortCounter::shim_tx_packets), 1u) << "a stamp was due";
  ASSERT_TRUE(rig.leaf(0).reconfigure(rig.shape.leaves[0]).ok());
  rig.run_for(1_us);
  rig.send(0);
  rig.run_for(20_us);
  EXPECT_EQ(asked, 1);
}

// What comes in by one burst is told, and what goes out by it asked for, at once.
TEST_F(Agents, ABurstIsOneCall) {
  config::SwitchConfig config = leaf_spine({.leaves = 2, .spines = 1, .hosts = 1}).leaves[0];
  config.load_balancer.scheme = "talker";
  auto object = std::move(*Switch::create(config, {}));
  PacketPool pool(100);
  ManualIo io(pool);
  for (size_t port = 0; port < 2; ++port) io.links.push_back({PortId(port), true});
  object->shard(ShardId(0)).poll(io, Instant::at(1_us));
  std::vector<size_t> dressed, told;
  Talk& talk = test::talk(config.id);
  talk.dress = [&](Voice&, std::span<lb::Dressing> burst) { dressed.push_back(burst.size()); };
  talk.on_arrivals = [&](Voice&, std::span<const lb::Arrival> burst) {
    told.push_back(burst.size());
  };
  UdpSpec out{.destination_mac = port_mac(config, 0),
              .source_mac = host_mac(1, 1),
              .source = host_ip(1, 1),
              .destination = host_ip(2, 1)};
  UdpSpec in{.destination_mac = port_mac(config, 1),
             .source_mac = host_mac(9, 9),
             .source = host_ip(2, 1),
             .destination = host_ip(1, 1)};
  const Frame plain = udp_frame(in);
  Frame shimmed(plain.size() + kShimHeader);
  size_t at = encode(EthernetHeader{in.destination_mac, in.source_mac, kEtherTypeShim}, shimmed);
  at += encode(Shim{.source_leaf = LeafId(2),
                    .destination_leaf = LeafId(1),
                    .inner_ethertype = kEtherTypeIpv4},
               Octets(shimmed).subspan(at));
  std::copy(plain.begin() + 14, plain.end(), shimmed.begin() + static_cast<ptrdiff_t>(at));
  for (int i = 0; i < 10; ++i) io.arrive(PortId(0), udp_frame(out));
  for (int i = 0; i < 10; ++i) io.arrive(PortId(1), shimmed);
  object->shard(ShardId(0)).poll(io, Instant::at(2_us));
  EXPECT_THAT(dressed, ElementsAre(10));
  EXPECT_THAT(told, ElementsAre(10));
  object.reset();
}

TEST_F(Agents, ASwitchOnTheWayOverhearsWhatItDeclaredAndMayStopIt) {
  AgentRig rig({.spines = "talker", .spine_count = 1});
  rig.run_for(5_us);
  rig.of_spine(0).on_frames = [](Voice&, std::span<HeardFrame> burst) {
    for (HeardFrame& frame : burst) {
      EXPECT_FALSE(frame.for_us);
      frame.stops = frame.message.value == 2;
    }
  };
  rig.speak(rig.of_leaf(0), [](Voice& voice) {
    for (uint32_t value = 1; value <= 3; ++value) EXPECT_TRUE(voice.send(by_path(notify(value))));
    EXPECT_TRUE(voice.send(by_path({.shim = {.kind = ShimKind::clear}, .value = 9})));
  });
  EXPECT_THAT(values(rig.of_spine(0).frames), ElementsAre(1, 2, 3)) << "clear is not declared";
  EXPECT_THAT(values(rig.of_leaf(1).frames), ElementsAre(1, 3, 0));
  EXPECT_EQ(leftovers(rig.spine(0)), "");
}

TEST_F(Agents, AFrameThatWasNotDeclaredIsNotSentAndCounted) {
  AgentRig rig({.leaves = "sparse"});
  rig.run_for(5_us);
  rig.speak(rig.of_leaf(0), [](Voice& voice) {
    for (const ShimKind kind : {ShimKind::clear, ShimKind::feedback, ShimKind::probe_reply,
                                ShimKind::probe, ShimKind::hula_probe})
      EXPECT_FALSE(voice.send(by_path({.shim = {.kind = kind}})));
    EXPECT_TRUE(voice.send(by_path(notify(1))));
    EXPECT_FALSE(voice.send({.message = notify(1), .path = {7, 0}})) << "no such set";
    EXPECT_FALSE(voice.send({.message = notify(1), .path = {0, 9}})) << "no such member";
    EXPECT_FALSE(voice.send({.message = notify(1), .by_path = false, .port = PortId(77)}));
  });
  EXPECT_EQ(rig.count(0, PortCounter::agent_undeclared), 5u);
  EXPECT_EQ(rig.of_leaf(1).frames.size(), 1u);
  EXPECT_EQ(rig.leaf(0).paths(), nullptr) << "frames need no measured paths";
}

// By PFC, until it is taken back or the agent is gone.
TEST_F(Agents, AnAgentPausesHostsAndNobodyElse) {
  constexpr PriorityGroupId kGroup{3};
  const auto pfc = [](AgentRig& rig, PfcCounter which) {
    return count(rig.leaf(0), 0, Priority(3), which);
  };
  AgentRig rig;
  rig.run_for(5_us);
  rig.speak(rig.of_leaf(0), [&](Voice& voice) {
    EXPECT_TRUE(voice.pause_host(PortId(0), kGroup, true));
    EXPECT_FALSE(voice.pause_host(PortId(1), kGroup, true)) << "a spine is there";
    EXPECT_FALSE(voice.pause_host(PortId(77), kGroup, true));
  });
  EXPECT_EQ(pfc(rig, PfcCounter::pfc_tx_xoff), 1u);
  EXPECT_EQ(pfc(rig, PfcCounter::pfc_tx_xon), 0u);
  rig.speak(rig.of_leaf(0),
            [&](Voice& voice) { EXPECT_TRUE(voice.pause_host(PortId(0), kGroup, false)); });
  EXPECT_EQ(pfc(rig, PfcCounter::pfc_tx_xon), 1u);
  rig.speak(rig.of_leaf(0),
            [&](Voice& voice) { EXPECT_TRUE(voice.pause_host(PortId(0), kGroup, true)); });
  config::SwitchConfig other = rig.shape.leaves[0];
  other.load_balancer.scheme = "ecmp";
  ASSERT_TRUE(rig.leaf(0).reconfigure(other).ok());
  rig.fabric.poll(rig.leaves[0]);
  EXPECT_EQ(pfc(rig, PfcCounter::pfc_tx_xon), 2u);
}

TEST_F(Agents, APauseThatWasNotDeclaredIsNotSentAndCounted) {
  AgentRig rig({.leaves = "sparse"});
  rig.run_for(5_us);
  rig.speak(rig.of_leaf(0), [](Voice& voice) {
    EXPECT_FALSE(voice.pause_host(PortId(0), PriorityGroupId(3), true));
  });
  EXPECT_EQ(rig.count(0, PortCounter::agent_undeclared), 1u);
  EXPECT_EQ(count(rig.leaf(0), 0, Priority(3), PfcCounter::pfc_tx_xoff), 0u);
}

// What is kept for the path service no agent sends, though it declares the kind.
TEST_F(Agents, AnAgentThatTalksTooMuchIsCutShortAndCounted) {
  AgentRig rig;
  rig.run_for(5_us);
  int sent = 0;
  const auto talk_on = [&](Voice& voice) {
    sent = 0;
    for (uint32_t i = 0; i < 1'000; ++i) sent += voice.send(by_path(notify(i))) ? 1 : 0;
  };
  rig.speak(rig.of_leaf(0), talk_on, 200_us);
  EXPECT_EQ(sent, AgentHost::kSendBurst);
  EXPECT_EQ(rig.count(0, PortCounter::agent_over_budget), 1'000u - AgentHost::kSendBurst);
  EXPECT_EQ(rig.count(0, PortCounter::agent_frames), uint64_t{AgentHost::kSendBurst});
  rig.speak(rig.of_leaf(0), talk_on, 10_us);
  // A tenth of 10 Gb/s is a frame of 90 octets each 0.72 us.
  EXPECT_LE(sent, static_cast<int>(AgentHost::kSendBurst));
  rig.speak(rig.of_leaf(0), talk_on, 10_us);
  EXPECT_NEAR(sent, 10 / 0.72, 2);
  // The other port has its own.
  rig.speak(rig.of_leaf(0), [&](Voice& voice) { EXPECT_TRUE(voice.send(by_path(notify(0), 1))); });
}

TEST_F(Agents, ThroughAPortThatIsDownNothingGoes) {
  AgentRig rig;
  rig.run_for(5_us);
  rig.fabric.set_link(rig.leaves[0], PortId(1), false);
  rig.speak(rig.of_leaf(0), [](Voice& voice) {
    EXPECT_FALSE(voice.send(by_path(notify(1), 0)));
    EXPECT_TRUE(voice.send(by_path(notify(2), 1)));
  });
  EXPECT_THAT(values(rig.of_leaf(1).frames), ElementsAre(2));
  EXPECT_EQ(rig.leaf(0).balance().dropped, 0u);
}

// A probe of an agent is a stamp; idle paths are probed by nobody who was not asked to.
TEST_F(Agents, AProbeMeasuresItsPath) {
  AgentRig rig;
  rig.run_for(200_us);
  EXPECT_EQ(rig.count(0, PortCounter::path_probes), 0u);
  EXPECT_FALSE(rig.record(0, 1).known());
  rig.speak(rig.of_leaf(0), [](Voice& voice) {
    EXPECT_TRUE(voice.owns({0, 1}));
    EXPECT_TRUE(voice.is_own_set(0));
    EXPECT_TRUE(voice.send(by_path({.shim = {.kind = ShimKind::probe}}, 1)));
  });
  EXPECT_EQ(rig.count(0, PortCounter::path_probes), 1u);
  EXPECT_TRUE(rig.record(0, 1).known());
  EXPECT_FALSE(rig.record(0, 0).known());
  ASSERT_EQ(rig.of_leaf(1).arrivals.size(), 1u) << "a shim that came in, too";
  EXPECT_EQ(rig.of_leaf(1).arrivals[0].shim.kind, ShimKind::probe);
}

TEST_F(Agents, ASchemeThatDeclaresNothingIsNeverCalled) {
  AgentRig rig({.leaves = "quiet"});
  for (int i = 0; i < 10; ++i) {
    rig.send(0);
    rig.run_for(10_us);
  }
  EXPECT_EQ(rig.hosts[1]->received.size(), 10u);
  EXPECT_EQ(rig.of_leaf(0).calls + rig.of_leaf(1).calls, 0);
}

TEST_F(Agents, UnderRlbTheSchemeSpeaksAsBefore) {
  AgentRig rig({.rlb = true});
  rig.run_for(5_us);
  rig.speak(rig.of_leaf(0), [](Voice& voice) { EXPECT_TRUE(voice.send(by_path(notify(1)))); });
  EXPECT_THAT(values(rig.of_leaf(1).frames), ElementsAre(1));
  rig.run_for(200_us);
  EXPECT_GT(rig.count(0, PortCounter::path_probes) + rig.count(1, PortCounter::path_probes), 0u)
      << "which RLB asks for";
}

// Every shard hears every frame, where it came in first; feedback only the shard of the path's
// port.
TEST_F(Agents, OfSeveralShardsAllHearFramesAndOneItsFeedback) {
  AgentRig rig({.shards = 3});  // port p is shard p's
  rig.run_for(20_us);
  rig.speak(rig.of_leaf(0, 0), [](Voice& voice) {  // of a port of another shard
    EXPECT_FALSE(voice.owns({0, 1}));
    EXPECT_TRUE(voice.send(by_path(notify(1), 1)));
    EXPECT_FALSE(voice.send(by_path({.shim = {.kind = ShimKind::probe}}, 1)))
        << "the record has another writer";
  });
  for (size_t shard = 0; shard < 3; ++shard) {
    ASSERT_EQ(rig.of_leaf(1, shard).frames.size(), 1u) << shard;
    const HeardFrame& frame = rig.of_leaf(1, shard).frames[0];
    EXPECT_EQ(frame.here, shard == 2) << "by its uplink";
    EXPECT_EQ(frame.message.value, 1u);
    EXPECT_EQ(frame.port, PortId(2));
  }
  for (int i = 0; i < 20; ++i) {
    rig.send(0, static_cast<uint16_t>(i));
    rig.run_for(10_us);
  }
  EXPECT_TRUE(rig.of_leaf(0, 0).feedback.empty());
  for (size_t shard = 1; shard < 3; ++shard) {
    EXPECT_FALSE(rig.of_leaf(0, shard).feedback.empty());
    for (const lb::Feedback& told : rig.of_leaf(0, shard).feedback)
      EXPECT_EQ(told.key.member, shard - 1);
  }
}

TEST_F(Agents, ARebaseMovesDeadlinesOnce) {
  AgentRig rig;
  rig.fabric.rebase_every = 1;
  rig.run_for(10_us);
  Talk& talk = rig.of_leaf(0);
  std::vector<Duration> after;
  Instant set_at = rig.fabric.now();
  talk.on_timers = [&](Voice& voice) {
    after.push_back(rig.fabric.now() - set_at);
    set_at = rig.fabric.now();
    if (after.size() < 20) talk.deadline = voice.view().now() + 9_us;
  };
  talk.deadline = Instant();
  rig.fabric.poll(rig.leaves[0]);
  for (int i = 0; i < 100; ++i) {
    rig.run_for(3_us);
    rig.fabric.poll(rig.leaves[0]);
  }
  ASSERT_EQ(after.size(), 20u);
  for (size_t i = 1; i < after.size(); ++i) EXPECT_EQ(after[i], 9_us);
  EXPECT_GT(talk.rebases, 100);
}

TEST_F(Agents, AnotherSchemeTakesTheAgentWithIt) {
  AgentRig rig;
  Talk& talk = rig.of_leaf(0);
  rig.send(0);
  rig.run_for(20_us);
  EXPECT_TRUE(talk.lives);
  config::SwitchConfig config = rig.shape.leaves[0];
  config.load_balancer.scheme = "conga";
  // With frames for it on their way.
  rig.speak(
      rig.of_leaf(1), [](Voice& voice) { (void)voice.send(by_path(notify(1))); }, 1_us);
  talk.deadline = Instant();
  ASSERT_TRUE(rig.leaf(0).reconfigure(config).ok());
  rig.fabric.poll(rig.leaves[0]);
  const int calls = talk.calls;
  rig.send(0);
  rig.run_for(50_us);
  EXPECT_EQ(rig.leaf(0).reclaim(), 0u);
  EXPECT_EQ(talk.calls, calls);
  EXPECT_FALSE(talk.lives);
  config.load_balancer.scheme = "talker";
  ASSERT_TRUE(rig.leaf(0).reconfigure(config).ok());
  rig.of_leaf(1).frames.clear();  // conga's probes
  rig.speak(talk, [](Voice& voice) { EXPECT_TRUE(voice.send(by_path(notify(5)))); });
  EXPECT_TRUE(talk.lives);
  EXPECT_THAT(values(rig.of_leaf(1).frames), ElementsAre(5));
}

// Where the selector stays, so does its agent, deadlines and all.
TEST_F(Agents, AReloadThatLendsTheSelectorLendsItsAgent) {
  AgentRig rig;
  rig.run_for(10_us);
  Talk& talk = rig.of_leaf(0);
  Instant called;
  talk.on_timers = [&](Voice&) { called = rig.fabric.now(); };
  config::SwitchConfig config = rig.shape.leaves[0];
  talk.deadline = Instant::never();
  rig.speak(
      talk, [&](Voice& voice) { talk.deadline = voice.view().now() + 60_us; }, 10_us);
  talk.on_timers = [&](Voice&) { called = rig.fabric.now(); };
  for (int i = 0; i < 5; ++i) {
    config.buffer.wred["default"].kmin = Bytes(1'000 + i);
    ASSERT_TRUE(rig.leaf(0).reconfigure(config).ok());
    rig.run_for(5_us);
  }
  EXPECT_EQ(called, Instant());
  rig.run_for(100_us);
  EXPECT_NE(called, Instant());
}

}  // namespace
}  // namespace eddy::test
