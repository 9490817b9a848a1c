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
