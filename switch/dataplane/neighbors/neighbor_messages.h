// NeighborMessages: the ARP and ND messages that the switch sends: questions for a neighbor,
// answers for its own addresses. It keeps nothing; who is asked when is adjacency.h's.
//
// Owner: the shard that owns the port. A message for which there is no buffer is counted and not
// sent. Source: RFC 826, RFC 4861.
#pragma once

#include "net/addresses.h"
#include "net/arp.h"
#include "net/ids.h"
#include "net/nd.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class NeighborMessages {
 public:
  NeighborMessages(ShardContext& context, Egress& egress) : context_(context), egress_(egress) {}

  // Asks the neighbor `mac` alone, or everybody when that is zero. Nothing is sent from a port
  // without an address of the family.
  void ask(PortId port, const IpAddress& address, const MacAddress& mac);
  void answer(PortId port, const ArpMessage& question);
  void answer(PortId port, const NdMessage& question);

 private:
  void ask_by_arp(PortId port, Ipv4Address target, const MacAddress& mac, Ipv4Address own);
  void ask_by_nd(PortId port, const Ipv6Address& target, const MacAddress& mac,
                 const Ipv6Address& own);
  void send(PortId port, const MacAddress& to, const ArpMessage& message);
  void send(PortId port, const MacAddress& to, const NdMessage& message);
  template <class Message>
  void send_as(uint16_t ethertype, PortId port, const MacAddress& to, const Message& message);

  ShardContext& context_;
  Egress& egress_;
};

}  // namespace eddy
