// Entropy: which UDP source port the packets of a sending QP carry, and so which way they are
// hashed.
//
// A law is host/entropy/<name>.cpp, a line in host/entropy.txt and
// tests/unit/host/entropy/<name>_test.cpp. Each call returns the port from now on, or kSamePort. A
// QP is known by its QPN and its peer's address, so a port may change at any packet. Where the law
// declares it, receivers answer from the port of the packet that they answer, and echo its mark. A
// law that declares that it drains may stop a QP (kStopSending) until a later call names a port.
// Calls come after those of the rate control. Owner: one Nic. Bounds: NicOptions' senders. Cost: a
// virtual call for what the law declared. Source: reference A.15, A.21.
#pragma once

#include <cstdint>
#include <memory>

#include "host/law.h"
#include "host/send_state.h"
#include "net/units.h"

namespace eddy::host {

inline constexpr uint16_t kSamePort = 0;
// Of a law that drains, after a reply: nothing is sent until it names a port.
inline constexpr uint16_t kStopSending = 1;
// Of data packets.
inline constexpr uint16_t kFirstEntropy = 49'152;
inline constexpr uint16_t kLastEntropy = 65'535;

// What a QP begins with.
struct EntropyOpening {
  uint16_t port = 0;         // that its packets would carry
  uint32_t bdp_packets = 1;  // of one bandwidth-delay product of its path
};

class Entropy {
 public:
  virtual ~Entropy() = default;

  virtual uint16_t open(uint32_t qpn, const EntropyOpening& opening, const SendState& state);
  // Late ones, too: they acknowledge nothing, but tell of a path.
  virtual uint16_t on_ack(uint32_t qpn, const Ack& ack, const SendState& state);
  virtual uint16_t on_round(uint32_t qpn, const Round& round, const SendState& state);
  virtual uint16_t on_nak(uint32_t qpn, const Ack& ack, const SendState& state);
  virtual uint16_t on_cnp(uint32_t qpn, const SendState& state, Instant now);
  virtual uint16_t on_timeout(uint32_t qpn, const SendState& state, Instant now);
  // Of the packet that leaves now: state.next, or one that the recovery repeats.
  virtual uint16_t next_send(uint32_t qpn, const SendState& state, Instant now);
};

struct EntropyInfo : LawInfo {
  Hears hears;
  bool keeps_port = false;  // a QP has one port for good, so its packets have one way
  bool drains = false;      // a QP takes another port with nothing in flight, for which the law may
                            // stop it; an ACK for each packet is needed
  bool each_packet = false;  // next_send() is called
  bool spreads = false;  // packets overtake each other all the time; a recovery has to keep them
  bool echoes_marks = false;  // ACKs say that a packet since the last one carried CE
  bool echoes_port = false;   // replies carry the port of the packet that they answer
  std::unique_ptr<Entropy> (*make)(const LawInit& init) = nullptr;
};

}  // namespace eddy::host
