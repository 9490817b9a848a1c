// PacketFifo: a queue of packets linked through Packet::next. No memory of its own, no bound.
//
// Each packet also knows the one two behind it, so that whoever empties the queue can ask for lines
// before the chain leads there: packets of many queues lie apart, and each would be waited for.
// Owner: the shard. Cost: push touches the lines of the last two packets, pop the head's.
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
    packet->ahead = nullptr;
    if (count_ >= 2) before_tail_->ahead = packet;
    before_tail_ = tail_;
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
    packet->ahead = head_ != nullptr ? head_->next : nullptr;
    if (count_ == 0) tail_ = packet;
    if (count_ == 1) before_tail_ = packet;
    head_ = packet;
    ++count_;
  }
  // Packet::ahead of what it returns holds until the caller writes there.
  Packet* pop() {
    Packet* packet = head_;
    head_ = packet->next;
    --count_;
    return packet;
  }

 private:
  Packet* head_ = nullptr;
  Packet* tail_ = nullptr;
  Packet* before_tail_ = nullptr;  // while there are two
  uint32_t count_ = 0;
};

}  // namespace eddy
