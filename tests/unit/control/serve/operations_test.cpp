#include "switch/control/serve/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/control/report/live_switch.h"

namespace eddy::control {
namespace {

using ::testing::HasSubstr;
using namespace eddy::literals;

constexpr int64_t kSecond = 1'000'000'000;

std::string first_problem(const Json& answer) {
  return answer.at("ok") == false ? answer.at("problems").at(0).get<std::string>() : "";
}

TEST(Operations, BadRequestsSayWhatWouldBeValid) {
  LiveSwitch live;
  EXPECT_THAT(first_problem(live.ask(Json::array())), HasSubstr("one JSON object"));
  EXPECT_THAT(first_problem(live.ask({{"command", "fly"}})),
              HasSubstr("show, clear, reload, set, configuration"));
  EXPECT_THAT(first_problem(live.ask({{"command", 7}})), HasSubstr("command missing"));
  EXPECT_THAT(first_problem(live.ask({{"command", "show"}, {"report", "prots"}})),
              HasSubstr("ports, queues"));
  EXPECT_THAT(
      first_problem(live.ask({{"command", "show"}, {"report", "ports"}, {"port", "host9"}})),
      HasSubstr("host1, host2"));
  EXPECT_THAT(first_problem(live.ask({{"command", "clear"}})), HasSubstr("counters, watermarks"));
  EXPECT_THAT(first_problem(live.ask({{"command", "set"}, {"port", "host1"}, {"tx", "up"}})),
              HasSubstr("on, off"));
}

TEST(Operations, LeavesAndRowLimitsThatCannotBeAreRefused) {
  LiveSwitch live;
  const auto refused = [&](const char* report, const char* key, const Json& value) {
    return first_problem(live.ask({{"command", "show"}, {"report", report}, {key, value}}));
  };
  EXPECT_THAT(refused("flows", "leaf", 9), HasSubstr("leaf \"9\" unknown; valid are none"));
  EXPECT_THAT(refused("ports", "leaf", 9), HasSubstr("show ports cannot be asked by leaf"));
  EXPECT_THAT(refused("flows", "leaf", "two"), HasSubstr("leaf is no whole number"));
  EXPECT_THAT(refused("flows", "leaf", -2), HasSubstr("leaf is no whole number"));
  EXPECT_THAT(refused("flows", "top", 0), HasSubstr("valid are 1 to 100000"));
  EXPECT_THAT(refused("ports", "top", 100'001), HasSubstr("valid are 1 to 100000"));
  EXPECT_EQ(refused("ports", "top", 1), "");
}

TEST(Operations, EveryReportIsAnswered) {
  LiveSwitch live;
  for (const Word& word : report_words())
    EXPECT_TRUE(live.ask({{"command", "show"}, {"report", std::string(word.name)}}).at("ok"))
        << word.name;
}

TEST(Operations, TheConfigurationInForceAndTheFileAsItIsNow) {
  LiveSwitch live;
  live.write_text("switch: {name: other}\n");
  const Json answer = live.ask({{"command", "configuration"}});
  ASSERT_TRUE(answer.at("ok"));
  const Json& result = answer.at("result");
  EXPECT_EQ(result.at("in_force"), config::print_config(live.config));
  EXPECT_EQ(result.at("file"), "switch: {name: other}\n");
  EXPECT_EQ(result.at("path"), live.path());
  EXPECT_EQ(result.at("switch"), "leaf1");
  EXPECT_THAT(result.at("version").get<std::string>(), HasSubstr("eddyd "));
  EXPECT_THAT(result.at("dpdk").get<std::string>(), HasSubstr("DPDK"));
  std::filesystem::remove(live.path());
  EXPECT_THAT(
      live.ask({{"command", "configuration"}}).at("result").at("file_problem").get<std::string>(),
      HasSubstr("is no file"));
}

TEST(Operations, OnlyAScalarIdComesBack) {
  LiveSwitch live;
  EXPECT_EQ(live.ask({{"command", "x"}, {"id", 5}}).at("id"), 5);
  Json deep = Json::parse(std::string(30'000, '[') + std::string(30'000, ']'));
  Json request{{"command", "x"}};
  request["id"] = std::move(deep);
  EXPECT_FALSE(live.ask(request).contains("id"));
}

TEST(Operations, CountersAndRatesFollowTheTraffic) {
  LiveSwitch live;
  live.operations->sample(0);
  live.send(10);
  live.run(1_ms);
  const Json port = live.rows("ports", kSecond).at(0);
  EXPECT_EQ(port.at("rx_packets"), 10u);
  EXPECT_EQ(port.at("rx_pps"), 10u);
  EXPECT_EQ(port.at("oper"), "up");
  EXPECT_EQ(live.rows("ports", kSecond).at(1).at("tx_packets"), 10u);
}

TEST(Operations, ClearCountersMovesTheBaselineAndNothingElse) {
  LiveSwitch live;
  live.send(10);
  live.run(1_ms);
  EXPECT_TRUE(live.ask({{"command", "clear"}, {"what", "counters"}}).at("ok"));
  EXPECT_EQ(live.rows("ports").at(0).at("rx_packets"), 0u);
  EXPECT_EQ(live.object().counters(ShardId(0))[PortId(0)].port.read(PortCounter::rx_packets), 10u);
  live.send(3);
  live.run(1_ms);
  EXPECT_EQ(live.rows("ports").at(0).at("rx_packets"), 3u);
}

TEST(Operations, ClearsCanBeOfOnePort) {
  LiveSwitch live;
  live.send(10);
  live.run(1_ms);
  const std::string other = live.rows("ports").at(1).at("port");
  const uint64_t received = live.rows("ports").at(0).at("rx_packets");
  const uint64_t sent = live.rows("ports").at(1).at("tx_packets");
  const uint64_t mark = live.rows("pgs").at(3).at("user_watermark_bytes");
  ASSERT_TRUE(received > 0 && sent > 0 && mark > 0);
  for (const char* what : {"counters", "watermarks"}) {
    EXPECT_TRUE(live.ask({{"command", "clear"}, {"what", what}, {"port", other}}).at("ok"));
    EXPECT_THAT(first_problem(live.ask({{"command", "clear"}, {"what", what}, {"port", "eth9"}})),
                HasSubstr("eth9"));
  }
  EXPECT_EQ(live.rows("ports").at(0).at("rx_packets"), received);
  EXPECT_EQ(live.rows("ports").at(1).at("tx_packets"), 0u);
  EXPECT_EQ(live.rows("pgs").at(3).at("user_watermark_bytes"), mark);
}

TEST(Operations, ClearWatermarksLeavesThePersistentOnes) {
  LiveSwitch live;
  live.send(10);
  live.run(1_ms);
  const Json before = live.rows("pgs").at(3);
  ASSERT_GT(before.at("user_watermark_bytes"), 0u);
  EXPECT_TRUE(live.ask({{"command", "clear"}, {"what", "watermarks"}}).at("ok"));
  const Json after = live.rows("pgs").at(3);
  EXPECT_EQ(after.at("user_watermark_bytes"), 0u);
  EXPECT_EQ(after.at("persistent_watermark_bytes"), before.at("persistent_watermark_bytes"));
}

TEST(Operations, ClearPersistentWatermarksLeavesTheUsersOnes) {
  LiveSwitch live;
  live.send(10);
  live.run(1_ms);
  const Json before = live.rows("pgs").at(3);
  EXPECT_TRUE(live.ask({{"command", "clear"}, {"what", "persistent-watermarks"}}).at("ok"));
  const Json after = live.rows("pgs").at(3);
  EXPECT_EQ(after.at("user_watermark_bytes"), before.at("user_watermark_bytes"));
  EXPECT_EQ(after.at("persistent_watermark_bytes"), 0u);
  EXPECT_EQ(live.rows("buffers").at(0).at("shared_persistent_watermark_bytes"), 0u);
  EXPECT_GT(live.rows("buffers").at(0).at("shared_user_watermark_bytes"), 0u);
}

// Of the group that the packets came in by, the queue that they left by, and the shared pool.
TEST(Operations, WatermarksAreClearedByKindAndByPort) {
  const auto marks = [](LiveSwitch& live) {
    std::map<std::string, uint64_t> high;
    for (const Json& row : live.rows("watermarks"))
      if (row.at("user_watermark_bytes") > 0u)
        high[row.at("kind").get<std::string>() + row.value("port", "")] =
            row.at("user_watermark_bytes");
    return high;
  };
  const std::vector<std::tuple<Json, std::vector<std::string>>> cases = {
      {{{"kind", "pg-shared"}}, {"queuehost2", "pool"}},
      {{{"kind", "pg-headroom"}}, {"pg-sharedhost1", "queuehost2", "pool"}},
      {{{"kind", "queue"}}, {"pg-sharedhost1", "pool"}},
      {{{"kind", "pool"}}, {"pg-sharedhost1", "queuehost2"}},
      {{{"kind", "queue"}, {"port", "host1"}}, {"pg-sharedhost1", "queuehost2", "pool"}},
      {{{"port", "host1"}}, {"queuehost2", "pool"}},
      {Json::object(), {}},
  };
  for (const auto& [scope, left] : cases) {
    LiveSwitch live;
    live.send(10);
    live.run(1_ms);
    ASSERT_EQ(marks(live).size(), 3u);
    Json request{{"command", "clear"}, {"what", "watermarks"}};
    request.update(scope);
    const Json answer = live.ask(request);
    ASSERT_TRUE(answer.at("ok")) << answer.dump();
    std::vector<std::string> names;
    for (const auto& [name, level] : marks(live)) names.push_back(name);
    EXPECT_THAT(names, testing::UnorderedElementsAreArray(left)) << scope.dump();
  }
}

TEST(Operations, AWrongScopeOfAClearIsSaid) {
  LiveSwitch live;
  const auto clear = [&](const char* what, const Json& scope) {
    Json request{{"command", "clear"}, {"what", what}};
    request.update(scope);
    return first_problem(live.ask(request));
  };
  EXPECT_EQ(clear("watermarks", {{"kind", "pg"}}),
            "kind \"pg\" unknown; valid are pg-shared, pg-headroom, queue, pool, headroom-pool, "
            "stages");
  EXPECT_EQ(clear("persistent-watermarks", {{"kind", "headroom-pool"}, {"port", "host1"}}),
            "headroom-pool is of the whole switch, not of a port; of a port are pg-shared, "
            "pg-headroom, queue");
  EXPECT_EQ(clear("counters", {{"kind", "queue"}}), "counters have no kinds, watermarks have");
}

TEST(Operations, SetPortTxOffHoldsPacketsUntilOn) {
  LiveSwitch live;
  EXPECT_TRUE(live.ask({{"command", "set"}, {"port", "host2"}, {"tx", "off"}}).at("ok"));
  live.send(5);
  live.run(1_ms);
  EXPECT_EQ(live.rows("ports").at(1).at("tx"), "off");
  EXPECT_EQ(live.hosts[1]->received_count, 0u);
  EXPECT_GT(live.rows("ports").at(1).at("queued_bytes"), 0u);
  EXPECT_TRUE(live.ask({{"command", "set"}, {"port", "host2"}, {"tx", "on"}}).at("ok"));
  live.run(1_ms);
  EXPECT_EQ(live.hosts[1]->received_count, 5u);
}

TEST(Operations, NeighborsOfAllShardsAreListedInOrder) {
  LiveSwitch live(2);
  const Json rows = live.rows("neighbors");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("address"), "10.1.1.2");
  EXPECT_EQ(rows[0].at("port"), "host1");
  EXPECT_EQ(rows[1].at("address"), "10.1.2.2");
  EXPECT_EQ(rows[1].at("type"), "static");
}

TEST(Operations, AShardThatDoesNotAnswerIsAProblemNotAHang) {
  LiveSwitch live;
  Operations deaf(live.object(), live.backend,
                  {live.path(), live.config, [] {}, [](const LoggedEvent&) {}, 0});
  EXPECT_THAT(first_problem(deaf.handle({{"command", "clear"}, {"what", "watermarks"}}, 0)),
              HasSubstr("worker 0 does not answer"));
  live.fabric.poll(live.node);  // the late command finds its memory still there
  EXPECT_TRUE(live.ask({{"command", "clear"}, {"what", "watermarks"}}).at("ok"));
}

TEST(Operations, EventsAreLoggedAndKept) {
  LiveSwitch live;
  live.operations->drain_events(0);
  const auto links = std::count_if(live.said.begin(), live.said.end(), [](const LoggedEvent& e) {
    return e.event.kind == EventKind::link_up;
  });
  EXPECT_EQ(links, 2);
  EXPECT_EQ(live.rows("events").size(), live.said.size());
}

TEST(Operations, APortTakenDownCountsWhatComesForItAndGoesOnWhenItIsUp) {
  LiveSwitch live;
  const Json down = live.ask({{"command", "set"}, {"port", "host2"}, {"admin", "down"}});
  ASSERT_TRUE(down.at("ok")) << down.dump();
  EXPECT_EQ(down.at("result").at("changes").at(0).at("key"), "ports.host2.admin_up");
  live.fabric.poll(live.node);
  EXPECT_EQ(live.rows("ports").at(1).at("admin"), "down");
  EXPECT_EQ(live.rows("ports").at(1).at("oper"), "down");
  live.send(10);
  live.run(1_ms);
  EXPECT_EQ(live.hosts[1]->received_count, 0u);
  EXPECT_EQ(live.object().balance().dropped, 10u);
  EXPECT_TRUE(live.object().balance().holds());
  ASSERT_TRUE(live.ask({{"command", "set"}, {"port", "host2"}, {"admin", "up"}}).at("ok"));
  live.fabric.poll(live.node);
  live.send(5);
  live.run(1_ms);
  EXPECT_EQ(live.hosts[1]->received_count, 5u);
}

TEST(Operations, TheWatchdogIsSetOfOnePortOrOfAll) {
  LiveSwitch live;
  const auto set = [&](Json keys, const char* port) {
    Json request{{"command", "set"}, {"pfcwd", std::move(keys)}};
    if (port != nullptr) request["port"] = port;
    return live.ask(request);
  };
  EXPECT_TRUE(set({{"detection_time", "300ms"}, {"action", "alert"}}, "host1").at("ok"));
  EXPECT_EQ(live.object().config().ports[0].watchdog.detection_time, 300_ms);
  EXPECT_EQ(live.object().config().ports[0].watchdog.action, config::WatchdogAction::alert);
  EXPECT_EQ(live.object().config().ports[1].watchdog.detection_time, 200_ms);
  EXPECT_EQ(set({{"enabled", "false"}}, nullptr).at("result").at("changes").size(), 2u);
  EXPECT_FALSE(live.object().config().ports[1].watchdog.enabled);
  EXPECT_EQ(first_problem(set({{"enabled", "false"}}, "host9")),
            "port \"host9\" unknown; valid are host1, host2");
  const Json wrong = set({{"detection_time", "soon"}, {"barks", "loud"}}, "host1");
  EXPECT_EQ(wrong.at("problems").size(), 2u) << wrong.dump();
  EXPECT_THAT(first_problem(set("on", "host1")), HasSubstr("an object of keys and values"));
  EXPECT_THAT(first_problem(set({{"enabled", true}}, "host1")), HasSubstr("its value is no text"));
}

TEST(Operations, EventsAreTheNewestFirstWithTheTimeOfTheWall) {
  LiveSwitch live;
  int64_t unix_ns = 1'700'000'000 * kSecond;
  Operations operations(live.object(), live.backend,
                        {.config_path = live.path(),
                         .running = live.config,
                         .wait_for_shards = [&] { live.fabric.poll(live.node); },
                         .event_sink = [](const LoggedEvent&) {},
                         .unix_ns = [&] { return unix_ns; }});
  live.backend.clock = Instant::at(Duration::seconds(2));
  const auto take = [&](const char* state) {
    operations.handle({{"command", "set"}, {"port", "host2"}, {"admin", state}}, 0);
    live.fabric.poll(live.node);
    operations.drain_events(0);
  };
  take("down");
  unix_ns += kSecond;
  take("up");
  const Json answer = operations.handle({{"command", "show"}, {"report", "events"}}, 0);
  const Json& rows = answer.at("result").at("rows");
  ASSERT_GE(rows.size(), 4u);
  for (size_t i = 1; i < rows.size(); ++i)
    EXPECT_GT(rows.at(i - 1).at("number").get<uint64_t>(), rows.at(i).at("number"));
  // The events are of about 0 s by a clock that shows 2 s.
  EXPECT_EQ(rows.at(0).at("time"), time_text(1'699'999'999 * kSecond));
  EXPECT_EQ(rows.back().at("time"), time_text(1'699'999'998 * kSecond));
}

}  // namespace
}  // namespace eddy::control
