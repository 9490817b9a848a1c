// The loopback interface, which is there without root. That an MTU is raised, and that it cannot
// be, is shown end to end (hosts_test.py, process_test.py).
#include "switch/dpdk/interface.h"

#include <gtest/gtest.h>

namespace eddy {
namespace {

TEST(Interface, SaysWhatTheKernelSays) {
  EXPECT_TRUE(interface_runs("lo"));
  ASSERT_TRUE(interface_mtu("lo").has_value());
  EXPECT_GE(*interface_mtu("lo"), 1'500);
  EXPECT_FALSE(interface_runs("missing0"));
  EXPECT_EQ(interface_mtu("missing0"), std::nullopt);
  EXPECT_EQ(interface_mtu("a_name_longer_than_interfaces_have"), std::nullopt);
}

TEST(Interface, AnMtuThatIsHighEnoughIsLeft) {
  const auto before = interface_mtu("lo");
  EXPECT_EQ(raise_interface_mtu("lo", 1'000, 1'032), Problems{});
  EXPECT_EQ(interface_mtu("lo"), before);
  EXPECT_EQ(raise_interface_mtu("missing0", 1'000, 1'000),
            Problems{"there is no network interface missing0"});
}

}  // namespace
}  // namespace eddy
