// TestWire: one end of a cable between two HostPorts, and what a test puts into it by hand.
//
// Frames cross at once; a test may refuse them, lose them, or look at them. Owner: one test.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#include "testbed/host_wire.h"
#include "tests/support/packet_pool.h"

namespace eddy::test {

class TestWire final : public testbed::HostWire {
 public:
  explicit TestWire(PacketPool& pool) : pool_(pool) {
    std::vector<Packet*> all;
    while (Packet* packet = pool.get()) all.push_back(packet);
    for (Packet* packet : all) {
      std::memset(packet->mbuf()->buf_addr, 0, packet->mbuf()->buf_len);
      pool.put(packet);
    }
  }
  void join(TestWire& peer) { peer_ = &peer, peer.peer_ = this; }

  size_t room = SIZE_MAX;                  // frames that transmit() still takes
  std::function<bool(Packet&)> lose;       // looks at each frame that leaves
  std::vector<std::vector<uint8_t>> sent;  // of an end without a peer
  size_t held = 0;                         // buffers that the port has

  void put(std::span<const uint8_t> frame) { arrived_.push_back(pool_.get(frame)); }
  size_t waiting() const { return arrived_.size(); }

  size_t receive(std::span<Packet*> out) override {
    size_t count = 0;
    for (; count < out.size() && !arrived_.empty(); ++count) {
      out[count] = arrived_.front();
      arrived_.pop_front();
    }
    held += count;
    return count;
  }
  size_t transmit(std::span<Packet* const> frames) override {
    const size_t taken = std::min(frames.size(), room);
    room -= taken == SIZE_MAX ? 0 : (room == SIZE_MAX ? 0 : taken);
    for (size_t i = 0; i < taken; ++i) leave(frames[i]);
    held -= taken;
    return taken;
  }
  size_t blanks(std::span<Packet*> out) override {
    size_t count = 0;
    while (count < out.size() && (out[count] = pool_.get()) != nullptr) ++count;
    held += count;
    return count;
  }
  void free(std::span<Packet* const> packets) override {
    for (Packet* packet : packets) pool_.put(packet);
    held -= packets.size();
  }

 private:
  void leave(Packet* frame) {
    if (lose && lose(*frame)) return pool_.put(frame);
    if (peer_ != nullptr) return peer_->arrived_.push_back(frame);
    sent.emplace_back(frame->data(), frame->data() + frame->data_len());
    pool_.put(frame);
  }

  PacketPool& pool_;
  TestWire* peer_ = nullptr;
  std::deque<Packet*> arrived_;
};

}  // namespace eddy::test
