// CulpritFinder: the destinations whose backlog fills a priority group, for the warning that it is
// about to send PFC.
//
// It looks at the queues that the group's port fed within kStays times `contribution`: what waits
// behind a pause has come a while ago. Behind a host port the
// culprit is the destination of the packet at the queue's head; behind a fabric port it is whom the
// peer names in a warning of that port that is in force, in proportion to their shares: what merely
// crowds a link of the fabric may take another path, and is not named. Named is who has at least an
// eighth of all that waits there, and as much as an eighth of what the group holds. Owner: the
// shard, which names hosts behind ports of its own alone. Bounds: no memory. Cost: a line a port
// for each warning sent, and the heads of a few queues; nothing a packet. Source: reference B.3;
// docs/adr/0040.
#pragma once

#include <cstdint>

#include "net/cnm.h"
#include "net/ids.h"
#include "net/units.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

// A priority group that is in danger.
struct Endangered {
  PortId port;
  PriorityGroupId pg;
  int64_t held = 0;  // octets
  Duration contribution;
};

class CulpritFinder {
 public:
  static constexpr int64_t kLeastPart = 8;  // one in so many octets
  static constexpr int64_t kStays = 16;

  explicit CulpritFinder(ShardContext& context) : context_(context) {}

  CulpritList find(const Endangered& group) const;

 private:
  class Tally;
  void look_at_port(const Endangered& group, PortId egress, Tally& tally) const;
  void look_at_queue(const Endangered& group, PortId egress, QueueId queue, Tally& tally) const;

  ShardContext& context_;
};

}  // namespace eddy
