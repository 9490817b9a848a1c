// PacketTracer: what stands between a shard and its world while packets are traced: it explains
// each packet that is wanted as it comes (docs/explain.md), marks it, and tells where it leaves or
// ends.
//
// A wanted packet is handed to the shard alone, so that what is said of it is what it finds; that
// is as if it had come alone, and nothing else changes. Nothing waits for whoever reads: what finds
// no room in the ring, and what is more than kMostAPoll in a poll, is counted and goes its way.
// Owner: the shard. Bounds: a burst that is handed on in pieces, kMostTraced packets a trace. Cost,
// while packets are traced: the filter for each packet, some microseconds for each wanted one.
// Source: docs/adr/0044.
#pragma once

#include <array>

#include "net/capture/capture_order.h"
#include "switch/dataplane/state/explanation.h"
#include "switch/dataplane/state/io.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

// Who can explain a packet that has just been received.
class PacketExplainer {
 public:
  virtual ~PacketExplainer() = default;
  virtual void explain_received(Explanation& explanation) = 0;
};

class PacketTracer {
 public:
  static constexpr uint32_t kMostAPoll = 4;

  explicit PacketTracer(ShardContext& context) : context_(context) {}

  // `order` has a trace, and outlives it.
  void start(const CaptureOrder& order, CaptureWriter& ring);
  void begin_poll() { left_in_poll_ = kMostAPoll; }

  Received receive(Io& world, std::span<Packet*> out, PacketExplainer& explainer);
  // Packets that the world is about to take; say_left() tells of those that it took.
  struct Leaving {
    std::array<CaptureRecord, 64> records;
    size_t count = 0;
    std::array<uint8_t, 64> places{};  // in the burst
  };
  void look_at_leaving(PortId port, std::span<Packet* const> packets, Leaving& leaving) const;
  void say_left(const Leaving& leaving, size_t taken);
  void say_dropped(const Packet& packet, DropReason reason);

 private:
  bool wants(const Packet& packet) const;
  void explain(Packet& packet, PortId port, PacketExplainer& explainer);
  bool put(const CaptureRecord& record, const Explanation* explanation);
  uint64_t stamp_of(Instant at) const {
    return static_cast<uint64_t>(order_->zero_ns + at.ps() / 1'000);
  }

  ShardContext& context_;
  const CaptureOrder* order_ = nullptr;
  CaptureWriter* ring_ = nullptr;
  uint32_t traced_ = 0;
  uint32_t left_in_poll_ = 0;
  // A burst of which some are wanted, as far as it has not been handed on.
  Received burst_;
  std::array<Packet*, kBurst> packets_;
  size_t next_ = 0;
};

}  // namespace eddy
