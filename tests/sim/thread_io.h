// ThreadIo: the world of one shard in a test with a thread a shard: a source of frames on each
// port, lines that take all, and packets that return to the shard whose pool they are from.
//
// A source obeys the PFC it is sent, in the same poll. A link can be taken down; its source is then
// silent and has forgotten its pauses when it comes back. Threads: each ThreadIo is one thread's;
// they share Flight and hand packets over by PacketRings.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "net/assert.h"
#include "net/pause_frame.h"
#include "net/protocols.h"
#include "switch/dataplane/state/io.h"
#include "tests/support/frames.h"
#include "tests/support/packet_pool.h"

namespace eddy::test {

// Single producer, single consumer; never full, since it has room for every packet there is.
class PacketRing {
 public:
  explicit PacketRing(size_t packets) : slots_(packets) {}
  void push(Packet* packet) {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    ASSERT(tail - head_.load(std::memory_order_acquire) < slots_.size());
    slots_[tail % slots_.size()] = packet;
    tail_.store(tail + 1, std::memory_order_release);
  }
  Packet* pop() {
    const size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return nullptr;
    Packet* packet = slots_[head % slots_.size()];
    head_.store(head + 1, std::memory_order_release);
    return packet;
  }

 private:
  std::vector<Packet*> slots_;
  std::atomic<size_t> head_{0};
  std::atomic<size_t> tail_{0};
};

// What all threads know of the packets.
struct Flight {
  std::atomic<int64_t> to_send{0};    // frames that the sources still owe
  std::atomic<int64_t> in_flight{0};  // packets that are in no pool
  std::atomic<bool> sources_open{true};
  bool over() const { return to_send.load() == 0 && in_flight.load() == 0; }
};

struct SourceFrame {
  Frame frame;
  size_t wire_len = 0;
  uint8_t priorities = 0;  // mask: not sent while one of them is paused
};

class ThreadIo final : public Io {
 public:
  static constexpr size_t kPackets = 4096;
  static constexpr size_t kOwn = 256;  // of them, which no source takes: the switch's own frames
  static constexpr uint16_t kFramesAPoll = 8;  // of each source

  ThreadIo(Flight& flight, size_t self) : flight_(flight), self_(self), pool_(kPackets) {}
  // Where packets of `owner` that end here go back to.
  void connect(size_t owner, PacketRing& out) { returns_[owner] = &out; }
  PacketRing& returned() { return returned_; }

  // Sends `frames` in turn, `count` in all.
  void add_source(PortId port, std::vector<SourceFrame> frames, int64_t count) {
    sources_.push_back({.port = port, .frames = std::move(frames), .left = count});
    changes_.push_back({port, true});
    flight_.to_send += count;
  }
  void begin_poll(Instant now) {
    now_ = now;
    ++polls_;
    visited_ = 0;
    while (Packet* packet = returned_.pop()) pool_.put(packet);
  }
  void set_link(PortId port, bool up) {
    Source& source = source_of(port);
    if (source.up == up) return;
    source.up = up;
    source.paused = 0;
    source.silent_until = polls_ + 2;  // the peer hears of pauses that stand before it sends
    changes_.push_back({port, up});
  }
  bool is_up(PortId port) { return source_of(port).up; }
  size_t packets_at_home() const { return pool_.available(); }

  Received receive(std::span<Packet*> out) override {
    while (visited_ < sources_.size()) {
      Source& source = sources_[visited_++];
      Received received{.port = source.port};
      while (received.count < kFramesAPoll && next_of(source, out[received.count]))
        ++received.count;
      if (received.count != 0) return received;
    }
    return {};
  }
  const News& news() override {
    completed_.clear();
    for (Source& source : sources_) {
      if (!source.line_busy || source.line_free > now_) continue;
      source.line_busy = false;
      completed_.push_back(source.port);
    }
    changes_now_ = std::exchange(changes_, {});
    news_ = {.completions = completed_, .link_changes = changes_now_};
    return news_;
  }
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override {
    Source& source = source_of(port);
    for (Packet* packet : packets) {
      PauseFrame pause;
      if (decode(ConstOctets(packet->data(), packet->data_len()), pause) == CodecVerdict::ok)
        obey(source, pause);
    }
    source.line_busy = true;
    source.line_free = done;
    free(packets);
    return static_cast<uint16_t>(packets.size());
  }
  Packet* allocate() override {
    Packet* packet = pool_.get();
    if (packet != nullptr) leave_home(packet);
    return packet;
  }
  void free(std::span<Packet* const> packets) override {
    for (Packet* packet : packets) {
      const size_t owner = packet->mbuf()->port;
      if (owner == self_) {
        pool_.put(packet);
      } else {
        returns_[owner]->push(packet);
      }
    }
    flight_.in_flight -= static_cast<int64_t>(packets.size());
  }

 private:
  struct Source {
    PortId port;
    std::vector<SourceFrame> frames;
    int64_t left = 0;
    size_t next = 0;
    uint8_t paused = 0;  // priorities
    bool up = true;
    uint64_t silent_until = 0;  // poll
    bool line_busy = false;
    Instant line_free;
  };

  Source& source_of(PortId port) {
    const auto found = std::find_if(sources_.begin(), sources_.end(),
                                    [port](const Source& source) { return source.port == port; });
    ASSERT(found != sources_.end());
    return *found;
  }
  bool next_of(Source& source, Packet*& out) {
    if (source.left == 0 || !source.up || polls_ < source.silent_until) return false;
    const SourceFrame& what = source.frames[source.next % source.frames.size()];
    if ((what.priorities & source.paused) != 0) return false;
    if (!flight_.sources_open || pool_.available() <= kOwn) return false;
    out = pool_.get(what.frame, what.wire_len);
    leave_home(out);
    ++source.next;
    --source.left;
    --flight_.to_send;
    return true;
  }
  void leave_home(Packet* packet) {
    packet->mbuf()->port = static_cast<uint16_t>(self_);
    ++flight_.in_flight;
  }
  static void obey(Source& source, const PauseFrame& pause) {
    for (size_t i = 0; i < kPriorities; ++i) {
      if ((pause.enabled >> i & 1) == 0) continue;
      const unsigned bit = 1u << i;
      source.paused =
          static_cast<uint8_t>(pause.quanta[i] != 0 ? source.paused | bit : source.paused & ~bit);
    }
  }

  Flight& flight_;
  const size_t self_;
  PacketPool pool_;
  PacketRing returned_{kPackets};
  std::array<PacketRing*, kMaxShards> returns_{};
  std::vector<Source> sources_;
  Instant now_;
  uint64_t polls_ = 0;
  size_t visited_ = 0;
  std::vector<PortId> completed_;
  std::vector<LinkChange> changes_;
  std::vector<LinkChange> changes_now_;
};

}  // namespace eddy::test
