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

}  // namespace
}  // namespace eddy::control
