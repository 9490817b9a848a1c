// HeapPackets: packets in plain memory, laid out like those of PacketPools, for worlds without EAL.
//
// Owner: one world, one thread. Bounds: fixed at construction. Cost: a push and a pop.
#pragma once

#include <rte_mbuf_core.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "net/assert.h"
#include "net/packet.h"

namespace eddy {

class HeapPackets {
 public:
  // Of memory that a packet takes.
  static size_t octets_of(size_t data_room) {
    return RTE_ALIGN_CEIL(kOverhead + data_room, size_t{RTE_CACHE_LINE_SIZE});
  }
  HeapPackets(size_t count, size_t data_room)
      : data_room_(data_room),
        slot_(octets_of(data_room)),
        memory_(static_cast<uint8_t*>(std::aligned_alloc(RTE_CACHE_LINE_SIZE, slot_ * count))) {
    ASSERT(memory_ != nullptr);
    free_.reserve(count);
    for (size_t i = count; i-- > 0;)
      free_.push_back(reinterpret_cast<rte_mbuf*>(&memory_[i * slot_]));
  }

  size_t data_room() const { return data_room_; }
  // An empty packet, null when there is none left.
  Packet* get() {
    if (free_.empty()) return nullptr;
    rte_mbuf* mbuf = free_.back();
    free_.pop_back();
    std::memset(static_cast<void*>(mbuf), 0, sizeof(rte_mbuf) + sizeof(Packet));
    mbuf->buf_addr = reinterpret_cast<uint8_t*>(mbuf) + sizeof(rte_mbuf) + sizeof(Packet);
    mbuf->buf_len = static_cast<uint16_t>(RTE_PKTMBUF_HEADROOM + data_room_);
    mbuf->nb_segs = 1;
    mbuf->refcnt = 1;
    Packet* const packet = Packet::of(mbuf);
    packet->data_off = RTE_PKTMBUF_HEADROOM;
    return packet;
  }
  void put(Packet* packet) { free_.push_back(packet->mbuf()); }

 private:
  static constexpr size_t kOverhead = sizeof(rte_mbuf) + sizeof(Packet) + RTE_PKTMBUF_HEADROOM;
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };

  size_t data_room_;
  size_t slot_;
  std::unique_ptr<uint8_t[], Free> memory_;
  std::vector<rte_mbuf*> free_;
};

}  // namespace eddy
