// RoCE replies as a switch sees them: ACK, NAK and CNP on their way back to the sender of data.
//
// Reads a packet whose headers the parser has found sound. The hash is the balance key of the data
// that the reply answers: its addresses turned round, its ports as they are, since a connection
// uses one UDP source port for both directions. Cost: a hash. Source: InfiniBand 9.7.5.1; annex 17;
// reference 1.5, D.1.
#pragma once

#include <cstdint>
#include <optional>

#include "net/packet.h"

namespace eddy {

struct RoceReply {
  enum class Kind : uint8_t { ack, nak, cnp };
  uint32_t balance_hash = 0;  // of the data
  uint32_t psn = 0;           // of a CNP 0
  Kind kind{};
  bool ecn_echo = false;  // BECN
};

// Nothing: no reply, or its headers are not all readable.
std::optional<RoceReply> read_reply(const Packet& packet);

}  // namespace eddy
