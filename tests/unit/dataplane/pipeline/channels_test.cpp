// Virtual channels: in which one a packet comes, in which it goes on, and what has none. Each row
// goes the short way, as a plain frame behind its shim, and the long way, with a tag before it.
#include <gtest/gtest.h>

#include <optional>

#include "net/shim.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr MacAddress kPeerMac = {{0x02, 0, 0, 0, 0, 9}};
constexpr size_t kHost = 0, kLocal = 1, kOtherLocal = 2, kGlobal = 3, kOtherGlobal = 4;

// Class 3 in three channels, 3, 4 and 5. Leaf n is behind port n - 1, leaf 1 is here.
config::SwitchConfig a_router() {
  config::SwitchConfig config = hosts_switch(1);
  config.buffer.size = 64_MiB;
  for (size_t port = kLocal; port <= kOtherGlobal; ++port) {
    const std::string name = "peer" + std::to_string(port);
    add_fabric_port(config, name, 10_Gbps);
    config.ports.back().peer_mac = kPeerMac;
    if (port >= kGlobal) config.ports.back().reach = config::LinkReach::global;
    config.leaves.push_back({LeafId(port + 1), {{name, 1, {}}}});
    config.routes.push_back(
        {prefix("10." + std::to_string(port + 1) + ".0.0/16"), LeafId(port + 1), {}});
  }
  for (config::PortConfig& port : config.ports) {
    port.maps.tc_to_next[3] = TrafficClass(4);
    port.maps.tc_to_next[4] = TrafficClass(5);
    port.maps.tc_to_pg[5] = PriorityGroupId(5);
    port.pg_profiles[5] = "lossless";
  }
  return config;
}

Frame frame_to(const OneSwitch& rig, size_t from, size_t to, std::optional<uint8_t> channel,
               uint8_t tags, uint8_t dscp = kLosslessDscp) {
  UdpSpec spec = between(rig.config, from, kHost, dscp);
  if (to != kHost) spec.destination = ip("10." + std::to_string(to + 1) + ".1.2");
  spec.frame_len = 200;
  if (!channel) return udp_frame(spec);
  const Frame plain = udp_frame(spec);
  Frame frame(200 + kShimHeader + tags * kVlanTag);
  EthernetHeader ethernet{spec.destination_mac, kPeerMac, kEtherTypeShim, tags, {}};
  if (tags != 0) ethernet.tags[0].pcp = dscp;
  size_t at = encode(ethernet, frame);
  at += encode(
      Shim{
          .source_leaf = LeafId(9), .virtual_channel = *channel, .inner_ethertype = kEtherTypeIpv4},
      Octets(frame).subspan(at));
  std::copy(plain.begin() + 14, plain.end(), frame.begin() + static_cast<ptrdiff_t>(at));
  return frame;
}

class Channels : public testing::TestWithParam<uint8_t> {};  // tags

struct Way {
  size_t from;
  size_t to;
  uint8_t channel;
  std::optional<uint8_t> leaves;  // in which channel; none: dropped
};

TEST_P(Channels, RiseWhereStayingCouldCloseACircle) {
  const Way ways[] = {
      {kLocal, kGlobal, 0, 0},     {kLocal, kGlobal, 1, 1},       {kLocal, kGlobal, 2, 2},
      {kLocal, kOtherLocal, 0, 1}, {kLocal, kOtherLocal, 1, 2},   {kGlobal, kLocal, 0, 1},
      {kGlobal, kLocal, 1, 2},     {kGlobal, kOtherGlobal, 0, 1}, {kGlobal, kOtherGlobal, 1, 2},
      {kGlobal, kLocal, 2, {}},    {kLocal, kOtherLocal, 2, {}},  {kGlobal, kOtherGlobal, 2, {}},
      {kLocal, kGlobal, 3, {}},
  };
  for (const Way& way : ways) {
    OneSwitch rig(a_router());
    rig.inject(way.from, frame_to(rig, way.from, way.to, way.channel, GetParam()));
    rig.run_for(1_ms);
    const std::string what = std::to_string(way.from) + " to " + std::to_string(way.to) +
                             " in channel " + std::to_string(way.channel);
    ASSERT_EQ(rig.seen(way.to).size(), way.leaves ? 1u : 0u) << what;
    EXPECT_EQ(drops(rig.object(), DropReason::no_channel), way.leaves ? 0u : 1u) << what;
    EXPECT_EQ(leftovers(rig.object()), "") << what;
    if (!way.leaves) continue;
    Shim shim;
    ASSERT_EQ(decode(ConstOctets(rig.seen(way.to)[0].frame).subspan(14), shim), CodecVerdict::ok);
    EXPECT_EQ(shim.virtual_channel, *way.leaves) << what;
    EXPECT_EQ(shim.hop_count, 1) << what;
    const QueueId queue(3u + *way.leaves);
    EXPECT_EQ(count(rig.object(), way.to, queue, QueueCounter::queue_tx_packets), 1u) << what;
    const PriorityGroupId pg(3u + way.channel);
    EXPECT_EQ(count(rig.object(), way.from, pg, PgCounter::pg_rx_packets), 1u) << what;
  }
}

// Its group is that of the channel, its queue the class's own.
TEST_P(Channels, EndBeforeAHost) {
  OneSwitch rig(a_router());
  for (const uint8_t channel : {0, 1, 2})
    rig.inject(kGlobal, frame_to(rig, kGlobal, kHost, channel, GetParam()));
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(kHost).size(), 3u);
  EXPECT_EQ(count(rig.object(), kHost, QueueId(3), QueueCounter::queue_tx_packets), 3u);
  for (const size_t pg : {3, 4, 5})
    EXPECT_EQ(count(rig.object(), kGlobal, PriorityGroupId(pg), PgCounter::pg_rx_packets), 1u);
}

// A class without channels goes as before, whatever its shim says.
TEST_P(Channels, AreOfTheirClassesAlone) {
  OneSwitch rig(a_router());
  rig.inject(kGlobal, frame_to(rig, kGlobal, kLocal, 3, GetParam(), kLossyDscp));
  rig.run_for(1_ms);
  ASSERT_EQ(rig.seen(kLocal).size(), 1u);
  Shim shim;
  ASSERT_EQ(decode(ConstOctets(rig.seen(kLocal)[0].frame).subspan(14), shim), CodecVerdict::ok);
  EXPECT_EQ(shim.virtual_channel, 3);
}
INSTANTIATE_TEST_SUITE_P(Tags, Channels, testing::Values(0, 1));

TEST(ChannelsOfASource, BeginAtTheFirst) {
  for (const size_t to : {kLocal, kGlobal}) {
    OneSwitch rig(a_router());
    rig.inject(kHost, frame_to(rig, kHost, to, {}, 0));
    rig.run_for(10_us);
    ASSERT_EQ(rig.seen(to).size(), 1u);
    Shim shim;
    ASSERT_EQ(decode(ConstOctets(rig.seen(to)[0].frame).subspan(14), shim), CodecVerdict::ok);
    EXPECT_EQ(shim.virtual_channel, 0);
    EXPECT_EQ(count(rig.object(), to, QueueId(3), QueueCounter::queue_tx_packets), 1u);
  }
}

// From a switch that gives no shims: as long as it need not rise it may pass, in the first channel.
TEST(ChannelsWithoutAShim, AreLeftWhereAPacketWouldHaveToRise) {
  OneSwitch rig(a_router());
  rig.inject(kLocal, frame_to(rig, kLocal, kGlobal, {}, 0));
  rig.inject(kGlobal, frame_to(rig, kGlobal, kHost, {}, 0));
  rig.inject(kGlobal, frame_to(rig, kGlobal, kLocal, {}, 0));
  rig.inject(kLocal, frame_to(rig, kLocal, kOtherLocal, {}, 0));
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(kGlobal).size(), 1u);
  EXPECT_EQ(rig.seen(kHost).size(), 1u);
  EXPECT_EQ(drops(rig.object(), DropReason::no_channel), 2u);
  EXPECT_EQ(lossless_lost(rig.object()), 2u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

// A pause of the second channel's priority stops that channel and no other.
TEST(ChannelsUnderPause, ArePausedOneByOne) {
  OneSwitch rig(a_router());
  rig.inject(kLocal, pause_frame(bit(Priority(4)), kLongestPause));
  rig.inject(kGlobal, frame_to(rig, kGlobal, kLocal, 0, 0));            // rises to the second
  rig.inject(kOtherGlobal, frame_to(rig, kOtherGlobal, kLocal, 1, 0));  // to the third
  rig.run_for(10_us);
  ASSERT_EQ(rig.seen(kLocal).size(), 1u);
  Shim shim;
  ASSERT_EQ(decode(ConstOctets(rig.seen(kLocal)[0].frame).subspan(14), shim), CodecVerdict::ok);
  EXPECT_EQ(shim.virtual_channel, 2);
  EXPECT_EQ(rig.object().pg_status(PortId(kGlobal), PriorityGroupId(3)).used > 0, true);
}

}  // namespace
}  // namespace eddy::test
