// The rte_fib engine against the same linear search, in one EAL environment of its own.
#include <gtest/gtest.h>
#include <rte_eal.h>

#include "tests/unit/dataplane/route_model.h"

namespace eddy::test {
namespace {

TEST(Fib, FindsWhatALinearSearchFinds) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    RandomStream random(seed, 0, 0);
    for (const bool v4 : {true, false}) {
      const RouteModel model(random_routes(random, 60, v4));
      const auto table = RouteTable::build(model.routes(), RouteEngine::fib);
      ASSERT_TRUE(table.ok()) << table.problems()[0];
      EXPECT_TRUE(table.value()->uses_fib());
      expect_same(*table.value(), model, random, v4);
      if (HasFailure()) FAIL() << "seed " << seed << (v4 ? " IPv4" : " IPv6");
    }
  }
}

TEST(Fib, AutomaticTakesItForManyPrefixesOnly) {
  RandomStream random(1, 0, 0);
  const auto few = RouteTable::build(random_routes(random, 100, true), RouteEngine::automatic);
  ASSERT_TRUE(few.ok());
  EXPECT_FALSE(few.value()->uses_fib());
}

// Few enough for tables of two octets an entry, and too many.
class ManyPrefixes : public testing::TestWithParam<uint32_t> {};

TEST_P(ManyPrefixes, LongOnesFit) {
  std::vector<Route> routes;
  for (uint32_t i = 0; i < GetParam(); ++i) {
    Ipv6Address address{};
    address.octets = {0xfd, 0, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)};
    routes.push_back({{address, 64}, {LeafId(i % 50), PortId(0), false}});
    const IpAddress v4 = Ipv4Address{0x0a000000 | i << 8};
    routes.push_back({{v4, 28}, {LeafId(i % 40), PortId(0), false}});
  }
  const auto table = RouteTable::build(routes, RouteEngine::automatic);
  ASSERT_TRUE(table.ok()) << table.problems()[0];
  EXPECT_TRUE(table.value()->uses_fib());
  for (size_t i = 0; i < routes.size(); i += 97)
    EXPECT_EQ(look_up(*table.value(), routes[i].prefix.address), routes[i].target) << i;
}
INSTANTIATE_TEST_SUITE_P(Fib, ManyPrefixes, testing::Values(3'000, 10'000));

}  // namespace
}  // namespace eddy::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string arguments[] = {"fib_test",    "--no-huge",      "-m", "512", "--no-pci",
                             "--no-shconf", "--no-telemetry", "-c", "1",   "--log-level",
                             "error"};
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  if (rte_eal_init(static_cast<int>(pointers.size()), pointers.data()) < 0) return 1;
  return RUN_ALL_TESTS();
}
