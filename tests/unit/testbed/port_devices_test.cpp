#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/real/switch_config.h"
#include "testbed/host_daemon.h"

namespace eddy::testbed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

lab::Topology four_hosts() {
  lab::Topology topology;
  for (const char* name : {"leaf1.host1", "leaf1.host2", "leaf2.host1", "leaf2.host2"})
    topology.hosts.push_back({.name = name});
  return topology;
}

std::string refusal(const std::vector<std::string>& assignments) {
  const auto devices = devices_of(four_hosts(), assignments);
  return devices ? "" : testing::PrintToString(devices.problems());
}

TEST(PortDevices, OnePatternServesAllHosts) {
  const auto devices = devices_of(four_hosts(), {"*=net_memif{n},socket=/s/{host}.memif"});
  ASSERT_TRUE(devices.ok());
  EXPECT_THAT(devices.value().by_host, ElementsAre("net_memif0,socket=/s/leaf1.host1.memif",
                                                   "net_memif1,socket=/s/leaf1.host2.memif",
                                                   "net_memif2,socket=/s/leaf2.host1.memif",
                                                   "net_memif3,socket=/s/leaf2.host2.memif"));
}

TEST(PortDevices, OneHostMayHaveItsOwn) {
  const auto devices =
      devices_of(four_hosts(), {"leaf2.host1=net_af_packet0,iface=eth0", "*=net_null{n}"});
  ASSERT_TRUE(devices.ok());
  EXPECT_EQ(devices.value().by_host[2], "net_af_packet0,iface=eth0");
  EXPECT_EQ(devices.value().by_host[3], "net_null3");
}

TEST(PortDevices, SaysWhatIsMissingOrWrong) {
  EXPECT_THAT(refusal({"leaf1.host1=net_null0"}),
              HasSubstr("leaf1.host2 has no port; give --port"));
  EXPECT_THAT(refusal({"leaf3.host1=net_null0", "*=net_null{n}"}),
              HasSubstr("they are leaf1.host1 to leaf2.host2"));
  EXPECT_THAT(refusal({"leaf1.host1", "*=net_null{n}"}), HasSubstr("write HOST=DEVICE"));
  lab::Topology many;
  many.hosts.resize(33);
  const auto devices = devices_of(many, {"*=net_null{n}"});
  ASSERT_FALSE(devices.ok());
  EXPECT_THAT(devices.problems().front(), HasSubstr("33 hosts: one process has one port a host"));
}

}  // namespace
}  // namespace eddy::testbed
