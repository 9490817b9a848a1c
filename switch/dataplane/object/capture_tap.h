// CaptureTap: what stands between a shard and its world while packets are captured: it sees what is
// received and transmitted, is told of drops, and copies what is wanted into the capture's ring.
//
// Nothing waits for whoever reads that ring: a packet for which it has no room is counted and goes
// its way. While nothing is captured a shard's parts speak to the world itself, and the tap costs a
// test a poll. Owner: the shard. Cost, while capturing: a copy of the frame up to the snap length
// and 32 octets a record. Source: docs/adr/0043.
#pragma once

#include <optional>

#include "net/capture/capture_order.h"
#include "net/rebase.h"
#include "switch/dataplane/object/noting_selector.h"
#include "switch/dataplane/object/packet_tracer.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/io.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class CaptureTap final : public Io, public DropObserver {
 public:
  // `explainer` outlives it.
  CaptureTap(ShardContext& context, PacketExplainer& explainer)
      : context_(context), explainer_(explainer), tracer_(context) {}

  void start(const CaptureOrder& order) {
    order_ = order;
    if (order_.trace != nullptr) tracer_.start(order_, order_.ring);
  }
  // The world through the tap, for a poll.
  Io& over(Io& world) {
    world_ = &world;
    tracer_.begin_poll();
    return *this;
  }
  Io& world() { return *world_; }
  NotingSelector& selector() { return selector_; }
  const NotingSelector& selector() const { return selector_; }
  // The shard's time goes back; stamps go on.
  void rebase(const Rebase& rebase);

  Received receive(std::span<Packet*> out) override;
  const News& news() override { return world_->news(); }
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override;
  void await(PortId port, Instant at) override { world_->await(port, at); }
  Packet* allocate() override;
  void free(std::span<Packet* const> packets) override { world_->free(packets); }
  void on_drop(const Packet& packet, DropReason reason) override;

 private:
  uint64_t stamp_of(Instant at) const {
    return static_cast<uint64_t>(order_.zero_ns + at.ps() / 1'000);
  }
  struct Words;
  void capture_received(PortId port, std::span<Packet* const> packets);
  template <class Say>
  uint8_t* put_all(std::span<Packet* const> packets, const Say& say);
  bool put_one(const Packet& packet, const Words& words);
  template <class Say>
  uint64_t put_some(std::span<Packet* const> packets, const Say& say);
  template <class Say>
  uint16_t transmit_some(PortId port, std::span<Packet* const> packets, Instant done,
                         const Say& say);
  static uint64_t octets_behind(const uint8_t* first, std::span<Packet* const> packets,
                                size_t taken);
  static uint8_t* write(uint8_t* place, const Packet& packet, const Words& words, uint32_t snap);
  static Words with_fate(const Packet& packet, Words words);

  ShardContext& context_;
  PacketExplainer& explainer_;
  PacketTracer tracer_;
  Io* world_ = nullptr;  // of the poll
  CaptureOrder order_;
  NotingSelector selector_;
};

}  // namespace eddy
