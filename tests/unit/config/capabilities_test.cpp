#include "config/capabilities.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace eddy::config {
namespace {

using enum Capability;

TEST(Capabilities, KindFollowsFromTheDevice) {
  EXPECT_EQ(port_kind_of("net_af_packet0,iface=s1"), PortKind::af_packet);
  EXPECT_EQ(port_kind_of("eth_af_packet12,iface=s1"), PortKind::af_packet);
  EXPECT_EQ(port_kind_of("net_af_xdp0,iface=s1"), PortKind::af_xdp);
  EXPECT_EQ(port_kind_of("net_memif7"), PortKind::memif);
  EXPECT_EQ(port_kind_of("net_virtio_user0,path=/run/a"), PortKind::virtio);
  EXPECT_EQ(port_kind_of("virtio_user3,path=/run/a"), PortKind::virtio);
  EXPECT_EQ(port_kind_of("0000:01:00.0,arg=1"), PortKind::pci);
  EXPECT_EQ(port_kind_of("01:00.0"), PortKind::pci);
  EXPECT_EQ(port_kind_of("net_tap0,mac=02:00:00:00:00:01.0"), PortKind::tap);
  for (const char* unknown : {"net_bonding0", "memif0", "net_pci0", "net_other0", "net_", "", "7"})
    EXPECT_EQ(port_kind_of(unknown), PortKind::other) << unknown;
}

TEST(Capabilities, EachKindHasARowWhateverTheDeviceSays) {
  for (const CapabilityRow& row : capability_table()) {
    const auto last =
        std::find_if(capability_table().rbegin(), capability_table().rend(),
                     [&](const CapabilityRow& each) { return each.kind == row.kind; });
    EXPECT_TRUE(last->when.empty()) << to_string(row.kind);
    EXPECT_FALSE(row.why.empty());
    EXPECT_TRUE((row.needs & row.comfort).empty()) << to_string(row.kind);
  }
  EXPECT_EQ(capability_row("net_ring0").kind, PortKind::ring);
}

TEST(Capabilities, RowDependsOnArguments) {
  EXPECT_EQ(capability_row("net_pcap0,iface=s1").needs, CapabilitySet{net_raw});
  EXPECT_EQ(capability_row("net_pcap0,rx_pcap=a,tx_iface=s1").needs, CapabilitySet{net_raw});
  EXPECT_TRUE(capability_row("net_pcap0,rx_pcap=iface=s1,tx_pcap=b").needs.empty());
  EXPECT_TRUE(capability_row("net_pcap0,xiface=s1").needs.empty());
  EXPECT_EQ(capability_row("net_virtio_user0,queues=1,path=/dev/vhost-net").needs,
            CapabilitySet{net_admin});
  EXPECT_TRUE(capability_row("net_virtio_user0,path=/run/dev/a.sock").needs.empty());
}

TEST(Capabilities, DemandIsWhatAllPortsAskTogether) {
  SwitchConfig config = default_switch("s");
  for (const char* device : {"net_memif0", "net_af_packet0,iface=a", "net_tap0"})
    config.ports.emplace_back(default_port(device)).device = device;
  const CapabilityDemand demand = capability_demand(config);
  EXPECT_EQ(demand.needs, (CapabilitySet{net_admin, net_raw}));
  EXPECT_EQ(demand.comfort, CapabilitySet{ipc_lock});
  EXPECT_TRUE(demand.own_user && demand.known);
  config.ports.emplace_back(default_port("n")).device = "0000:01:00.0";
  EXPECT_FALSE(capability_demand(config).own_user);
  EXPECT_TRUE(capability_demand(config).known);
  config.ports.back().device = "net_softnic0";
  EXPECT_FALSE(capability_demand(config).known);
}

TEST(Capabilities, KindsToComeAreAskedForWithAllThatTheirDevicesCould) {
  SwitchConfig config = default_switch("s");
  config.privileges.ports = {PortKind::pcap};
  EXPECT_EQ(capability_demand(config).needs, CapabilitySet{net_raw});
  config.privileges.ports = {PortKind::other};
  EXPECT_FALSE(capability_demand(config).known);
}

TEST(Capabilities, SetsAreOfTheKernelsNumbers) {
  const CapabilitySet set = CapabilitySet::of_mask(uint64_t{1} << 12 | uint64_t{1} << 23 | 1);
  EXPECT_EQ(set, (CapabilitySet{net_admin, sys_nice}));
  EXPECT_EQ(set.words("CAP_", ", "), "CAP_NET_ADMIN, CAP_SYS_NICE");
  EXPECT_EQ(set - CapabilitySet{sys_nice}, CapabilitySet{net_admin});
  EXPECT_EQ(CapabilitySet{}.words("CAP_", " "), "");
}

}  // namespace
}  // namespace eddy::config
