// LoosePacket: one packet in memory of its own, laid out like a world's, for a question about it.
//
// Owner: who asks. It is given to no world, so nobody frees it but its owner. Cost: an allocation.
#pragma once

#include <rte_mbuf_core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "net/assert.h"
#include "net/packet.h"

namespace eddy::explain {

class LoosePacket {
 public:
  // Of `frame`, which on the wire has `wire_len` octets.
  LoosePacket(std::span<const uint8_t> frame, uint32_t wire_len) {
    constexpr size_t kHead = sizeof(rte_mbuf) + sizeof(Packet) + RTE_PKTMBUF_HEADROOM;
    const size_t size = RTE_ALIGN_CEIL(kHead + frame.size(), size_t{RTE_CACHE_LINE_SIZE});
    memory_.reset(static_cast<uint8_t*>(std::aligned_alloc(RTE_CACHE_LINE_SIZE, size)));
    ASSERT(memory_ != nullptr);
    std::memset(memory_.get(), 0, size);
    auto* const mbuf = reinterpret_cast<rte_mbuf*>(memory_.get());
    mbuf->buf_addr = memory_.get() + sizeof(rte_mbuf) + sizeof(Packet);
    mbuf->buf_len = static_cast<uint16_t>(RTE_PKTMBUF_HEADROOM + frame.size());
    mbuf->nb_segs = 1;
    mbuf->refcnt = 1;
    packet_ = Packet::of(mbuf);
    packet_->data_off = RTE_PKTMBUF_HEADROOM;
    packet_->set_length(frame.size(), std::min<uint32_t>(wire_len, UINT16_MAX));
    if (!frame.empty()) std::memcpy(packet_->data(), frame.data(), frame.size());
  }
  Packet* get() const { return packet_; }

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<uint8_t[], Free> memory_;
  Packet* packet_ = nullptr;
};

}  // namespace eddy::explain
