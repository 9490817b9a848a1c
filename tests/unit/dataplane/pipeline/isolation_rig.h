// Isolation at one switch: its configuration, messages and packets, and what of them left it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "net/congestion/cim.h"
#include "net/congestion/destination_tag.h"
#include "net/ethernet.h"
#include "net/parse.h"
#include "tests/support/control_frame.h"
#include "tests/support/one_switch.h"

namespace eddy::test::isolation {

inline constexpr uint8_t kNormal = 3;  // DSCP, queue and priority
inline constexpr uint8_t kIsolated = 4;

// Host ports 0 and 1, uplinks 2 and 3 to leaf 2.
inline config::SwitchConfig leaf() {
  config::SwitchConfig config = leaf_spine({}).leaves[0];
  config.isolation.enabled = true;
  return config;
}
// Ports 0 and 1 lead to leaves 1 and 2, port 2 to leaf 3.
inline config::SwitchConfig spine() {
  config::SwitchConfig config = leaf_spine({.leaves = 3, .spines = 1}).spines[0];
  config.isolation.enabled = true;
  return config;
}

inline uint32_t tag_of_host(size_t leaf, size_t host) {
  return destination_tag(host_ip(leaf, host).v4().value);
}

inline Cim hot(uint32_t sequence, CimKind kind = CimKind::hot) {
  return {.kind = kind,
          .hops_left = 1,
          .priority = Priority(kNormal),
          .origin = SwitchId(2),
          .leaf = LeafId(2),
          .tag = tag_of_host(2, 1),
          .sequence = sequence,
          .expiry_ns = 40'000};
}
inline Cim hello() {
  return {.kind = CimKind::hello, .priority = Priority(kNormal), .origin = SwitchId(50)};
}

inline Frame frame_of(const Cim& message) {
  return control_frame(kEtherTypeCim, message);
}
inline std::vector<Cim> cims(OneSwitch& rig, size_t port, bool with_hellos = false) {
  std::vector<Cim> all;
  for (const Arrival& arrival : rig.seen(port)) {
    EthernetHeader header;
    Cim message;
    if (decode(arrival.frame, header) != CodecVerdict::ok || header.ethertype != kEtherTypeCim)
      continue;
    EXPECT_EQ(decode(ConstOctets(arrival.frame).subspan(header.size()), message), CodecVerdict::ok);
    if (with_hellos || message.kind != CimKind::hello) all.push_back(message);
  }
  return all;
}

// From a host of one leaf to a host of another, numbered by its source port.
struct Going {
  size_t port;  // by which it comes
  uint8_t dscp = kNormal;
  uint16_t number = 1;
  size_t from_leaf = 1;
  size_t to_leaf = 2;
  size_t to_host = 1;
  uint16_t flow = 7;
};
inline Frame frame_of(OneSwitch& rig, const Going& going) {
  UdpSpec spec{.destination_mac = port_mac(rig.config, going.port),
               .source_mac = host_mac(1, 1),
               .source = host_ip(going.from_leaf, 1),
               .destination = host_ip(going.to_leaf, going.to_host),
               .dscp = going.dscp};
  spec.source_port = going.flow;
  spec.frame_len = 1000;
  spec.readable_len = 128;
  Frame frame = udp_frame(spec);
  store_be16(frame.data() + kEthernetHeader + kIpv4Header + kUdpHeader, going.number);
  return frame;
}
inline void send(OneSwitch& rig, const Going& going) {
  rig.inject(going.port, frame_of(rig, going), 1000);
}
inline uint32_t tag_of_flow(OneSwitch& rig, const Going& going) {
  const Frame frame = frame_of(rig, going);
  ParsedFrame parsed;
  EXPECT_EQ(parse_frame(frame.data(), static_cast<uint32_t>(frame.size()), 1000, parsed),
            ParseVerdict::ok);
  return flow_tag(parsed.order_hash);
}

struct Seen {
  uint8_t dscp;
  uint16_t number;
  bool operator==(const Seen&) const = default;
};
inline void PrintTo(const Seen& seen, std::ostream* out) {
  *out << int{seen.dscp} << "/" << seen.number;
}
inline std::vector<Seen> data_at(OneSwitch& rig, size_t port) {
  std::vector<Seen> all;
  for (const Arrival& arrival : rig.seen(port)) {
    const uint8_t* ip = arrival.frame.data() + kEthernetHeader;
    if (load_be16(arrival.frame.data() + 12) != kEtherTypeIpv4) continue;
    Ipv4Header header;
    EXPECT_EQ(decode(ConstOctets(arrival.frame).subspan(kEthernetHeader), header),
              CodecVerdict::ok);
    all.push_back({header.dscp, load_be16(ip + kIpv4Header + kUdpHeader)});
  }
  return all;
}
// By whichever uplink they went.
inline std::vector<Seen> data_up(OneSwitch& rig) {
  std::vector<Seen> all = data_at(rig, 2);
  const std::vector<Seen> others = data_at(rig, 3);
  all.insert(all.end(), others.begin(), others.end());
  return all;
}
inline void greet(OneSwitch& rig) {
  for (const size_t port : {2, 3}) rig.inject(port, frame_of(hello()));
  rig.run_for(1_us);
}
inline void pause(OneSwitch& rig, uint8_t priorities, uint16_t quanta) {
  for (const size_t port : {2, 3}) rig.inject(port, pause_frame(priorities, quanta));
  rig.run_for(1_us);
}

}  // namespace eddy::test::isolation
