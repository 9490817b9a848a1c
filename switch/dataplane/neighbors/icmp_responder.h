// IcmpResponder: what the switch answers on its own addresses and to packets that it cannot send
// on: echo replies, destination unreachable, time exceeded, packet too big; ICMP and ICMPv6. Token
// buckets police errors (one) and the requests that are answered (one a port).
//
// Answers are routed like any packet of ours, so that they also reach hosts behind another leaf.
// Owner: the shard. Source: RFC 792, RFC 1812 section 4.3, RFC 4443.
#pragma once

#include <cstdint>
#include <vector>

#include "net/icmp.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/rate_limit.h"
#include "net/rebase.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

// Who routes packets of our own: each has its network header at l2_len and its class, and is
// uncharged.
class PacketOriginator {
 public:
  virtual void originate(Packet* packet) = 0;

 protected:
  ~PacketOriginator() = default;
};

class IcmpResponder {
 public:
  IcmpResponder(ShardContext& context, IngressBuffer& buffer, size_t ports)
      : context_(context), buffer_(buffer), requests_(ports) {}
  void connect(PacketOriginator& originator) { originator_ = &originator; }  // once, before use

  void rebase(const Rebase& rebase) {
    errors_.rebase(rebase);
    for (RateLimit& requests : requests_) requests.rebase(rebase);
  }

  // A packet to one of our addresses. Takes it.
  void local(Packet* packet);
  // An error to the sender of a packet that the caller then drops. Silent where the RFCs want
  // silence, counted where the rate is exceeded. `mtu` only with packet_too_big.
  void error(const Packet& about, IcmpErrorReason reason, uint32_t mtu = 0);

 private:
  static constexpr int64_t kBurstErrors = 10;  // answered at once after a quiet time

  void route(Packet* packet, PortId port);

  ShardContext& context_;
  IngressBuffer& buffer_;
  PacketOriginator* originator_ = nullptr;
  RateLimit errors_;
  std::vector<RateLimit> requests_;  // to our addresses, by the port that they came in by
};

}  // namespace eddy
