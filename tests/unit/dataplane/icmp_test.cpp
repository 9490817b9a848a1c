// What the switch answers: ping to its addresses, errors for packets that it cannot send on, and
// only so many of them.
#include <gtest/gtest.h>

#include "net/icmp.h"
#include "switch/dataplane/object/shard.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

config::SwitchConfig a_switch() {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[0].addresses.push_back(prefix("fd00:1::1/64"));
  config.ports[1].addresses.push_back(prefix("fd00:2::1/64"));
  for (size_t host : {1, 2})
    config.neighbors.push_back({ip("fd00:" + std::to_string(host) + "::2"), host_mac(1, host),
                                config.ports[host - 1].name});
  config.loopbacks = {ip("192.0.2.1"), ip("fd00:ff::1")};
  config.ports[1].mtu = 1400;
  return config;
}

struct Family {
  const char* name;
  const char* host;         // behind port 0
  const char* gateway;      // of port 0
  const char* far_gateway;  // of port 1
  const char* loopback;
  const char* peer;  // behind port 1
  const char* nowhere;
};
constexpr Family kV4 = {"ipv4",      "10.1.1.2", "10.1.1.1", "10.1.2.1",
                        "192.0.2.1", "10.1.2.2", "99.0.0.1"};
constexpr Family kV6 = {"ipv6",       "fd00:1::2", "fd00:1::1",  "fd00:2::1",
                        "fd00:ff::1", "fd00:2::2", "2001:db8::1"};

// An IP packet decoded as ICMP; the message's body points into the frame.
struct Reply {
  IpAddress source;
  uint8_t ttl = 0;
  IcmpMessage message;
};
Reply icmp_of(const Arrival& arrival) {
  Reply reply;
  const ConstOctets packet = ConstOctets(arrival.frame).subspan(14);
  Ipv4Header v4;
  Ipv6Header v6;
  if (decode(packet, v4) == CodecVerdict::ok) {
    reply.source = v4.source;
    reply.ttl = v4.ttl;
    EXPECT_EQ(decode(packet.first(v4.total_length).subspan(20), reply.message), CodecVerdict::ok);
  } else {
    EXPECT_EQ(decode(packet, v6), CodecVerdict::ok);
    reply.source = v6.source;
    reply.ttl = v6.hop_limit;
    EXPECT_EQ(decode_icmpv6(packet.first(40u + v6.payload_length).subspan(40),
                            {v6.source, v6.destination}, reply.message),
              CodecVerdict::ok);
  }
  return reply;
}

class Icmp : public testing::TestWithParam<Family> {
 protected:
  bool v4() const { return ip(GetParam().host).is_v4(); }

  Frame ping(const char* to, size_t body_octets, uint8_t tags = 0, uint8_t ttl = 64) {
    const std::vector<uint8_t> body(body_octets, 0x5a);
    EthernetHeader ethernet{
        port_mac(rig.config, 0), host_mac(1, 1), v4() ? kEtherTypeIpv4 : kEtherTypeIpv6, tags, {}};
    Frame frame(200);
    Octets out(frame);
    size_t at = encode(ethernet, out);
    const auto l4 = static_cast<uint16_t>(kIcmpHeader + body_octets);
    if (v4()) {
      at += encode(Ipv4Header{.total_length = static_cast<uint16_t>(kIpv4Header + l4),
                              .ttl = ttl,
                              .protocol = kProtocolIcmp,
                              .source = ip(GetParam().host).v4(),
                              .destination = ip(to).v4()},
                   out.subspan(at));
      at += encode(IcmpMessage{kIcmpEchoRequest, 0, 0x00070001, body}, out.subspan(at));
    } else {
      at += encode(Ipv6Header{.payload_length = l4,
                              .next_header = kProtocolIcmpv6,
                              .hop_limit = ttl,
                              .source = ip(GetParam().host).v6(),
                              .destination = ip(to).v6()},
                   out.subspan(at));
      at += encode_icmpv6({kIcmpv6EchoRequest, 0, 0x00070001, body}, {ip(GetParam().host), ip(to)},
                          out.subspan(at));
    }
    frame.resize(std::max<size_t>(at, 60));  // short frames are padded
    return frame;
  }
  UdpSpec udp(const char* to) {
    return {.destination_mac = port_mac(rig.config, 0),
            .source = ip(GetParam().host),
            .destination = ip(to),
            .frame_len = 200};
  }

  OneSwitch rig{a_switch()};
};

TEST_P(Icmp, EchoIsAnsweredOnEveryAddressOfTheSwitch) {
  for (const char* address : {GetParam().gateway, GetParam().far_gateway, GetParam().loopback}) {
    for (const size_t octets : {0, 4, 56}) {
      for (const uint8_t tags : {0, 1}) {
        rig.seen(0).clear();
        rig.inject(0, ping(address, octets, tags));
        ASSERT_EQ(rig.seen(0).size(), 1u) << address << " " << octets;
        const Reply reply = icmp_of(rig.seen(0)[0]);
        EXPECT_EQ(reply.source, ip(address));
        EXPECT_EQ(reply.ttl, 64);
        EXPECT_EQ(reply.message.type, v4() ? kIcmpEchoReply : kIcmpv6EchoReply);
        EXPECT_EQ(reply.message.rest, 0x00070001u);
        EXPECT_EQ(reply.message.body.size(), octets);
        EXPECT_EQ(load_mac(rig.seen(0)[0].frame.data()), host_mac(1, 1));
        rig.run_for(1_us);
      }
    }
  }
  EXPECT_EQ(rig.object().balance().dropped, 0u);
}

TEST_P(Icmp, EchoOnItsLastHopIsAnswered) {  // how traceroute ends
  rig.inject(0, ping(GetParam().gateway, 8, 0, 1));
  ASSERT_EQ(rig.seen(0).size(), 1u);
  EXPECT_EQ(icmp_of(rig.seen(0)[0]).message.type, v4() ? kIcmpEchoReply : kIcmpv6EchoReply);
}

TEST_P(Icmp, PingsOfAPortBeyondARateAreNotAnswered) {
  rig.config.control.local_packets_per_second = 5;
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  for (int i = 0; i < 8; ++i) rig.inject(0, ping(GetParam().gateway, 8));
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(0).size(), 5u);
  EXPECT_EQ(drops(rig.object(), DropReason::control_policed), 3u);
  rig.run_for(200_ms);
  rig.inject(0, ping(GetParam().gateway, 8));
  EXPECT_EQ(rig.seen(0).size(), 6u) << "a fifth of a second is worth one";
}

TEST_P(Icmp, TimeExceededComesFromTheGatewayAndQuotesThePacket) {
  UdpSpec spec = udp(GetParam().peer);
  spec.ttl = 1;
  const Frame sent = udp_frame(spec);
  rig.inject(0, sent);
  ASSERT_EQ(rig.seen(0).size(), 1u);
  const Reply reply = icmp_of(rig.seen(0)[0]);
  EXPECT_EQ(reply.source, ip(GetParam().gateway));
  EXPECT_EQ(reply.message.type, v4() ? kIcmpTimeExceeded : kIcmpv6TimeExceeded);
  EXPECT_TRUE(std::equal(sent.begin() + 14, sent.begin() + 14 + 48, reply.message.body.begin()));
}

TEST_P(Icmp, NoRouteAndNoServiceAreUnreachable) {
  rig.inject(0, udp_frame(udp(GetParam().nowhere)));
  rig.run_for(10_ms);
  rig.inject(0, udp_frame(udp(GetParam().gateway)));
  ASSERT_EQ(rig.seen(0).size(), 2u);
  const Reply no_route = icmp_of(rig.seen(0)[0]);
  const Reply no_port = icmp_of(rig.seen(0)[1]);
  EXPECT_EQ(no_route.message.type, v4() ? kIcmpUnreachable : kIcmpv6Unreachable);
  EXPECT_EQ(no_route.message.code, 0);
  EXPECT_EQ(no_port.message.code, v4() ? 3 : 4);
}

TEST_P(Icmp, TooBigSaysTheMtu) {
  UdpSpec spec = udp(GetParam().peer);
  spec.frame_len = 1414;
  rig.inject(0, udp_frame(spec));
  EXPECT_EQ(rig.seen(1).size(), 1u) << "exactly the MTU";
  spec.frame_len = 1415;
  rig.inject(0, udp_frame(spec));
  EXPECT_EQ(drops(rig.object(), DropReason::mtu_exceeded), 1u);
  ASSERT_EQ(rig.seen(0).size(), 1u);
  const Reply reply = icmp_of(rig.seen(0)[0]);
  EXPECT_EQ(reply.message.type, v4() ? kIcmpUnreachable : kIcmpv6PacketTooBig);
  EXPECT_EQ(reply.message.rest, 1400u);
}

INSTANTIATE_TEST_SUITE_P(Families, Icmp, testing::Values(kV4, kV6),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(IcmpPolice, LetsABurstOfTenThroughAndThenTheRate) {
  config::SwitchConfig config = a_switch();
  config.control.icmp_errors_per_second = 100;
  OneSwitch rig(config);
  UdpSpec spec = between(config, 0, 1);
  spec.ttl = 1;
  for (int i = 0; i < 25; ++i) rig.inject(0, udp_frame(spec));
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(0).size(), 10u);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::icmp_policed_packets), 15u);
  rig.seen(0).clear();
  for (int i = 0; i < 500; ++i) {
    rig.inject(0, udp_frame(spec));
    rig.run_for(1_ms);
  }
  EXPECT_GE(rig.seen(0).size(), 49u);
  EXPECT_LE(rig.seen(0).size(), 51u);
  EXPECT_EQ(drops(rig.object(), DropReason::ttl_expired), 525u) << "dropped, answered or not";
}

TEST(IcmpPolice, RateZeroIsSilence) {
  config::SwitchConfig config = a_switch();
  config.control.icmp_errors_per_second = 0;
  OneSwitch rig(config);
  UdpSpec spec = between(config, 0, 1);
  spec.ttl = 1;
  rig.inject(0, udp_frame(spec));
  EXPECT_TRUE(rig.seen(0).empty());
}

// Errors about errors, about fragments and about multicast are never sent.
TEST(IcmpPolice, NoErrorAboutAnError) {
  OneSwitch rig(a_switch());
  UdpSpec spec = between(rig.config, 0, 1);
  spec.ttl = 1;
  Frame inner = udp_frame(spec);
  rig.inject(0, inner);
  ASSERT_EQ(rig.seen(0).size(), 1u);
  Frame error = rig.seen(0)[0].frame;  // sent back at us with a TTL of 1
  store_mac(error.data(), port_mac(rig.config, 0));
  store_mac(error.data() + 6, host_mac(1, 1));
  Ipv4Header header;
  ASSERT_EQ(decode(ConstOctets(error).subspan(14), header), CodecVerdict::ok);
  header.ttl = 1;
  header.source = host_ip(1, 1).v4();
  header.destination = host_ip(1, 2).v4();
  encode(header, Octets(error).subspan(14));
  rig.run_for(1_s);
  rig.seen(0).clear();
  rig.inject(0, error);
  EXPECT_EQ(drops(rig.object(), DropReason::ttl_expired), 2u);
  EXPECT_TRUE(rig.seen(0).empty());
}

// Its type would stand behind its end, where the buffer still has what an earlier frame left: the
// type of a neighbor solicitation.
TEST(Icmp, AnIcmpv6PacketWithoutATypeIsNoNeighborDiscovery) {
  constexpr size_t kType = kEthernetHeader + kIpv6Header;
  const config::SwitchConfig config = a_switch();
  auto made = Switch::create(config, {.shards = 1});
  ASSERT_TRUE(made.ok());
  Switch& object = **made;
  PacketPool pool(1, 256);  // so that each frame gets the buffer of the last
  ManualIo io(pool);
  io.links = {{PortId(0), true}, {PortId(1), true}};
  const auto forward = [&](const Frame& frame, Instant now) {
    io.complete(now);
    io.arrive(PortId(0), frame);
    object.shard(ShardId(0)).poll(io, now);
  };
  Frame frame = udp_frame({.destination_mac = port_mac(config, 0),
                           .source = ip(kV6.host),
                           .destination = ip(kV6.peer),
                           .source_port = 135 << 8,
                           .frame_len = 100});
  ASSERT_EQ(frame[kType], 135);
  forward(frame, Instant::at(1_us));
  ASSERT_EQ(io.sent.size(), 1u);
  frame.resize(kType);
  store_be16(&frame[kEthernetHeader + 4], 0);  // nothing behind the header
  frame[kEthernetHeader + 6] = kProtocolIcmpv6;
  forward(frame, Instant::at(10_us));
  EXPECT_EQ(io.sent.size(), 2u);
  EXPECT_EQ(count(object, 0, PortCounter::consumed_packets), 0u);
  EXPECT_EQ(object.balance().dropped, 0u);
}

}  // namespace
}  // namespace eddy::test
