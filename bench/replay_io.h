// ReplayIo: a world for benchmarks: real 64-octet UDP frames into a shard, everything it sends
// swallowed.
//
// As a NIC's receive ring does, it hands out packets from a small recycled pool (LIFO, 1,024 of
// them) and writes each frame anew, so the working set is that of a real port. Frames come from
// `flows` 5-tuples in a scrambled order, in bursts, from the ingress ports in turn. Its own cost is
// measured by polling EmptyShard and subtracted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "net/ids.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/state/io.h"
#include "tests/support/frames.h"
#include "tests/support/packet_pool.h"

namespace eddy::bench {

struct ReplaySpec {
  uint32_t flows = 10'000;              // up to 2^20
  size_t bursts = 1;                    // a poll, each from the next ingress port
  std::vector<PortId> ingress;          // in turn, a burst each
  std::vector<MacAddress> macs;         // of the ingress ports
  std::vector<IpAddress> destinations;  // of one IP version, chosen by flow
  IpAddress source;                     // the first of kSources
  uint8_t dscp = 3;
  uint8_t ecn = 2;
  bool sums_good = false;  // as a NIC says that checks IPv4 headers
};

class ReplayIo final : public Io {
 public:
  explicit ReplayIo(const ReplaySpec& spec) : ReplayIo(spec, make_pool()) {}
  // With a pool that other worlds of the same thread use too.
  ReplayIo(const ReplaySpec& spec, std::shared_ptr<test::PacketPool> pool);

  static std::shared_ptr<test::PacketPool> make_pool(size_t packets = kPackets);

  // The next poll finds its bursts.
  void next_poll() { ready_ = spec_.bursts; }
  void raise_link(PortId port) { links_.push_back({port, true}); }

  Received receive(std::span<Packet*> out) override;
  const News& news() override;
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override;
  Packet* allocate() override { return pool_->get(); }
  void free(std::span<Packet* const> packets) override;

  uint64_t transmitted() const { return transmitted_; }

 private:
  static constexpr size_t kPackets = 4096;
  static constexpr size_t kFrame = 64;

  struct Variant {  // frames that differ in addresses, with their checksums right
    uint8_t octets[kFrame];
  };
  uint32_t next_flow();
  void write(Packet* packet, uint32_t flow, size_t ingress);

  ReplaySpec spec_;
  std::shared_ptr<test::PacketPool> pool_;
  std::vector<Variant> variants_;  // [source][destination], without the MAC
  size_t port_offset_;             // of the UDP source port
  uint64_t draw_ = 1;
  size_t next_ingress_ = 0;
  size_t ready_ = 0;  // bursts
  std::vector<PortId> done_, done_now_;
  std::vector<LinkChange> links_, links_now_;
  uint64_t transmitted_ = 0;
};

// How many packets at a time a shard gives to its world, poll by poll. Another world stands behind
// it.
class CountingIo final : public Io {
 public:
  explicit CountingIo(Io& world) : world_(world) {}

  Received receive(std::span<Packet*> out) override { return world_.receive(out); }
  const News& news() override { return world_.news(); }
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override;
  Packet* allocate() override { return world_.allocate(); }
  void free(std::span<Packet* const> packets) override { world_.free(packets); }

  // The poll is over. It counts if it has sent `packets`, as many as it has received.
  void end_poll(size_t packets);
  // Of all polls that counted, one behind the other.
  const std::vector<uint16_t>& sent_at_a_time() const { return counts_; }

 private:
  Io& world_;
  std::vector<uint16_t> counts_;
  size_t before_ = 0;  // of counts_, when the poll in hand began
  size_t sent_ = 0;    // by the poll in hand
};

// What the driver itself costs: receives and frees.
class EmptyShard final : public Shard {
 public:
  EmptyShard() : counters_(1), held_(kMostPackets + kBurst) {}
  // As CountingIo has counted; before, it sends a burst at a time.
  void send_as(std::vector<uint16_t> counts) {
    counts_ = std::move(counts);
    next_ = 0;
  }
  PollStats poll(Io& io, Instant now) override;
  Instant next_deadline() const override { return Instant::never(); }
  Counters& counters() override { return counters_; }
  void push_event(const Event&) override {}

 private:
  static constexpr size_t kMostPackets = 64 * kBurst;  // a poll
  uint16_t next_count(size_t left);

  Counters counters_;
  std::vector<Packet*> held_;  // with room for a burst that brings nothing
  std::vector<uint16_t> counts_;
  size_t next_ = 0;  // of these
};

}  // namespace eddy::bench
