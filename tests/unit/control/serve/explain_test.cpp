// What a running switch answers to "explain".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/control/report/live_switch.h"

namespace eddy::control {
namespace {

using ::testing::HasSubstr;

Json explain_request(const std::string& packet) {
  return {{"command", "explain"}, {"packet", packet}};
}

TEST(ExplainOperation, IsTheStoryOfThePacket) {
  LiveSwitch live(2);
  const Json answer = live.ask(explain_request("src=10.1.1.2 dst=10.1.2.2 dscp=3 len=500"));
  ASSERT_TRUE(answer.at("ok")) << answer.dump();
  const Json& story = answer.at("result");
  EXPECT_EQ(story.at("switch"), "leaf1");
  EXPECT_EQ(story.at("port"), "host1");
  EXPECT_EQ(story.at("egress"), "host2");
  EXPECT_EQ(story.at("fate"), "queued");
}

TEST(ExplainOperation, MovesNoCounter) {
  LiveSwitch live;
  live.send(3);
  live.run(Duration::microseconds(50));
  const Json before = live.rows("ports");
  const Json drops = live.rows("drops");
  for (const char* packet : {"src=10.1.1.2 dst=10.1.2.2", "src=10.1.1.2 dst=192.0.2.1"})
    EXPECT_TRUE(live.ask(explain_request(packet)).at("ok"));
  EXPECT_EQ(live.rows("ports"), before);
  EXPECT_EQ(live.rows("drops"), drops);
}

TEST(ExplainOperation, NonsenseIsRefused) {
  LiveSwitch live;
  const Json answer = live.ask(explain_request("where to?"));
  EXPECT_FALSE(answer.at("ok"));
  EXPECT_EQ(answer.at("problems").size(), 1u);
  EXPECT_EQ(live.ask(explain_request("src=1 dst=2 dscp=99")).at("problems").size(), 3u);
  EXPECT_FALSE(live.ask({{"command", "explain"}}).at("ok"));
  EXPECT_FALSE(live.ask({{"command", "explain"}, {"packet", 7}}).at("ok"));
}

TEST(TraceOperation, BeginsAndIsOneAtATime) {
  LiveSwitch live(2);
  const Json request =
      Json::parse(R"({"command": "trace", "count": 3, "filter": [[40, 0, 0, 12], [6, 0, 0, 1]]})");
  EXPECT_FALSE(live.ask(request).at("ok")) << "nothing to hand it over by";
  Operations::Handover handover;
  const Json answer = live.operations->handle(request, 0, &handover);
  ASSERT_TRUE(answer.at("ok")) << answer.dump();
  EXPECT_TRUE(handover.captures);
  EXPECT_EQ(handover.descriptors.size(), 2u);
  const Json& said = answer.at("result");
  EXPECT_EQ(said.at("rings"), 2);
  EXPECT_EQ(said.at("scheme"), "ecmp");
  EXPECT_EQ(said.at("prefixes").size(), 2u);
  Operations::Handover second;
  EXPECT_FALSE(
      live.operations->handle({{"command", "capture"}, {"port", "all"}}, 0, &second).at("ok"));
  live.send(5);
  live.run(Duration::microseconds(50));
  live.operations->end_capture();
  EXPECT_TRUE(live.operations->handle(request, 0, &second).at("ok"));
  live.operations->end_capture();
}

TEST(TraceOperation, WhatIsNoFilterIsRefused) {
  LiveSwitch live;
  for (const char* filter :
       {"7", "[7]", "[[1,2,3]]", "[[6,0,0,-1]]", "[[40,0,0,12]]", "[[70000,0,0,1]]",
        "[[6,0,0,\"x\"]]", "[[5,0,0,4000000000],[6,0,0,1]]"}) {
    Operations::Handover handover;
    const Json answer = live.operations->handle(
        {{"command", "trace"}, {"filter", Json::parse(filter)}}, 0, &handover);
    EXPECT_FALSE(answer.at("ok")) << filter;
    EXPECT_TRUE(handover.descriptors.empty());
  }
  for (const Json& count : {Json(0), Json(-3), Json("many"), Json(4'001)}) {
    Operations::Handover handover;
    EXPECT_FALSE(
        live.operations->handle({{"command", "trace"}, {"count", count}}, 0, &handover).at("ok"));
  }
}

}  // namespace
}  // namespace eddy::control
