// That interfaces which come later are found is shown in containers
// (tests/container/trouble_test.py).
#include "switch/dpdk/interface_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>
#include <string>

namespace eddy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

config::SwitchConfig with_devices(std::initializer_list<const char*> devices) {
  config::SwitchConfig config;
  for (const char* device : devices) {
    config::PortConfig port;
    port.name = device;
    port.device = device;
    config.ports.push_back(port);
  }
  return config;
}

std::vector<std::string> names_of(std::initializer_list<const char*> devices) {
  return wanted_interfaces(with_devices(devices), nullptr)->names;
}

TEST(WantedInterfaces, AreThoseThatDevicesName) {
  EXPECT_THAT(
      names_of({"net_af_packet0,iface=eth1,framesz=2048", "net_af_xdp1,iface=eth2",
                "eth_af_packet2,iface=eth3", "net_pcap0,iface=eth4",
                "net_pcap1,rx_iface=eth5,tx_iface=eth6", "net_tap0,iface=tap0,remote=eth7"}),
      ElementsAre("eth1", "eth2", "eth3", "eth4", "eth5", "eth6", "eth7"));
}

TEST(WantedInterfaces, AreNotThoseThatDriversMakeOrDoNotHave) {
  EXPECT_THAT(names_of({"net_memif0,role=client,socket=/run/eddy/a.sock", "net_tap0,iface=tap0",
                        "net_null0", "net_ring0", "net_pcap0,rx_pcap=a.pcap", "0000:03:00.0",
                        "net_af_packet9"}),
              IsEmpty());
}

TEST(WantedInterfaces, AreNamedOnce) {
  EXPECT_THAT(names_of({"net_pcap0,rx_iface=eth1,tx_iface=eth1", "net_pcap1,iface=eth1"}),
              ElementsAre("eth1"));
}

TEST(WantedInterfaces, CountIsThatOfClabIntfs) {
  EXPECT_EQ(wanted_interfaces(with_devices({}), nullptr)->count, 0);
  EXPECT_EQ(wanted_interfaces(with_devices({}), "0")->count, 0);
  EXPECT_EQ(wanted_interfaces(with_devices({}), "12")->count, 12);
  for (const char* wrong : {"", "two", "-1", "2x", " 2", "1025", "99999999999"})
    EXPECT_THAT(wanted_interfaces(with_devices({}), wrong).problems(),
                ElementsAre(HasSubstr("CLAB_INTFS")))
        << wrong;
}

TEST(MissingInterfaces, AreSaidByNameAndByNumberInOneLine) {
  const WantedInterfaces wanted{.names = {"eth1", "eth2", "eth3"}, .count = 4};
  EXPECT_EQ(
      missing_interfaces(wanted, {{"lo", false}, {"eth0"}, {"eth2"}, {"veth9"}}),
      "interface eth1, interface eth3, 2 of the 4 interfaces that CLAB_INTFS counts beside lo "
      "and eth0");
  EXPECT_EQ(missing_interfaces(wanted, {{"eth1"}, {"eth2"}, {"eth3"}, {"x"}}), "");
}

TEST(MissingInterfaces, ThoseOfEveryNamespaceDoNotCount) {
  const std::vector<PresentInterface> of_every_namespace = {
      {"lo", false}, {"eth0"}, {"sit0", false}, {"tunl0", false}, {"gretap0"}, {"erspan0"}};
  EXPECT_THAT(missing_interfaces({.names = {}, .count = 1}, of_every_namespace),
              HasSubstr("1 of the 1 "));
  EXPECT_EQ(missing_interfaces({.names = {"gretap0"}, .count = 0}, of_every_namespace), "");
}

TEST(PresentInterfaces, LoopbackIsThereAndNoEthernet) {
  const auto present = present_interfaces();
  const auto found = std::find_if(present.begin(), present.end(),
                                  [](const PresentInterface& one) { return one.name == "lo"; });
  ASSERT_NE(found, present.end());
  EXPECT_FALSE(found->ethernet);
}

// What a child says that waits with these signals to come, which are sent before it begins.
WaitResult wait_in_a_child(const WantedInterfaces& wanted, Duration patience, int signal) {
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, &before);
  const pid_t child = fork();
  if (child == 0) {
    if (signal != 0) raise(signal);
    _exit(static_cast<int>(wait_for_interfaces(wanted, patience).end));
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  return {static_cast<WaitEnd>(WEXITSTATUS(status)), {}};
}

TEST(WaitForInterfaces, EndsAtOnceWhereAllAreThere) {
  const auto result = wait_in_a_child({.names = {"lo"}}, Duration::seconds(600), 0);
  EXPECT_EQ(result.end, WaitEnd::all_there);
}

TEST(WaitForInterfaces, EndsAfterItsTime) {
  const auto result = wait_in_a_child({.names = {"missing0"}}, Duration::milliseconds(2), 0);
  EXPECT_EQ(result.end, WaitEnd::too_late);
}

TEST(WaitForInterfaces, EndsAtOnceOnASignal) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const auto result = wait_in_a_child({.names = {"missing0"}}, Duration::seconds(600), signal);
    EXPECT_EQ(result.end, WaitEnd::signalled);
  }
}

}  // namespace
}  // namespace eddy
