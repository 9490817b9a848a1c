// PacketFifo: a queue of packets linked through Packet::next. No memory of its own, no bound.
//
// Owner: the shard. Cost: push touches the tail's line, pop the head's.
#pragma once

#include <cstdint>

#include "net/packet.h"

namespace eddy {

class PacketFifo {
 public:
  bool empty() const { return head_ == nullptr; }
  uint32_t count() const { return count_; }
  Packet* head() const { return head_; }

  void push(Packet* packet) {
    packet->next = nullptr;
    if (head_ == nullptr) {
      head_ = packet;
    } else {
      tail_->next = packet;
    }
    tail_ = packet;
    ++count_;
  }
  void push_front(Packet* packet) {
    packet->next = head_;
    if (head_ == nullptr) tail_ = packet;
    head_ = packet;
    ++count_;
  }
  Packet* pop() {
    Packet* packet = head_;
    head_ = packet->next;
    --count_;
    return packet;
  }

 private:
  Packet* head_ = nullptr;
  Packet* tail_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace eddy
