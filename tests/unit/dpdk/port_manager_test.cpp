#include "switch/dpdk/port_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "config/places.h"
#include "switch/dpdk/dpdk_io.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/dpdk/bridge_shard.h"
#include "tests/unit/dpdk/eal_environment.h"

namespace eddy {
namespace {

using testing::HasSubstr;
using testing_support::BridgeShard;
using testing_support::pools;

config::SwitchConfig switch_of(std::initializer_list<std::string> devices) {
  config::SwitchConfig config = config::default_switch("s");
  for (const std::string& device : devices) {
    config.ports.push_back(config::default_port("p" + std::to_string(config.ports.size())));
    config.ports.back().device = device;
  }
  return config;
}

std::unique_ptr<PortManager> open(const config::SwitchConfig& config) {
  auto manager = PortManager::open(config, pools(), [] {});
  if (!manager) {
    ADD_FAILURE() << manager.problems().front();
    return nullptr;
  }
  return std::move(*manager);
}

std::string refusal(const std::string& device) {
  auto manager = PortManager::open(switch_of({device}), pools(), [] {});
  return manager ? "" : manager.problems().front();
}

// A worker's side of the cells: what is told is adopted at once.
class Adopter {
 public:
  Adopter(PortManager& manager, std::initializer_list<size_t> ports)
      : io_(cells(manager, ports), pools().control(), manager.bell(0), shard_) {}
  void poll() {
    io_.begin_poll(Instant{});
    for (const LinkChange& change : io_.news().link_changes) changes.push_back(change.up);
  }
  std::vector<bool> changes;

 private:
  static std::vector<IoPort> cells(PortManager& manager, std::initializer_list<size_t> ports) {
    std::vector<IoPort> out;
    for (size_t port : ports) out.push_back({PortId(port), &manager.cell(PortId(port))});
    return out;
  }
  BridgeShard shard_;
  DpdkIo io_;
};

TEST(PortManager, ANullPortComesUp) {
  auto manager = open(switch_of({"net_null0"}));
  ASSERT_NE(manager, nullptr);
  Adopter adopter(*manager, {0});
  manager->tick(Instant{});
  adopter.poll();
  EXPECT_EQ(adopter.changes, std::vector<bool>{true});
  EXPECT_THAT(manager->device(PortId(0)).pfc, HasSubstr("software"));
}

TEST(PortManager, AdminDownStaysDown) {
  auto config = switch_of({"net_null0"});
  config.ports[0].admin_up = false;
  auto manager = open(config);
  ASSERT_NE(manager, nullptr);
  manager->tick(Instant{});
  EXPECT_FALSE(manager->cell(PortId(0)).usable);
}

TEST(PortManager, AdminStateMayChange) {
  auto config = switch_of({"net_null0"});
  config.ports[0].admin_up = false;
  auto manager = open(config);
  ASSERT_NE(manager, nullptr);
  Adopter adopter(*manager, {0});
  for (const bool up : {true, false, true}) {
    manager->set_admin_up(PortId(0), up);
    EXPECT_EQ(manager->states().front().wanted, up);
    manager->tick(Instant{});
    adopter.poll();
    EXPECT_EQ(manager->states().front().up, up);
  }
  EXPECT_EQ(adopter.changes, (std::vector<bool>{true, false, true}));
}

TEST(PortManager, UnusableDevicesAreNamedInOneLine) {
  EXPECT_THAT(
      refusal("net_af_packet0,iface=no_such_if"),
      HasSubstr("port p0 (net_af_packet0,iface=no_such_if): there is no network interface"));
  EXPECT_THAT(refusal("net_af_packet0"), HasSubstr("needs iface="));
  EXPECT_THAT(refusal("net_memif0,role=server,socket=/no/such/dir/a.sock"),
              HasSubstr("directory of socket /no/such/dir/a.sock does not exist"));
  EXPECT_THAT(refusal("net_bogus0"), HasSubstr("the device cannot be used"));
}

// A port and a place for another; its buffer is one that pools() have packets for.
config::SwitchConfig one_and_a_place() {
  config::SwitchConfig config = switch_of({"net_null0"});
  config.buffer.size = Bytes::kib(256);
  config.buffer.profiles["lossless"].xoff = Bytes::kib(8);
  config.poll_gap = Duration::microseconds(1);
  config.spare_ports = 1;
  return config::seated(config);
}

config::SwitchConfig with_port(config::SwitchConfig config, size_t place, std::string device) {
  config.ports[place] = config::default_port("late");
  config.ports[place].device = std::move(device);
  return config;
}

TEST(PortManager, APortComesAndGoesAtItsPlace) {
  const auto config = one_and_a_place();
  const auto next = with_port(config, 1, "net_null1");
  auto manager = open(config);
  ASSERT_NE(manager, nullptr);
  Adopter adopter(*manager, {0, 1});
  EXPECT_EQ(manager->states().size(), 1u);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(manager->check_new(PortId(1), next), Problems{});
    EXPECT_EQ(manager->plug(PortId(1), next), Problems{});
    manager->tick(Instant{});
    EXPECT_FALSE(manager->cell(PortId(1)).usable) << "it is not to be used yet";
    EXPECT_TRUE(manager->cell(PortId(1)).lossless);
    manager->use(PortId(1));
    manager->tick(Instant{});
    adopter.poll();
    EXPECT_EQ(manager->device(PortId(1)).name, "net_null1");
    EXPECT_EQ(manager->device(PortId(1)).openings, 1);
    EXPECT_TRUE(manager->cell(PortId(1)).in_use);
    EXPECT_EQ(manager->states().size(), 2u);
    EXPECT_EQ(manager->check_removal(PortId(1)), Problems{});
    manager->cell(PortId(1)).in_use = false;  // no worker thread here to answer
    EXPECT_EQ(manager->unplug(PortId(1)), Problems{});
    adopter.poll();
    manager->tick(Instant{});
    EXPECT_EQ(manager->device(PortId(1)).name, "");
    EXPECT_EQ(manager->states().size(), 1u);
  }
  EXPECT_EQ(adopter.changes, (std::vector<bool>{true, true, false, true, false, true, false}));
}

// Whoever counts them knows the place, not its devices.
TEST(PortManager, LossesOfAPlaceOnlyGrow) {
  const auto config = one_and_a_place();
  const auto next = with_port(config, 1, "net_null1");
  auto manager = open(config);
  ASSERT_NE(manager, nullptr);
  PortCell& cell = manager->cell(PortId(1));
  int64_t seconds = 0;
  for (const uint64_t lost : {5u, 8u}) {
    EXPECT_EQ(manager->plug(PortId(1), next), Problems{});
    cell.missed = lost;
    cell.no_buffer = lost + 1;
    EXPECT_EQ(manager->unplug(PortId(1)), Problems{});
    EXPECT_EQ(manager->plug(PortId(1), next), Problems{});
    manager->tick(Instant::at(Duration::seconds(++seconds)));
    EXPECT_EQ(cell.missed, lost);
    EXPECT_EQ(cell.no_buffer, lost + 1);
    EXPECT_EQ(manager->unplug(PortId(1)), Problems{});
  }
}

TEST(PortManager, APortThatCannotComeLeavesItsPlaceEmpty) {
  const auto config = one_and_a_place();
  auto manager = open(config);
  ASSERT_NE(manager, nullptr);
  const auto check = [&](const std::string& device) {
    const Problems problems = manager->check_new(PortId(1), with_port(config, 1, device));
    return problems.empty() ? "" : problems.front();
  };
  EXPECT_THAT(check("net_af_packet0,framesz=1024,iface=no_such_if"),
              HasSubstr("there is no network interface"));
  EXPECT_THAT(check("net_null0,copy=1"), HasSubstr("device net_null0 is port p0's"));
  EXPECT_THAT(check("net_tap0"), HasSubstr("name tap under privileges.ports"))
      << "the pool was made for devices that keep no packets";
  auto longer = with_port(config, 1, "net_null1");
  longer.ports[1].mtu = 9'000;
  EXPECT_THAT(manager->check_new(PortId(1), longer).front(), HasSubstr("needs packet buffers"));
  EXPECT_EQ(check("net_bogus0"), "");
  const Problems problems = manager->plug(PortId(1), with_port(config, 1, "net_bogus0"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems.front(), HasSubstr("the device cannot be used"));
  EXPECT_EQ(manager->device(PortId(1)).name, "");
  EXPECT_EQ(manager->plug(PortId(1), with_port(config, 1, "net_null1")), Problems{});
}

TEST(PortManager, ARestartedPortComesBack) {
  auto config = switch_of({"net_null0", "net_null1"});
  auto manager = open(config);
  ASSERT_NE(manager, nullptr);
  Adopter adopter(*manager, {0, 1});
  manager->tick(Instant{});
  adopter.poll();
  manager->cell(PortId(1)).in_use = false;  // no worker thread here to answer
  config.ports[1].device = "net_null7";
  EXPECT_TRUE(manager->check(PortId(1), config.ports[1]).empty());
  EXPECT_EQ(manager->restart(PortId(1), config.ports[1]), Problems{});
  EXPECT_EQ(manager->device(PortId(1)).name, "net_null7");
  adopter.poll();
  manager->tick(Instant{});
  adopter.poll();
  EXPECT_EQ(adopter.changes, (std::vector<bool>{true, true, false, true}));
}

TEST(PortManager, AnotherMtuKeepsTheDevice) {
  auto config = switch_of({"net_null0"});
  auto manager = open(config);
  ASSERT_NE(manager, nullptr);
  manager->tick(Instant{});
  EXPECT_EQ(manager->device(PortId(0)).openings, 1);
  config.ports[0].mtu = 1'400;
  EXPECT_EQ(manager->restart(PortId(0), config.ports[0]), Problems{});
  EXPECT_EQ(manager->device(PortId(0)).openings, 1);
  manager->tick(Instant{});
  EXPECT_TRUE(manager->cell(PortId(0)).usable);
}

TEST(PortManager, ARestartThatFailsBringsTheOldDeviceBack) {
  auto config = switch_of({"net_null0"});
  auto manager = open(config);
  ASSERT_NE(manager, nullptr);
  config.ports[0].device = "net_bogus0";
  EXPECT_FALSE(manager->restart(PortId(0), config.ports[0]).empty());
  EXPECT_EQ(manager->device(PortId(0)).name, "net_null0");
  manager->tick(Instant{});
  EXPECT_TRUE(manager->cell(PortId(0)).usable);
}

TEST(PortManager, AnMtuBeyondTheBuffersNeedsARestart) {
  auto config = switch_of({"net_null0"});
  auto manager = open(config);
  ASSERT_NE(manager, nullptr);
  config.ports[0].mtu = 9'000;
  ASSERT_EQ(manager->check(PortId(0), config.ports[0]).size(), 1u);
  EXPECT_THAT(manager->check(PortId(0), config.ports[0])[0], HasSubstr("restart it"));
}

// A server's device stays until this process ends, so that each has a name of its own.
class MemifTest : public testing::Test {
 protected:
  std::string server() const { return name_ + ",role=server,bsize=1600,socket=" + socket_; }
  static inline int made_ = 0;
  std::string name_ = "net_memif" + std::to_string(made_++);
  test::TempDirectory directory_;
  std::string socket_ = directory_.file("link.sock");
};

// What a server that was killed leaves behind.
void leave_stale_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(fd);
}

TEST_F(MemifTest, AStaleSocketIsReplaced) {
  leave_stale_socket(socket_);
  EXPECT_NE(open(switch_of({server()})), nullptr);
}

TEST_F(MemifTest, AFileIsNoSocketAndStays) {
  std::ofstream(socket_) << "precious";
  EXPECT_THAT(refusal(server()), HasSubstr("the path exists and is not a socket"));
  std::string text;
  std::ifstream(socket_) >> text;
  EXPECT_EQ(text, "precious");
}

TEST_F(MemifTest, AServerIsNotReplacedWhileTheSwitchRuns) {
  auto config = switch_of({server()});
  const auto manager = open(config);
  ASSERT_NE(manager, nullptr);
  EXPECT_TRUE(manager->check(PortId(0), config.ports[0]).empty());
  config.ports[0].device = "net_null0";
  EXPECT_THAT(manager->check(PortId(0), config.ports[0]),
              testing::Contains(HasSubstr("cannot be replaced while the switch runs")));
}

TEST_F(MemifTest, AServedSocketIsRefused) {
  const auto config = switch_of({server()});
  const auto first = open(config);
  EXPECT_THAT(DpdkPort::check(config.ports[0]),
              testing::Contains(HasSubstr("is served by another process")));
}

}  // namespace
}  // namespace eddy
