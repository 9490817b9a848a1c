#include "config/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SwitchConfig switch_of(const std::vector<std::string>& names, int spare, int workers = 1) {
  SwitchConfig config = default_switch("s");
  config.spare_ports = spare;
  config.workers = workers;
  for (const std::string& name : names) config.ports.push_back(default_port(name));
  return config;
}

std::vector<std::string> names(const SwitchConfig& config) {
  std::vector<std::string> out;
  for (const PortConfig& port : config.ports) out.push_back(port.absent() ? "-" : port.name);
  return out;
}

Seating seating_of(const SwitchConfig& next, const SwitchConfig& running) {
  const auto seating = seated_like(next, running);
  EXPECT_TRUE(seating.ok()) << seating.problems().front();
  return seating.ok() ? seating.value() : Seating{};
}

std::string refusal(const SwitchConfig& next, const SwitchConfig& running) {
  const auto seating = seated_like(next, running);
  return seating.ok() ? "" : seating.problems().front();
}

TEST(Places, TheFirstFileHasItsPortsInOrderAndThenRoom) {
  const SwitchConfig config = seated(switch_of({"a", "b"}, 3, 2));
  EXPECT_THAT(names(config), ElementsAre("a", "b", "-", "-", "-"));
  EXPECT_FALSE(config.ports[2].admin_up);
  EXPECT_EQ(config.ports[2].worker, 0);
  EXPECT_EQ(config.ports[3].worker, 1);
  EXPECT_EQ(seated(switch_of({"a"}, 0)), switch_of({"a"}, 0));
}

TEST(Places, PortsKeepTheirsWhateverTheOrderOfTheFile) {
  const SwitchConfig running = seated(switch_of({"a", "b", "c"}, 0));
  SwitchConfig next = switch_of({"c", "a", "b"}, 0);
  next.ports[0].mtu = 1'400;
  const Seating seating = seating_of(next, running);
  EXPECT_THAT(names(seating.config), ElementsAre("a", "b", "c"));
  EXPECT_EQ(seating.config.ports[2].mtu, 1'400);
  EXPECT_TRUE(seating.added.empty() && seating.removed.empty());
}

TEST(Places, APortThatGoesLeavesRoomForTheNextFile) {
  const SwitchConfig running = seated(switch_of({"a", "b", "c"}, 0));
  const Seating gone = seating_of(switch_of({"a", "c"}, 0), running);
  EXPECT_THAT(names(gone.config), ElementsAre("a", "-", "c"));
  EXPECT_THAT(gone.removed, ElementsAre(PortId(1)));
  const Seating come = seating_of(switch_of({"a", "c", "d"}, 0), gone.config);
  EXPECT_THAT(names(come.config), ElementsAre("a", "d", "c"));
  EXPECT_THAT(come.added, ElementsAre(PortId(1)));
  EXPECT_THAT(come.removed, ElementsAre());
}

TEST(Places, APlaceThatIsLeftIsNoRoomYet) {
  const SwitchConfig running = seated(switch_of({"a", "b"}, 0));
  EXPECT_EQ(refusal(switch_of({"a", "c"}, 0), running),
            "no room for c: no place is free, and those of ports that this file removes are when "
            "they are gone: remove them by a reload of its own; a restart of eddyd with more "
            "switch.spare_ports makes room");
  const SwitchConfig roomy = seated(switch_of({"a", "b"}, 1));
  const Seating seating = seating_of(switch_of({"a", "c"}, 1), roomy);
  EXPECT_THAT(names(seating.config), ElementsAre("a", "-", "c"));
}

TEST(Places, WhoFindsNoneIsNamed) {
  const SwitchConfig running = seated(switch_of({"a"}, 1));
  EXPECT_THAT(refusal(switch_of({"a", "b", "c"}, 1), running),
              HasSubstr("no room for b, c: of the places only 1 is free; a restart"));
}

TEST(Places, OneOfTheSameWorkerIsTakenFirst) {
  const SwitchConfig running = seated(switch_of({"a"}, 3, 2));  // of workers 0, 1, 0
  SwitchConfig next = switch_of({"a", "b", "c", "d"}, 3, 2);
  next.ports[1].worker = 1;
  next.ports[2].worker = 1;
  const Seating seating = seating_of(next, running);
  EXPECT_THAT(names(seating.config), ElementsAre("a", "c", "b", "d"));
  EXPECT_EQ(seating.config.ports[1].worker, 1);
  EXPECT_THAT(seating.added, ElementsAre(PortId(1), PortId(2), PortId(3)));
}

TEST(Places, NobodyIsNamedByNothing) {
  const SwitchConfig running = seated(switch_of({"a"}, 1));
  EXPECT_EQ(place_of(running, "a"), 0u);
  EXPECT_EQ(place_of(running, ""), running.ports.size());
  EXPECT_EQ(place_of(running, "b"), running.ports.size());
}

}  // namespace
}  // namespace eddy::config
