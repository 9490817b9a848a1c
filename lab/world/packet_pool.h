// PacketPool: a fixed number of header-only packets in plain memory: mbuf, Packet and room for the
// headers, without an EAL.
//
// A packet's payload is virtual: wire_len counts it, data_len ends before it. Memory is reserved at
// construction and touched only when first used; the last returned is the first given. Where a
// world has several threads each has a pool that borrows from the world's, some hundred packets at
// a time, since packets are taken on one thread and given back on another. Owner: one world, or one
// of its threads, whose pools share no cache line. Bounds: `count` packets of kStride octets. Cost:
// a few instructions. Source: architecture, sections 4 and 6.
#pragma once

#include <rte_mbuf_core.h>
#include <rte_prefetch.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>

#include "lab/world/huge_pages.h"
#include "net/packet.h"

namespace eddy::lab {

class alignas(RTE_CACHE_LINE_SIZE) PacketPool {
 public:
  static constexpr size_t kHeadroom = 64;   // for headers that switches put in front
  static constexpr size_t kDataRoom = 128;  // Ethernet, IPv6, UDP, BTH and RETH need 98
  static constexpr size_t kStride = sizeof(rte_mbuf) + sizeof(Packet) + kHeadroom + kDataRoom;
  static_assert(kStride <= 384 && kStride % RTE_CACHE_LINE_SIZE == 0);

  explicit PacketPool(size_t count) : count_(count), limit_(count), memory_(count * kStride) {}
  // Of a thread. It keeps at most kMostIdle of its lender's packets that are not in use.
  static constexpr int64_t kBorrowed = 128;  // at once
  static constexpr int64_t kMostIdle = 3 * kBorrowed;
  explicit PacketPool(PacketPool& lender)
      : count_(0), limit_(0), least_used_(-kMostIdle), lender_(&lender), memory_(0) {}
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  // Empty (data_len 0); null when all are in use.
  Packet* get() {
    Packet* packet = free_;
    if (packet == nullptr) [[unlikely]]
      return fresh();
    free_ = packet->next;
    ++used_;
    packet->data_off = kHeadroom;
    packet->held_len = 0;
    return packet;
  }
  void put(Packet* packet) {
    packet->next = free_;
    free_ = packet;
    if (--used_ < least_used_) [[unlikely]]
      give_back(kBorrowed);
  }
  // Of a thread: what is not in use, so that the lender knows of all that is. No other thread runs.
  void settle();

  // While on, only packets that come back can be given out: there are no more than those in use now
  // (a fault). Off: all that were kept back are there again.
  void withhold(bool on);
  bool is_withheld() const { return limit_ != count_ || withheld_ != nullptr; }

  // The lines of a packet that a switch or a NIC reads.
  static void prefetch(const Packet* packet) {
    rte_prefetch0(packet);
    rte_prefetch0(packet->buffer() + kHeadroom);
  }
  // Frame and metadata of `from` into `to`, where they stand at the same place.
  static void copy(const Packet& from, Packet& to);

  size_t used() const { return static_cast<size_t>(used_); }
  size_t capacity() const { return count_; }
  size_t most_used() const { return touched_; }  // how many were ever in use at once

 private:
  Packet* fresh();
  Packet* borrow();
  void give_back(int64_t packets);

  size_t count_;
  size_t limit_;  // of touched_
  size_t touched_ = 0;
  // Of a thread's pool: that were taken here, less those that were put here, borrowed ones
  // included.
  int64_t used_ = 0;
  int64_t least_used_ = std::numeric_limits<int64_t>::min();  // below it packets are given back
  int64_t borrowed_ = 0;
  PacketPool* const lender_ = nullptr;
  std::mutex lending_;  // of the lender
  Pages memory_;
  Packet* free_ = nullptr;
  Packet* withheld_ = nullptr;
};

}  // namespace eddy::lab
