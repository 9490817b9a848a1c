// WaitingCircles: lossless queues of a world that wait for each other in a circle, which is a
// deadlock.
//
// A queue that is paused waits for the priority group that paused it, at the other end of the line;
// that group waits for the queues there that its packets are in. A queue of isolated packets waits
// for the normal one of its port, too, which may hold what its head came behind. A circle of such
// queues, none of which has sent a packet for some time, will send none. What waits for a host that
// pauses, or for a pause that nobody withdraws, is in no circle. Owner: a Checker. Cost: a look at
// all queues every kEvery of virtual time, and a walk along those that stand. Source: reference
// C.6, A.16; "Channel dependency" in docs/papers.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/fabric/topology.h"
#include "lab/world/world.h"
#include "net/ids.h"
#include "net/units.h"
#include "pfc/class_pair.h"

namespace eddy::lab {

class WaitingCircles {
 public:
  // `stands`: for so long none of a circle's queues sends.
  WaitingCircles(World& world, const Topology& topology, Duration stands);

  // "leaf1 to spine1, queue 3 > spine1 to leaf1, queue 3"; empty: there is none, or it is not time
  // to look.
  std::string look();

 private:
  static constexpr Duration kEvery = Duration::microseconds(50);

  struct Queue {  // to another switch
    uint32_t node;
    PortId port;
    QueueId id;
    uint64_t sent = 0;  // packets, when last looked
    Instant since;      // it has been paused, with packets, and has sent none; never: it has not
  };

  void look_at(Queue& queue);
  // The groups at the other end of its line that pause it.
  std::vector<PriorityGroupId> pausers_of(const Queue& queue, const Line& line) const;
  // For isolated packets: the port's queue of normal ones. None for other queues.
  QueueId gate_of(const Queue& queue) const;
  std::vector<size_t> standing() const;
  // Places in `among` that queues_[among[i]] waits for.
  std::vector<uint32_t> awaited_by(const Queue& queue, const std::vector<size_t>& among) const;
  std::string name_of(const Queue& queue) const;

  World& world_;
  const Topology& topology_;
  Duration stands_;
  Instant next_look_;
  std::vector<Queue> queues_;
  std::vector<std::optional<pfc::ClassPair>> pairs_;  // by switch: those that isolate
};

}  // namespace eddy::lab
