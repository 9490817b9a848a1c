#include "pfc/class_pair.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace eddy::pfc {
namespace {

config::SwitchConfig a_switch() {
  config::SwitchConfig config = config::default_switch("leaf1");
  for (const char* name : {"host1", "spine1"}) config.ports.push_back(config::default_port(name));
  config.ports[1].role = config::PortRole::fabric;
  config.isolation.enabled = true;
  return config;
}

TEST(ClassPair, IsWhatTheDefaultMapsSay) {
  const auto pair = class_pair_of(a_switch());
  ASSERT_TRUE(pair.ok());
  const ClassPair expected = {.normal = {TrafficClass(3), PriorityGroupId(3), QueueId(3), 3},
                              .isolated = {TrafficClass(4), PriorityGroupId(4), QueueId(4), 4},
                              .priority = Priority(3)};
  EXPECT_EQ(pair.value(), expected);
}

TEST(ClassPair, TheDscpsMayBeNamed) {
  config::SwitchConfig config = a_switch();
  for (config::PortConfig& port : config.ports) {
    port.maps.dscp_to_tc[26] = TrafficClass(3);
    port.maps.dscp_to_tc[27] = TrafficClass(4);
  }
  config.isolation.dscp = 26;
  config.isolation.isolated_dscp = 27;
  const auto pair = class_pair_of(config);
  ASSERT_TRUE(pair.ok());
  EXPECT_EQ(pair.value().normal.dscp, 26);
  EXPECT_EQ(pair.value().isolated.dscp, 27);
}

// A port of hosts needs nothing for the isolated class.
TEST(ClassPair, HostPortsNeedNoSecondLosslessClass) {
  config::SwitchConfig config = a_switch();
  config.ports[0].pg_profiles[4] = "lossy";
  EXPECT_TRUE(class_pair_of(config).ok());
}

TEST(ClassPair, IsRefusedWithWhatWouldBeValid) {
  struct Row {
    std::function<void(config::SwitchConfig&)> change;
    std::string says;
  };
  const Row rows[] = {
      {[](auto& c) { c.isolation.isolated = TrafficClass(3); }, "two different lossless classes"},
      {[](auto& c) { c.ports[1].pg_profiles[4] = "lossy"; },
       "port spine1: class 4 leads to PG 4 with profile 'lossy'"},
      {[](auto& c) { c.isolation.isolated_dscp = 9; }, "DSCP 9 is of class 1"},
      {[](auto& c) { c.ports[1].maps.dscp_to_tc[3] = TrafficClass(1); },
       "port spine1: DSCP 3 is of class 1"},
      {[](auto& c) { c.ports[1].maps.tc_to_queue[4] = QueueId(5); },
       "another priority group or queue than on port host1"},
      {[](auto& c) {
         for (auto& port : c.ports) port.maps.tc_to_queue[2] = QueueId(4);
       },
       "class 2 shares the priority group or the queue of class 4"},
      {[](auto& c) { c.ports[1].maps.pg_to_pfc[4] = Priority(3); }, "has to pause queue 4"},
      {[](auto& c) { c.ports[1].pfc.enable = "3"; }, "pfc.enable leaves out priority 4"},
      {[](auto& c) { c.ports[1].maps.tc_to_next[3] = TrafficClass(5); }, "virtual channels"},
  };
  for (const Row& row : rows) {
    config::SwitchConfig config = a_switch();
    row.change(config);
    const auto pair = class_pair_of(config);
    ASSERT_FALSE(pair.ok()) << row.says;
    std::string all;
    for (const std::string& problem : pair.problems()) all += problem + "\n";
    EXPECT_NE(all.find(row.says), std::string::npos) << row.says << "\n" << all;
  }
}

}  // namespace
}  // namespace eddy::pfc
