#include "config/set_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SwitchConfig two_ports() {
  SwitchConfig config = default_switch("leaf1");
  config.ports = {default_port("spine1"), default_port("spine1.2")};
  return config;
}

TEST(SetKey, ReachesAnyKeyAndNoOther) {
  SwitchConfig config = two_ports();
  SwitchConfig expected = config;
  EXPECT_THAT(set_key(config, "buffer.profiles.lossless.xoff", "64KiB"), IsEmpty());
  expected.buffer.profiles["lossless"].xoff = 64_KiB;
  EXPECT_EQ(config, expected);
}

TEST(SetKey, NamesPortsWithDotsByTheLongestName) {
  SwitchConfig config = two_ports();
  EXPECT_THAT(set_key(config, "ports.spine1.2.queues.3.weight", "20"), IsEmpty());
  EXPECT_EQ(config.ports[0].queues[3].weight, default_port("").queues[3].weight);
  EXPECT_EQ(config.ports[1].queues[3].weight, 20);
  EXPECT_THAT(set_key(config, "port_defaults.queues.3.weight", "30"), IsEmpty());
  EXPECT_EQ(config.ports[0].queues[3].weight, 30);
  EXPECT_EQ(config.ports[1].queues[3].weight, 30);
}

TEST(SetKey, AnotherSchemeDropsTheParameters) {
  SwitchConfig config = two_ports();
  EXPECT_THAT(set_key(config, "load_balancer.scheme", "letflow"), IsEmpty());
  EXPECT_THAT(set_key(config, "load_balancer.gap", "100us"), IsEmpty());
  EXPECT_EQ(config.load_balancer.parameters.at("gap"), "100us");
  EXPECT_THAT(set_key(config, "load_balancer.scheme", "ecmp"), IsEmpty());
  EXPECT_EQ(config.load_balancer.parameters.count("gap"), 0u);
}

TEST(SetKey, AnotherSchemeKeepsTheWayOfControlPackets) {
  SwitchConfig config = two_ports();
  EXPECT_THAT(set_key(config, "load_balancer.control", "scheme"), IsEmpty());
  EXPECT_THAT(set_key(config, "load_balancer.scheme", "letflow"), IsEmpty());
  EXPECT_EQ(config.load_balancer.control, ControlBy::scheme);
  EXPECT_TRUE(config.load_balancer.parameters.empty());
}

TEST(SetKey, NamesNoPlugin) {
  SwitchConfig config = two_ports();
  const SwitchConfig before = config;
  for (const auto& [key, value] :
       {std::pair{"load_balancer.plugin", "./mine.so"}, {"load_balancer", "{plugin: ./mine.so}"}})
    EXPECT_THAT(set_key(config, key, value), ElementsAre(HasSubstr("is named in the file"))) << key;
  EXPECT_EQ(config, before);
}

TEST(SetKey, AnotherSchemeLeavesThePlugin) {
  SwitchConfig config = two_ports();
  const LoadedScheme loaded{.file = "/opt/mine.so"};
  config.load_balancer = {.plugin = "/opt/mine.so", .scheme = "mine", .loaded = &loaded};
  EXPECT_THAT(set_key(config, "load_balancer.scheme", "letflow"), IsEmpty());
  EXPECT_EQ(config.load_balancer, LoadBalancerConfig{.scheme = "letflow"});
}

TEST(SetKey, MistakesSayWhatWouldBeValidAndChangeNothing) {
  SwitchConfig config = two_ports();
  const SwitchConfig before = config;
  EXPECT_THAT(set_key(config, "buffer.profiles.lossless.xoff", "64"),
              ElementsAre(HasSubstr("buffer.profiles.lossless.xoff: ")));
  EXPECT_THAT(set_key(config, "buffer.sice", "1MiB"), ElementsAre(HasSubstr("sice")));
  EXPECT_THAT(set_key(config, "ports.spine9.speed", "1Gbps"),
              ElementsAre("ports.spine9.speed: no such port, write ports.NAME.KEY or "
                          "port_defaults.KEY"));
  EXPECT_THAT(set_key(config, "routes.0.prefix", "10.0.0.0/8"),
              ElementsAre("routes.0.prefix: a list cannot be set, only single keys can"));
  EXPECT_THAT(set_key(config, "switch.id", "7"),
              ElementsAre("switch.id: only a restart would apply it, such a key cannot be set"));
  EXPECT_EQ(config, before);
}

}  // namespace
}  // namespace eddy::config
