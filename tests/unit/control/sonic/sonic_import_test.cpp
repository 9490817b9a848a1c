#include "switch/control/sonic/sonic_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "switch/control/sonic/config_db.h"

namespace eddy::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kPort =
    R"("PORT": {"Ethernet0": {"speed": "100000", "admin_status": "up"}, "Ethernet4": {"speed": "25000"}})";

std::string db(const std::string& tables) {
  return "{" + std::string(kPort) + (tables.empty() ? "" : ",\n" + tables) + "}\n";
}

config::SwitchConfig made(const std::string& tables) {
  const auto imported = import_sonic("c", db(tables));
  if (!imported) {
    for (const std::string& problem : imported.problems()) ADD_FAILURE() << problem;
    return config::default_switch("none");
  }
  const auto loaded = config::load_text("made", imported.value().yaml);
  EXPECT_TRUE(loaded) << imported.value().yaml;
  return loaded.value().config;
}

Problems wrong(const std::string& tables) {
  const auto imported = import_sonic("c", db(tables));
  return imported ? Problems{"nothing is wrong"} : imported.problems();
}

std::string told(const std::string& tables) {
  const auto imported = import_sonic("c", db(tables));
  return imported ? imported.value().report.text() : imported.problems().front();
}

TEST(ConfigDb, FieldsHaveTheirLines) {
  const auto parsed =
      ConfigDb::parse("c", "{\n\"PORT\": {\n \"a\": {\"x\": 1,\n\n \"y\": [\"p\",\"q\"]}}}");
  ASSERT_TRUE(parsed) << parsed.problems().front();
  const auto* entry = parsed.value().table("PORT").find("a");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->line, 3);
  EXPECT_EQ(entry->find("x")->text, "1");
  EXPECT_EQ(entry->find("y")->line, 5);
  EXPECT_EQ(entry->find("y")->text, "p,q");
  EXPECT_EQ(parsed.value().table("NONE").entries.size(), 0u);
}

TEST(ConfigDb, WhatIsNoConfigDbIsRefusedWithItsLine) {
  const auto refused = [](const std::string& text) {
    const auto parsed = ConfigDb::parse("c", text);
    return parsed ? std::string("taken") : parsed.problems().front();
  };
  EXPECT_THAT(refused(""), HasSubstr("c:1: is no JSON at"));
  EXPECT_THAT(refused("{\n\"PORT\": {\n}"), HasSubstr("c:3: is no JSON at"));
  EXPECT_THAT(refused("{\"A\": {}}"), HasSubstr("c:1: there is no table PORT"));
  EXPECT_THAT(refused("[]"), HasSubstr("c:1: only a field is a list"));
  EXPECT_THAT(refused("{\"PORT\": 1}"), HasSubstr("c:1: tables of entries of fields"));
  EXPECT_THAT(refused("{\"PORT\": {\"a\": {\"x\": {}}}}"), HasSubstr("c:1: fields are texts"));
  EXPECT_THAT(refused("{\"PORT\": {\"a\": {\"x\": 1,\n\"x\": 2}}}"),
              HasSubstr("c:2: the key 'x' stands twice"));
  EXPECT_THAT(refused("{\"PORT\": {\"a\": {},\n\"a\": {}}}"),
              HasSubstr("c:2: the key 'a' stands twice"));
  EXPECT_THAT(refused("{\"PORT\": {}} x"), HasSubstr("c:1: is no JSON at"));
  EXPECT_THAT(refused(std::string(100'000, '[')), HasSubstr("only a field is a list"));
  EXPECT_THAT(refused(std::string(ConfigDb::kMostOctets + 1, ' ')), HasSubstr("has more than"));
}

TEST(ConfigDb, RangesListsAndReferences) {
  EXPECT_EQ(sonic_range("3-4", 8), (std::vector<size_t>{3, 4}));
  EXPECT_EQ(sonic_range("0,2-3", 8), (std::vector<size_t>{0, 2, 3}));
  for (const char* text : {"", "x", "4-3", "8", "-1", "3-", "0-99999999999"})
    EXPECT_FALSE(sonic_range(text, 8)) << text;
  EXPECT_EQ(sonic_reference("[BUFFER_POOL|x]"), "x");
  EXPECT_EQ(sonic_reference("x"), "x");
  EXPECT_THAT(sonic_list("a,b,,c"), ElementsAre("a", "b", "c"));
}

TEST(SonicImport, PortsAsSonicHasThem) {
  const auto config =
      made(R"("DEVICE_METADATA": {"localhost": {"hostname": "leaf 1", "mac": "00:01:02:03:04:05"}},
    "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}}, "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}},
    "LOOPBACK_INTERFACE": {"Loopback0|10.1.0.32/32": {}})");
  EXPECT_EQ(config.name, "leaf_1");
  ASSERT_EQ(config.ports.size(), 2u);
  EXPECT_EQ(config.ports[0].speed, BitRate::gbps(100));
  EXPECT_EQ(config.ports[0].mtu, 9'100);
  EXPECT_TRUE(config.ports[0].admin_up);
  EXPECT_FALSE(config.ports[1].admin_up);
  EXPECT_EQ(config.ports[0].cable_delay, Duration::nanoseconds(200));
  EXPECT_EQ(config.ports[0].addresses.size(), 1u);
  EXPECT_EQ(config.loopbacks.size(), 1u);
  EXPECT_FALSE(config.ports[0].watchdog.enabled);  // PFC_WD names no port
  EXPECT_EQ(config.ports[0].pfc.priorities(0xff), 0);
  for (const std::string& profile : config.ports[0].pg_profiles) EXPECT_EQ(profile, "lossy");
}

constexpr const char* kBuffers =
    R"("BUFFER_POOL": {"in": {"size": "8000000", "type": "ingress", "mode": "dynamic", "xoff": "2000000"},
                       "out": {"size": "1", "type": "egress", "mode": "static"}},
    "BUFFER_PROFILE": {"pg_lossless": {"pool": "[BUFFER_POOL|in]", "size": "50000", "xon": "10000", "xoff": "40000",
                                       "xon_offset": "2288", "dynamic_th": "-3"},
                       "pg_lossy": {"pool": "in", "size": "0", "static_th": "7000000"},
                       "q": {"pool": "out", "size": "1518", "dynamic_th": "3"}},
    "BUFFER_PG": {"Ethernet0|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless]"}, "Ethernet0,Ethernet4|0": {"profile": "pg_lossy"}},
    "BUFFER_QUEUE": {"Ethernet0|0-2": {"profile": "q"}},
    "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"0": "0", "3": "3", "4": "4", "5": "2"}}, "DSCP_TO_TC_MAP": {"M": {"26": "3"}},
    "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "M"}, "Ethernet0": {"tc_to_pg_map": "AZURE", "pfc_enable": "3,4"}})";

TEST(SonicImport, Buffers) {
  const auto config = made(kBuffers);
  EXPECT_EQ(config.buffer.size.count(), 10'000'000);
  EXPECT_TRUE(config.buffer.overcommit);
  const auto& lossless = config.buffer.profiles.at("pg_lossless");
  EXPECT_TRUE(lossless.lossless);
  EXPECT_EQ(lossless.headroom->count(), 40'000);
  EXPECT_EQ(lossless.reserved.count(), 10'000);  // of the size, the headroom is apart
  EXPECT_EQ(lossless.xon_offset.count(), 2'288);
  EXPECT_EQ(lossless.dynamic_th, -3);
  EXPECT_EQ(config.buffer.profiles.at("pg_lossy").xoff.count(), 7'000'000);
  EXPECT_FALSE(config.buffer.profiles.contains("q"));
  EXPECT_EQ(config.ports[0].pg_profiles[3], "pg_lossless");
  EXPECT_EQ(config.ports[1].pg_profiles[0], "pg_lossy");
  EXPECT_EQ(config.ports[1].pg_profiles[3], "lossy");
  EXPECT_EQ(config.ports[0].queues[2].dynamic_th, 3);
  EXPECT_EQ(config.ports[0].queues[2].reserved->count(), 1'518);
  EXPECT_EQ(*config.ports[0].pfc.enable, "3,4");
  EXPECT_EQ(config.ports[1].maps.dscp_to_tc[26], TrafficClass(3));
  EXPECT_EQ(config.ports[1].maps.dscp_to_tc[3], TrafficClass(0));
  EXPECT_EQ(config.ports[0].maps.tc_to_pg[5], PriorityGroupId(2));
}

// In the dynamic model the profile of a lossless group is not in the file.
TEST(SonicImport, LosslessGroupsWithoutAProfile) {
  const auto config =
      made(R"("DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "-1"}},
    "BUFFER_PG": {"Ethernet0|3-4": {"profile": "NULL"}}, "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}})");
  EXPECT_EQ(config.ports[0].pg_profiles[3], "by_pfc");
  EXPECT_EQ(config.buffer.profiles.at("by_pfc").dynamic_th, -1);
  EXPECT_FALSE(config.buffer.profiles.at("by_pfc").headroom);
}

TEST(SonicImport, QueuesWredAndTheWatchdog) {
  const auto config = made(
      R"("SCHEDULER": {"s": {"type": "STRICT", "pir": "125000000"}, "d": {"type": "DWRR", "weight": "30"}},
    "WRED_PROFILE": {"W": {"ecn": "ecn_all", "green_min_threshold": "1000", "green_max_threshold": "2000", "green_drop_probability": "5"}},
    "QUEUE": {"Ethernet0|3": {"scheduler": "[SCHEDULER|d]", "wred_profile": "W"}, "Ethernet0|6": {"scheduler": "s"}},
    "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "100"}, "Ethernet0": {"action": "forward", "detection_time": "300", "restoration_time": "400"}},
    "MAP_PFC_PRIORITY_TO_QUEUE": {"A": {"3": "4"}}, "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"A": {"5": "2"}},
    "PORT_QOS_MAP": {"Ethernet0": {"pfc_to_queue_map": "A", "pfc_to_pg_map": "A"}})");
  const auto& port = config.ports[0];
  EXPECT_EQ(port.queues[3].weight, 30);
  EXPECT_EQ(*port.queues[3].wred, "W");
  EXPECT_EQ(port.queues[6].scheduler, config::SchedulerType::strict);
  EXPECT_EQ(*port.queues[6].max_rate, BitRate::gbps(1));
  EXPECT_FALSE(port.queues[4].wred);
  EXPECT_EQ(config.buffer.wred.at("W").kmin.count(), 1'000);
  EXPECT_DOUBLE_EQ(config.buffer.wred.at("W").pmax, 0.05);
  EXPECT_TRUE(port.watchdog.enabled);
  EXPECT_EQ(port.watchdog.action, config::WatchdogAction::forward);
  EXPECT_EQ(port.watchdog.detection_time, Duration::milliseconds(300));
  EXPECT_EQ(port.watchdog.poll_interval, Duration::milliseconds(100));
  EXPECT_EQ(port.maps.pfc_to_queue[3], QueueId(4));
  EXPECT_EQ(port.maps.pg_to_pfc[2], Priority(5));
  EXPECT_FALSE(port.maps.trust_pcp);
}

TEST(SonicImport, AllProblemsAtOnceWithTheirLines) {
  EXPECT_THAT(
      wrong(
          "\"BUFFER_PG\": {\"Ethernet9|3\": {\"profile\": \"x\"},\n\"Ethernet0|9\": {\"profile\": "
          "\"NULL\"},\n\"Ethernet0\": {}},\n"
          "\"PFC_WD\": {\"Ethernet0\": {\"action\": \"explode\", \"detection_time\": \"soon\"}},\n"
          "\"INTERFACE\": {\"Ethernet0|10.0.0.0\": {}},\n\"QUEUE\": {\"Ethernet0|3\": "
          "{\"scheduler\": \"none\"}},\n"
          "\"CABLE_LENGTH\": {\"A\": {\"Ethernet0\": \"longm\"}}"),
      ElementsAre("c:6: INTERFACE|Ethernet0|10.0.0.0: is no IP prefix",
                  HasSubstr("c:8: CABLE_LENGTH Ethernet0: 'long'"),
                  "c:2: BUFFER_PG|Ethernet9|3: there is no port Ethernet9 in PORT",
                  "c:2: there is no BUFFER_PROFILE|x",
                  HasSubstr("c:3: BUFFER_PG|Ethernet0|9: the numbers are 0 to 7"),
                  HasSubstr("c:4: BUFFER_PG|Ethernet0: PORTS|NUMBERS"),
                  HasSubstr("c:4: BUFFER_PG|Ethernet0: profile is missing"),
                  "c:7: there is no SCHEDULER|none",
                  HasSubstr("c:5: PFC_WD|Ethernet0 detection_time: 'soon'"),
                  "c:5: PFC_WD|Ethernet0 action 'explode', valid are drop, forward, alert"));
}

// A wrong map, profile or scheduler is one problem, however many ports use it.
TEST(SonicImport, WhatSeveralPortsUseIsToldOnceWithThem) {
  EXPECT_THAT(
      wrong(R"("DSCP_TO_TC_MAP": {"AZURE": {"3": "9"}}, "TC_TO_QUEUE_MAP": {"AZURE": {"x": "1"}},
"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "pfc_enable": "9"},
"Ethernet4": {"dscp_to_tc_map": "AZURE", "tc_to_pg_map": "NONE"}})"),
      testing::UnorderedElementsAre(
          "c:2: DSCP_TO_TC_MAP|AZURE 3: '9' is no whole number from 0 to 7 (of ports Ethernet0, "
          "Ethernet4)",
          "c:2: TC_TO_QUEUE_MAP|AZURE: 'x' is no whole number from 0 to 7",
          "c:3: pfc_enable '9': priorities from 0 to 7, such as 3,4",
          "c:4: there is no TC_TO_PRIORITY_GROUP_MAP|NONE"));
  EXPECT_THAT(
      wrong(R"("SCHEDULER": {"s": {"type": "ODD", "weight": "0"}},
"QUEUE": {"Ethernet0|0-3": {"scheduler": "s"}, "Ethernet4|0": {"scheduler": "s", "wred_profile": "w"}},
"BUFFER_PROFILE": {"p": {"size": "0", "dynamic_th": "99"}},
"BUFFER_QUEUE": {"Ethernet0,Ethernet4|0": {"profile": "p"}, "Ethernet0|1": {"profile": "q"}},
"BUFFER_PG": {"Ethernet4|1": {"profile": "q"}})"),
      testing::UnorderedElementsAre(
          "c:2: SCHEDULER|s type 'ODD', valid are DWRR, WRR, STRICT (of ports Ethernet0, "
          "Ethernet4)",
          "c:2: SCHEDULER|s weight: '0' is no whole number from 1 to 255 (of ports Ethernet0, "
          "Ethernet4)",
          "c:3: there is no WRED_PROFILE|w",
          "c:4: BUFFER_PROFILE|p dynamic_th: '99' is no whole number from -8 to 8 (of ports "
          "Ethernet0, Ethernet4)",
          "c:6: there is no BUFFER_PROFILE|q (of ports Ethernet4, Ethernet0)"));
}

TEST(SonicImport, ManyPortsAreNotAllNamed) {
  std::string ports = R"({"PORT": {"Ethernet0": {"speed": "100000"})";
  std::string maps = R"("PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "NONE"})";
  for (int i = 1; i < 12; ++i) {
    const std::string name = "Ethernet" + std::to_string(4 * i);
    ports += ", \"" + name + R"(": {"speed": "100000"})";
    maps += ", \"" + name + R"(": {"dscp_to_tc_map": "NONE"})";
  }
  const auto imported = import_sonic("c", ports + "}, " + maps + "}}");
  EXPECT_THAT(imported.problems(),
              ElementsAre(HasSubstr("no DSCP_TO_TC_MAP|NONE (of ports Ethernet0, Ethernet4, ")));
  EXPECT_THAT(imported.problems().front(), testing::EndsWith("Ethernet28 and 4 more)"));
}

TEST(SonicImport, WhatHasNoCounterpartIsTold) {
  const std::string report = told(
      R"("VLAN": {"Vlan1000": {}}, "ODD_TABLE": {"x": {"y": "z"}}, "PORTCHANNEL": {"P": {}, "Q": {}})");
  EXPECT_THAT(report, HasSubstr("ignored       c:2  VLAN: there is no bridging"));
  EXPECT_THAT(report, HasSubstr("ODD_TABLE, 1 entry: there is nothing of the kind here"));
  EXPECT_THAT(report, HasSubstr("PORTCHANNEL (2 times): there are no link aggregates"));
}

TEST(SonicImport, PortsThatAreUpGoFirst) {
  std::string ports = "{\"PORT\": {";
  for (int i = 0; i < 40; ++i)
    ports += "\"Ethernet" + std::to_string(i) + "\": {\"speed\": \"10000\", \"admin_status\": \"" +
             (i < 20 ? "down" : "up") + "\"},";
  ports +=
      "\"Ethernet99\": {\"speed\": \"10000\"}}, \"CABLE_LENGTH\": {\"A\": {\"Ethernet99\": \"5m\", "
      "\"Ethernet39\": \"5m\"}}}";
  const auto imported = import_sonic("c", ports);
  ASSERT_TRUE(imported) << imported.problems().front();
  const auto loaded = config::load_text("made", imported.value().yaml);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded.value().config.ports.size(), 32u);
  EXPECT_EQ(loaded.value().config.ports.back().name, "Ethernet39");
  EXPECT_THAT(imported.value().report.text(), HasSubstr("PORT beyond 32 (9 times)"));
}

// The names that buffermgrd makes of pg_profile_lookup.ini, in both models.
TEST(SonicImport, ALosslessGroupFindsTheProfileOfItsSpeedAndCable) {
  const std::string tables =
      R"("CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "40m"}},
    "BUFFER_PROFILE": {"pg_lossless_100000_5m_profile": {"size": "1248", "xon": "2288", "xoff": "35776", "dynamic_th": "-3"},
                       "pg_lossless_25000_300m_profile": {"size": "1248", "xon": "2288", "xoff": "9000", "dynamic_th": "-3"}},
    "BUFFER_PG": {"Ethernet0,Ethernet4|3-4": {"profile": "NULL"}, "Ethernet0|6": {"profile": "NULL"}},
    "PORT_QOS_MAP": {"Ethernet0,Ethernet4": {"pfc_enable": "3,4"}})";
  const auto config = made(tables);
  EXPECT_EQ(config.ports[0].pg_profiles[3], "pg_lossless_100000_5m_profile");
  EXPECT_EQ(config.buffer.profiles.at("pg_lossless_100000_5m_profile").headroom->count(), 35'776);
  EXPECT_EQ(config.ports[0].pg_profiles[6], "lossy");
  EXPECT_EQ(config.ports[1].pg_profiles[4], "by_pfc") << "there is one of 300m alone";
  const std::string report = told(tables);
  EXPECT_THAT(report, HasSubstr("taken         c:5  BUFFER_PG with profile NULL (2 times): the "
                                "profile of the port's speed and cable"));
  EXPECT_THAT(report, HasSubstr("approximated  c:5  BUFFER_PG with profile NULL (2 times): buffer "
                                "profile by_pfc"));
  EXPECT_THAT(report, HasSubstr("ignored       c:5  BUFFER_PG with profile NULL, without PFC"));
}

TEST(SonicImport, OneOfTwoLengthsOfACableIsTold) {
  const std::string tables =
      R"("CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m"}, "OTHER": {"Ethernet0": "300m", "Ethernet4": "0m"}})";
  EXPECT_EQ(made(tables).ports[0].cable_delay, Duration::nanoseconds(25));
  EXPECT_THAT(told(tables), HasSubstr("CABLE_LENGTH|OTHER: another entry has said another length"));
}

TEST(SonicImport, AggregatesAndVlansOfOnePortAreThatPort) {
  const std::string tables =
      R"("PORTCHANNEL": {"PortChannel1": {"admin_status": "up", "min_links": "1", "mtu": "9100"}},
    "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {"NULL": "NULL"}},
    "PORTCHANNEL_INTERFACE": {"PortChannel1": {"NULL": "NULL"}, "PortChannel1|10.0.0.0/31": {}, "PortChannel1|FC00::1/126": {}},
    "VLAN": {"Vlan1000": {"dhcp_servers": ["192.0.0.1"]}},
    "VLAN_MEMBER": {"Vlan1000|Ethernet4": {"tagging_mode": "untagged"}},
    "VLAN_INTERFACE": {"Vlan1000": {}, "Vlan1000|192.168.0.1/21": {"scope": "global", "family": "IPv4"}})";
  const auto config = made(tables);
  EXPECT_EQ(config.ports[0].addresses.size(), 2u);
  EXPECT_FALSE(config.ports[0].vlan);
  EXPECT_EQ(config.ports[1].addresses.size(), 1u);
  EXPECT_EQ(config.ports[1].vlan, 1'000);
  EXPECT_EQ(config.ports[1].tagging_mode, config::TaggingMode::untagged);
  const std::string report = told(tables);
  EXPECT_THAT(report, HasSubstr("taken         c:4  PORTCHANNEL_INTERFACE (2 times)"));
  EXPECT_THAT(report, HasSubstr("approximated  c:2  PORTCHANNEL: an aggregate of one port"));
  EXPECT_THAT(report, HasSubstr("ignored       c:2  PORTCHANNEL min_links"));
  EXPECT_THAT(report, HasSubstr("ignored       c:5  VLAN dhcp_servers"));
  EXPECT_THAT(report, testing::Not(HasSubstr("scope")));
}

TEST(SonicImport, AggregatesAndVlansOfSeveralPortsAreTold) {
  const std::string tables =
      R"("PORTCHANNEL": {"PortChannel1": {"members": ["Ethernet0", "Ethernet4"]}},
    "PORTCHANNEL_INTERFACE": {"PortChannel1|10.0.0.0/31": {}},
    "VLAN": {"Vlan2": {"vlanid": "2"}}, "VLAN_MEMBER": {"Vlan2|Ethernet0": {"tagging_mode": "tagged"}, "Vlan2|Ethernet4": {"tagging_mode": "tagged"}},
    "VLAN_INTERFACE": {"Vlan2|192.168.0.1/21": {}})";
  const auto config = made(tables);
  EXPECT_TRUE(config.ports[0].addresses.empty());
  EXPECT_FALSE(config.ports[0].vlan);
  const std::string report = told(tables);
  for (const char* line :
       {"c:2  PORTCHANNEL: there are no", "c:3  PORTCHANNEL_INTERFACE: there are no",
        "c:4  VLAN: there is no bridging", "c:4  VLAN_MEMBER (2 times): there is no",
        "c:5  VLAN_INTERFACE: there is no bridging"})
    EXPECT_THAT(report, HasSubstr(line));
  EXPECT_THAT(
      wrong(
          R"("VLAN": {"Vlan2": {"vlanid": "5000"}}, "VLAN_MEMBER": {"Vlan2|Ethernet0": {}, "Vlan3|Ethernet8": {}, "Vlan4": {}})"),
      ElementsAre("c:2: VLAN_MEMBER|Vlan3|Ethernet8: there is no port Ethernet8 in PORT",
                  "c:2: VLAN_MEMBER|Vlan4: VLAN|PORT is expected",
                  HasSubstr("c:2: VLAN|Vlan2 vlanid: '5000'")));
}

TEST(SonicImport, QueuesBeyondThoseOfPrioritiesAreTold) {
  const std::string tables =
      R"("SCHEDULER": {"s": {"type": "DWRR", "weight": "7"}}, "QUEUE": {"Ethernet0|6-9": {"scheduler": "s"}},
    "BUFFER_PROFILE": {"q": {"size": "9", "dynamic_th": "1"}}, "BUFFER_QUEUE": {"Ethernet0,Ethernet4|7-15": {"profile": "q"}})";
  const auto config = made(tables);
  EXPECT_EQ(config.ports[0].queues[7].weight, 7);
  EXPECT_EQ(config.ports[1].queues[7].dynamic_th, 1);
  EXPECT_THAT(told(tables), HasSubstr("c:2  QUEUE beyond 7 (2 times): a port has 8 queues"));
  EXPECT_THAT(told(tables), HasSubstr("c:3  BUFFER_QUEUE beyond 7 (8 times)"));
  EXPECT_THAT(wrong(R"("QUEUE": {"Ethernet0|64": {}})"),
              ElementsAre(HasSubstr("the numbers are 0 to 63")));
}

TEST(SonicImport, TheWatchdogsFormerTable) {
  const auto config = made(
      R"("PFC_WD_TABLE": {"GLOBAL": {"POLL_INTERVAL": "50"}, "Ethernet0": {"action": "drop", "detection_time": "100"}})");
  EXPECT_TRUE(config.ports[0].watchdog.enabled);
  EXPECT_EQ(config.ports[0].watchdog.detection_time, Duration::milliseconds(100));
  EXPECT_EQ(config.ports[0].watchdog.poll_interval, Duration::milliseconds(50));
  EXPECT_THAT(told(R"("PFC_WD_TABLE": {"Ethernet0": {}}, "PFC_WD": {})"),
              HasSubstr("PFC_WD_TABLE, 1 entry: PFC_WD is there, too"));
}

TEST(SonicImport, HeadroomThatIsSharedByARatio) {
  const std::string tables =
      R"("DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0", "over_subscribe_ratio": "2"}})";
  EXPECT_TRUE(made(tables).buffer.overcommit);
  EXPECT_THAT(told(tables), HasSubstr("over_subscribe_ratio: buffer.overcommit: true"));
}

// Of every table that is read, a field that nobody knows.
TEST(SonicImport, FieldsThatNobodyReadsAreTold) {
  const std::string report = told(
      R"("INTERFACE": {"Ethernet0": {"vrf_name": "VrfRed", "odd": "1"}}, "LOOPBACK_INTERFACE": {"Loopback0": {"odd": "1"}},
    "BUFFER_POOL": {"in": {"type": "ingress", "size": "9000000", "mode": "dynamic", "odd": "1"}},
    "BUFFER_PROFILE": {"p": {"size": "0", "dynamic_th": "0", "odd": "1"}},
    "BUFFER_PG": {"Ethernet0|0": {"profile": "p", "odd": "1"}}, "BUFFER_QUEUE": {"Ethernet0|0": {"profile": "p", "odd": "1"}},
    "SCHEDULER": {"s": {"type": "STRICT", "odd": "1"}}, "QUEUE": {"Ethernet0|0": {"scheduler": "s", "odd": "1"}},
    "WRED_PROFILE": {"w": {"ecn": "ecn_none", "odd": "1"}}, "PORT_QOS_MAP": {"Ethernet0": {"odd": "1"}},
    "PFC_WD": {"GLOBAL": {"odd": "1"}, "Ethernet0": {"action": "drop", "odd": "1"}},
    "DEVICE_METADATA": {"localhost": {"odd": "1"}}, "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"A": {"odd": "1"}},
    "VLAN": {"Vlan2": {"odd": "1"}}, "VLAN_MEMBER": {"Vlan2|Ethernet0": {"odd": "1"}}, "PORTCHANNEL": {"P": {"odd": "1"}})");
  for (const char* table :
       {"INTERFACE", "LOOPBACK_INTERFACE", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG",
        "BUFFER_QUEUE", "SCHEDULER", "QUEUE", "WRED_PROFILE", "PORT_QOS_MAP", "PFC_WD",
        "DEVICE_METADATA", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "VLAN", "VLAN_MEMBER",
        "PORTCHANNEL"})
    EXPECT_THAT(report,
                testing::ContainsRegex("ignored +c:[0-9]+ +" + std::string(table) + " odd"));
  EXPECT_THAT(report, HasSubstr("INTERFACE vrf_name: there are no VRFs"));
  EXPECT_THAT(report, HasSubstr("BUFFER_POOL mode: each profile says it"));
}

}  // namespace
}  // namespace eddy::control
