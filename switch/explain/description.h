// Description: a packet in words, "src=10.0.1.5 dst=10.0.3.7 proto=udp dport=4791 dscp=26", and the
// frame that it stands for.
//
// All that is wrong with a description is said at once, one problem a line; what is no description
// at all is one. Pure functions of their arguments. Units: octets without FCS. Bounds: a
// description of kMostDescription octets. Source: docs/explain.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "net/addresses.h"
#include "net/ids.h"
#include "net/result.h"

namespace eddy::explain {

inline constexpr size_t kMostDescription = 1'024;

struct Description {
  PortId port;
  IpAddress source;
  IpAddress destination;
  uint8_t protocol = 17;
  uint16_t source_port = 49'152;
  uint16_t destination_port = 0;
  uint8_t dscp = 0;
  uint8_t ecn = 0;  // its two bits
  uint8_t ttl = 64;
  uint8_t opcode = 0x0a;    // of the BTH, where the destination port is RoCEv2's
  uint32_t queue_pair = 1;  // likewise
  uint32_t length = 0;      // of the frame; 0: as long as its headers
  bool tagged = false;
  uint16_t vlan = 0;
  uint8_t pcp = 0;
};

// Of a packet that comes to a switch of this configuration. Without a port in words it is the one
// whose network has the source.
Result<Description> read_description(std::string_view text, const config::SwitchConfig& config);

// What can be read of the frame, which on the wire is at least that long: Description::length.
std::vector<uint8_t> frame_of(const Description& description, const config::SwitchConfig& config);

}  // namespace eddy::explain
