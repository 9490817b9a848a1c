// Frames that belong inside a fabric: CNM, shim and feedback. Refused and counted on host ports;
// carried, and taken off towards hosts, on fabric ports.
#include <gtest/gtest.h>

#include "net/cnm.h"
#include "net/shim.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr MacAddress kSpineMac = {{0x02, 0, 0, 0, 0, 9}};
constexpr size_t kHost = 0, kSpine = 2, kOtherSpine = 3;

config::SwitchConfig a_leaf() {
  config::SwitchConfig config = hosts_switch(2);
  for (const char* name : {"spine1", "spine2"}) {
    add_fabric_port(config, name, 10_Gbps);
    config.ports.back().peer_mac = kSpineMac;
  }
  config.leaves = {{LeafId(2), {{"spine2", 1, {}}}}};
  config.routes = {{prefix("10.2.0.0/16"), LeafId(2), {}}};
  return config;
}

Frame cnm(const MacAddress& to) {
  Frame frame(14 + kCnmMessage);
  encode(EthernetHeader{to, kSpineMac, kEtherTypeCnm}, frame);
  encode(Cnm{}, Octets(frame).subspan(14));
  return frame;
}

Frame feedback(const MacAddress& to) {
  Frame frame(60);
  encode(EthernetHeader{to, kSpineMac, kEtherTypeShim}, frame);
  encode(Shim{.kind = ShimKind::feedback, .destination_leaf = LeafId(1)},
         Octets(frame).subspan(14));
  return frame;
}

// A UDP frame with tags and a shim between Ethernet and IP.
Frame shimmed(const config::SwitchConfig& config, size_t port, const char* to, uint8_t tags) {
  UdpSpec spec = between(config, port, 0);
  spec.destination = ip(to);
  spec.frame_len = 200;
  const Frame plain = udp_frame(spec);
  Frame frame(200 + kShimHeader + tags * kVlanTag);
  EthernetHeader ethernet{spec.destination_mac, kSpineMac, kEtherTypeShim, tags, {}};
  size_t at = encode(ethernet, frame);
  at += encode(Shim{.source_leaf = LeafId(2), .inner_ethertype = kEtherTypeIpv4},
               Octets(frame).subspan(at));
  std::copy(plain.begin() + 14, plain.end(), frame.begin() + static_cast<ptrdiff_t>(at));
  return frame;
}

TEST(FabricFrames, AreRefusedAndCountedOnHostPorts) {
  OneSwitch rig(a_leaf());
  const MacAddress us = port_mac(rig.config, kHost);
  rig.inject(kHost, cnm(us));
  rig.inject(kHost, feedback(us));
  rig.inject(kHost, shimmed(rig.config, kHost, "10.1.2.2", 0));
  rig.inject(kHost, shimmed(rig.config, kHost, "10.1.2.2", 1));
  EXPECT_EQ(drops(rig.object(), DropReason::control_on_host_port), 4u);
  EXPECT_EQ(rig.object().balance().dropped, 4u);
  EXPECT_TRUE(rig.seen(1).empty());
}

TEST(FabricFrames, ControlIsConsumedOnFabricPorts) {
  OneSwitch rig(a_leaf());
  const MacAddress us = port_mac(rig.config, kSpine);
  rig.inject(kSpine, cnm(us));
  rig.inject(kSpine, feedback(us));
  EXPECT_EQ(count(rig.object(), kSpine, PortCounter::consumed_packets), 2u);
  EXPECT_EQ(rig.object().balance().dropped, 0u);
}

class Shimmed : public testing::TestWithParam<uint8_t> {};  // tags

TEST_P(Shimmed, LosesItsShimTowardsAHost) {
  OneSwitch rig(a_leaf());
  const Frame sent = shimmed(rig.config, kSpine, "10.1.1.2", GetParam());
  rig.inject(kSpine, sent);
  rig.run_for(1_ms);
  ASSERT_EQ(rig.seen(kHost).size(), 1u);
  const Frame& got = rig.seen(kHost)[0].frame;
  EXPECT_EQ(got.size(), 200u);
  EXPECT_EQ(load_mac(got.data()), host_mac(1, 1));
  EXPECT_EQ(load_be16(got.data() + 12), kEtherTypeIpv4);
  Ipv4Header header;
  ASSERT_EQ(decode(ConstOctets(got).subspan(14), header), CodecVerdict::ok);
  EXPECT_EQ(header.ttl, 63);
  EXPECT_TRUE(std::equal(got.begin() + 34, got.end(), sent.end() - 166));
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST_P(Shimmed, KeepsItTowardsAnotherSwitch) {
  OneSwitch rig(a_leaf());
  rig.inject(kSpine, shimmed(rig.config, kSpine, "10.2.1.2", GetParam()));
  rig.run_for(1_ms);
  ASSERT_EQ(rig.seen(kOtherSpine).size(), 1u);
  const Frame& got = rig.seen(kOtherSpine)[0].frame;
  EXPECT_EQ(got.size(), 200u + kShimHeader);
  EXPECT_EQ(load_be16(got.data() + 12), kEtherTypeShim);
  Shim shim;
  ASSERT_EQ(decode(ConstOctets(got).subspan(14), shim), CodecVerdict::ok);
  EXPECT_EQ(shim.source_leaf, LeafId(2));
}
INSTANTIATE_TEST_SUITE_P(Tags, Shimmed, testing::Values(0, 1, 2));

// What a leaf gives a packet, to the last field, whatever the frame had in front.
TEST(ShimOfASourceLeaf, IsWhole) {
  config::SwitchConfig config = a_leaf();
  config.leaf = LeafId(1);
  config.path_service.shim = config::ShimUse::every;
  config.path_service.probe = Duration{};
  OneSwitch rig(config);
  size_t sent = 0;
  for (const uint8_t tags : {0, 1}) {
    for (const uint8_t dscp : {uint8_t{0}, kLosslessDscp}) {
      UdpSpec spec = between(rig.config, kHost, 0, dscp);
      spec.destination = ip("10.2.1.2");
      spec.frame_len = 200;
      spec.tags = tags;
      spec.pcp = dscp;
      const size_t best_effort = tags == 0 ? 1 : 0;  // by DSCP 0, or by the tag's priority 0
      const uint32_t now_ns = lb::PathRecord::wire_time(rig.fabric.now());
      rig.inject(kHost, udp_frame(spec));
      rig.run_for(10_us);
      ASSERT_EQ(rig.seen(kOtherSpine).size(), ++sent);
      const Frame& got = rig.seen(kOtherSpine).back().frame;
      EXPECT_EQ(load_be16(got.data() + 12), kEtherTypeShim);
      Shim shim;
      ASSERT_EQ(decode(ConstOctets(got).subspan(14), shim), CodecVerdict::ok);
      EXPECT_EQ(shim.flags & ~(kShimRttRequest | kShimSampled), kShimPinned);
      const Shim expected{.flags = shim.flags,
                          .source_leaf = LeafId(1),
                          .destination_leaf = LeafId(2),
                          .path = PathId(0x00ff),
                          .traffic_class = TrafficClass(dscp == kLosslessDscp ? 3 : best_effort),
                          .sent_ns = now_ns,
                          .inner_ethertype = kEtherTypeIpv4};
      EXPECT_EQ(shim, expected) << int{tags} << " tags, DSCP " << int{dscp};
      Ipv4Header header;
      EXPECT_EQ(decode(ConstOctets(got).subspan(14 + kShimHeader), header), CodecVerdict::ok);
    }
  }
  EXPECT_EQ(leftovers(rig.object()), "");
}

// What the fabric port is too narrow for goes nowhere, and takes no stamp along.
TEST(ShimOfASourceLeaf, IsForWhatTheFabricTakes) {
  config::SwitchConfig config = a_leaf();
  config.leaf = LeafId(1);
  config.path_service.shim = config::ShimUse::every;
  config.path_service.probe = Duration{};
  config.ports[kOtherSpine].mtu = 1'000;
  OneSwitch rig(config);
  for (const size_t longer : {0, 1}) {
    UdpSpec spec = between(rig.config, kHost, 0, kLosslessDscp);
    spec.destination = ip("10.2.1.2");
    spec.frame_len = kEthernetHeader + 1'000 + longer;
    rig.inject(kHost, udp_frame(spec));
    rig.run_for(10_us);
    EXPECT_EQ(rig.seen(kOtherSpine).size(), 1u);
    EXPECT_EQ(count(rig.object(), kOtherSpine, PortCounter::shim_tx_packets), 1u);
    EXPECT_EQ(count(rig.object(), kOtherSpine, PortCounter::path_requests), 1u);
  }
}

}  // namespace
}  // namespace eddy::test
