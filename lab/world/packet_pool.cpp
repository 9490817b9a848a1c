#include "lab/world/packet_pool.h"

#include <cstring>
#include <utility>

#include "net/assert.h"

namespace eddy::lab {

Packet* PacketPool::fresh() {
  if (lender_ != nullptr) return borrow();
  if (touched_ == limit_) return nullptr;
  auto* mbuf = reinterpret_cast<rte_mbuf*>(memory_.data() + touched_++ * kStride);
  std::memset(static_cast<void*>(mbuf), 0, sizeof(rte_mbuf) + sizeof(Packet));
  mbuf->buf_addr = reinterpret_cast<uint8_t*>(mbuf) + sizeof(rte_mbuf) + sizeof(Packet);
  mbuf->buf_len = static_cast<uint16_t>(kHeadroom + kDataRoom);
  ++used_;
  Packet* const packet = Packet::of(mbuf);
  packet->data_off = kHeadroom;
  return packet;
}

// None is free here.
Packet* PacketPool::borrow() {
  {
    const std::scoped_lock lock(lender_->lending_);
    for (int64_t i = 0; i < kBorrowed; ++i) {
      Packet* packet = lender_->get();
      if (packet == nullptr) break;
      packet->next = free_;
      free_ = packet;
      ++borrowed_;
    }
  }
  least_used_ = borrowed_ - kMostIdle;
  return free_ == nullptr ? nullptr : get();
}

void PacketPool::give_back(int64_t packets) {
  const std::scoped_lock lock(lender_->lending_);
  for (int64_t i = 0; i < packets; ++i) {
    Packet* packet = free_;
    free_ = packet->next;
    lender_->put(packet);
  }
  borrowed_ -= packets;
  least_used_ = borrowed_ - kMostIdle;
}

void PacketPool::settle() {
  ASSERT(lender_ != nullptr);
  give_back(borrowed_ - used_);
  borrowed_ = used_ = 0;
  least_used_ = -kMostIdle;
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
  to = from;
  std::memcpy(to.data(), from.data(), from.data_len());
}

}  // namespace eddy::lab
