// The ring of a capture: what is written is read, in order, over its end; what has no room, what is
// taken back, and what a hostile reader or writer says.
#include "net/capture/capture_ring.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace eddy {
namespace {

struct Rig {
  explicit Rig(size_t octets = 4096)
      : data(octets), writer(state, tail, data), reader(state, tail, data) {}

  // A record whose frame is `octets` times `fill`; false: no room.
  bool put(uint8_t fill, uint16_t octets) {
    const uint32_t size = capture_record_size(octets);
    uint8_t* const place = writer.room(size);
    if (place == nullptr) return false;
    const CaptureRecord record{.size = size, .wire_len = fill, .captured = octets};
    std::memcpy(place, &record, sizeof record);
    std::memset(place + sizeof record, fill, octets);
    writer.wrote(size);
    return true;
  }
  bool send(uint8_t fill, uint16_t octets) {
    const bool sent = put(fill, octets);
    writer.publish(writer.written());
    return sent;
  }

  CaptureRingState state;
  CaptureRingTail tail;
  std::vector<uint8_t> data;
  CaptureWriter writer;
  CaptureReader reader;
};

TEST(CaptureRing, ReadsWhatWasWrittenInOrderOverItsEnd) {
  Rig rig;
  size_t octets = 0;
  for (unsigned i = 0; i < 1'000; ++i) {
    const auto fill = static_cast<uint8_t>(i);
    const auto length = static_cast<uint16_t>(i * 7 % 300);
    ASSERT_TRUE(rig.send(fill, length));
    CapturedPacket packet;
    ASSERT_TRUE(rig.reader.next(packet));
    EXPECT_EQ(packet.head.wire_len, fill);
    ASSERT_EQ(packet.frame.size(), length);
    for (const uint8_t octet : packet.frame) ASSERT_EQ(octet, fill);
    EXPECT_FALSE(rig.reader.next(packet));
    rig.reader.release();
    octets += length;
  }
  EXPECT_GT(octets, 20 * rig.data.size());
  EXPECT_FALSE(rig.reader.broken());
}

TEST(CaptureRing, WhatIsNotReadIsNotOverwritten) {
  Rig rig;
  uint8_t sent = 0;
  while (rig.send(sent, 100)) ++sent;
  EXPECT_EQ(sent, 4096 / capture_record_size(100));
  EXPECT_FALSE(rig.send(99, 100));
  CapturedPacket packet;
  for (uint8_t i = 0; i < sent; ++i) {
    ASSERT_TRUE(rig.reader.next(packet));
    EXPECT_EQ(packet.head.wire_len, i);
  }
  EXPECT_FALSE(rig.send(99, 100));  // read, but not given back
  rig.reader.release();
  EXPECT_TRUE(rig.send(99, 100));
}

TEST(CaptureRing, WhatIsTakenBackIsNeverRead) {
  Rig rig;
  ASSERT_TRUE(rig.put(1, 64));
  const uint64_t first = rig.writer.written();
  ASSERT_TRUE(rig.put(2, 64));
  rig.writer.publish(first);
  ASSERT_TRUE(rig.send(3, 64));
  CapturedPacket packet;
  ASSERT_TRUE(rig.reader.next(packet));
  EXPECT_EQ(packet.head.wire_len, 1u);
  ASSERT_TRUE(rig.reader.next(packet));
  EXPECT_EQ(packet.head.wire_len, 3u);
  EXPECT_FALSE(rig.reader.next(packet));
}

TEST(CaptureRing, AReaderThatSaysNonsenseGetsNothingAndHurtsNobody) {
  for (const uint64_t said : {uint64_t{1} << 40, ~uint64_t{0}, uint64_t{8'192}}) {
    Rig rig;
    while (rig.send(1, 100)) {
    }
    const std::vector<uint8_t> before = rig.data;
    rig.tail.tail = said;
    EXPECT_FALSE(rig.send(2, 100)) << said;
    EXPECT_EQ(rig.data, before);
  }
}

TEST(CaptureRing, AWriterThatWritesNonsenseIsFoundOut) {
  const auto broken_by = [](const CaptureRecord& record) {
    Rig rig;
    rig.send(1, 64);
    std::memcpy(rig.data.data(), &record, sizeof record);
    CapturedPacket packet;
    EXPECT_FALSE(rig.reader.next(packet));
    return rig.reader.broken();
  };
  EXPECT_TRUE(broken_by({.size = 0}));
  EXPECT_TRUE(broken_by({.size = 97, .captured = 64}));
  EXPECT_TRUE(broken_by({.size = 104, .captured = 64}));  // more than was published
  EXPECT_TRUE(broken_by({.size = 96, .captured = 65}));
  EXPECT_TRUE(broken_by({.size = 96, .direction = CaptureDirection::pad}));  // not at the end
  EXPECT_TRUE(broken_by({.size = 96, .direction = static_cast<CaptureDirection>(9)}));
}

TEST(CaptureRing, CountsWhatIsLostByPort) {
  Rig rig;
  rig.writer.count_lost(3, 2);
  rig.writer.count_lost(3);
  EXPECT_EQ(rig.reader.lost(3), 3u);
  EXPECT_EQ(rig.reader.lost(4), 0u);
}

TEST(CaptureRing, TwoThreads) {
  Rig rig(1 << 16);
  constexpr uint32_t kPackets = 100'000;
  std::thread writer([&] {
    for (uint32_t i = 0; i < kPackets;) {
      const auto length = static_cast<uint16_t>(i % 200);
      const uint32_t size = capture_record_size(length);
      uint8_t* const place = rig.writer.room(size);
      if (place == nullptr) {
        std::this_thread::yield();
        continue;
      }
      const CaptureRecord record{.size = size, .wire_len = i, .captured = length};
      std::memcpy(place, &record, sizeof record);
      std::memset(place + sizeof record, static_cast<int>(i & 0xff), length);
      rig.writer.wrote(size);
      rig.writer.publish(rig.writer.written());
      ++i;
    }
  });
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < kPackets;) {
    CapturedPacket packet;
    if (!rig.reader.next(packet)) {
      if (rig.reader.broken()) break;
      std::this_thread::yield();
      continue;
    }
    bool right = packet.head.wire_len == i && packet.frame.size() == i % 200;
    for (const uint8_t octet : packet.frame) right &= octet == (i & 0xff);
    wrong += right ? 0 : 1;
    rig.reader.release();
    ++i;
  }
  writer.join();
  EXPECT_FALSE(rig.reader.broken());
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace eddy
