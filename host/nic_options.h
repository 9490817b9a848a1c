// NicOptions: what a NIC is made from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/host.h"
#include "net/addresses.h"
#include "net/units.h"

namespace eddy::host {

// A NIC that has no more queue pairs of a kind asks for the lines of all of them ahead; of more,
// most would be asked for in vain.
inline constexpr size_t kFewQueuePairs = 2;

struct NicOptions {
  config::HostConfig config;
  MacAddress mac;
  MacAddress gateway;  // next hop of all frames
  IpAddress address;
  BitRate speed;
  int line_overhead = 24;  // octets a frame costs on the line beyond wire_len: FCS, preamble, gap
  size_t senders = 0;      // sending QPs that start() may open
  size_t receivers = 0;
  size_t control_backlog = 4'096;  // ACK, NAK and CNP waiting; more are dropped and counted
  size_t reorder_packets = 2'048;  // packets a QP may hold behind a gap, where its recovery does
  uint64_t seed = 0;               // of laws that draw: with the host's number a stream of its own
  uint32_t host = 0;
};

}  // namespace eddy::host
