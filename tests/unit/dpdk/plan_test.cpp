#include "switch/dpdk/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy {
namespace {

using namespace literals;

config::SwitchConfig switch_of(size_t ports) {
  config::SwitchConfig config = config::default_switch("s");
  for (size_t i = 0; i < ports; ++i) {
    config.ports.push_back(config::default_port("p" + std::to_string(i)));
    config.ports.back().device = "net_null" + std::to_string(i);
  }
  return config;
}

TEST(DaemonPlan, PacketsCoverEveryCellAndMore) {
  config::SwitchConfig config = switch_of(4);
  config.buffer.size = 12_MiB;
  config.buffer.cell_bytes = 256;
  const auto plan = plan_daemon(config);
  ASSERT_TRUE(plan.ok()) << plan.problems().front();
  EXPECT_GT(plan.value().pools.data_packets, 49'152u);
  EXPECT_LT(plan.value().pools.data_packets, 49'152u + 1'024u);
  EXPECT_FALSE(plan.value().pci);
}

TEST(DaemonPlan, BuffersFitTheLongestMtu) {
  config::SwitchConfig config = switch_of(2);
  config.ports[1].mtu = 9'000;
  EXPECT_GE(plan_daemon(config).value().pools.buffer_size, 9'000 + 22);
}

TEST(DaemonPlan, AFourPortSwitchWithTheDefaultBufferStaysBelow160MiB) {
  EXPECT_LT(plan_daemon(switch_of(4)).value().memory, 160_MiB);
}

TEST(DaemonPlan, MorePortsThanDpdkHasAreRefused) {
  config::SwitchConfig full = switch_of(32);
  full.buffer.size = 64_MiB;
  EXPECT_TRUE(plan_daemon(full).ok());
  const auto plan = plan_daemon(switch_of(33));
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.problems().front(), testing::HasSubstr("room for 32"));
}

TEST(DaemonPlan, PortsToComeHavePacketsForAnyKindThatMayCome) {
  config::SwitchConfig config = switch_of(2);
  const unsigned without = plan_daemon(config).value().pools.data_packets;
  config.spare_ports = 3;
  EXPECT_EQ(plan_daemon(config).value().pools.data_packets, without + 3 * 32);
  config.privileges.ports = {config::PortKind::af_packet, config::PortKind::tap};
  EXPECT_EQ(plan_daemon(config).value().pools.data_packets, without + 3 * 1'024);
  EXPECT_GT(plan_daemon(config).value().pools.buffer_size,
            plan_daemon(switch_of(2)).value().pools.buffer_size)
      << "af_packet leaves room before a frame";
  config.privileges.ports.clear();
  config.ports[0].device = "net_af_packet0,iface=x";
  config.ports[1].mtu = 9'000;
  const int of_both = plan_daemon(config).value().pools.buffer_size;
  config.ports[0].mtu = 9'000;
  EXPECT_EQ(plan_daemon(config).value().pools.buffer_size, of_both)
      << "one more of the first kind may have the MTU of the second";
  config.spare_ports = 31;
  const auto plan = plan_daemon(config);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.problems().front(), testing::HasSubstr("33 ports (31 of them to come)"));
}

// AF_XDP's memory comes in chunks of a page at most, for all ports.
TEST(DaemonPlan, AfXdpWithLongFramesIsRefusedNamingThePort) {
  config::SwitchConfig config = switch_of(2);
  config.ports[0].device = "net_af_xdp0,iface=x";
  EXPECT_TRUE(plan_daemon(config).ok());
  config.ports[1].mtu = 4'096;
  const auto plan = plan_daemon(config);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.problems(),
              testing::ElementsAre(testing::HasSubstr("port p0 (net_af_xdp0,iface=x)")));
}

TEST(DaemonPlan, PciIsSeen) {
  config::SwitchConfig config = switch_of(1);
  config.ports[0].device = "0000:01:00.0";
  EXPECT_TRUE(plan_daemon(config).value().pci);
}

}  // namespace
}  // namespace eddy
