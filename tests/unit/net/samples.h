// Valid frames of every kind we read or write, made with our own encoders.
#pragma once

#include <string>
#include <vector>

#include "net/parse.h"
#include "tests/unit/net/frames.h"

namespace eddy::test {

struct Sample {
  std::string name;  // "udp_ipv4_vlan"
  Frame frame;
  FrameKind kind;
};

std::vector<Sample> samples();
const Frame& sample(const std::string& name);

// An IP packet of this protocol around `transport`, in an Ethernet frame.
Frame ipv4_frame(uint8_t protocol, const Frame& transport, uint8_t tag_count = 0);
Frame ipv6_frame(uint8_t protocol, const Frame& transport, uint8_t tag_count = 0);
Frame udp_datagram(uint16_t destination_port, const Frame& payload);
Frame tcp_segment(const Frame& payload);
// The frame with a data shim behind its Ethernet header and tags.
Frame with_shim(const Frame& frame);
// Recomputes the IPv4 header checksum at `offset` of the frame.
void fix_ipv4_checksum(Frame& frame, size_t offset = 14);

}  // namespace eddy::test
