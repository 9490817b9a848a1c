// What goes from one shard to another beside packets (packet_lane.h) and credits (credit_lane.h),
// and is rare. And what goes from control to a shard: commands. Source: architecture, sections 4
// and 6.
#pragma once

#include <array>
#include <cstdint>

#include "lb/warning_table.h"
#include "net/congestion/cim.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/shim.h"
#include "switch/dataplane/state/spsc_ring.h"

namespace eddy {

struct Command;

// What another leaf tells of a path of ours, as it came.
struct PathReport {
  Instant heard_at;
  uint32_t stamp_ns;
  uint32_t hold_ns;
  uint32_t sent_ns;
  LeafId leaf;  // who tells
  PathId path;
  uint8_t flags;  // ShimFlag
  uint8_t congestion;
  uint8_t packets;
  uint8_t marked;
};

// A frame of another switch's path agent, which another shard heard.
struct AgentMail {
  std::array<uint8_t, kShimControlLimit> octets{};  // as on the wire
  PortId port;                                      // by which it came
  bool for_us = true;
};

// What is heard of a congested host, as it came.
struct HotHostNews {
  Instant heard_at;
  Cim message;
  PortId port;  // by which it came
};

struct Message {
  // wake: nothing but a poll is wanted.
  enum class Kind : uint8_t { command, warning, frame, path, agent, hot_host, wake };
  Kind kind{};
  Command* command = nullptr;  // command
  Packet* frame = nullptr;     // frame: of ours, complete but for its destination, for egress_port
  union What {
    What() : warning() {}
    What(const lb::WarningMark& mark) : warning(mark) {}  // NOLINT(google-explicit-constructor)
    What(const PathReport& report) : path(report) {}      // NOLINT(google-explicit-constructor)
    What(const AgentMail& mail) : agent(mail) {}          // NOLINT(google-explicit-constructor)
    What(const HotHostNews& news) : hot(news) {}          // NOLINT(google-explicit-constructor)
    lb::WarningMark warning;
    PathReport path;
    AgentMail agent;
    HotHostNews hot;
  } what;  // as `kind` says
};

using Mailbox = SpscRing<Message, 2048>;

}  // namespace eddy
