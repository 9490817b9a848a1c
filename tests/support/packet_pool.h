// PacketPool: a fixed number of packets in plain memory, laid out like an rte_mempool's, without an
// EAL.
//
// Owner: one test world. Cost: a vector's push and pop.
#pragma once

#include <rte_mbuf_core.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "net/assert.h"
#include "net/packet.h"

namespace eddy::test {

class PacketPool {
 public:
  static constexpr size_t kHeadroom = 128;

  explicit PacketPool(size_t count, size_t data_room = 2048)
      : slot_(sizeof(rte_mbuf) + sizeof(Packet) + kHeadroom + data_room),
        memory_(static_cast<uint8_t*>(std::aligned_alloc(64, rounded(slot_) * count))) {
    slot_ = rounded(slot_);
    ASSERT(memory_ != nullptr);
    for (size_t i = count; i-- > 0;) {
      auto* mbuf = reinterpret_cast<rte_mbuf*>(memory_.get() + i * slot_);
      std::memset(static_cast<void*>(mbuf), 0, sizeof(rte_mbuf) + sizeof(Packet));
      mbuf->buf_addr = reinterpret_cast<uint8_t*>(mbuf) + sizeof(rte_mbuf) + sizeof(Packet);
      mbuf->buf_len = static_cast<uint16_t>(kHeadroom + data_room);
      free_.push_back(Packet::of(mbuf));
    }
  }

  Packet* get() {
    if (free_.empty()) return nullptr;
    Packet* packet = free_.back();
    free_.pop_back();
    packet->data_off = kHeadroom;
    packet->held_len = 0;
    return packet;
  }
  // A packet that holds `frame`; on the wire it is `wire_len` long, at least the frame.
  Packet* get(std::span<const uint8_t> frame, size_t wire_len = 0) {
    Packet* packet = get();
    if (packet == nullptr) return nullptr;
    ASSERT(frame.size() + kHeadroom <= packet->mbuf()->buf_len);
    if (!frame.empty()) std::memcpy(packet->data(), frame.data(), frame.size());
    packet->set_length(frame.size(), std::max(wire_len, frame.size()));
    return packet;
  }
  void put(Packet* packet) { free_.push_back(packet); }
  size_t available() const { return free_.size(); }

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  static size_t rounded(size_t n) { return (n + 63) / 64 * 64; }

  size_t slot_;
  std::unique_ptr<uint8_t[], Free> memory_;
  std::vector<Packet*> free_;
};

}  // namespace eddy::test
