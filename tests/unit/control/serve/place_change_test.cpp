// Ports that a reload adds and removes, on a real Switch.
#include "switch/control/serve/place_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <prometheus/metric_family.h>

#include <algorithm>
#include <set>

#include "tests/support/one_switch.h"
#include "tests/unit/control/report/live_switch.h"

namespace eddy::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace eddy::literals;

// Without host 2, and everything that names it.
config::SwitchConfig without_host2(config::SwitchConfig config) {
  std::erase_if(config.ports, [](const auto& port) { return port.name == "host2"; });
  std::erase_if(config.neighbors, [](const auto& each) { return each.port == "host2"; });
  return config;
}

config::SwitchConfig with_host(config::SwitchConfig config, size_t host, int worker = 0) {
  test::add_host_port(config, 1, host, BitRate::gbps(10));
  config.ports.back().device = "net_null" + std::to_string(host + 10);
  config.ports.back().worker = worker;
  return config;
}

class PlaceChanges : public testing::Test {
 protected:
  // The answer's result; fails when it is refused.
  Json reload(LiveSwitch& live, const config::SwitchConfig& next) {
    live.write(next);
    const Json answer = live.ask({{"command", "reload"}});
    EXPECT_TRUE(answer.at("ok")) << answer.dump();
    return answer.value("result", Json::object());
  }
  std::string refusal(LiveSwitch& live, const config::SwitchConfig& next) {
    live.write(next);
    const Json answer = live.ask({{"command", "reload"}});
    EXPECT_FALSE(answer.at("ok")) << answer.dump();
    if (answer.at("ok")) return "";
    EXPECT_EQ(answer.at("problems").size(), 1u) << answer.dump();
    return answer.at("problems").at(0).get<std::string>();
  }
  std::vector<std::string> ports(LiveSwitch& live) {
    std::vector<std::string> names;
    for (const Json& row : live.rows("ports")) names.push_back(row.at("port"));
    return names;
  }
  Json row(LiveSwitch& live, const std::string& port) {
    for (const Json& each : live.rows("ports"))
      if (each.at("port") == port) return each;
    return {};
  }
  struct Source {
    test::FabricHost& nic;
    size_t place;  // of its port
    size_t host;   // its number
  };
  Source first(LiveSwitch& live) { return {*live.hosts[0], 0, 1}; }
  Source second(LiveSwitch& live) { return {*live.hosts[1], 1, 2}; }
  void send(LiveSwitch& live, const Source& from, size_t to, size_t count) {
    test::UdpSpec spec;
    spec.destination_mac = port_mac(live.object().config(), from.place);
    spec.source_mac = test::host_mac(1, from.host);
    spec.source = test::host_ip(1, from.host);
    spec.destination = test::host_ip(1, to);
    spec.dscp = 3;
    spec.frame_len = 200;
    for (size_t i = 0; i < count; ++i) from.nic.to_send.push_back({test::udp_frame(spec)});
    live.fabric.kick(from.nic);
  }
};

TEST_F(PlaceChanges, APortComesAndIsReached) {
  LiveSwitch live(1, 1);
  EXPECT_THAT(ports(live), ElementsAre("host1", "host2"));
  const Json done = reload(live, with_host(live.config, 3));
  EXPECT_EQ(done.at("added"), Json::array({"host3"}));
  EXPECT_EQ(done.at("removed"), Json::array());
  EXPECT_EQ(done.at("restarted"), Json::array());
  ASSERT_EQ(done.at("changes").size(), 2u) << done.dump();  // the port, and its neighbor
  EXPECT_EQ(done.at("changes").at(0).at("key"), "ports.host3");
  EXPECT_EQ(done.at("changes").at(0).at("class"), "port");
  EXPECT_EQ(live.backend.plugged, (std::map<size_t, std::string>{{2, "host3"}}));
  EXPECT_THAT(live.backend.used, ElementsAre(PortId(2)));
  EXPECT_TRUE(live.backend.admin_up.at(2));
  EXPECT_THAT(ports(live), ElementsAre("host1", "host2", "host3"));
  EXPECT_EQ(row(live, "host3").at("oper"), "down");

  test::FabricHost& third = live.fabric.attach_host(live.node, PortId(2), 100_ns);
  send(live, first(live), 3, 5);
  send(live, {third, 2, 3}, 1, 4);
  live.run(1_ms);
  EXPECT_EQ(third.received.size(), 5u);
  EXPECT_EQ(live.hosts[0]->received.size(), 4u);
  EXPECT_EQ(row(live, "host3").at("oper"), "up");
}

TEST_F(PlaceChanges, APortGoesWithWhatIsKnownOfIt) {
  LiveSwitch live;
  send(live, second(live), 1, 7);
  live.run(1_ms);
  EXPECT_EQ(live.ask({{"command", "set"}, {"port", "host2"}, {"tx", "off"}}).at("ok"), true);
  send(live, first(live), 2, 6);
  live.run(1_ms);
  EXPECT_GT(live.object().queue_status(PortId(1), QueueId(3)).used, 0);

  const Json done = reload(live, without_host2(live.config));
  EXPECT_EQ(done.at("removed"), Json::array({"host2"}));
  EXPECT_THAT(ports(live), ElementsAre("host1"));
  EXPECT_EQ(live.object().queue_status(PortId(1), QueueId(3)).used, 0);
  EXPECT_EQ(row(live, "host1").at("dropped_packets"), 6u) << "what waited for the port";
  EXPECT_TRUE(live.rows("neighbors").empty() || live.rows("neighbors").size() == 1u);
  const Balance balance = live.object().balance();
  EXPECT_EQ(balance.held, 0u);
  EXPECT_EQ(balance.rx + balance.originated, balance.tx + balance.consumed + balance.dropped);
  // Its events still bear its name.
  const Json events = live.rows("events");
  EXPECT_TRUE(std::ranges::any_of(events, [](const Json& event) {
    return event.at("event") == "link_down" && event.value("port", "") == "host2";
  })) << events.dump();

  // The next port at its place begins anew.
  live.fabric.set_link(live.node, PortId(1), false);
  reload(live, with_host(without_host2(live.config), 4));
  const Json fresh = row(live, "host4");
  EXPECT_EQ(fresh.at("rx_packets"), 0u);
  EXPECT_EQ(fresh.at("tx_packets"), 0u);
  EXPECT_EQ(fresh.at("tx"), "on");
  for (const Json& mark : live.rows("watermarks"))
    if (mark.value("port", "") == "host4") {
      EXPECT_EQ(mark.at("persistent_watermark_bytes"), 0u) << mark.dump();
    }
  EXPECT_FALSE(std::ranges::any_of(live.rows("events"), [](const Json& event) {
    return event.at("event") == "link_down" && event.value("port", "") == "host4";
  }));
  test::FabricHost& fourth = live.fabric.attach_host(live.node, PortId(1), 100_ns);
  send(live, first(live), 4, 3);
  live.run(1_ms);
  EXPECT_EQ(fourth.received.size(), 3u) << "tx is on again";
  EXPECT_EQ(row(live, "host4").at("tx_packets"), 3u);
}

TEST_F(PlaceChanges, OthersGoOnAndLoseNothing) {
  LiveSwitch live(1, 2);
  size_t sent = 0;
  for (size_t host = 3; host <= 4; ++host) {
    send(live, first(live), 2, 50);
    sent += 50;
    live.run(1_us);  // they are under way
    config::SwitchConfig next = live.config;
    for (size_t each = 3; each <= host; ++each) next = with_host(next, each);
    reload(live, next);
  }
  live.run(1_ms);
  EXPECT_EQ(live.hosts[1]->received.size(), sent);
  EXPECT_EQ(row(live, "host1").at("dropped_packets"), 0u);
}

TEST_F(PlaceChanges, WhatIsChargedToAPortThatGoesHasToLeaveFirst) {
  LiveSwitch live;
  ASSERT_TRUE(live.ask({{"command", "set"}, {"port", "host1"}, {"tx", "off"}}).at("ok"));
  send(live, second(live), 1, 3);
  live.run(1_ms);
  const config::SwitchConfig next = without_host2(live.config);
  EXPECT_THAT(refusal(live, next), HasSubstr("port host2 cannot go: 768 octets that came by it "
                                             "wait for other ports (PG 3); nothing is changed"));
  EXPECT_THAT(ports(live), ElementsAre("host1", "host2"));
  EXPECT_EQ(live.backend.admin_up.at(1), true);
  EXPECT_EQ(row(live, "host2").at("oper"), "up") << "it is back";
  EXPECT_TRUE(live.object().config().ports[1].admin_up);
  EXPECT_EQ(live.ask({{"command", "reload"}}).at("ok"), false);
  ASSERT_TRUE(live.ask({{"command", "set"}, {"port", "host1"}, {"tx", "on"}}).at("ok"));
  live.run(1_ms);
  EXPECT_EQ(live.hosts[0]->received.size(), 3u);
  EXPECT_EQ(reload(live, next).at("removed"), Json::array({"host2"}));
}

TEST_F(PlaceChanges, APauseOfThePortBeforeIsNotThatOfTheNext) {
  LiveSwitch live(1, 0);
  live.fabric.inject(live.node, PortId(1), test::pause_frame(0xff, 65'535));
  send(live, first(live), 2, 2);
  live.run(1_us);
  EXPECT_TRUE(live.object().queue_status(PortId(1), QueueId(3)).paused);
  reload(live, without_host2(live.config));
  EXPECT_FALSE(live.object().queue_status(PortId(1), QueueId(3)).paused);
  reload(live, with_host(without_host2(live.config), 4));
  EXPECT_FALSE(live.object().queue_status(PortId(1), QueueId(3)).paused);
}

TEST_F(PlaceChanges, APlaceMayBecomeAnotherWorkers) {
  LiveSwitch live(2, 1);  // the spare place is worker 0's
  const Json done = reload(live, with_host(live.config, 3, 1));
  EXPECT_EQ(done.at("generation"), 3u) << "one more, by which both workers hand the place over";
  live.fabric.hand_over(live.node, PortId(2), ShardId(1));
  test::FabricHost& third = live.fabric.attach_host(live.node, PortId(2), 100_ns);
  for (const size_t other : {0, 1}) {
    send(live, {*live.hosts[other], other, other + 1}, 3, 5);
    send(live, {third, 2, 3}, other + 1, 4);
  }
  live.run(1_ms);
  EXPECT_EQ(third.received.size(), 10u);
  EXPECT_EQ(live.hosts[0]->received.size(), 4u);
  EXPECT_EQ(live.hosts[1]->received.size(), 4u);
  live.fabric.set_link(live.node, PortId(2), false);
  reload(live, live.config);
  reload(live, with_host(live.config, 5, 0));
  live.fabric.hand_over(live.node, PortId(2), ShardId(0));
  test::FabricHost& fifth = live.fabric.attach_host(live.node, PortId(2), 100_ns);
  send(live, second(live), 5, 5);
  live.run(1_ms);
  EXPECT_EQ(fifth.received.size(), 5u);
  EXPECT_EQ(row(live, "host5").at("tx_packets"), 5u);
}

TEST_F(PlaceChanges, ACheckSaysTheClassAndWhy) {
  LiveSwitch live(1, 1);
  const auto check = [&](const config::SwitchConfig& next) {
    live.write(next);
    const Json answer = live.ask({{"command", "reload"}, {"check", true}});
    EXPECT_TRUE(answer.at("ok")) << answer.dump();
    return answer.value("result", Json::object());
  };
  Json said = check(with_host(live.config, 3));
  EXPECT_EQ(said.at("class"), "port");
  EXPECT_EQ(said.at("applies"), "yes");
  EXPECT_EQ(said.at("additions"), Json::array({"host3"}));
  said = check(without_host2(live.config));
  EXPECT_EQ(said.at("class"), "port");
  EXPECT_EQ(said.at("removals"), Json::array({"host2"}));
  EXPECT_EQ(said.at("changes").at(0).at("key"), "ports.host2");
  EXPECT_EQ(said.at("changes").at(0).at("after"), "");
  // In any case nothing has changed.
  EXPECT_TRUE(live.backend.plugged.empty());
  EXPECT_EQ(live.object().config().ports[1].name, "host2");

  said = check(with_host(with_host(live.config, 3), 4));
  EXPECT_EQ(said.at("class"), "restart");
  EXPECT_EQ(said.at("applies"), "no");
  EXPECT_THAT(said.at("problems").at(0).get<std::string>(),
              HasSubstr("no room for host3, host4: of the places only 1 is free"));
  live.backend.new_problems = {"port host3: needs CAP_NET_RAW"};
  said = check(with_host(live.config, 3));
  EXPECT_EQ(said.at("class"), "restart");
  EXPECT_THAT(said.at("problems").at(0).get<std::string>(), HasSubstr("needs CAP_NET_RAW"));
  EXPECT_THAT(said.at("problems").at(0).get<std::string>(), HasSubstr("switch.yaml:"));
  live.backend.removal_problems = {"port host2: a memif server"};
  said = check(without_host2(live.config));
  EXPECT_EQ(said.at("class"), "restart");
  EXPECT_THAT(said.at("problems").at(0).get<std::string>(), HasSubstr("a memif server"));
}

TEST_F(PlaceChanges, ADeviceThatCannotBeOpenedChangesNothing) {
  LiveSwitch live(1, 2);
  live.backend.unplugged_name = "host4";
  EXPECT_EQ(refusal(live, with_host(with_host(without_host2(live.config), 3), 4)),
            "it has no plug");
  EXPECT_TRUE(live.backend.plugged.empty()) << "the one that could be opened is closed again";
  EXPECT_TRUE(live.backend.used.empty());
  EXPECT_THAT(ports(live), ElementsAre("host1", "host2"));
  send(live, first(live), 2, 3);
  live.run(1_ms);
  EXPECT_EQ(live.hosts[1]->received.size(), 3u);
  EXPECT_EQ(live.ask({{"command", "show"}, {"report", "buffers"}}).at("result").at("generation"),
            1u);
}

TEST_F(PlaceChanges, EmptyPlacesHaveNoMetrics) {
  LiveSwitch live(1, 2);
  const auto labels = [&] {
    std::set<std::string> names;
    for (const auto& family : live.operations->metrics(0))
      for (const auto& metric : family.metric)
        for (const auto& label : metric.label)
          if (label.name == "port") names.insert(label.value);
    return names;
  };
  EXPECT_THAT(labels(), ElementsAre("host1", "host2"));
  reload(live, with_host(live.config, 3));
  EXPECT_THAT(labels(), ElementsAre("host1", "host2", "host3"));
}

TEST_F(PlaceChanges, ABufferThatIsTooSmallForOneMoreRefusesIt) {
  LiveSwitch live(1, 1);
  config::SwitchConfig next = with_host(live.config, 3);
  next.ports.back().cable_delay = 10_ms;  // of headroom at 10 Gb/s
  EXPECT_THAT(refusal(live, next), HasSubstr("host3"));
  EXPECT_TRUE(live.backend.plugged.empty());
  EXPECT_THAT(ports(live), ElementsAre("host1", "host2"));
}

TEST_F(PlaceChanges, HeadroomIsSetAsideForThePortsThatThereAre) {
  LiveSwitch live(1, 1);
  const int64_t before = live.object().buffer_status().reserved;
  reload(live, with_host(live.config, 3));
  EXPECT_EQ(live.object().buffer_status().reserved, before / 2 * 3);
  reload(live, live.config);
  EXPECT_EQ(live.object().buffer_status().reserved, before);
}

TEST_F(PlaceChanges, ManyRoundsEndWhereTheyBegan) {
  LiveSwitch live(2, 1);
  for (size_t round = 0; round < 20; ++round) {
    reload(live, with_host(live.config, 3, static_cast<int>(round % 2)));
    EXPECT_THAT(ports(live), ElementsAre("host1", "host2", "host3"));
    reload(live, live.config);
    EXPECT_THAT(ports(live), ElementsAre("host1", "host2"));
  }
  EXPECT_EQ(live.object().reclaim(), 0u);
  EXPECT_EQ(live.object().balance().held, 0u);
}

}  // namespace
}  // namespace eddy::control
