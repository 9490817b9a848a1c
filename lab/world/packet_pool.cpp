#include "lab/world/packet_pool.h"

#include <cstring>
#include <utility>

namespace eddy::lab {

Packet* PacketPool::fresh() {
  if (touched_ == limit_) return nullptr;
  auto* mbuf = reinterpret_cast<rte_mbuf*>(memory_.data() + touched_++ * kStride);
  std::memset(static_cast<void*>(mbuf), 0, sizeof(rte_mbuf) + sizeof(Packet));
  mbuf->buf_addr = reinterpret_cast<uint8_t*>(mbuf) + sizeof(rte_mbuf) + sizeof(Packet);
  mbuf->buf_len = static_cast<uint16_t>(kHeadroom + kDataRoom);
  mbuf->data_off = kHeadroom;
  ++used_;
  return Packet::of(mbuf);
}

void PacketPool::withhold(bool on) {
  if (on == is_withheld()) return;
  if (on) {
    limit_ = touched_;
    withheld_ = std::exchange(free_, nullptr);
    return;
  }
  limit_ = count_;
  while (withheld_ != nullptr) {
    Packet* packet = withheld_;
    withheld_ = packet->next;
    packet->next = free_;
    free_ = packet;
  }
}

void PacketPool::copy(const Packet& from, Packet& to) {
  const uint16_t length = from.mbuf()->data_len;
  std::memcpy(to.data(), from.data(), length);
  to = from;
  to.mbuf()->data_len = length;
}

}  // namespace eddy::lab
