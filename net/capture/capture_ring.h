// The ring of a capture: records of one shard, on their way to one reader, who may be of another
// process and may be stuck, dead or hostile.
//
// Three pieces of memory. The writer's page and the octets are the shard's alone to write; where
// the reader stands is the reader's to write, and whatever it says, the shard writes nothing but
// its own memory: a position that cannot be is a ring without room. What finds no room is counted
// by port. A record never wraps: the rest of the ring before one that would is a pad. Positions are
// octets since the capture began; their low bits are the place. Memory order: a record is
// released with `head`, and its place given back with `tail`. Cost: a record is one copy; a look at
// the reader's line only where the room that was last seen there is used up.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "net/capture/capture_record.h"
#include "net/ids.h"

namespace eddy {

// The writer's, for the reader to see.
struct alignas(64) CaptureRingState {
  std::atomic<uint64_t> head{0};  // what is in front of it may be read
  // Packets that were to be captured and found no room, by port.
  alignas(64) std::array<std::atomic<uint64_t>, kMaxPorts> lost{};
};
// The reader's, for the writer to see. A line of its own.
struct alignas(64) CaptureRingTail {
  std::atomic<uint64_t> tail{0};  // what is in front of it has been read
};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "shared between processes");

constexpr uint32_t capture_record_size(uint32_t captured) {
  constexpr uint32_t kMask = kCaptureAlignment - 1;
  return (static_cast<uint32_t>(sizeof(CaptureRecord)) + captured + kMask) & ~kMask;
}

class CaptureWriter {
 public:
  CaptureWriter() = default;
  // `octets`: a power of two of them, twice the longest record at least.
  CaptureWriter(CaptureRingState& state, const CaptureRingTail& tail, std::span<uint8_t> octets)
      : state_(&state), tail_(&tail), data_(octets.data()), size_(octets.size()) {}

  // Room for so many octets behind the records that are written, in one piece; null: there is none.
  uint8_t* room(uint64_t size) {
    uint64_t to_end = size_ - (next_ & (size_ - 1));
    const uint64_t needed = size <= to_end ? size : to_end + size;
    if (next_ + needed > limit_ && !look(needed)) [[unlikely]]
      return nullptr;
    if (size > to_end) [[unlikely]]
      put_pad(to_end);
    return data_ + (next_ & (size_ - 1));
  }
  // Records have been written there, of so many octets together; they may not be read yet.
  void wrote(uint64_t size) { next_ += size; }
  uint64_t written() const { return next_; }
  // Records up to a written() may be read; those behind it were never written.
  void publish(uint64_t to) {
    next_ = to;
    state_->head.store(to, std::memory_order_release);
  }
  void count_lost(size_t port, uint64_t packets = 1) {
    std::atomic<uint64_t>& lost = state_->lost[port & (kMaxPorts - 1)];
    lost.store(lost.load(std::memory_order_relaxed) + packets, std::memory_order_relaxed);
  }

 private:
  // The reader may say anything: what it has not read is never more than the ring.
  [[gnu::noinline]] bool look(uint64_t needed) {
    const uint64_t head = state_->head.load(std::memory_order_relaxed);
    const uint64_t tail = tail_->tail.load(std::memory_order_acquire);
    if (head - tail > size_) return false;
    limit_ = tail + size_;
    return next_ + needed <= limit_;
  }
  void put_pad(uint64_t to_end) {
    CaptureRecord pad{.size = static_cast<uint32_t>(to_end), .direction = CaptureDirection::pad};
    // Its size and direction fit in: places are multiples of kCaptureAlignment, so that a record's
    // head may not.
    const size_t fits = to_end < sizeof pad ? to_end : sizeof pad;
    std::memcpy(data_ + (next_ & (size_ - 1)), &pad, fits);
    next_ += to_end;
  }

  CaptureRingState* state_ = nullptr;
  const CaptureRingTail* tail_ = nullptr;
  uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t next_ = 0;   // behind what is written
  uint64_t limit_ = 0;  // up to which there was room when the reader's line was last seen
};

// A packet of a ring: good until release().
struct CapturedPacket {
  CaptureRecord head;
  std::span<const uint8_t> frame;
};

class CaptureReader {
 public:
  CaptureReader() = default;
  CaptureReader(const CaptureRingState& state, CaptureRingTail& tail,
                std::span<const uint8_t> octets)
      : state_(&state), tail_(&tail), data_(octets.data()), size_(octets.size()) {}

  // The next packet; false: there is none now, or broken().
  [[nodiscard]] bool next(CapturedPacket& packet) {
    for (;;) {
      const uint64_t waiting = state_->head.load(std::memory_order_acquire) - next_;
      if (waiting == 0 || broken_) return false;
      const uint64_t place = next_ & (size_ - 1);
      uint32_t size = 0;
      std::memcpy(&size, data_ + place, sizeof size);
      broken_ = waiting > size_ || size == 0 || size % kCaptureAlignment != 0 || size > waiting ||
                size > size_ - place;
      if (broken_) return false;
      const bool pad = place + size == size_ && is_pad(place, size);
      broken_ = !pad && !read(place, size, packet);
      if (broken_) return false;
      next_ += size;
      if (!pad) return true;
    }
  }
  // What next() has returned is not needed any more.
  void release() { tail_->tail.store(next_, std::memory_order_release); }
  uint64_t lost(size_t port) const { return state_->lost[port].load(std::memory_order_relaxed); }
  // Whoever writes has written what is no record.
  bool broken() const { return broken_; }

 private:
  bool is_pad(uint64_t place, uint32_t size) const {
    if (size < sizeof(CaptureRecord)) return true;
    return data_[place + offsetof(CaptureRecord, direction)] ==
           static_cast<uint8_t>(CaptureDirection::pad);
  }
  bool read(uint64_t place, uint32_t size, CapturedPacket& packet) const {
    if (size < sizeof(CaptureRecord)) return false;
    std::memcpy(&packet.head, data_ + place, sizeof packet.head);
    packet.head.size = size;
    if (packet.head.captured > size - sizeof(CaptureRecord)) return false;
    if (packet.head.direction > CaptureDirection::trace ||
        packet.head.direction == CaptureDirection::pad)
      return false;
    packet.frame = {data_ + place + sizeof(CaptureRecord), packet.head.captured};
    return true;
  }

  const CaptureRingState* state_ = nullptr;
  CaptureRingTail* tail_ = nullptr;
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t next_ = 0;
  bool broken_ = false;
};

}  // namespace eddy
