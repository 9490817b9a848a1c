#include "switch/control/serve/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/control/report/live_switch.h"

namespace eddy::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace eddy::literals;

const Json kReload{{"command", "reload"}};

uint64_t generation(LiveSwitch& live) {
  return live.ask({{"command", "show"}, {"report", "buffers"}}).at("result").at("generation");
}

TEST(Reload, TheSameFileChangesNothing) {
  LiveSwitch live;
  const Json answer = live.ask(kReload);
  ASSERT_TRUE(answer.at("ok")) << answer.dump();
  EXPECT_EQ(answer.at("result").at("changes").size(), 0u);
  EXPECT_EQ(generation(live), 1u);
}

TEST(Reload, AHotKeyIsAppliedAndSaid) {
  LiveSwitch live;
  config::SwitchConfig next = live.config;
  next.buffer.wred["default"].kmin = 100'000_B;
  live.write(next);
  const Json answer = live.ask(kReload);
  ASSERT_TRUE(answer.at("ok")) << answer.dump();
  const Json& result = answer.at("result");
  EXPECT_EQ(result.at("generation"), 2u);
  ASSERT_EQ(result.at("changes").size(), 1u);
  EXPECT_THAT(result.at("changes")[0].at("key").get<std::string>(), HasSubstr("kmin"));
  EXPECT_EQ(result.at("changes")[0].at("class"), "hot");
  EXPECT_EQ(live.object().config().buffer.wred.at("default").kmin, 100'000_B);
  EXPECT_TRUE(live.backend.restarted.empty());
  EXPECT_EQ(generation(live), 2u);
}

TEST(Reload, AnAdminStateReachesItsPort) {
  LiveSwitch live;
  config::SwitchConfig next = live.config;
  for (const bool up : {false, true}) {
    next.ports[1].admin_up = up;
    live.write(next);
    const Json answer = live.ask(kReload);
    ASSERT_TRUE(answer.at("ok")) << answer.dump();
    EXPECT_EQ(live.backend.admin_up, (std::map<size_t, bool>{{0, true}, {1, up}}));
  }
  EXPECT_TRUE(live.backend.restarted.empty());
}

TEST(Reload, APortKeyRestartsThatPortOnly) {
  LiveSwitch live;
  config::SwitchConfig next = live.config;
  next.ports[1].mtu = 4'000;
  live.write(next);
  const Json answer = live.ask(kReload);
  ASSERT_TRUE(answer.at("ok")) << answer.dump();
  EXPECT_THAT(live.backend.restarted, ElementsAre(PortId(1)));
  EXPECT_EQ(live.backend.last.mtu, 4'000);
  EXPECT_EQ(answer.at("result").at("restarted"), Json::array({"host2"}));
}

TEST(Reload, RestartKeysAreAllListedAndNothingChanges) {
  LiveSwitch live;
  config::SwitchConfig next = live.config;
  next.seed = 99;
  next.buffer.cell_bytes = 128;
  next.buffer.wred["default"].kmin = 100'000_B;
  live.write(next);
  const Json answer = live.ask(kReload);
  ASSERT_FALSE(answer.at("ok"));
  ASSERT_EQ(answer.at("problems").size(), 2u) << answer.dump();
  for (const Json& problem : answer.at("problems")) {
    EXPECT_THAT(problem.get<std::string>(), HasSubstr("switch.yaml:"));
    EXPECT_THAT(problem.get<std::string>(), HasSubstr("only a restart"));
  }
  EXPECT_EQ(live.object().config().buffer.wred.at("default").kmin, 160'000_B);
  EXPECT_EQ(generation(live), 1u);
}

TEST(Reload, ABadFileIsRefusedWithEveryProblem) {
  LiveSwitch live;
  live.write_text("switch:\n  name: leaf1\n  wings: 2\nports:\n  host1: {speed: 10}\n");
  const Json answer = live.ask(kReload);
  ASSERT_FALSE(answer.at("ok"));
  EXPECT_GE(answer.at("problems").size(), 2u) << answer.dump();
  EXPECT_THAT(answer.at("problems").at(0).get<std::string>(), HasSubstr("switch.yaml:3:"));
  EXPECT_EQ(generation(live), 1u);
}

const Json kCheck{{"command", "reload"}, {"check", true}};

// {"applies", "class"} of a check, which changes nothing.
std::pair<std::string, std::string> foretold(LiveSwitch& live, size_t changes) {
  const Json answer = live.ask(kCheck);
  EXPECT_TRUE(answer.at("ok")) << answer.dump();
  const Json result = answer.value("result", Json::object());
  EXPECT_EQ(result.at("changes").size(), changes) << result.dump();
  EXPECT_EQ(result.at("generation"), 1u);
  EXPECT_EQ(generation(live), 1u);
  EXPECT_TRUE(live.backend.restarted.empty());
  return {result.at("applies"), result.at("class")};
}

TEST(ReloadCheck, SaysTheHighestClassAndChangesNothing) {
  LiveSwitch live;
  using Said = std::pair<std::string, std::string>;
  EXPECT_EQ(foretold(live, 0), Said("yes", "none"));
  config::SwitchConfig next = live.config;
  next.buffer.wred["default"].kmin = 100'000_B;
  live.write(next);
  EXPECT_EQ(foretold(live, 1), Said("yes", "hot"));
  next.ports[1].mtu = 4'000;
  live.write(next);
  EXPECT_EQ(foretold(live, 2), Said("yes", "port"));
  EXPECT_EQ(live.ask(kCheck).at("result").at("restarts"), Json::array({"host2"}));
  next.seed = 99;
  live.write(next);
  EXPECT_EQ(foretold(live, 3), Said("no", "restart"));
  EXPECT_THAT(live.ask(kCheck).at("result").at("problems").at(0).get<std::string>(),
              HasSubstr("only a restart"));
  EXPECT_EQ(live.object().config().buffer.wred.at("default").kmin, 160'000_B);
}

TEST(ReloadCheck, WhatTheBackendRefusesIsSaid) {
  LiveSwitch live;
  live.backend.check_problems = {"mtu 4000: the device takes at most 1500"};
  config::SwitchConfig next = live.config;
  next.ports[1].mtu = 4'000;
  live.write(next);
  EXPECT_EQ(foretold(live, 1), std::pair(std::string("no"), std::string("port")));
}

TEST(ReloadCheck, WhatCannotBeReadIsRefusedWithEveryProblem) {
  LiveSwitch live;
  live.write_text("switch:\n  name: leaf1\n  wings: 2\nports:\n  host1: {speed: 10}\n");
  const Json answer = live.ask(kCheck);
  ASSERT_FALSE(answer.at("ok"));
  EXPECT_GE(answer.at("problems").size(), 2u) << answer.dump();
  EXPECT_THAT(live.ask({{"command", "reload"}, {"check", "please"}}).at("problems").at(0),
              "check is true or false");
}

TEST(Reload, AFileOfAnotherSwitchIsOneProblem) {
  LiveSwitch live;
  config::SwitchConfig next = live.config;
  next.id = SwitchId(7);
  next.seed = 99;
  live.write(next);
  const Json by_id = live.ask(kReload);
  ASSERT_EQ(by_id.at("problems").size(), 1u) << by_id.dump();
  EXPECT_THAT(by_id.at("problems").at(0).get<std::string>(),
              HasSubstr("the file is of leaf1 (id 7), the switch that runs is leaf1 (id 1)"));
  next.name = "leaf7";
  live.write(next);
  const Json result = live.ask(kCheck).at("result");
  ASSERT_EQ(result.at("problems").size(), 1u) << result.dump();
  EXPECT_THAT(result.at("problems").at(0).get<std::string>(),
              HasSubstr("the file is of leaf7 (id 7)"));
}

TEST(Reload, TakesBackWhatWasSet) {
  LiveSwitch live;
  ASSERT_TRUE(live.ask({{"command", "set"}, {"port", "host2"}, {"admin", "down"}}).at("ok"));
  EXPECT_FALSE(live.backend.admin_up.at(1));
  const Json set = live.ask({{"command", "configuration"}}).at("result").at("set");
  ASSERT_EQ(set.size(), 1u);
  EXPECT_EQ(set.at(0).at("key"), "ports.host2.admin_up");
  const Json changes = live.ask(kCheck).at("result").at("changes");
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes.at(0).at("after"), "true");
  ASSERT_TRUE(live.ask(kReload).at("ok"));
  EXPECT_TRUE(live.backend.admin_up.at(1));
  EXPECT_TRUE(live.ask({{"command", "configuration"}}).at("result").at("set").empty());
}

TEST(Reload, AMissingFileIsRefused) {
  LiveSwitch live;
  std::filesystem::remove(live.path());
  EXPECT_THAT(live.ask(kReload).at("problems").at(0).get<std::string>(), HasSubstr("switch.yaml"));
}

TEST(Reload, WhatTheBackendCannotDoIsRefusedBeforeAnythingChanges) {
  LiveSwitch live;
  live.backend.check_problems = {"mtu 4000: the device takes at most 1500"};
  config::SwitchConfig next = live.config;
  next.ports[1].mtu = 4'000;
  live.write(next);
  const Json answer = live.ask(kReload);
  ASSERT_FALSE(answer.at("ok"));
  EXPECT_THAT(answer.at("problems").at(0).get<std::string>(), HasSubstr("at most 1500"));
  EXPECT_TRUE(live.backend.restarted.empty());
  EXPECT_EQ(generation(live), 1u);
}

TEST(Reload, APortThatDoesNotComeBackIsSaidWithTheGenerationInForce) {
  LiveSwitch live;
  live.backend.restart_problems = {"device is gone"};
  config::SwitchConfig next = live.config;
  next.ports[1].mtu = 4'000;
  live.write(next);
  EXPECT_EQ(live.ask(kReload).at("problems").at(0),
            "generation 2 is in force, but port host2 does not run: device is gone");
}

// Between any two packets the configuration may change; hot keys lose none of them.
// (A thousand times, without files: the data plane's reload_test.)
void reload_under_traffic(size_t workers) {
  constexpr size_t kReloads = 25;
  LiveSwitch live(workers);
  config::SwitchConfig other = live.config;
  other.buffer.wred["default"].kmin = 100'000_B;
  other.ports[1].queues[3].weight = 20;
  constexpr size_t kPacketsAReload = 3;
  live.send(kPacketsAReload * kReloads);
  const std::array<std::string, 2> texts{config::print_config(other),
                                         config::print_config(live.config)};
  for (size_t i = 0; i < kReloads; ++i) {
    live.write_text(texts[i % 2]);
    ASSERT_TRUE(live.ask(kReload).at("ok")) << "reload " << i;
    live.run(Duration::nanoseconds(500));  // some packets are on their way, some queued
    live.operations->reclaim();
  }
  live.run(10_ms);
  EXPECT_EQ(generation(live), kReloads + 1);
  EXPECT_EQ(live.hosts[1]->received_count, kPacketsAReload * kReloads);
  EXPECT_EQ(live.object().balance().dropped, 0u);
  EXPECT_TRUE(live.object().balance().holds());
  EXPECT_EQ(live.object().reclaim(), 0u) << "every old snapshot is freed";
}

TEST(Reload, ManyUnderTrafficLoseNothing) {
  reload_under_traffic(1);
}

TEST(Reload, ManyUnderTrafficOnTwoWorkersLoseNothing) {
  reload_under_traffic(2);
}

}  // namespace
}  // namespace eddy::control
