// Neighbors by ARP and ND: questions answered, packets held and released in order, unanswered
// questions given up with ICMP, ageing and asking again.
#include <gtest/gtest.h>

#include "net/arp.h"
#include "net/icmp.h"
#include "net/nd.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr MacAddress kMac = {{0x02, 0xaa, 0, 0, 1, 2}};  // of the host on port 1
constexpr MacAddress kNewMac = {{0x02, 0xaa, 0, 0, 9, 9}};

// Port 0: host 1, fixed, in both families; port 1: a host to be learned, 10.1.2.2 and fd00:2::2.
config::SwitchConfig a_switch() {
  config::SwitchConfig config = hosts_switch(1);
  config.ports[0].addresses.push_back(prefix("fd00:1::1/64"));
  config.neighbors.push_back({ip("fd00:1::2"), host_mac(1, 1), config.ports[0].name});
  add_host_port(config, 1, 2, 10_Gbps, /*fixed_neighbor=*/false);
  config.ports[1].addresses.push_back(prefix("fd00:2::1/64"));
  config.control.neighbor_age = 60'000_ms;
  return config;
}

// The two families by the same script.
struct Family {
  const char* name;
  const char* sender;   // behind port 0
  const char* gateway;  // on port 1
  const char* host;     // behind port 1
};
constexpr Family kV4 = {"ipv4", "10.1.1.2", "10.1.2.1", "10.1.2.2"};
constexpr Family kV6 = {"ipv6", "fd00:1::2", "fd00:2::1", "fd00:2::2"};

Frame arp_frame(const ArpMessage& message, const MacAddress& to) {
  Frame frame(60);
  encode(EthernetHeader{to, message.sender_mac, kEtherTypeArp}, frame);
  encode(message, Octets(frame).subspan(14));
  return frame;
}
Frame nd_frame(const NdMessage& message, const MacAddress& to, const MacAddress& from) {
  Frame frame(14 + kNdPacketLimit);
  encode(EthernetHeader{to, from, kEtherTypeIpv6}, frame);
  frame.resize(14 + encode(message, Octets(frame).subspan(14)));
  return frame;
}

class Neighbors : public testing::TestWithParam<Family> {
 protected:
  const Family& family() const { return GetParam(); }
  bool v4() const { return ip(family().sender).is_v4(); }

  void send(uint16_t source_port) {
    rig.inject(0, udp_frame({.destination_mac = port_mac(rig.config, 0),
                             .source = ip(family().sender),
                             .destination = ip(family().host),
                             .source_port = source_port,
                             .frame_len = 100}));
  }
  // The host says where it is, asked or not.
  void answer(const MacAddress& mac) {
    const MacAddress us = port_mac(rig.config, 1);
    if (v4()) {
      rig.inject(1, arp_frame({ArpOperation::reply, mac, ip(family().host).v4(), us,
                               ip(family().gateway).v4()},
                              us));
    } else {
      rig.inject(1, nd_frame({.kind = NdKind::advertisement,
                              .source = ip(family().host).v6(),
                              .destination = ip(family().gateway).v6(),
                              .target = ip(family().host).v6(),
                              .solicited = true,
                              .override_cached = true,
                              .has_link_address = true,
                              .link_address = mac},
                             us, mac));
    }
  }
  // Destinations of the ARP requests or solicitations for the host that left port 1.
  std::vector<MacAddress> questions() {
    std::vector<MacAddress> found;
    for (const Arrival& arrival : rig.seen(1)) {
      EthernetHeader header;
      if (decode(arrival.frame, header) != CodecVerdict::ok) continue;
      const ConstOctets rest = ConstOctets(arrival.frame).subspan(14);
      ArpMessage arp;
      NdMessage nd;
      const bool asks =
          v4() ? header.ethertype == kEtherTypeArp && decode(rest, arp) == CodecVerdict::ok &&
                     arp.operation == ArpOperation::request &&
                     arp.target_ip == ip(family().host).v4()
               : decode(rest, nd) == CodecVerdict::ok && nd.kind == NdKind::solicitation &&
                     nd.target == ip(family().host).v6();
      if (asks) found.push_back(header.destination);
    }
    return found;
  }
  // Source ports of the UDP frames to `mac` that left port 1.
  std::vector<uint16_t> delivered(const MacAddress& mac) {
    std::vector<uint16_t> ports;
    for (const Arrival& arrival : rig.seen(1)) {
      ParsedFrame frame;
      const auto length = static_cast<uint32_t>(arrival.frame.size());
      if (parse_frame(arrival.frame.data(), length, length, frame) != ParseVerdict::ok) continue;
      if (frame.l4_protocol == kProtocolUdp && load_mac(arrival.frame.data()) == mac)
        ports.push_back(frame.source_port);
    }
    return ports;
  }

  OneSwitch rig{a_switch()};
};

TEST_P(Neighbors, HoldsPacketsAndReleasesThemInOrder) {
  for (uint16_t i = 1; i <= 5; ++i) send(i);
  EXPECT_EQ(questions().size(), 1u) << "one question for all";
  EXPECT_EQ(rig.object().balance().held, 5u);
  rig.run_for(1_ms);
  answer(kMac);
  send(6);
  rig.run_for(1_ms);
  EXPECT_EQ(delivered(kMac), (std::vector<uint16_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(only(take_events(rig.object()), EventKind::neighbor_learned).back().port, PortId(1));
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST_P(Neighbors, AsksThreeTimesASecondApartThenGivesUpWithIcmp) {
  send(1);
  send(2);
  rig.fabric.run_until(Instant::at(3_s) - 1_ps);
  EXPECT_EQ(questions().size(), 3u);
  EXPECT_EQ(rig.object().balance().held, 2u);
  rig.fabric.run_until(Instant::at(10_s));
  EXPECT_EQ(questions().size(), 3u);
  EXPECT_EQ(drops(rig.object(), DropReason::neighbor_unresolved), 2u);
  ASSERT_EQ(rig.seen(0).size(), 2u);
  IcmpMessage error;
  const ConstOctets packet = ConstOctets(rig.seen(0)[0].frame).subspan(14);
  if (v4()) {
    ASSERT_EQ(decode(packet.subspan(20), error), CodecVerdict::ok);
    EXPECT_EQ(error.type, kIcmpUnreachable);
    EXPECT_EQ(error.code, 1) << "host unreachable";
  } else {
    const AddressPair addresses{ip("fd00:1::1"), ip(family().sender)};
    ASSERT_EQ(decode_icmpv6(packet.subspan(40), addresses, error), CodecVerdict::ok);
    EXPECT_EQ(error.type, kIcmpv6Unreachable);
    EXPECT_EQ(error.code, 3) << "address unreachable";
  }
  send(3);  // and asks anew
  EXPECT_EQ(questions().size(), 4u);
}

TEST_P(Neighbors, AgesAndAsksAgainWhileItStillDelivers) {
  send(1);
  answer(kMac);
  rig.fabric.run_until(Instant::at(60_s));
  ASSERT_EQ(questions().size(), 2u);
  EXPECT_EQ(questions()[1], kMac) << "a probe goes to the neighbor alone";
  send(2);
  rig.run_for(1_ms);
  EXPECT_EQ(delivered(kMac), (std::vector<uint16_t>{1, 2}));
  answer(kMac);
  rig.fabric.run_until(Instant::at(119_s));
  EXPECT_EQ(questions().size(), 2u) << "confirmed: young again";
  rig.fabric.run_until(Instant::at(123_s) - 1_ps);
  EXPECT_EQ(questions(), (std::vector<MacAddress>{questions()[0], kMac, kMac, kMac, kMac}));
  EXPECT_TRUE(only(take_events(rig.object()), EventKind::neighbor_lost).empty());
}

// A host that is slow to answer is no reason to lose a packet.
TEST_P(Neighbors, IsUsedForAnotherAgeAfterItAnswersNoMore) {
  send(1);
  answer(kMac);
  rig.fabric.run_until(Instant::at(63_s));
  EXPECT_EQ(only(take_events(rig.object()), EventKind::neighbor_lost).size(), 1u);
  const size_t asked = questions().size();
  EXPECT_EQ(questions().back(), questions()[0]) << "everybody is asked where it is now";
  rig.fabric.run_until(Instant::at(123_s) - 1_ps);
  EXPECT_EQ(questions().size(), asked + 11) << "every 5 s";
  send(2);
  rig.run_for(1_us);
  EXPECT_EQ(delivered(kMac), (std::vector<uint16_t>{1, 2}));
  rig.fabric.run_until(Instant::at(124_s));
  send(3);
  EXPECT_EQ(rig.object().balance().held, 1u) << "forgotten, and asked for as if never heard of";
}

TEST_P(Neighbors, ThatWasLostIsNewsWhenItAnswersAgain) {
  send(1);
  answer(kMac);
  rig.fabric.run_until(Instant::at(70_s));
  (void)take_events(rig.object());
  answer(kNewMac);
  EXPECT_EQ(only(take_events(rig.object()), EventKind::neighbor_learned).size(), 1u);
  send(2);
  rig.run_for(1_ms);
  EXPECT_EQ(delivered(kNewMac), (std::vector<uint16_t>{2}));
}

// After three questions in vain, packets are not held again: they are refused at once, and the host
// is asked every 5 s for as long as somebody wants it.
TEST_P(Neighbors, WhoDidNotAnswerIsRememberedForThat) {
  send(1);
  rig.fabric.run_until(Instant::at(4_s));
  ASSERT_EQ(questions().size(), 3u);
  send(2);
  EXPECT_EQ(rig.object().balance().held, 0u);
  EXPECT_EQ(drops(rig.object(), DropReason::neighbor_unresolved), 2u);
  rig.fabric.run_until(Instant::at(8_s));
  EXPECT_EQ(questions().size(), 4u);
  answer(kMac);
  send(3);
  rig.run_for(1_ms);
  EXPECT_EQ(delivered(kMac), (std::vector<uint16_t>{3}));
}

TEST_P(Neighbors, ConfiguredWithoutAMacAreAskedForBeforeThereIsTraffic) {
  rig.config.neighbors.push_back({ip(family().host), {}, rig.config.ports[1].name});
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  rig.fabric.poll(rig.node);
  rig.run_for(1_us);
  EXPECT_EQ(questions().size(), 1u);
  rig.fabric.run_until(Instant::at(6_s));
  answer(kMac);
  send(1);
  rig.run_for(1_ms);
  EXPECT_EQ(delivered(kMac), (std::vector<uint16_t>{1})) << "and after it gave no answer at first";
  rig.fabric.set_link(rig.node, PortId(1), false);
  rig.run_for(10_s);
  rig.seen(1).clear();
  rig.fabric.set_link(rig.node, PortId(1), true);
  rig.run_for(1_us);
  EXPECT_EQ(questions().size(), 1u) << "again when the port is up again";
  answer(kMac);
  rig.fabric.run_until(rig.fabric.now() + 200_s);
  send(2);
  rig.run_for(1_ms);
  EXPECT_EQ(delivered(kMac), (std::vector<uint16_t>{2})) << "kept, though silent for three ages";
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST_P(Neighbors, MovesToANewMac) {
  send(1);
  answer(kMac);
  answer(kNewMac);
  send(2);
  rig.run_for(1_ms);
  EXPECT_EQ(delivered(kNewMac), (std::vector<uint16_t>{2}));
}

TEST_P(Neighbors, AreForgottenWithTheLink) {
  send(1);
  answer(kMac);
  rig.run_for(1_ms);
  send(2);
  rig.fabric.set_link(rig.node, PortId(1), false);
  send(3);
  EXPECT_EQ(drops(rig.object(), DropReason::egress_down), 1u) << "3; 2 is on the line";
  rig.fabric.set_link(rig.node, PortId(1), true);
  rig.seen(1).clear();
  send(4);
  EXPECT_EQ(questions().size(), 1u);
}

TEST_P(Neighbors, OfOtherSubnetsAndMulticastMacsAreNotBelieved) {
  send(1);
  answer({{0x03, 0, 0, 0, 0, 1}});
  EXPECT_EQ(rig.object().balance().held, 1u);
  rig.run_for(1_ms);
  EXPECT_TRUE(delivered({{0x03, 0, 0, 0, 0, 1}}).empty());
}

// What a reload does to configured neighbors, told by events of their port and packets to them.
TEST_P(Neighbors, ConfiguredOnesAreNewsOnceAndWhenTheyChange) {
  const auto reload = [this] {
    EXPECT_TRUE(rig.object().reconfigure(rig.config).ok());
    rig.fabric.poll(rig.node);
    return only(take_events(rig.object()), EventKind::neighbor_learned).size();
  };
  (void)take_events(rig.object());
  EXPECT_EQ(reload(), 0u) << "nothing new";
  rig.config.neighbors.push_back({ip(family().host), kMac, rig.config.ports[1].name});
  EXPECT_EQ(reload(), 1u) << "added";
  EXPECT_EQ(reload(), 0u);
  send(1);
  rig.config.neighbors.back().mac = kNewMac;
  EXPECT_EQ(reload(), 1u) << "changed";
  EXPECT_EQ(reload(), 0u);
  send(2);
  rig.run_for(1_ms);
  EXPECT_EQ(delivered(kMac), (std::vector<uint16_t>{1}));
  EXPECT_EQ(delivered(kNewMac), (std::vector<uint16_t>{2}));
  rig.config.neighbors.pop_back();
  EXPECT_EQ(reload(), 0u) << "removed";
  send(3);
  EXPECT_EQ(questions().size(), 1u) << "forgotten";
  answer(kMac);
  EXPECT_EQ(only(take_events(rig.object()), EventKind::neighbor_learned).size(), 1u);
  rig.config.neighbors.push_back({ip(family().host), kMac, rig.config.ports[1].name});
  EXPECT_EQ(reload(), 0u) << "known already";
}

// Configured without a MAC: it is asked for, and what it answered stays when it is named no more.
TEST_P(Neighbors, OneThatAnsweredIsLearnedWhenItIsNoLongerConfigured) {
  rig.config.neighbors.push_back({ip(family().host), MacAddress{}, rig.config.ports[1].name});
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  rig.run_for(1_ms);
  answer(kMac);
  rig.config.neighbors.pop_back();
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  rig.fabric.poll(rig.node);
  const size_t asked = questions().size();
  send(1);
  rig.run_for(1_ms);
  EXPECT_EQ(delivered(kMac), (std::vector<uint16_t>{1}));
  EXPECT_EQ(questions().size(), asked);
}

INSTANTIATE_TEST_SUITE_P(Families, Neighbors, testing::Values(kV4, kV6),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Arp, AnswersForItsGatewayAndLearnsWhoAsked) {
  OneSwitch rig(a_switch());
  const MacAddress us = port_mac(rig.config, 1);
  rig.inject(1,
             arp_frame({ArpOperation::request, kMac, ip("10.1.2.2").v4(), {}, ip("10.1.2.1").v4()},
                       MacAddress::broadcast()));
  ASSERT_EQ(rig.seen(1).size(), 1u);
  ArpMessage reply;
  ASSERT_EQ(decode(ConstOctets(rig.seen(1)[0].frame).subspan(14), reply), CodecVerdict::ok);
  EXPECT_EQ(reply,
            (ArpMessage{ArpOperation::reply, us, ip("10.1.2.1").v4(), kMac, ip("10.1.2.2").v4()}));
  std::array<NeighborRow, 8> rows;
  Command dump{.kind = Command::Kind::dump_neighbors, .rows = rows};
  rig.object().post(ShardId(0), dump);
  rig.fabric.poll(rig.node);
  ASSERT_TRUE(dump.done.load());
  ASSERT_EQ(dump.row_count, 3u);  // and two configured ones
  EXPECT_EQ(std::count_if(rows.begin(), rows.begin() + 3,
                          [](const NeighborRow& row) {
                            return row.address == ip("10.1.2.2") && row.mac == kMac &&
                                   row.port == PortId(1) && !row.is_static;
                          }),
            1);
}

// Addresses that may not be learned on port 1, by senders that ask for its gateway, which else is
// how a neighbor gets into the table: the gateway itself, another port's, and one of another
// subnet.
TEST(Arp, ClaimsOnAddressesOfTheSwitchOrOfOtherSubnetsAreNotBelieved) {
  OneSwitch rig(a_switch());
  (void)take_events(rig.object());
  const MacAddress us = port_mac(rig.config, 1);
  const Ipv4Address gateway = ip("10.1.2.1").v4();
  for (const char* claimed : {"10.1.2.1", "10.1.1.1", "10.1.3.2", "0.0.0.0"})
    for (const ArpOperation operation : {ArpOperation::request, ArpOperation::reply}) {
      rig.inject(1, arp_frame({operation, kMac, ip(claimed).v4(), us, gateway}, us));
      rig.run_for(1_us);
    }
  for (const char* claimed : {"fd00:2::1", "fd00:1::1", "fd00:3::2"}) {
    rig.inject(1, nd_frame({.source = ip(claimed).v6(),
                            .destination = ip("fd00:2::1").v6(),
                            .target = ip("fd00:2::1").v6(),
                            .has_link_address = true,
                            .link_address = kMac},
                           us, kMac));
    rig.inject(1, nd_frame({.kind = NdKind::advertisement,
                            .source = ip(claimed).v6(),
                            .destination = ip("fd00:2::1").v6(),
                            .target = ip(claimed).v6(),
                            .override_cached = true,
                            .has_link_address = true,
                            .link_address = kMac},
                           us, kMac));
    rig.run_for(1_us);
  }
  EXPECT_TRUE(only(take_events(rig.object()), EventKind::neighbor_learned).empty());
  std::array<NeighborRow, 8> rows;
  Command dump{.kind = Command::Kind::dump_neighbors, .rows = rows};
  rig.object().post(ShardId(0), dump);
  rig.fabric.poll(rig.node);
  EXPECT_EQ(dump.row_count, 2u) << "the configured ones";
  rig.inject(1, arp_frame({ArpOperation::request, kMac, ip("10.1.2.2").v4(), {}, gateway}, us));
  EXPECT_EQ(only(take_events(rig.object()), EventKind::neighbor_learned).size(), 1u)
      << "who asks by an address of the subnet is learned";
}

TEST(Arp, LearnsWhoAnnouncesItself) {
  for (const char* target : {"10.1.2.2", "10.1.2.3"}) {
    OneSwitch rig(a_switch());
    (void)take_events(rig.object());
    rig.inject(1, arp_frame({ArpOperation::request, kMac, ip("10.1.2.2").v4(), {}, ip(target).v4()},
                            MacAddress::broadcast()));
    const bool announces = target == std::string("10.1.2.2");
    EXPECT_EQ(only(take_events(rig.object()), EventKind::neighbor_learned).size(),
              announces ? 1u : 0u);
    EXPECT_TRUE(rig.seen(1).empty()) << "nobody is asked for anything";
  }
}

TEST(Arp, KeepsQuietAboutOtherAddressesAndVlans) {
  OneSwitch rig(a_switch());
  const ArpMessage question{ArpOperation::request,
                            kMac,
                            ip("10.1.2.2").v4(),
                            {},
                            ip("10.1.1.1").v4()};  // the other port's gateway
  rig.inject(1, arp_frame(question, MacAddress::broadcast()));
  Frame tagged(64);
  EthernetHeader header{MacAddress::broadcast(), kMac, kEtherTypeArp, 1, {}};
  header.tags[0].vlan_id = 5;
  encode(header, tagged);
  encode(ArpMessage{ArpOperation::request, kMac, ip("10.1.2.2").v4(), {}, ip("10.1.2.1").v4()},
         Octets(tagged).subspan(18));
  rig.inject(1, tagged);
  EXPECT_TRUE(rig.seen(1).empty());
  EXPECT_EQ(drops(rig.object(), DropReason::vlan_not_served), 1u);
}

NdMessage solicitation(bool with_link_address) {
  return {.source = ip("fd00:2::2").v6(),
          .destination = ip("fd00:2::1").v6(),
          .target = ip("fd00:2::1").v6(),
          .has_link_address = with_link_address,
          .link_address = with_link_address ? kMac : MacAddress{}};
}

TEST(Nd, AnswersForItsGatewayAlsoWithoutALinkAddressInTheQuestion) {
  for (const bool with_link_address : {true, false}) {
    OneSwitch rig(a_switch());
    const MacAddress us = port_mac(rig.config, 1);
    rig.inject(1, nd_frame(solicitation(with_link_address), us, kMac));
    ASSERT_EQ(rig.seen(1).size(), 1u);
    EXPECT_EQ(load_mac(rig.seen(1)[0].frame.data()), kMac);
    NdMessage answer;
    ASSERT_EQ(decode(ConstOctets(rig.seen(1)[0].frame).subspan(14), answer), CodecVerdict::ok);
    EXPECT_EQ(answer.kind, NdKind::advertisement);
    EXPECT_EQ(answer.target, ip("fd00:2::1").v6());
    EXPECT_EQ(answer.link_address, us);
    EXPECT_TRUE(answer.solicited && answer.router);
  }
}

TEST(Nd, LearnsWhoAnnouncesItself) {
  for (const bool solicited : {true, false}) {
    OneSwitch rig(a_switch());
    (void)take_events(rig.object());
    rig.inject(1, nd_frame({.kind = NdKind::advertisement,
                            .source = ip("fd00:2::2").v6(),
                            .destination = ip("ff02::1").v6(),
                            .target = ip("fd00:2::2").v6(),
                            .solicited = solicited,
                            .override_cached = true,
                            .has_link_address = true,
                            .link_address = kMac},
                           multicast_mac(ip("ff02::1").v6()), kMac));
    EXPECT_EQ(only(take_events(rig.object()), EventKind::neighbor_learned).size(),
              solicited ? 0u : 1u)
        << "an answer that nobody waits for is none of our business";
  }
}

TEST(Nd, TellsEverybodyWhoProbesItsAddress) {
  OneSwitch rig(a_switch());
  const Ipv6Address group = solicited_node_address(ip("fd00:2::1").v6());
  rig.inject(1, nd_frame({.destination = group, .target = ip("fd00:2::1").v6()},
                         multicast_mac(group), kMac));
  ASSERT_EQ(rig.seen(1).size(), 1u);
  NdMessage answer;
  ASSERT_EQ(decode(ConstOctets(rig.seen(1)[0].frame).subspan(14), answer), CodecVerdict::ok);
  EXPECT_EQ(answer.destination, ip("ff02::1").v6());
  EXPECT_FALSE(answer.solicited);
}

}  // namespace
}  // namespace eddy::test
