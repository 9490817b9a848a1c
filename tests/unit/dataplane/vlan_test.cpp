// A port in a VLAN: what it takes, what it sends, and with which priority.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "net/arp.h"
#include "net/parse.h"
#include "tests/support/one_switch.h"
#include "tests/support/path_fabric.h"

namespace eddy::test {
namespace {

constexpr int kVlan = 100;
constexpr uint8_t kAnyPcp = 5;
using config::TaggingMode;

// Port 0 is in the VLAN; port 1 is in none.
config::SwitchConfig vlan_switch(TaggingMode mode) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[0].vlan = kVlan;
  config.ports[0].tagging_mode = mode;
  return config;
}

Frame tagged(const Frame& frame, uint16_t vlan, uint8_t pcp, uint16_t tpid = kEtherTypeVlan) {
  Frame with = frame;
  const uint16_t tci = static_cast<uint16_t>(pcp << 13 | vlan);
  const std::array<uint8_t, 4> tag = {static_cast<uint8_t>(tpid >> 8), static_cast<uint8_t>(tpid),
                                      static_cast<uint8_t>(tci >> 8), static_cast<uint8_t>(tci)};
  with.insert(with.begin() + 12, tag.begin(), tag.end());
  return with;
}

class VlanPort : public testing::TestWithParam<TaggingMode> {
 protected:
  bool taken(const Frame& frame) {
    const size_t before = rig_.seen(1).size();
    rig_.inject(0, frame);
    rig_.run_for(100_us);
    return rig_.seen(1).size() == before + 1;
  }
  uint64_t refused() { return drops(rig_.object(), DropReason::vlan_not_served); }

  const config::SwitchConfig config_ = vlan_switch(GetParam());
  OneSwitch rig_{config_};
  const Frame plain_ = udp_frame(between(config_, 0, 1, kLosslessDscp));
};

TEST_P(VlanPort, TakesItsOwn) {
  EXPECT_TRUE(taken(tagged(plain_, kVlan, kAnyPcp)));
  EXPECT_TRUE(taken(tagged(plain_, kVlan, kAnyPcp, kEtherTypeServiceVlan)));
  EXPECT_TRUE(taken(tagged(tagged(plain_, 7, 0), kVlan, kAnyPcp))) << "the outer tag counts";
  EXPECT_EQ(refused(), 0u);
}

TEST_P(VlanPort, TakesNoOther) {
  for (const uint16_t vlan : {1, kVlan - 1, kVlan + 1, 4'095})
    EXPECT_FALSE(taken(tagged(plain_, vlan, kAnyPcp))) << vlan;
  EXPECT_EQ(refused(), 4u);
}

TEST_P(VlanPort, TakesUntaggedFramesUnlessItWantsATag) {
  const bool takes = GetParam() == TaggingMode::untagged;
  EXPECT_EQ(taken(plain_), takes);
  EXPECT_EQ(taken(tagged(plain_, 0, kAnyPcp)), takes) << "a priority tag";
  EXPECT_EQ(refused(), takes ? 0u : 2u);
}

TEST_P(VlanPort, ClassifiesByThePcp) {
  rig_.inject(0, tagged(udp_frame(between(config_, 0, 1, kLossyDscp)), kVlan, 3));
  EXPECT_EQ(count(rig_.object(), 0, PriorityGroupId(3), PgCounter::pg_rx_packets), 1u);
}

TEST_P(VlanPort, ObeysPfcWhichHasNoTag) {
  rig_.inject(0, pause_frame(bit(kLossless), kLongestPause));
  EXPECT_EQ(refused(), 0u);
  EXPECT_EQ(count(rig_.object(), 0, kLossless, PfcCounter::pfc_rx_xoff), 1u);
}

// What leaves the port for the VLAN.
std::optional<ParsedFrame> parsed(const Frame& frame) {
  ParsedFrame out;
  const auto length = static_cast<uint32_t>(frame.size());
  if (parse_frame(frame.data(), length, length, out) != ParseVerdict::ok) return std::nullopt;
  return out;
}

TEST_P(VlanPort, SendsPacketsAsItsModeSays) {
  UdpSpec spec = between(config_, 1, 0, kLosslessDscp);
  spec.frame_len = 1'000;
  rig_.inject(1, udp_frame(spec));
  rig_.run_for(100_us);
  ASSERT_EQ(rig_.seen(0).size(), 1u);
  const Frame& sent = rig_.seen(0).front().frame;
  const auto out = parsed(sent);
  ASSERT_TRUE(out);
  const bool with_tag = GetParam() == TaggingMode::tagged;
  EXPECT_EQ(out->vlan_id, with_tag ? kVlan : 0);
  EXPECT_EQ((out->flags & kPacketTagged) != 0, with_tag);
  EXPECT_EQ(out->pcp, with_tag ? 3 : 0);
  EXPECT_EQ(sent.size(), with_tag ? 1'004u : 1'000u);
  EXPECT_EQ(count(rig_.object(), 0, PortCounter::tx_bytes), sent.size());
}

TEST_P(VlanPort, MarksCongestionInTaggedPackets) {
  config::SwitchConfig config = config_;
  config.buffer.wred["all"] = {true, 1_B, 2_B, 1};
  config.ports[0].queues[3].wred = "all";
  OneSwitch rig(config);
  for (int i = 0; i < 3; ++i) rig.send(1, 0, kLosslessDscp, 1'000, kEcnCapable0);
  rig.run_for(100_us);
  ASSERT_EQ(rig.seen(0).size(), 3u);
  ParsedFrame out;
  const Frame& last = rig.seen(0).back().frame;
  ASSERT_EQ(parse_frame(last.data(), static_cast<uint32_t>(last.size()), 1'004, out),
            ParseVerdict::ok);
  EXPECT_EQ(out.ecn, kEcnCongestion);
}

TEST_P(VlanPort, PausesWithoutATag) {
  config::SwitchConfig config = config_;
  config.buffer.profiles["lossless"].mode = config::BufferMode::fixed;
  config.buffer.profiles["lossless"].xoff = 8'000_B;
  OneSwitch rig(config);
  rig.inject(1, pause_frame(bit(kLossless), kLongestPause));
  for (int i = 0; i < 10; ++i)
    rig.inject(0, tagged(udp_frame(between(config, 0, 1, kLosslessDscp)), kVlan, 3), 1'000);
  EXPECT_EQ(pauses_in(rig.seen(0)).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Modes, VlanPort,
                         testing::Values(TaggingMode::tagged, TaggingMode::untagged),
                         [](const auto& mode) {
                           return mode.param == TaggingMode::tagged ? "Tagged" : "Untagged";
                         });

TEST(Vlan, OurOwnFramesHaveItsTagAndThoseOfTheLinkNone) {
  config::SwitchConfig config = vlan_switch(TaggingMode::tagged);
  config.ports[0].role = config::PortRole::fabric;  // LLDP is spoken there
  config.control.lldp = true;
  OneSwitch rig(config);
  Frame question(60);
  const EthernetHeader header{MacAddress::broadcast(), host_mac(1, 1), kEtherTypeArp};
  encode(ArpMessage{ArpOperation::request,
                    host_mac(1, 1),
                    host_ip(1, 1).v4(),
                    {},
                    config.ports[0].addresses.front().address.v4()},
         Octets(question).subspan(encode(header, question)));
  rig.inject(0, tagged(question, kVlan, 0));
  rig.run_for(40_s);
  size_t answers = 0;
  size_t announcements = 0;
  for (const Arrival& arrival : rig.seen(0)) {
    const auto out = parsed(arrival.frame);
    ASSERT_TRUE(out);
    const bool arp = out->kind == FrameKind::arp;
    EXPECT_TRUE(arp || out->kind == FrameKind::lldp);
    EXPECT_EQ(out->vlan_id, arp ? kVlan : 0);
    EXPECT_EQ(out->pcp, arp ? 7 : 0);
    ++(arp ? answers : announcements);
  }
  EXPECT_EQ(answers, 1u);
  EXPECT_GT(announcements, 0u);
}

// What leaves tell each other, and what spines relay of it, is in the VLAN of the fabric's ports.
TEST(Vlan, PathsAreMeasuredOverTaggedPorts) {
  for (const size_t shards : {1u, 2u}) {
    PathFabric::Setup setup{.shards = shards, .vlan = kVlan};
    setup.service.common_clock = false;  // there and back
    PathFabric rig(setup);
    rig.run_for(1_ms);
    for (uint16_t i = 0; i < 20; ++i) rig.send(0, i);
    rig.run_for(1_ms);
    EXPECT_EQ(rig.hosts[1]->received_count, 20u);
    for (size_t spine = 0; spine < 2; ++spine) EXPECT_TRUE(rig.delay(0, spine));
    EXPECT_GT(rig.count(0, PortCounter::path_probes), 0u);
    EXPECT_EQ(rig.count(0, PortCounter::path_unanswered), 0u);
    for (size_t leaf = 0; leaf < 2; ++leaf) EXPECT_EQ(rig.leaf(leaf).balance().dropped, 0u);
    for (size_t spine = 0; spine < 2; ++spine) EXPECT_EQ(rig.spine(spine).balance().dropped, 0u);
  }
}

TEST(Vlan, AReloadPutsAPortIntoOne) {
  OneSwitch rig(hosts_switch(2));
  const Frame frame = udp_frame(between(rig.config, 1, 0));
  rig.inject(1, frame);
  rig.run_for(100_us);
  config::SwitchConfig config = vlan_switch(TaggingMode::tagged);
  ASSERT_TRUE(rig.object().reconfigure(config).ok());
  rig.inject(1, frame);
  rig.run_for(100_us);
  ASSERT_EQ(rig.seen(0).size(), 2u);
  EXPECT_EQ(parsed(rig.seen(0)[0].frame)->vlan_id, 0);
  EXPECT_EQ(parsed(rig.seen(0)[1].frame)->vlan_id, kVlan);
}

// Priority 6 alone pauses queue 1, and nothing pauses queue 2.
TEST(Vlan, ThePcpIsThePriorityThatPausesTheQueue) {
  config::SwitchConfig config = vlan_switch(TaggingMode::tagged);
  config.ports[0].maps.pfc_to_queue.fill(QueueId(3));
  config.ports[0].maps.pfc_to_queue[6] = QueueId(1);
  config.ports[1].maps.dscp_to_tc[10] = TrafficClass(1);
  config.ports[1].maps.dscp_to_tc[11] = TrafficClass(2);
  OneSwitch rig(config);
  rig.inject(1, udp_frame(between(config, 1, 0, 10)));
  rig.inject(1, udp_frame(between(config, 1, 0, 11)));
  rig.inject(1, udp_frame(between(config, 1, 0, kLosslessDscp)));
  rig.run_for(100_us);
  std::vector<int> pcps;
  for (const Arrival& arrival : rig.seen(0)) pcps.push_back(parsed(arrival.frame)->pcp);
  std::ranges::sort(pcps);
  EXPECT_EQ(pcps, (std::vector<int>{0, 2, 6}));
}

}  // namespace
}  // namespace eddy::test
