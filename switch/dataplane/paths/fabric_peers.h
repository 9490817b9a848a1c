// FabricPeers: the MAC at the other end of each fabric link: configured, or learned from its LLDP
// advertisements.
//
// Fabric links are unnumbered: a switch advertises itself on a port when the link comes up, at once
// when it hears a new peer, and every kInterval. A fabric port is usable, and so in path sets, only
// while its peer is known. An advertised time to live that runs out without a new one takes the
// peer away. Owner: the shard of the port. Source: 802.1AB.
#pragma once

#include <cstdint>
#include <vector>

#include "net/addresses.h"
#include "net/byte_order.h"
#include "net/deadlines.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/rate_limit.h"
#include "net/rebase.h"
#include "net/units.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class FabricPeers {
 public:
  static constexpr Duration kInterval = Duration::seconds(1);
  static constexpr uint16_t kTimeToLiveSeconds = 10;

  FabricPeers(ShardContext& context, IngressBuffer& buffer, Egress& egress, size_t ports);

  bool known(PortId port) const {
    const uint8_t* octets = mac(port).octets.data();
    return (load_raw<uint32_t>(octets) | load_raw<uint16_t>(octets + 4)) != 0;
  }
  const MacAddress& mac(PortId port) const { return macs_[port.index()]; }  // zero: unknown
  // An LLDP frame. Takes it.
  void lldp(Packet* packet);
  void link_changed(PortId port, bool up);
  // Another port will have its place; ours.
  void forget(PortId port);
  void adopt(const Snapshot& now);
  void on_timers();
  void rebase(const Rebase& rebase);

 private:
  void advertise(PortId port);
  void use(PortId port, const MacAddress& mac);
  bool speaks_lldp(PortId port) const;
  // The MAC of the port's peer is learned by LLDP and not configured.
  bool learns(PortId port) const;
  // Tells all shards whether the port may carry packets.
  void publish_usable(PortId port);
  Deadlines::Id next_advertisement(PortId port) const;
  Deadlines::Id expiry(PortId port) const;

  ShardContext& context_;
  IngressBuffer& buffer_;
  Egress& egress_;
  std::vector<MacAddress> macs_;
  std::vector<RateLimit> heard_;  // LLDP frames, by port
  Deadlines timers_;              // two a port
};

}  // namespace eddy
