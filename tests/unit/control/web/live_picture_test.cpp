#include "switch/control/web/live_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace eddy::control {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Json port(const char* name, const char* mac, const char* peer_mac, uint64_t tx_bps) {
  Json row{{"port", name},           {"role", peer_mac == nullptr ? "host" : "fabric"},
           {"admin", "up"},          {"oper", "up"},
           {"speed_bps", 1000},      {"mac", mac},
           {"tx_bps", tx_bps},       {"rx_bps", 7},
           {"queued_bytes", 512},    {"pfc_tx_xoff", 3},
           {"pfc_rx_xoff", 4},       {"cnm_tx_packets", 5},
           {"cnm_rx_packets", 6},    {"dropped_packets", 1},
           {"ecn_marked_packets", 2}};
  if (peer_mac != nullptr) row["peer_mac"] = peer_mac;
  return row;
}

SwitchReading reading(const char* name, Json rows) {
  return {.name = name,
          .presence = Presence::answers,
          .ports = {{"report", "ports"}, {"uptime_ns", 9}, {"generation", 1}, {"rows", rows}}};
}

std::vector<SwitchReading> two_switches() {
  return {reading("leaf1", Json::array({port("h<1>", "a", nullptr, 10), port("up", "b", "c", 20)})),
          reading("spine1", Json::array({port("down", "c", "b", 30)}))};
}

// What an event says: its one line of data.
Json data_of(const std::string& event, const std::string& name) {
  const std::string head = "event: " + name + "\ndata: ";
  EXPECT_THAT(event, StartsWith(head));
  EXPECT_EQ(event.find('\n', head.size()), event.size() - 2) << "one line, then an empty one";
  return Json::parse(event.substr(head.size()));
}

TEST(LivePicture, HasLinksAndTheirNumbers) {
  LivePicture pictures("fabric demo", 1'000);
  const std::vector<Json> rlb{
      {{"report", "rlb"}, {"rows", Json::array({{{"port", "up"}, {"pfc_predicted", 8}}})}},
      Json::object()};
  const Picture picture = pictures.draw(two_switches(), rlb, 123);
  const Json shape = data_of(picture.shape_event, "shape");
  EXPECT_EQ(shape.at("title"), "fabric demo");
  EXPECT_EQ(shape.at("switches"), (Json{"leaf1", "spine1"}));
  ASSERT_EQ(shape.at("links").size(), 2u);
  EXPECT_EQ(shape.at("links").at(0), (Json{{"name", "leaf1-spine1"},
                                           {"role", "fabric"},
                                           {"speed", 1000},
                                           {"near", Json::array({0, "up"})},
                                           {"far", Json::array({1, "down"})}}));
  EXPECT_EQ(shape.at("links").at(1).at("near"), Json::array({0, "h<1>"}));
  EXPECT_TRUE(shape.at("links").at(1).at("far").is_null());

  const Json values = data_of(picture.values_event, "values");
  EXPECT_EQ(values.at("at"), 123);
  EXPECT_EQ(values.at("links").at(0), Json::parse(R"(["up",20,30,512,512,3,3,5,5,2,4])"));
  EXPECT_EQ(values.at("links").at(1), Json::parse(R"(["up",10,7,512,null,3,4,5,6,1,2])"));
  EXPECT_EQ(values.at("switches").at(0),
            Json::parse(R"(["answers",9,1,null,1024,10,6,4,2,8,0,0,0])"));
  EXPECT_EQ(values.at("switches").at(1),
            Json::parse(R"(["answers",9,1,null,512,5,3,2,1,null,null,null,null])"));
}

TEST(LivePicture, TheShapeIsAnotherOnlyWhenItIs) {
  LivePicture pictures("x", 1'000);
  std::vector<SwitchReading> switches = two_switches();
  const uint64_t first = pictures.draw(switches, {}, 1).shape;
  EXPECT_GT(first, 0u);
  switches[0].ports["rows"][0]["tx_bps"] = 99;
  EXPECT_EQ(pictures.draw(switches, {}, 2).shape, first);
  switches.pop_back();
  EXPECT_EQ(pictures.draw(switches, {}, 3).shape, first + 1);
}

TEST(LivePicture, ASwitchThatIsSilentHasNoSums) {
  LivePicture pictures("x", 1'000);
  std::vector<SwitchReading> switches = two_switches();
  switches[1].presence = Presence::silent;
  switches[1].problem = "no answer within 2 s";
  const Json values = data_of(pictures.draw(switches, {}, 1).values_event, "values");
  EXPECT_EQ(values.at("switches").at(1).at(0), "silent");
  EXPECT_EQ(values.at("switches").at(1).at(3), "no answer within 2 s");
  EXPECT_TRUE(values.at("switches").at(1).at(4).is_null());
  EXPECT_EQ(values.at("links").at(0).at(0), "spine1 silent");
  EXPECT_EQ(values.at("links").at(0).at(2), 7) << "what the leaf has received";
}

TEST(CellsOf, AReportAsTexts) {
  const Json cells = cells_of(
      {{"report", "drops"},
       {"rows",
        Json::array({{{"port", "p1"}, {"reason", "<b>"}, {"dropped_packets", 1'234'567}}})}});
  EXPECT_EQ(cells.at("report"), "drops");
  EXPECT_EQ(cells.at("head").at(2), "Packets");
  EXPECT_EQ(cells.at("keys").at(0), "port");
  EXPECT_EQ(cells.at("rows").at(0).at(1), "<b>");
  EXPECT_EQ(cells.at("rows").at(0).at(2), "1,234,567") << "without the spaces of a terminal";
  EXPECT_THAT(cells_of({{"report", "pfcwd"}, {"rows", Json::array()}}).at("below"),
              HasSubstr("nothing to show"));
}

}  // namespace
}  // namespace eddy::control
