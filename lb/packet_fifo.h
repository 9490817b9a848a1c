// PacketFifo: a queue of packets linked through Packet::next. No memory of its own, no bound.
//
// Each packet also knows the one two behind it, so that whoever empties the queue can ask for lines
// before the chain leads there: packets of many queues lie apart, and each would be waited for. The
// last two name themselves: to ask for the line of a null pointer costs a look through page tables.
// Owner: the shard. Cost: push touches the lines of the last two packets, pop the head's.
#pragma once

#include <cstdint>
#include <span>

#include "lb/either.h"
#include "net/packet.h"

namespace eddy {

class PacketFifo {
 public:
  bool empty() const { return head_ == nullptr; }
  uint32_t count() const { return count_; }
  Packet* head() const { return head_; }

  void push(Packet* packet) {
    packet->next = nullptr;
    packet->ahead = packet;
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
    packet->ahead = count_ >= 2 ? head_->next : packet;
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
  // `count` have been taken off the front along Packet::next; `head` is what follows them.
  void popped(Packet* head, uint32_t count) {
    head_ = head;
    count_ -= count;
  }
  // Packets that go in one behind the other: begun at the FIFO, filled apart from it, and appended.
  // Meanwhile the FIFO stays what it is. Cost of a packet: three stores to lines at hand.
  class Row {
   public:
    // `stub`: of the row's own, stands for packets that are not there.
    // Without a branch: what waits in a queue is what no predictor can know.
    void begin(const PacketFifo& fifo, Packet& stub) {
      tail_ = lb::either(fifo.count_ == 0, &stub, fifo.tail_);
      before_tail_ = lb::either(fifo.count_ < 2, &stub, fifo.before_tail_);
      count_ = 0;
    }
    void push(Packet* packet) {
      tail_->next = packet;
      before_tail_->ahead = packet;
      before_tail_ = tail_;
      tail_ = packet;
      ++count_;
    }
    // Behind the last one: the chain ends there.
    void finish() const {
      tail_->next = nullptr;
      tail_->ahead = tail_;
      before_tail_->ahead = before_tail_;
    }
    bool empty() const { return count_ == 0; }
    uint32_t count() const { return count_; }

   private:
    friend class PacketFifo;
    Packet* tail_ = nullptr;
    uint32_t count_ = 0;  // between the two, which then are stored one by one
    Packet* before_tail_ = nullptr;
  };
  // A row that was begun here, with packets or without; nothing else has come or gone since.
  void append(const Row& row, const Packet& stub) {
    row.finish();
    head_ = lb::either(count_ == 0, stub.next, head_);
    tail_ = row.tail_;
    before_tail_ = row.before_tail_;
    count_ += row.count_;
  }
  // Those of a finished row that was begun at an empty FIFO, at least one. Reads none of them.
  void append(std::span<Packet* const> chain) {
    Packet* const second = chain.size() > 1 ? chain[1] : nullptr;
    if (count_ >= 2) before_tail_->ahead = chain[0];
    if (count_ == 0) {
      head_ = chain[0];
    } else {
      tail_->next = chain[0];
      if (second != nullptr) tail_->ahead = second;
    }
    before_tail_ = second != nullptr ? chain[chain.size() - 2] : tail_;
    tail_ = chain.back();
    count_ += static_cast<uint32_t>(chain.size());
  }

 private:
  Packet* head_ = nullptr;
  Packet* tail_ = nullptr;
  Packet* before_tail_ = nullptr;  // while there are two
  uint32_t count_ = 0;
};

}  // namespace eddy
