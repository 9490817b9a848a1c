// PacketLane: packets from one shard to the shard that owns their egress ports, in rows.
//
// A row is a word that says what its packets have in common, and behind it their pointers. Packets
// of a ready row go all to one queue, are linked as its FIFO links them, and are rewritten for the
// line: who takes them appends the chain and reads no packet. Those of any other row go each by
// itself. The pointers are there beside the chain so that the taker can ask for the lines of all of
// them at once; along a chain it would wait for the other core once for each.
//
// Rows are written where the taker reads them, and never across the ring's end. They are there for
// the taker from publish() on. Each end looks at what the other has stored only where what it saw
// last does not do. Threads: one sender, one taker; packets() is exact while neither is active.
// Bounds: kBurst packets a row, kRoom words. Cost: a store a packet, a few instructions a row.
// Source: architecture, section 4; docs/adr/0030.
#pragma once

#include <rte_prefetch.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/packet.h"

namespace eddy {

// What the packets of a row have in common; all but `count` of a ready row. Without packets: the
// rest of the ring is left out.
struct LaneRow {
  uint32_t octets = 0;  // of their frames
  PortId port;
  QueueId queue;
  uint8_t count : 6 = 0;
  uint8_t ready : 1 = 0;
  uint8_t ect : 1 = 0;  // some may be ECN-capable
};
static_assert(sizeof(LaneRow) == sizeof(Packet*) && kBurst < 1 << 6);

class PacketLane {
 public:
  static constexpr size_t kRoom = 16'384;  // a power of two

  PacketLane() : words_(kRoom) {}

  // For the sender. Whether add() and add_row() may be called.
  bool has_room() {
    if (sender_.at + kMost - sender_.free_from <= kRoom) [[likely]]
      return true;
    sender_.free_from = taken_to_.load(std::memory_order_acquire);
    return sender_.at + kMost - sender_.free_from <= kRoom;
  }
  // A packet that goes by itself.
  void add(Packet* packet) {
    Sender& sender = sender_;
    if (sender.apart.count == 0 || sender.apart.count == kBurst) {
      sender.apart.count = 0;
      sender.row_at = begin_row(kBurst);
      ++sender.at;
    }
    ++sender.apart.count;
    words_[sender.row_at] = word_of(sender.apart);
    words_[sender.at++ & kMask] = packet;
    ++sender.packets;
  }
  // The packets of a row, at most kBurst, along Packet::next.
  void add_row(const LaneRow& row, Packet* first) {
    Packet** word = &words_[begin_row(row.count)];
    *word++ = word_of(row);
    for (unsigned left = row.count; left != 0; --left, first = first->next) *word++ = first;
    sender_.at += 1 + row.count;
    sender_.packets += row.count;
    sender_.apart.count = 0;
  }
  void publish() {
    if (sender_.at == sender_.published) return;
    sender_.published = sender_.at;
    sender_.apart.count = 0;
    sent_.store(sender_.packets, std::memory_order_relaxed);
    sent_to_.store(sender_.at, std::memory_order_release);
  }

  // For the taker.
  bool empty() const { return sent_to_.load(std::memory_order_relaxed) == taker_.at; }
  // take(const LaneRow&, std::span<Packet* const>) for each row that is there, in order.
  template <class Take>
  void take(Take&& take) {
    const uint64_t end = sent_to_.load(std::memory_order_acquire);
    if (taker_.at == end) return;
    ask_for(end);
    while (taker_.at != end) {
      const size_t place = taker_.at & kMask;
      const auto row = std::bit_cast<LaneRow>(words_[place]);
      if (row.count == 0) [[unlikely]] {
        taker_.at += kRoom - place;
        continue;
      }
      take(row, std::span<Packet* const>(&words_[place + 1], row.count));
      taker_.at += 1 + row.count;
      taker_.packets += row.count;
    }
    taken_.store(taker_.packets, std::memory_order_relaxed);
    taken_to_.store(taker_.at, std::memory_order_release);
  }

  uint64_t packets() const {
    return sent_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kMask = kRoom - 1;
  static constexpr uint64_t kWordsALine = 64 / sizeof(Packet*);
  // Of a row, and what is left out before it.
  static constexpr uint64_t kMost = 2 * (1 + kBurst);

  // Places count on and on.
  struct Sender {
    uint64_t at = 0;         // of the next word
    uint64_t published = 0;  // up to here
    uint64_t free_from = 0;  // what the taker had taken when last asked
    uint64_t packets = 0;
    size_t row_at = 0;  // where `apart` stands
    LaneRow apart;      // of packets that go by themselves; without any: no such row is open
  };
  struct Taker {
    uint64_t at = 0;
    uint64_t packets = 0;
  };

  // All lines of the words up to there, which the other core has written: waited for together.
  void ask_for(uint64_t end) const {
    for (uint64_t at = taker_.at & ~(kWordsALine - 1); at < end; at += kWordsALine)
      rte_prefetch0(&words_[at & kMask]);
  }
  static Packet* word_of(const LaneRow& row) { return std::bit_cast<Packet*>(row); }
  // Where a row of so many packets begins.
  size_t begin_row(size_t packets) {
    const size_t place = sender_.at & kMask;
    if (place + 1 + packets <= kRoom) [[likely]]
      return place;
    words_[place] = word_of(LaneRow{});
    sender_.at += kRoom - place;
    return 0;
  }

  Reserved<Packet*> words_;
  alignas(64) std::atomic<uint64_t> sent_to_{0};  // the sender's line for the taker
  std::atomic<uint64_t> sent_{0};
  alignas(64) std::atomic<uint64_t> taken_to_{0};  // the taker's line for the sender
  std::atomic<uint64_t> taken_{0};
  alignas(64) Sender sender_;
  alignas(64) Taker taker_;
};

}  // namespace eddy
