// Frames that tests send: whole UDP datagrams over IPv4 or IPv6, with or without tags.
#pragma once

#include <cstdint>
#include <vector>

#include "net/addresses.h"
#include "net/ethernet.h"
#include "net/ip.h"
#include "net/protocols.h"

namespace eddy::test {

using Frame = std::vector<uint8_t>;

struct UdpSpec {
  MacAddress destination_mac;
  MacAddress source_mac{{0x02, 0xaa, 0, 0, 0, 1}};
  IpAddress source;
  IpAddress destination;
  uint16_t source_port = 1000;
  uint16_t destination_port = 2000;
  uint8_t dscp = 0;
  uint8_t ecn = 0;
  uint8_t ttl = 64;
  size_t frame_len = 64;       // octets on the wire without FCS; at least the headers
  size_t readable_len = 9000;  // the frame is cut here: headers with a virtual payload
  uint8_t tags = 0;            // priority tags in front
  uint8_t pcp = 0;
};

inline Frame udp_frame(const UdpSpec& spec) {
  EthernetHeader ethernet{spec.destination_mac, spec.source_mac,
                          spec.source.is_v4() ? kEtherTypeIpv4 : kEtherTypeIpv6};
  ethernet.tag_count = spec.tags;
  for (VlanTag& tag : ethernet.tags) tag = {kEtherTypeVlan, spec.pcp, false, 0};
  Frame frame(std::max<size_t>(spec.frame_len, 66 + 8));
  Octets out(frame);
  size_t at = encode(ethernet, out);
  const size_t ip_len = spec.source.is_v4() ? kIpv4Header : kIpv6Header;
  const size_t l3_total = std::max(spec.frame_len, at + ip_len + kUdpHeader) - at;
  if (spec.source.is_v4()) {
    at += encode(Ipv4Header{.dscp = spec.dscp,
                            .ecn = spec.ecn,
                            .total_length = static_cast<uint16_t>(l3_total),
                            .ttl = spec.ttl,
                            .protocol = kProtocolUdp,
                            .source = spec.source.v4(),
                            .destination = spec.destination.v4()},
                 out.subspan(at));
  } else {
    at += encode(Ipv6Header{.dscp = spec.dscp,
                            .ecn = spec.ecn,
                            .payload_length = static_cast<uint16_t>(l3_total - kIpv6Header),
                            .next_header = kProtocolUdp,
                            .hop_limit = spec.ttl,
                            .source = spec.source.v6(),
                            .destination = spec.destination.v6()},
                 out.subspan(at));
  }
  encode(UdpHeader{spec.source_port, spec.destination_port,
                   static_cast<uint16_t>(l3_total - ip_len), 0},
         out.subspan(at));
  frame.resize(std::min(std::max(spec.frame_len, at + kUdpHeader), spec.readable_len));
  return frame;
}

}  // namespace eddy::test
