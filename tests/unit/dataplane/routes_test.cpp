// The route table's ranges against an obvious linear longest-prefix match, and routes in the
// switch: loopbacks, a fabric's shared table.
#include <gtest/gtest.h>

#include "switch/dataplane/object/shard.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"
#include "tests/unit/dataplane/route_model.h"

namespace eddy::test {
namespace {

TEST(Ranges, FindWhatALinearSearchFinds) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomStream random(seed, 0, 0);
    for (const bool v4 : {true, false}) {
      const RouteModel model(random_routes(random, random.below(40), v4));
      const auto table = RouteTable::build(model.routes(), RouteEngine::ranges);
      ASSERT_TRUE(table.ok());
      EXPECT_FALSE(table.value()->uses_fib());
      expect_same(*table.value(), model, random, v4);
      if (HasFailure()) FAIL() << "seed " << seed << (v4 ? " IPv4" : " IPv6");
    }
  }
}

TEST(Ranges, EdgesOfTheAddressSpace) {
  const auto target = [](size_t leaf) { return RouteTarget{LeafId(leaf), PortId(0), false}; };
  const RouteModel model({{prefix("0.0.0.0/0"), target(1)},
                          {prefix("255.255.255.255/32"), target(2)},
                          {prefix("255.0.0.0/8"), target(3)},
                          {prefix("0.0.0.0/32"), target(4)},
                          {prefix("128.0.0.0/1"), target(5)},
                          {prefix("::/0"), target(6)},
                          {prefix("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128"), target(7)},
                          {prefix("fd00::/8"), target(8)},
                          {prefix("fd00::1/128"), target(9)}});
  const auto table = RouteTable::build(model.routes(), RouteEngine::ranges);
  ASSERT_TRUE(table.ok());
  RandomStream random(1, 0, 0);
  expect_same(*table.value(), model, random, true);
  expect_same(*table.value(), model, random, false);
}

// A leaf's prefix each, some missing, and one inside of another.
TEST(Ranges, OfOneWidthAreFoundWithTheirNeighbors) {
  const auto target = [](size_t leaf) { return RouteTarget{LeafId(leaf), PortId(0), false}; };
  for (const size_t step : {1, 2, 3}) {
    std::vector<Route> routes;
    for (size_t leaf = 2; leaf < 34; leaf += step) {
      const std::string number = std::to_string(leaf);
      routes.push_back({prefix("10." + number + ".0.0/16"), target(leaf)});
      routes.push_back({prefix("fd00:0:0:" + number + "::/64"), target(leaf)});
      routes.push_back({prefix("fd01:" + number + "::/32"), target(leaf)});
    }
    for (const char* const inside : {"", "10.2.128.0/17", "10.5.0.1/32", "fd01:2::1/128"}) {
      if (*inside != 0) routes.push_back({prefix(inside), target(99)});
      const RouteModel model(routes);
      const auto table = RouteTable::build(model.routes(), RouteEngine::ranges);
      ASSERT_TRUE(table.ok());
      RandomStream random(step, 0, 0);
      expect_same(*table.value(), model, random, true);
      expect_same(*table.value(), model, random, false);
      if (HasFailure()) FAIL() << "a prefix of " << step << ", and " << inside;
    }
  }
}

TEST(Ranges, OfEqualPrefixesTheLastCounts) {
  std::vector<Route> routes;
  for (size_t i = 0; i < 40; ++i)
    routes.push_back({prefix("10.0.0.0/8"), {LeafId(i), PortId(0), false}});
  const auto table = RouteTable::build(routes, RouteEngine::ranges);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(look_up(*table.value(), ip("10.1.2.3")).leaf, LeafId(39));
  EXPECT_EQ(look_up(*table.value(), ip("11.1.2.3")), RouteTarget{});
}

TEST(Ranges, NothingCoversNothing) {
  const auto table = RouteTable::build({}, RouteEngine::ranges);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(look_up(*table.value(), ip("10.1.2.3")), RouteTarget{});
  EXPECT_EQ(look_up(*table.value(), ip("fd00::1")), RouteTarget{});
}

// One table for all switches of a fabric: who owns the leaf uses the port, others the path set.
TEST(SharedRoutes, ServeEverySwitchByItsOwnLeaf) {
  const std::vector<Route> routes = {{prefix("10.1.2.0/24"), {LeafId(1), PortId(1), false}}};
  const auto table = RouteTable::build(routes, RouteEngine::ranges);
  ASSERT_TRUE(table.ok());
  for (const size_t leaf : {1, 2}) {
    config::SwitchConfig config = hosts_switch(2);
    config.leaf = LeafId(leaf);
    add_fabric_port(config, "spine", 10_Gbps);
    config.ports[2].peer_mac = MacAddress{{2, 0, 0, 0, 0, 9}};
    config.leaves = {{LeafId(3 - leaf), {{"spine", 1, {}}}}};
    auto made = Switch::create(config, {.shared_routes = table.value()});
    ASSERT_TRUE(made.ok());
    PacketPool pool(8);
    ManualIo io(pool);
    for (size_t port = 0; port < 3; ++port) io.links.push_back({PortId(port), true});
    io.arrive(PortId(0), udp_frame(between(config, 0, 1)));
    (*made)->shard(ShardId(0)).poll(io, Instant());
    ASSERT_EQ(io.sent.size(), 1u);
    EXPECT_EQ(io.sent[0].port, PortId(leaf == 1 ? 1 : 2));
  }
}

}  // namespace
}  // namespace eddy::test
