// Mailbox: a one-way SPSC ring of small messages between two shards, or from control to a shard.
//
// Packets cross as a chain through Packet::next, one message a burst; buffer credits cross as one
// sum a (port, PG). The ring's memory is owned here (rte_ring_init, no EAL). Threads: one sender,
// one receiver. Cost: an rte_ring enqueue and dequeue a message. Source: architecture, sections 4
// and 6.
#pragma once

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <cstdint>
#include <memory>
#include <span>

#include "net/ids.h"
#include "net/packet.h"

namespace eddy {

struct Command;

struct Message {
  enum class Kind : uint8_t { packets, credit, command };
  Kind kind{};
  PriorityGroupId pg;       // credit
  PortId port;              // credit: the ingress port
  uint32_t count = 0;       // packets: length of the chain
  Packet* chain = nullptr;  // packets: head; egress_port is set in each
  Command* command = nullptr;
  int64_t bytes = 0;  // credit
};
static_assert(sizeof(Message) == 32);

class Mailbox {
 public:
  static constexpr unsigned kCapacity = 4096;

  Mailbox();
  bool send(const Message& message) {
    if (rte_ring_sp_enqueue_elem(ring_, const_cast<Message*>(&message), sizeof message) != 0)
      return false;
    packets_sent_ += message.count;
    return true;
  }
  // Receives into `out`; returns how many.
  size_t receive(std::span<Message> out) {
    const unsigned n = rte_ring_sc_dequeue_burst_elem(ring_, out.data(), sizeof(Message),
                                                      static_cast<unsigned>(out.size()), nullptr);
    for (unsigned i = 0; i < n; ++i) packets_received_ += out[i].count;
    return n;
  }
  // For the receiver. rte_ring_empty() reads what the sender stores without saying so to the
  // compiler.
  bool empty() const {
    return __atomic_load_n(&ring_->prod.tail, __ATOMIC_RELAXED) == ring_->cons.tail;
  }
  // Packets inside; exact while neither side is active.
  uint64_t held() const { return packets_sent_ - packets_received_; }

 private:
  struct FreeAligned {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, FreeAligned> memory_;
  rte_ring* ring_;
  alignas(64) uint64_t packets_sent_ = 0;
  alignas(64) uint64_t packets_received_ = 0;
};

}  // namespace eddy
