// ManualIo: the world of one shard, turned by hand: what arrives, when lines become free, how much
// the device takes, what the reserved pool has, and a look at everything that is asked of it.
//
// Owner: one test. Frames that were transmitted are kept with their times and given back at once.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "net/assert.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/state/io.h"
#include "tests/support/frames.h"
#include "tests/support/packet_pool.h"

namespace eddy::test {

struct Sent {
  PortId port;
  Instant at;  // when its last bit has left
  Frame frame;
  uint32_t wire_len = 0;
};

class ManualIo final : public Io {
 public:
  explicit ManualIo(PacketPool& pool) : pool_(pool) {}

  void arrive(PortId port, const Frame& frame, size_t wire_len = 0) {
    Packet* packet = pool_.get(frame, wire_len);
    ASSERT(packet != nullptr);
    arrived.emplace_back(port, packet);
  }

  Received receive(std::span<Packet*> out) override {
    ++calls;
    if (on_receive) on_receive();
    Received received;
    while (!arrived.empty() && received.count < out.size()) {
      if (received.count != 0 && arrived.front().first != received.port) break;
      received.port = arrived.front().first;
      out[received.count++] = arrived.front().second;
      arrived.pop_front();
    }
    received.backlog = backlog;
    received.backlog_packets = backlog_packets;
    received.sums_good = sums_good;
    return received;
  }
  const News& news() override {
    ++calls;
    completed_now_ = std::exchange(completed, {});
    links_now_ = std::exchange(links, {});
    news_ = {.completions = completed_now_,
             .link_changes = links_now_,
             .packets = !arrived.empty() || on_receive,
             .lines_by_clock = by_clock,
             .ports_apart = ports_apart};
    return news_;
  }
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override {
    ++calls;
    ++transmits;
    const auto taken = static_cast<uint16_t>(std::min<size_t>(packets.size(), transmit_limit));
    for (Packet* packet : packets.first(taken)) {
      if (keep_sent)
        sent.push_back({port, packet->sent_at,
                        Frame(packet->data(), packet->data() + packet->data_len()),
                        packet->wire_len});
      pool_.put(packet);
    }
    if (taken != 0 && done != Instant::never()) line_free.emplace_back(done, port);
    return taken;
  }
  void await(PortId port, Instant at) override { line_free.emplace_back(at, port); }
  Packet* allocate() override {
    ++calls;
    return control_pool_empty ? nullptr : pool_.get();
  }
  void free(std::span<Packet* const> packets) override {
    ++calls;
    for (Packet* packet : packets) pool_.put(packet);
  }

  // Reports the lines that have become free by `now`.
  void complete(Instant now) {
    std::erase_if(line_free, [&](const auto& line) {
      if (line.first > now) return false;
      completed.push_back(line.second);
      return true;
    });
  }

  std::deque<std::pair<PortId, Packet*>> arrived;
  std::vector<PortId> completed;
  std::vector<LinkChange> links;
  std::vector<std::pair<Instant, PortId>> line_free;  // done of every transmit not yet completed
  std::vector<Sent> sent;
  std::function<void()> on_receive;  // in the middle of a poll
  size_t transmit_limit = SIZE_MAX;
  Bytes backlog{0};
  uint32_t backlog_packets = 0;
  bool sums_good = false;
  bool control_pool_empty = false;
  bool keep_sent = true;
  bool by_clock = false;  // lines are reported only where the shard asks for it
  bool ports_apart = false;
  uint64_t calls = 0;
  uint64_t transmits = 0;

 private:
  PacketPool& pool_;
  std::vector<PortId> completed_now_;
  std::vector<LinkChange> links_now_;
};

}  // namespace eddy::test
