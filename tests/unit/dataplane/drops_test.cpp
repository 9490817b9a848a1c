// Every reason to drop is reached by some frame, and counted once. A new reason without a line here
// fails the test.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "net/arp.h"
#include "net/shim.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

// Ports: two hosts, a host that never answers ARP (MTU 1,500), two spines, and one taken down.
constexpr size_t kHost = 0, kOther = 1, kSilent = 2, kSpine = 3, kDeadSpine = 4, kDisabled = 5;

config::SwitchConfig a_leaf() {
  config::SwitchConfig config = hosts_switch(2);
  add_host_port(config, 1, 3, 10_Gbps, /*fixed_neighbor=*/false);
  config.ports[kSilent].mtu = 1500;
  config.control.neighbors_per_port = 2;
  config.control.neighbor_messages_per_second = 4;
  for (const char* name : {"spine1", "spine2"}) {
    add_fabric_port(config, name, 10_Gbps);
    config.ports.back().peer_mac = MacAddress{{0x02, 0, 0, 0, 0, 9}};
  }
  add_host_port(config, 1, 6, 10_Gbps);
  config.ports[kDisabled].admin_up = false;
  config.ports[kOther].queues[0].dynamic_th = -8;
  config.ports[kOther].watchdog.detection_time = 1_ms;
  config.ports[kOther].watchdog.poll_interval = 1_ms;
  for (config::PortConfig& port : config.ports) {  // class 5 in two virtual channels
    for (const size_t tc : {5, 6}) port.maps.tc_to_pg[tc] = PriorityGroupId(tc);
    port.maps.tc_to_next[5] = TrafficClass(6);
  }
  config.leaves = {{LeafId(2), {{"spine1", 1, {}}}}, {LeafId(3), {{"spine2", 1, {}}}}};
  config.routes = {{prefix("10.2.0.0/16"), LeafId(2), {}}, {prefix("10.3.0.0/16"), LeafId(3), {}}};
  return config;
}

UdpSpec good(const OneSwitch& rig) {
  return between(rig.config, kHost, kOther);
}

using Edit = std::function<void(Frame&)>;
using Provoke = std::function<void(OneSwitch&)>;

// A good frame, spoilt.
Provoke spoilt(const Edit& edit, uint8_t tags = 0) {
  return [edit, tags](OneSwitch& rig) {
    UdpSpec spec = good(rig);
    spec.tags = tags;
    Frame frame = udp_frame(spec);
    edit(frame);
    rig.inject(kHost, frame);
  };
}

// A frame of this EtherType to the switch, with these octets behind the header.
Frame ethernet(const OneSwitch& rig, uint16_t ethertype, size_t octets) {
  Frame frame(14 + octets);
  encode(EthernetHeader{port_mac(rig.config, kHost), host_mac(1, 1), ethertype}, frame);
  return frame;
}
Provoke plain(
    uint16_t ethertype, size_t octets, const Edit& edit = [](Frame&) {}) {
  return [=](OneSwitch& rig) {
    Frame frame = ethernet(rig, ethertype, octets);
    edit(frame);
    rig.inject(kHost, frame);
  };
}

// An IPv4 packet of `octets` behind its header.
Provoke ipv4(
    uint8_t protocol, size_t octets, const Edit& edit = [](Frame&) {}) {
  return [=](OneSwitch& rig) {
    Frame frame = ethernet(rig, kEtherTypeIpv4, kIpv4Header + octets);
    encode(Ipv4Header{.total_length = static_cast<uint16_t>(kIpv4Header + octets),
                      .ttl = 64,
                      .protocol = protocol,
                      .source = host_ip(1, 1).v4(),
                      .destination = host_ip(1, 2).v4()},
           Octets(frame).subspan(14));
    edit(frame);
    rig.inject(kHost, frame);
  };
}
Provoke ipv6(size_t octets, const Edit& edit) {
  return [=](OneSwitch& rig) {
    Frame frame = ethernet(rig, kEtherTypeIpv6, kIpv6Header + octets);
    encode(Ipv6Header{.payload_length = static_cast<uint16_t>(octets),
                      .next_header = kProtocolHopByHop,
                      .hop_limit = 64,
                      .source = ip("fd00::1").v6(),
                      .destination = ip("fd00::2").v6()},
           Octets(frame).subspan(14));
    edit(frame);
    rig.inject(kHost, frame);
  };
}

Edit set_octet(size_t at, uint8_t value) {
  return [=](Frame& frame) { frame[at] = value; };
}
Edit cut(size_t length) {
  return [=](Frame& frame) { frame.resize(length); };
}

// From host 1 to this address.
Provoke to(
    const char* address, const Edit& edit = [](Frame&) {}, size_t wire_len = 100) {
  return [=](OneSwitch& rig) {
    UdpSpec spec = good(rig);
    spec.destination = ip(address);
    spec.frame_len = wire_len;
    Frame frame = udp_frame(spec);
    edit(frame);
    rig.inject(kHost, frame, wire_len);
  };
}

// Host 2 takes nothing while these arrive for it.
Provoke pent_up(uint8_t dscp, int frames) {
  return [=](OneSwitch& rig) {
    Command stop{.kind = Command::Kind::set_port_tx, .port = PortId(kOther), .on = false};
    rig.object().post(ShardId(0), stop);
    for (int i = 0; i < frames; ++i) rig.send(kHost, kOther, dscp, 9000);
  };
}

void storm(OneSwitch& rig) {
  rig.inject(kOther, pause_frame(bit(kLossless), kLongestPause));
  rig.send(kHost, kOther, kLosslessDscp);
  for (int i = 0; i < 6; ++i) {
    rig.run_for(500_us);
    rig.inject(kOther, pause_frame(bit(kLossless), kLongestPause));
  }
}

void from_spine_to_spine(OneSwitch& rig) {
  UdpSpec spec = between(rig.config, kSpine, kOther);
  spec.destination = ip("10.2.1.2");
  rig.inject(kSpine, udp_frame(spec));
}

// It has to rise, and no shim could say so.
void from_spine_to_another(OneSwitch& rig) {
  constexpr uint8_t kDscp = 46;  // class 5
  UdpSpec spec = between(rig.config, kSpine, kOther, kDscp);
  spec.destination = ip("10.3.1.2");
  rig.inject(kSpine, udp_frame(spec));
}

void shim_from_host(OneSwitch& rig) {
  Frame frame = ethernet(rig, kEtherTypeShim, 100);
  encode(Shim{.kind = ShimKind::feedback}, Octets(frame).subspan(14));
  rig.inject(kHost, frame);
}

// In the order of the list.
const std::map<DropReason, Provoke> kProvocations = {
    {DropReason::runt, spoilt(cut(13))},
    {DropReason::vlan_truncated, spoilt(cut(16), 1)},
    {DropReason::vlan_too_many, spoilt(
                                    [](Frame& frame) {
                                      frame[20] = 0x81;
                                      frame[21] = 0x00;
                                    },
                                    2)},
    {DropReason::source_mac_multicast, spoilt(set_octet(6, 0x03))},
    {DropReason::ipv4_truncated, spoilt(cut(30))},
    {DropReason::ipv4_bad_version, spoilt(set_octet(14, 0x55))},
    {DropReason::ipv4_bad_ihl, spoilt(set_octet(14, 0x44))},
    {DropReason::ipv4_bad_length, spoilt(set_octet(16, 0xff))},
    {DropReason::ipv4_bad_checksum, spoilt(set_octet(24, 0xff))},
    {DropReason::ipv6_truncated, plain(kEtherTypeIpv6, 30, set_octet(14, 0x60))},
    {DropReason::ipv6_bad_version, plain(kEtherTypeIpv6, 60, set_octet(14, 0x50))},
    {DropReason::ipv6_bad_length, ipv6(20, set_octet(18, 0x40))},
    {DropReason::ipv6_bad_extension, ipv6(20, set_octet(55, 0xff))},
    {DropReason::ip_bad_source,
     [](OneSwitch& rig) {
       UdpSpec spec = good(rig);
       spec.source = ip("127.0.0.1");
       rig.inject(kHost, udp_frame(spec));
     }},
    {DropReason::udp_truncated, ipv4(kProtocolUdp, 4)},
    {DropReason::udp_bad_length, ipv4(kProtocolUdp, 40)},
    {DropReason::tcp_truncated, ipv4(kProtocolTcp, 10)},
    {DropReason::tcp_bad_offset, ipv4(kProtocolTcp, 40)},
    {DropReason::bth_truncated,
     [](OneSwitch& rig) {
       UdpSpec spec = good(rig);
       spec.destination_port = kRocePort;
       spec.frame_len = 46;
       rig.inject(kHost, udp_frame(spec));
     }},
    {DropReason::shim_truncated, plain(kEtherTypeShim, 20)},
    {DropReason::shim_bad_version, plain(kEtherTypeShim, 60, set_octet(14, 0xff))},
    {DropReason::control_malformed, plain(kEtherTypeArp, 10)},
    {DropReason::control_policed,
     [](OneSwitch& rig) {
       const ArpMessage question{
           ArpOperation::request, host_mac(1, 1), host_ip(1, 1).v4(), {}, host_ip(1, 2).v4()};
       const Edit ask = [&](Frame& frame) { encode(question, Octets(frame).subspan(14)); };
       for (int i = 0; i < 5; ++i) plain(kEtherTypeArp, 28, ask)(rig);
     }},
    {DropReason::mac_control_unknown, plain(kEtherTypeMacControl, 46,
                                            [](Frame& frame) {
                                              store_mac(frame.data(), kPauseDestination);
                                              frame[15] = 9;
                                            })},
    {DropReason::control_on_host_port, shim_from_host},
    {DropReason::link_local, plain(0x1234, 60,
                                   [](Frame& frame) {
                                     store_mac(frame.data(), {{1, 0x80, 0xc2, 0, 0, 0}});
                                   })},
    {DropReason::vlan_not_served, spoilt(set_octet(15, 5), 1)},
    {DropReason::not_for_us, spoilt(set_octet(5, 0xee))},
    {DropReason::unknown_ethertype, plain(0x1234, 60)},
    {DropReason::port_disabled,
     [](OneSwitch& rig) { rig.inject(kDisabled, udp_frame(good(rig))); }},
    {DropReason::mtu_exceeded, to("10.1.3.2", cut(100), 1515)},
    {DropReason::ttl_expired,
     [](OneSwitch& rig) {
       UdpSpec spec = good(rig);
       spec.ttl = 1;
       rig.inject(kHost, udp_frame(spec));
     }},
    {DropReason::no_route, to("99.0.0.1")},
    {DropReason::no_live_path,
     [](OneSwitch& rig) {
       rig.fabric.set_link(rig.node, PortId(kDeadSpine), false);
       to("10.3.0.1")(rig);
     }},
    {DropReason::no_channel, from_spine_to_another},
    {DropReason::neighbor_unresolved,
     [](OneSwitch& rig) {
       to("10.1.3.2")(rig);
       rig.run_for(4_s);
     }},
    {DropReason::neighbor_queue_full,
     [](OneSwitch& rig) {
       for (int i = 0; i < 33; ++i) to("10.1.3.2")(rig);
     }},
    {DropReason::neighbor_table_full,
     [](OneSwitch& rig) {
       for (const char* host : {"10.1.3.2", "10.1.3.3", "10.1.3.4"}) to(host)(rig);
     }},
    {DropReason::same_port, from_spine_to_spine},
    {DropReason::pg_shared_full, pent_up(0, 200)},
    {DropReason::headroom_full, pent_up(kLosslessDscp, 60)},
    {DropReason::queue_full, pent_up(kLossyDscp, 20)},
    {DropReason::egress_down,
     [](OneSwitch& rig) {
       pent_up(0, 3)(rig);
       rig.fabric.set_link(rig.node, PortId(kOther), false);
     }},
    {DropReason::watchdog, storm},
    {DropReason::local_unserved, to("10.1.1.1")},
};

TEST(Drops, EveryReasonIsReachedAndCounted) {
  for (size_t i = 0; i < kDropReasons; ++i) {
    const auto reason = static_cast<DropReason>(i);
    const std::string name(drop_reason_infos()[i].name);
    ASSERT_TRUE(kProvocations.contains(reason)) << "nothing provokes " << name;
    OneSwitch rig(a_leaf());
    kProvocations.at(reason)(rig);
    const Balance balance = rig.object().balance();
    EXPECT_GT(drops(rig.object(), reason), 0u) << name;
    EXPECT_EQ(balance.dropped, drops(rig.object(), reason)) << name << " and something else";
    EXPECT_TRUE(balance.holds()) << name;
  }
}

TEST(Drops, GiveTheirPacketsAndChargesBack) {
  for (const auto& [reason, provoke] : kProvocations) {
    OneSwitch rig(a_leaf());
    provoke(rig);
    Command go{.kind = Command::Kind::set_port_tx, .port = PortId(kOther), .on = true};
    rig.object().post(ShardId(0), go);
    rig.fabric.poll(rig.node);
    rig.run_for(5_s);
    EXPECT_EQ(leftovers(rig.object()), "") << drop_reason_infos()[static_cast<size_t>(reason)].name;
    EXPECT_EQ(rig.fabric.pool().available(), 2048u)
        << drop_reason_infos()[static_cast<size_t>(reason)].name;
  }
}

// Whether a packet that ends so is known to be of a lossless class where all classes are. Others
// end before anybody looks for their class, or are of a protocol that has none.
bool has_lost(DropReason reason) {
  switch (reason) {
    case DropReason::runt:
    case DropReason::vlan_truncated:
    case DropReason::vlan_too_many:
    case DropReason::source_mac_multicast:
    case DropReason::ipv4_truncated:
    case DropReason::ipv4_bad_version:
    case DropReason::ipv4_bad_ihl:
    case DropReason::ipv4_bad_length:
    case DropReason::ipv4_bad_checksum:
    case DropReason::ipv6_truncated:
    case DropReason::ipv6_bad_version:
    case DropReason::ipv6_bad_length:
    case DropReason::ipv6_bad_extension:
    case DropReason::ip_bad_source:
    case DropReason::udp_truncated:
    case DropReason::udp_bad_length:
    case DropReason::tcp_truncated:
    case DropReason::tcp_bad_offset:
    case DropReason::bth_truncated:
    case DropReason::shim_truncated:
    case DropReason::shim_bad_version:
    case DropReason::control_malformed:
    case DropReason::control_policed:
    case DropReason::mac_control_unknown:
    case DropReason::control_on_host_port:
    case DropReason::link_local:
    case DropReason::vlan_not_served:
    case DropReason::unknown_ethertype:
    case DropReason::port_disabled:
    case DropReason::pg_shared_full:  // of lossy groups only, as
    case DropReason::queue_full:      // of lossy queues
      return false;
    case DropReason::not_for_us:
    case DropReason::mtu_exceeded:
    case DropReason::ttl_expired:
    case DropReason::no_route:
    case DropReason::no_live_path:
    case DropReason::no_channel:
    case DropReason::neighbor_unresolved:
    case DropReason::neighbor_queue_full:
    case DropReason::neighbor_table_full:
    case DropReason::same_port:
    case DropReason::headroom_full:
    case DropReason::egress_down:
    case DropReason::watchdog:
    case DropReason::local_unserved:
      return true;
  }
  return true;
}

// Where every class is lossless, and where only those are that few provocations use.
TEST(Drops, OfALosslessClassCountAsLossesWhateverTheReason) {
  for (const bool all : {true, false}) {
    config::SwitchConfig config = a_leaf();
    if (all) {
      config.buffer.size = 256_MiB;
      for (config::PortConfig& port : config.ports) port.pg_profiles.fill("lossless");
    }
    for (const auto& [reason, provoke] : kProvocations) {
      const std::string name(drop_reason_infos()[static_cast<size_t>(reason)].name);
      if (all && (reason == DropReason::pg_shared_full || reason == DropReason::queue_full))
        continue;
      OneSwitch rig(config);
      (void)take_events(rig.object());
      provoke(rig);
      const uint64_t lost = drops(rig.object(), reason);
      ASSERT_GT(lost, 0u) << name;
      const bool of_lossless = reason == DropReason::headroom_full ||
                               reason == DropReason::watchdog || (all && has_lost(reason));
      EXPECT_EQ(lossless_lost(rig.object()), of_lossless ? lost : 0) << name << " " << all;
      const auto told = only(take_events(rig.object()), EventKind::lossless_drop);
      EXPECT_EQ(told.empty(), !of_lossless) << name;
      if (told.empty()) continue;
      EXPECT_EQ(told.back().value, lost) << name;
    }
  }
}

// However many a poll loses: one event a group, with their number.
TEST(Drops, OfOnePollAreToldAtOnce) {
  OneSwitch rig(a_leaf());
  Command stop{.kind = Command::Kind::set_port_tx, .port = PortId(kOther), .on = false};
  rig.object().post(ShardId(0), stop);
  for (int i = 0; i < 20; ++i) {
    rig.send(kHost, kOther, kLosslessDscp);
    rig.send(kHost, kOther, kOtherLosslessDscp);
    rig.send(kHost, kOther, kLossyDscp);
  }
  (void)take_events(rig.object());
  rig.fabric.set_link(rig.node, PortId(kOther), false);
  EXPECT_EQ(drops(rig.object(), DropReason::egress_down), 60u);
  const auto told = only(take_events(rig.object()), EventKind::lossless_drop);
  ASSERT_EQ(told.size(), 2u);
  for (const Event& event : told) EXPECT_EQ(event.value, 20u);
  EXPECT_NE(told[0].priority, told[1].priority);
}

}  // namespace
}  // namespace eddy::test
