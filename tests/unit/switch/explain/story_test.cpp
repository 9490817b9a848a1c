// The story of a packet: its steps, their numbers and names, and the lines for people.
#include "switch/explain/story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "switch/dataplane/object/explain.h"
#include "switch/explain/description.h"
#include "switch/explain/loose_packet.h"
#include "switch/explain/step_lines.h"
#include "tests/support/one_switch.h"
#include "tests/support/path_fabric.h"

namespace eddy::explain {
namespace {

using ::testing::HasSubstr;
using namespace eddy::literals;

struct Leaf : test::OneSwitch {
  Leaf() : OneSwitch(test::leaf_spine({.leaves = 3, .spines = 3}).leaves[0]) { run_for(1_us); }
  Json story(std::string_view text) {
    const Result<Description> packet = read_description(text, config);
    EXPECT_TRUE(packet.ok()) << packet.problems().front();
    const LoosePacket frame(frame_of(packet.value(), config), packet.value().length);
    Explanation out{.port = packet.value().port, .packet = frame.get()};
    EXPECT_TRUE(explain_packet(object().shard(ShardId(0)), out, fabric.now()));
    return story_of(out, Names::of(config));
  }
};

const Json& step_of(const Json& story, const char* name) {
  for (const Json& step : story.at("steps"))
    if (step.at("step") == name) return step;
  ADD_FAILURE() << "no step " << name;
  static const Json none;
  return none;
}

std::vector<std::string> names_of(const Json& story) {
  std::vector<std::string> names;
  for (const Json& step : story.at("steps"))
    names.push_back(step.at("number").get<std::string>() + " " +
                    step.at("step").get<std::string>());
  return names;
}

TEST(Story, OfAPacketThatGoesUp) {
  Leaf leaf;
  const Json story = leaf.story("src=10.1.1.2 dst=10.2.1.2 dport=4791 dscp=3 ecn=ect0 len=1000");
  EXPECT_EQ(names_of(story),
            (std::vector<std::string>{"2 parse", "4 classify", "5 route", "7 admit", "8 select",
                                      "9 hand over", "10 resolve", "12 enqueue"}));
  EXPECT_EQ(story.at("switch"), "leaf1");
  EXPECT_EQ(story.at("port"), "host1");
  EXPECT_EQ(story.at("fate"), "queued");
  EXPECT_EQ(story.at("packet").at("dst"), "10.2.1.2");
  EXPECT_EQ(story.at("packet").at("dport"), 4'791);
  EXPECT_EQ(step_of(story, "classify").at("pg"), 3);
  EXPECT_EQ(step_of(story, "route").at("prefix"), "10.2.0.0/16");
  EXPECT_EQ(step_of(story, "route").at("leaf"), 2);
  const Json& select = step_of(story, "select");
  EXPECT_EQ(select.at("scheme"), "ecmp");
  EXPECT_EQ(select.at("reason"), "hash");
  EXPECT_EQ(select.at("paths").size(), 3u);
  EXPECT_EQ(select.at("port"), story.at("egress"));
  EXPECT_EQ(select.at("paths").at(select.at("member").get<size_t>()).at("taken"), true);
  EXPECT_GT(step_of(story, "admit").at("until_xoff_bytes"), 0);
  EXPECT_EQ(step_of(story, "enqueue").at("mark_probability"), 0.0);
}

TEST(Story, OfOneThatIsDropped) {
  Leaf leaf;
  const Json story = leaf.story("src=10.1.1.2 dst=192.0.2.1");
  EXPECT_EQ(story.at("fate"), "dropped");
  EXPECT_EQ(story.at("reason"), "no_route");
  EXPECT_EQ(names_of(story).back(), "6 turn away");
  EXPECT_THAT(lines_of(story), HasSubstr("dropped, no_route"));
}

TEST(Story, LinesForPeople) {
  Leaf leaf;
  const std::string lines = lines_of(leaf.story("src=10.1.1.2 dst=10.2.1.2 dscp=3 len=1000"));
  EXPECT_THAT(lines, HasSubstr("leaf1, in by host1\n"));
  EXPECT_THAT(lines, HasSubstr("  4   classify   DSCP 3: traffic class 3, PG 3, lossless\n"));
  EXPECT_THAT(lines, HasSubstr("ecmp wants spine"));
  EXPECT_THAT(lines, HasSubstr("\n              ->  "));
  EXPECT_THAT(lines, HasSubstr("  => it goes into queue 3 of spine"));
}

// A story comes from a socket: whoever is there may say anything.
TEST(Story, LinesOfWhatIsNoStory) {
  for (const char* text : {"{}", "[]", "7", "{\"steps\": 3}", "{\"steps\": [1, [], {\"step\": 4}]}",
                           "{\"steps\": [{\"paths\": 9}, {\"paths\": [1, {\"member\": \"x\"}]}]}"})
    EXPECT_FALSE(lines_of(Json::parse(text)).empty()) << text;
}

TEST(Story, Numbers) {
  EXPECT_EQ(time_text(Duration{}), "0 ns");
  EXPECT_EQ(time_text(1'500_ns), "1.5 us");
  EXPECT_EQ(time_text(20_ms), "20 ms");
}

// letflow under a patient guard, where the way over spine 1 is slow behind the spine.
struct PatientLeaf : test::PathFabric {
  PatientLeaf()
      : PathFabric({.change =
                        [](config::SwitchConfig& leaf) {
                          leaf.load_balancer.scheme = "letflow";
                          leaf.load_balancer.parameters = {{"gap", "2us"}};
                          leaf.rlb = config::rlb_preset(config::RlbPreset::standard);
                          leaf.rlb.guard.patience = 1_ms;
                          leaf.rlb.guard.pause = 5_us;
                        },
                    .change_spine =
                        [slow = true](config::SwitchConfig& spine) mutable {
                          if (std::exchange(slow, false)) spine.ports[1].speed = BitRate::gbps(1);
                        }}) {}
  Json story(uint16_t flow) {
    const LoosePacket frame(test::udp_frame(packet(0, flow)), 1'000);
    Explanation out{.port = PortId(0), .packet = frame.get()};
    EXPECT_TRUE(explain_packet(leaf(0).shard(ShardId(0)), out, fabric.now()));
    return story_of(out, Names::of(shape.leaves[0]));
  }
};

TEST(Story, TheTableOfPathsHasTheirDelaysAndLoads) {
  PatientLeaf fabric;
  for (uint16_t flow = 1; flow <= 8; ++flow) fabric.send(0, flow);
  fabric.run_for(200_us);
  const Json story = fabric.story(1);
  const std::string lines = lines_of(story);
  size_t measured = 0;
  for (const Json& path : step_of(story, "select").at("paths")) {
    if (!path.contains("delay_ns")) continue;
    ++measured;
    EXPECT_GT(path.at("delay_ns"), 0);
    const std::string delay = time_text(Duration::nanoseconds(path.at("delay_ns").get<int64_t>()));
    EXPECT_THAT(lines, HasSubstr("  " + delay + "  "));
    EXPECT_THAT(lines, HasSubstr(std::to_string(path.at("load_percent").get<int>()) + " %"));
  }
  EXPECT_GE(measured, 2u);
}

// It is no round of the loop, which has a word of its own.
TEST(Story, OfAFlowThatAPatientGuardHasWait) {
  PatientLeaf fabric;
  std::optional<uint16_t> waits;
  Json story;
  for (int round = 0; round < 200 && !waits; ++round)
    for (uint16_t flow = 1; flow <= 8 && !waits; ++flow) {
      story = fabric.story(flow);
      EXPECT_NE(story.at("fate"), "loops");
      if (story.at("fate") == "drains") waits = flow;
      if (!waits) fabric.send(0, flow);
      fabric.run_for(2_us);
    }
  ASSERT_TRUE(waits) << "no flow waits for the slow path";
  EXPECT_EQ(step_of(story, "select").at("guard"), "drains");
  EXPECT_EQ(names_of(story).back(), "8 select");
  EXPECT_THAT(lines_of(story), HasSubstr("it waits until what its flow sent before has arrived"));
}

TEST(Story, AFlowThatIsSaidToWaitDoes) {
  PatientLeaf fabric;
  size_t begun = 0;
  for (int round = 0; round < 200 && begun < 5; ++round)
    for (uint16_t flow = 1; flow <= 8; ++flow) {
      const Json story = fabric.story(flow);
      // Of a flow that waits already the next packet goes behind.
      const bool begins = story.at("fate") == "drains" &&
                          lines_of(story).find("are in RLB's loop") == std::string::npos;
      const uint64_t before = fabric.count(0, PortCounter::guard_drained_flows);
      fabric.send(0, flow);
      fabric.run_for(2_us);
      EXPECT_EQ(fabric.count(0, PortCounter::guard_drained_flows) - before, begins ? 1u : 0u);
      begun += begins ? 1 : 0;
    }
  EXPECT_GE(begun, 5u);
}

}  // namespace
}  // namespace eddy::explain
