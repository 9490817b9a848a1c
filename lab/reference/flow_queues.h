// FlowQueues: what waits at one port where every flow has a queue of its own.
//
// Flows that may go on take turns, a packet each. A flow that the next hop has stopped keeps its
// packets until it is to go on, and is remembered as stopped also while it has none. Octets are
// those of wire_len. Owner: one OwnQueueSwitch. Bounds: none; it allocates as flows come. Cost: a
// look-up by key a packet. Source: BFC, of which it is what the 32 queues a port approximate.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "lb/packet_fifo.h"
#include "net/ids.h"
#include "net/packet.h"

namespace eddy::lab {

class FlowQueues {
 public:
  struct Flow {
    uint64_t key = 0;  // order hash
    PacketFifo packets;
    int64_t octets = 0;
    PortId from;                // by which its last packet came
    bool stopped = false;       // by the next hop
    bool stops_sender = false;  // the hop before has been told to stop it
    bool listed = false;        // it is in the round
    Flow* next = nullptr;       // there
  };

  Flow& push(uint64_t key, PortId from, Packet* packet);
  // The next packet by turns, and whose it is; `flow` is null where nobody may send.
  struct Turn {
    Flow* flow = nullptr;
    Packet* packet = nullptr;
  };
  Turn pop();
  // Forgets the flow if nothing is to be remembered of it.
  void settle(const Flow& flow);

  void stop(uint64_t key) { flows_[key].stopped = true; }
  void go_on(uint64_t key);

  int64_t octets() const { return octets_; }  // of all
  size_t flows() const { return flows_.size(); }

 private:
  void list(Flow& flow);

  std::unordered_map<uint64_t, Flow> flows_;  // whose elements stay where they are
  Flow* head_ = nullptr;                      // of the round
  Flow* tail_ = nullptr;
  int64_t octets_ = 0;
};

}  // namespace eddy::lab
