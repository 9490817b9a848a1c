#include "switch/control/top/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "switch/control/report/table.h"

namespace eddy::control {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A port of the fabric that has the MAC "to-from" and a peer of the mirrored one.
Json to_switch(const char* port, const char* mac, const char* peer) {
  return {{"port", port},        {"role", "fabric"},     {"admin", "up"},
          {"oper", "up"},        {"mac", mac},           {"peer_mac", peer},
          {"tx_bps", 100},       {"rx_bps", 70},         {"pfc_tx_xoff", 5},
          {"pfc_rx_xoff", 3},    {"queued_bytes", 4},    {"cnm_tx_packets", 2},
          {"cnm_rx_packets", 1}, {"dropped_packets", 6}, {"ecn_marked_packets", 8}};
}

Json to_host(const char* port) {
  return {{"port", port}, {"role", "host"}, {"admin", "up"}, {"oper", "up"},
          {"mac", port},  {"tx_bps", 11},   {"rx_bps", 12},  {"queued_bytes", 13}};
}

SwitchReading reading(const char* name, std::initializer_list<Json> rows) {
  return {.name = name,
          .presence = Presence::answers,
          .ports = {{"uptime_ns", 5'000}, {"generation", 2}, {"rows", Json::array_t(rows)}}};
}

// leaf1 with a host and a link to spine1, whose other end differs in its numbers.
std::vector<SwitchReading> two() {
  std::vector<SwitchReading> out = {reading("leaf1", {to_host("h1"), to_switch("up", "a", "b")}),
                                    reading("spine1", {to_switch("leaf1", "b", "a")})};
  Json& far = out[1].ports["rows"][0];
  far["tx_bps"] = 71;
  far["rx_bps"] = 99;
  far["pfc_tx_xoff"] = 4;
  far["cnm_tx_packets"] = 9;
  far["queued_bytes"] = 40;
  return out;
}

std::vector<std::string> names(const std::vector<SwitchReading>& switches) {
  std::vector<std::string> out;
  const Json report = links_report("", switches);
  for (const Json& row : report.at("rows")) out.push_back(row.at("link"));
  return out;
}

Json first_row(const std::vector<SwitchReading>& switches) {
  return links_report("", switches).at("rows").at(0);
}

TEST(Links, BothEndsAreOneRowAndHostsComeLast) {
  EXPECT_THAT(names(two()), ElementsAre("leaf1-spine1", "leaf1:h1"));
  const Json row = first_row(two());
  EXPECT_EQ(row.at("state"), "up");
  EXPECT_EQ(row.at("port"), "up");
  EXPECT_EQ(row.at("peer_switch"), "spine1");
  EXPECT_EQ(row.at("peer_port"), "leaf1");
}

TEST(Links, EachDirectionIsAsItsSenderHasIt) {
  const Json row = first_row(two());
  EXPECT_EQ(row.at("forth_bps"), 100);
  EXPECT_EQ(row.at("back_bps"), 71);
  EXPECT_EQ(row.at("forth_pfc_xoff"), 5);
  EXPECT_EQ(row.at("back_pfc_xoff"), 4);
  EXPECT_EQ(row.at("forth_cnm_packets"), 2);
  EXPECT_EQ(row.at("back_cnm_packets"), 9);
  EXPECT_EQ(row.at("forth_queued_bytes"), 4);
  EXPECT_EQ(row.at("back_queued_bytes"), 40);
  EXPECT_EQ(row.at("dropped_packets"), 12);
  EXPECT_EQ(row.at("ecn_marked_packets"), 16);
}

TEST(Links, OfASilentSwitchTheOtherEndTells) {
  std::vector<SwitchReading> switches = two();
  switches[0].presence = Presence::silent;
  Json row = first_row(switches);
  EXPECT_EQ(row.at("link"), "leaf1-spine1");
  EXPECT_EQ(row.at("state"), "leaf1 silent");
  EXPECT_EQ(row.at("forth_bps"), 99) << "what spine1 receives";
  EXPECT_EQ(row.at("back_bps"), 71);
  EXPECT_EQ(row.at("forth_pfc_xoff"), 3);
  EXPECT_FALSE(row.contains("forth_queued_bytes"));
  EXPECT_EQ(row.at("dropped_packets"), 6) << "what nobody knows now is not counted";
  switches[1].presence = Presence::gone;
  row = first_row(switches);
  EXPECT_FALSE(row.contains("forth_bps"));
  EXPECT_FALSE(row.contains("dropped_packets"));
  switches[0].presence = Presence::answers;
  EXPECT_EQ(first_row(switches).at("state"), "spine1 gone");
}

TEST(Links, TheWorseEndIsTheState) {
  std::vector<SwitchReading> switches = two();
  switches[1].ports["rows"][0]["oper"] = "no_peer";
  EXPECT_EQ(first_row(switches).at("state"), "no_peer");
  switches[0].ports["rows"][1]["admin"] = "down";
  EXPECT_EQ(first_row(switches).at("state"), "off");
}

TEST(Links, SeveralOfTwoSwitchesAreNamedByTheirPorts) {
  EXPECT_THAT(names({reading("a", {to_switch("p1", "1", "3"), to_switch("p2", "2", "4")}),
                     reading("b", {to_switch("q1", "3", "1"), to_switch("q2", "4", "2")})}),
              ElementsAre("a:p1-b:q1", "a:p2-b:q2"));
}

TEST(Links, WhatDoesNotPointBothWaysIsNotJoined) {
  EXPECT_THAT(
      names({reading("a", {to_switch("p", "1", "2")}), reading("b", {to_switch("q", "2", "9")})}),
      ElementsAre("a:p", "b:q"));
  EXPECT_THAT(names({reading("a", {to_switch("p", "1", "1")})}), ElementsAre("a:p"));
}

TEST(Links, MacsOfSeveralPortsJoinNothing) {
  // Two fabrics of the same plan on one machine.
  EXPECT_THAT(
      names({reading("a", {to_switch("p", "1", "2")}), reading("b", {to_switch("q", "2", "1")}),
             reading("c", {to_switch("p", "1", "2")})}),
      ElementsAre("a:p", "b:q", "c:p"));
}

TEST(Links, AMacThatAPortToAHostHasToo) {
  // Switches whose MACs nobody has set have the same ones.
  EXPECT_THAT(names({reading("a", {to_host("2"), to_switch("p", "1", "2")}),
                     reading("b", {to_switch("q", "2", "1")})}),
              ElementsAre("a-b", "a:2"));
  EXPECT_THAT(
      names({reading("a", {to_switch("p", "1", "1")}), reading("b", {to_switch("q", "1", "1")})}),
      ElementsAre("a-b"));
}

TEST(Links, ALinkThatIsDownIsStillTheSame) {
  std::vector<SwitchReading> switches = two();
  Json now = switches[0].ports;
  now["rows"][1].erase("peer_mac");
  now["rows"][1]["oper"] = "down";
  remember_peers(switches[0].ports, now);
  switches[0].ports = now;
  EXPECT_THAT(names(switches), ElementsAre("leaf1-spine1", "leaf1:h1"));
  EXPECT_EQ(first_row(switches).at("state"), "down");
  now["rows"][1]["peer_mac"] = "other";
  remember_peers(switches[0].ports, now);
  EXPECT_EQ(now["rows"][1]["peer_mac"], "other") << "a new cable is a new peer";
}

TEST(Switches, ARowForEachWithItsSums) {
  std::vector<SwitchReading> switches = two();
  switches[1].presence = Presence::silent;
  switches[1].problem = "no answer";
  const Json report = switches_report("lab", switches);
  const Json& leaf = report.at("rows").at(0);
  EXPECT_EQ(leaf.at("fabric_ports"), "1/1");
  EXPECT_EQ(leaf.at("host_ports"), "1/1");
  EXPECT_EQ(leaf.at("tx_bps"), 111);
  EXPECT_EQ(leaf.at("queued_bytes"), 17);
  EXPECT_EQ(report.at("rows").at(1).at("why"), "no answer");
  EXPECT_FALSE(report.at("rows").at(1).contains("tx_bps"));
  EXPECT_EQ(report.at("title"), "lab: 2 switches, 1 does not answer");
  EXPECT_EQ(report.at("note"), "spine1: no answer");
}

TEST(Switches, MergedReportsNameTheSwitchOfEachRow) {
  std::vector<SwitchReading> switches = two();
  const std::vector<Json> reports = {{{"report", "drops"}, {"rows", {{{"port", "h1"}}}}},
                                     {{"report", "drops"}, {"rows", {{{"port", "leaf1"}}}}}};
  Json merged = merged_report("lab", "drops", switches, reports);
  EXPECT_EQ(merged.at("rows").at(1).at("switch"), "spine1");
  EXPECT_EQ(table_cells(merged).keys.front(), "switch");
  switches[0].presence = Presence::silent;
  merged = merged_report("lab", "drops", switches, reports);
  EXPECT_EQ(merged.at("rows").size(), 1u) << "old rows are not shown as new ones";
}

TEST(Switches, TablesOfNobodyHaveNoRows) {
  for (const Json& report : {links_report("x", {}), switches_report("x", {})}) {
    EXPECT_THAT(report.at("rows"), IsEmpty());
    EXPECT_EQ(table_cells(report).below, "nothing to show\n");
  }
}

TEST(Switches, LinksAreATable) {
  const TableCells cells = table_cells(links_report("", two()));
  EXPECT_EQ(cells.keys.front(), "link");
  EXPECT_EQ(cells.lines.size(), 3u);
}

}  // namespace
}  // namespace eddy::control
