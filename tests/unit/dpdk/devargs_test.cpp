#include "switch/dpdk/devargs.h"

#include <gtest/gtest.h>
#include <rte_config.h>

#include <algorithm>

namespace eddy {
namespace {

TEST(DeviceArgs, TakesApartAndPutsTogether) {
  const auto device = DeviceArgs::parse("net_memif12,role=client,id=3,zero-copy");
  EXPECT_EQ(device.name(), "net_memif12");
  EXPECT_EQ(device.driver(), "net_memif");
  EXPECT_EQ(device.find("id"), "3");
  EXPECT_EQ(device.find("zero-copy"), "");
  EXPECT_EQ(device.find("socket"), std::nullopt);
  EXPECT_EQ(device.to_string(), "net_memif12,role=client,id=3,zero-copy");
  EXPECT_EQ(DeviceArgs::parse("net_null0").to_string(), "net_null0");
}

TEST(DeviceArgs, KnowsPciAddresses) {
  EXPECT_TRUE(DeviceArgs::parse("0000:01:00.0").is_pci());
  EXPECT_TRUE(DeviceArgs::parse("3b:00.1,arg=1").is_pci());
  EXPECT_FALSE(DeviceArgs::parse("net_af_packet0,iface=eth0.5").is_pci());
  EXPECT_FALSE(DeviceArgs::parse("").is_pci());
}

TEST(DriverDefaults, AfPacketRingsHoldTheLongestFrame) {
  const auto small = with_driver_defaults(DeviceArgs::parse("net_af_packet0,iface=v"), 1'500);
  EXPECT_EQ(small.find("framesz"), "1792");
  EXPECT_EQ(small.find("blocksz"), "28672");
  const auto jumbo = with_driver_defaults(DeviceArgs::parse("net_af_packet0,iface=v"), 4'096);
  EXPECT_EQ(jumbo.find("framesz"), "8192");
  EXPECT_EQ(jumbo.find("blocksz"), "8192");
  EXPECT_EQ(buffer_size_of(small, 1'500), 1'760);
  EXPECT_GE(buffer_size_of(jumbo, 4'096), frame_size_of(4'096));
}

// The kernel refuses a block that is not a whole number of its pages.
TEST(DriverDefaults, AfPacketBlocksAreWholePagesOfAnySize) {
  for (const int page : {4'096, 16'384, 65'536}) {
    for (const int slot : {1'792, 2'048, 8'192, 131'072}) {
      const int block = packet_ring_block(slot, page);
      EXPECT_EQ(block % page, 0) << page << ' ' << slot;
      EXPECT_EQ(block % slot, 0) << page << ' ' << slot;
      EXPECT_LE(block, 7 * std::max(page, slot)) << page << ' ' << slot;
    }
  }
}

TEST(DriverDefaults, TheUsersWordWins) {
  const auto device = with_driver_defaults(
      DeviceArgs::parse("net_af_packet0,iface=v,framesz=4096,framecnt=16"), 1'500);
  EXPECT_EQ(device.find("framesz"), "4096");
  EXPECT_EQ(device.find("blocksz"), "4096");
  EXPECT_EQ(device.find("framecnt"), "16");
  const auto abstract =
      with_driver_defaults(DeviceArgs::parse("net_memif0,socket-abstract=yes"), 1'500);
  EXPECT_EQ(abstract.find("socket-abstract"), "yes");
}

TEST(DriverDefaults, MemifBuffersHoldTheLongestFrame) {
  const auto small = with_driver_defaults(DeviceArgs::parse("net_memif0"), 1'500);
  EXPECT_EQ(small.find("bsize"), "2048");
  EXPECT_EQ(small.find("socket-abstract"), "no");
  const auto jumbo = with_driver_defaults(DeviceArgs::parse("net_memif0"), 9'000);
  EXPECT_EQ(jumbo.find("bsize"), "16384");
  EXPECT_GE(buffer_size_of(jumbo, 9'000), frame_size_of(9'000));
}

// The kernel refuses chunks below 2,048 octets, and puts the frame 256 octets in. A chunk is the
// pool's header, the mbuf, its Packet, and the headroom before the buffer.
TEST(DriverDefaults, AfXdpBuffersLeaveRoomBeforeTheFrame) {
  constexpr int kBefore = RTE_CACHE_LINE_SIZE + 128 + 64 + 128;
  const auto device = with_driver_defaults(DeviceArgs::parse("net_af_xdp0,iface=v"), 1'500);
  EXPECT_GE(buffer_size_of(device, 1'500), frame_size_of(1'500) + 256);
  for (const int mtu : {64, 1'100, 1'500})
    EXPECT_GE(buffer_size_of(device, mtu) + kBefore, 2'048) << mtu;
  EXPECT_LE(buffer_size_of(device, 3'300), longest_buffer_of(device));
}

// Their words as DPDK 22.11 has them: af_packet says frames of 1,518 octets whatever its rings
// hold.
TEST(DriverMtu, AVirtualDevicesWordDoesNotLimitUsAndANicsDoes) {
  constexpr uint32_t kUnknown = 65'535;
  const auto af_packet = DeviceArgs::parse("net_af_packet0,iface=v");
  EXPECT_EQ(longest_mtu_of({.mtu = kUnknown, .frame = 1'518}), 1'500u);
  EXPECT_EQ(driver_mtu(af_packet, {.mtu = kUnknown, .frame = 1'518}, 9'000), 1'500u);
  EXPECT_EQ(driver_mtu(af_packet, {.mtu = kUnknown, .frame = 1'518}, 1'400), 1'400u);
  EXPECT_EQ(driver_mtu(af_packet, {.mtu = kUnknown, .frame = 0}, 9'000), 9'000u);
  const auto nic = DeviceArgs::parse("0000:3b:00.0");
  EXPECT_EQ(driver_mtu(nic, {.mtu = 9'710, .frame = 9'736}, 9'000), 9'000u);
  EXPECT_EQ(longest_mtu_of({.mtu = 9'710, .frame = 9'736}), 9'710u);
  EXPECT_EQ(driver_mtu(nic, {.mtu = 3'000, .frame = 3'026}, 9'000), 0u);
  EXPECT_EQ(driver_mtu(nic, {.mtu = kUnknown, .frame = 1'518}, 9'000), 0u);
}

TEST(DriverDefaults, OtherDriversAreLeftAlone) {
  EXPECT_EQ(with_driver_defaults(DeviceArgs::parse("net_null0"), 1'500).to_string(), "net_null0");
}

}  // namespace
}  // namespace eddy
