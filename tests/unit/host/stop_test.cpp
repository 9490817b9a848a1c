// A switch that stops one flow of a NIC and lets it go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/parse.h"
#include "net/shim.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::NicCounter;
using testing::ElementsAre;
using testing::IsEmpty;

struct StopRig {
  explicit StopRig(const config::HostConfig& config = plain_config()) : one(config) {}

  uint32_t send(uint32_t peer_qpn, int64_t packets = 3) {
    const uint32_t qpn = one.nic.open({.flow = peer_qpn,
                                       .size = Bytes(packets * 1'024),
                                       .destination = kPeerAddress,
                                       .destination_qpn = peer_qpn,
                                       .source_port = kDataPort,
                                       .first_psn = peer_qpn * 100,
                                       .base_rtt = 8_us});
    one.nic.start(qpn, Instant());
    return qpn;
  }
  // As a switch knows it.
  static uint64_t order_hash(uint32_t peer_qpn) {
    RocePacket roce;
    roce.addresses = {kHostAddress, kPeerAddress};
    roce.bth.opcode = RoceOpcode::write_only;
    roce.bth.destination_qpn = peer_qpn;
    roce.payload_len = 4;
    std::vector<uint8_t> frame(128);
    rewrite_macs(frame.data(), kGatewayMac, kHostMac);
    store_be16(&frame[12], kEtherTypeIpv4);
    frame.resize(kEthernetHeader + encode_headers(roce, Octets(frame).subspan(kEthernetHeader)));
    ParsedFrame parsed;
    const size_t wire_len = kEthernetHeader + roce_packet_length(roce);
    EXPECT_EQ(parse_frame(frame.data(), static_cast<uint32_t>(frame.size()),
                          static_cast<uint32_t>(wire_len), parsed),
              ParseVerdict::ok);
    return parsed.order_hash;
  }
  void tell(const ShimControl& control, Instant now, MacAddress to = kPauseDestination) {
    std::vector<uint8_t> frame(128);
    size_t length = encode(EthernetHeader{to, kGatewayMac, kEtherTypeShim}, frame);
    length += encode(control, Octets(frame).subspan(length));
    frame.resize(pad_frame(frame, length));
    one.receive_octets(frame, frame.size(), now);
  }
  void stop(uint32_t peer_qpn, uint16_t hold_us, Instant now) {
    ShimControl control{.order_hash = order_hash(peer_qpn), .hold_us = hold_us};
    control.shim.kind = ShimKind::flow_xoff;
    tell(control, now);
  }
  void resume(uint32_t peer_qpn, Instant now) {
    ShimControl control{.order_hash = order_hash(peer_qpn)};
    control.shim.kind = ShimKind::flow_xon;
    tell(control, now);
  }

  OneNic one;
};

TEST(NicStop, OneFlowStopsAndOthersGoOn) {
  StopRig rig;
  for (const uint32_t flow : {1u, 2u, 3u}) (void)rig.send(flow);
  EXPECT_THAT(rig.one.transmit_data(at(0_us), 3), ElementsAre(100, 200, 300));
  rig.stop(2, 100, at(1_us));
  EXPECT_THAT(rig.one.transmit_data(at(1_us)), ElementsAre(101, 301, 102, 302));
  rig.resume(2, at(5_us));
  EXPECT_THAT(rig.one.transmit_data(at(5_us)), ElementsAre(201, 202));
  EXPECT_EQ(rig.one.count(NicCounter::rx_flow_stop_packets), 2u);
  EXPECT_EQ(rig.one.count(NicCounter::flow_stopped_ns), 4'000u);
}

TEST(NicStop, TheTimeOfAllFlowsIsCounted) {
  StopRig rig;
  for (const uint32_t flow : {1u, 2u, 3u}) (void)rig.send(flow);
  rig.stop(1, 100, at(1_us));
  rig.stop(2, 100, at(3_us));
  rig.stop(1, 100, at(4_us));  // anew
  rig.resume(1, at(5_us));
  rig.resume(2, at(9_us));
  rig.resume(2, at(10_us));  // nothing to resume
  rig.stop(3, 100, at(20_us));
  rig.resume(3, at(21_us));
  EXPECT_EQ(rig.one.count(NicCounter::flow_stopped_ns), 4'000u + 6'000 + 1'000);
}

TEST(NicStop, TheFirstAndTheLastOfThoseThatAreReady) {
  for (const uint32_t stopped : {1u, 3u}) {
    StopRig rig;
    for (const uint32_t flow : {1u, 2u, 3u}) (void)rig.send(flow, 1);
    rig.stop(stopped, 100, at(0_us));
    (void)rig.send(4, 1);
    EXPECT_THAT(rig.one.transmit_data(at(0_us)),
                ElementsAre(stopped == 1 ? 200 : 100, stopped == 1 ? 300 : 200, 400));
    rig.resume(stopped, at(1_us));
    EXPECT_THAT(rig.one.transmit_data(at(1_us)), ElementsAre(stopped * 100));
  }
}

TEST(NicStop, ItGoesOnByItselfAfterTheTime) {
  StopRig rig;
  (void)rig.send(1);
  rig.stop(1, 100, at(1_us));
  EXPECT_EQ(rig.one.nic.next_deadline(), at(101_us));
  rig.stop(1, 200, at(2_us));  // anew
  EXPECT_EQ(rig.one.nic.next_deadline(), at(202_us));
  rig.one.nic.on_timers(at(202_us - 1_ps));
  EXPECT_THAT(rig.one.transmit_data(at(202_us - 1_ps)), IsEmpty());
  rig.one.nic.on_timers(at(202_us));
  EXPECT_THAT(rig.one.transmit_data(at(202_us)), ElementsAre(100, 101, 102));
  EXPECT_EQ(rig.one.count(NicCounter::flow_stopped_ns), 201'000u);
}

TEST(NicStop, WithoutATimeItIsNotForGood) {
  StopRig rig;
  (void)rig.send(1);
  rig.stop(1, 0, at(1_us));
  EXPECT_EQ(rig.one.nic.next_deadline(), at(64'001_us));
}

TEST(NicStop, AcknowledgementsAndTimeoutsDoNotWakeIt) {
  StopRig rig;
  const uint32_t qpn = rig.send(1);
  EXPECT_THAT(rig.one.transmit_data(at(0_us), 1), ElementsAre(100));
  rig.stop(1, 10'000, at(1_us));
  rig.one.ack(qpn, 100, at(2_us));
  EXPECT_THAT(rig.one.transmit_data(at(2_us)), IsEmpty());
  rig.one.nic.on_timers(at(5_ms));
  EXPECT_THAT(rig.one.transmit_data(at(5_ms)), IsEmpty());
  rig.resume(1, at(6_ms));
  EXPECT_THAT(rig.one.transmit_data(at(6_ms)), ElementsAre(101, 102));
}

TEST(NicStop, APacedFlowStopsToo) {
  StopRig rig(config::HostConfig{});  // dcqcn
  const uint32_t qpn = rig.send(1, 100);
  EXPECT_THAT(rig.one.transmit_data(at(0_us), 1), ElementsAre(100));
  rig.one.cnp(qpn, at(1_us));
  EXPECT_THAT(rig.one.transmit_data(at(1_us)).size(), testing::Le(1u));
  rig.stop(1, 100, at(1_us));
  rig.one.nic.on_timers(at(50_us));
  EXPECT_THAT(rig.one.transmit_data(at(50_us)), IsEmpty());
  rig.resume(1, at(60_us));
  EXPECT_THAT(rig.one.transmit_data(at(60_us), 1).size(), 1u);
}

TEST(NicStop, AFlowOfPaddedPacketsStopsToo) {
  config::HostConfig config = plain_config();
  config.mtu = 1'021;
  StopRig rig(config);
  (void)rig.send(1);
  rig.stop(1, 100, at(0_us));
  EXPECT_THAT(rig.one.transmit_data(at(1_us)), IsEmpty());
}

TEST(NicStop, WhatIsNotOursOrNotSoundIsCounted) {
  StopRig rig;
  (void)rig.send(1);
  rig.stop(9, 100, at(0_us));
  EXPECT_EQ(rig.one.count(NicCounter::not_for_us_packets), 1u);
  ShimControl ack{.order_hash = StopRig::order_hash(1)};
  ack.shim.kind = ShimKind::flowcut_ack;
  rig.tell(ack, at(0_us));
  EXPECT_EQ(rig.one.count(NicCounter::malformed_packets), 1u);
  ShimControl stop = ack;
  stop.shim.kind = ShimKind::flow_xoff;
  rig.tell(stop, at(0_us), kHostMac);  // a switch would have sent it on
  EXPECT_EQ(rig.one.count(NicCounter::malformed_packets), 2u);
  EXPECT_EQ(rig.one.transmit_data(at(0_us)).size(), 3u);
}

}  // namespace
}  // namespace eddy::test
