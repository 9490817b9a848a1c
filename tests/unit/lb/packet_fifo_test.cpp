#include "lb/packet_fifo.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "lb/either.h"
#include "net/random.h"
#include "net/units.h"
#include "tests/support/packet_pool.h"

namespace eddy {
namespace {

constexpr size_t kPackets = 12;

// The chain is the model's, and every packet names the one two behind; the last two themselves.
void expect_same(const PacketFifo& fifo, const std::deque<Packet*>& model) {
  ASSERT_EQ(fifo.count(), model.size());
  ASSERT_EQ(fifo.empty(), model.empty());
  Packet* at = fifo.head();
  for (size_t i = 0; i < model.size(); ++i, at = at->next) {
    ASSERT_EQ(at, model[i]) << "place " << i;
    ASSERT_EQ(at->ahead, i + 2 < model.size() ? model[i + 2] : at) << "place " << i;
  }
  ASSERT_EQ(at, nullptr);
}

// Rows, appended at once, and packets taken off the front along the chain.
TEST(PacketFifo, TakesAndGivesPacketsInARow) {
  test::PacketPool pool(kPackets);
  std::vector<Packet*> outside;
  for (size_t i = 0; i < kPackets; ++i) outside.push_back(pool.get());
  RandomStream random{4, 5, 6};
  PacketFifo fifo;
  std::deque<Packet*> model;
  for (int step = 0; step < 20'000; ++step) {
    if (random.next() % 2 == 0) {
      const size_t row = 1 + random.next() % 4;
      if (row > outside.size()) continue;
      Packet stub{};
      PacketFifo::Row packets;
      packets.begin(fifo, stub);
      for (size_t i = 0; i < row; ++i) {
        outside.back()->next = outside.back();  // whatever was there
        outside.back()->ahead = outside.back();
        packets.push(outside.back());
        model.push_back(outside.back());
        outside.pop_back();
      }
      fifo.append(packets, stub);
    } else {
      const size_t row = std::min<size_t>(model.size(), random.next() % 4);
      Packet* packet = fifo.head();
      for (size_t i = 0; i < row; ++i) {
        outside.insert(outside.begin(), model.front());
        model.pop_front();
        packet = packet->next;
      }
      fifo.popped(packet, static_cast<uint32_t>(row));
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(fifo, model)) << "step " << step;
  }
}

// Rows that somebody else has linked, apart from the FIFO.
TEST(PacketFifo, TakesWholeChains) {
  test::PacketPool pool(kPackets);
  std::vector<Packet*> outside;
  for (size_t i = 0; i < kPackets; ++i) outside.push_back(pool.get());
  RandomStream random{7, 8, 9};
  PacketFifo fifo;
  std::deque<Packet*> model;
  for (int step = 0; step < 20'000; ++step) {
    const size_t count = 1 + random.next() % 4;
    if (random.next() % 2 == 0 && count <= outside.size()) {
      Packet stub{};
      PacketFifo::Row row;
      row.begin(PacketFifo{}, stub);
      for (size_t i = 0; i < count; ++i) row.push(outside[i]);
      row.finish();
      ASSERT_EQ(stub.next, outside[0]);
      fifo.append({outside.data(), count});
      model.insert(model.end(), outside.begin(), outside.begin() + static_cast<ptrdiff_t>(count));
      outside.erase(outside.begin(), outside.begin() + static_cast<ptrdiff_t>(count));
    } else if (!model.empty()) {
      ASSERT_EQ(fifo.pop(), model.front());
      outside.push_back(model.front());
      model.pop_front();
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(fifo, model)) << "step " << step;
  }
}

// Against a deque, with packets that leave being used by somebody else at once.
TEST(PacketFifo, HoldsTheOrderAndLooksTwoAhead) {
  test::PacketPool pool(kPackets);
  std::vector<Packet*> outside;
  for (size_t i = 0; i < kPackets; ++i) outside.push_back(pool.get());
  const Instant mark = Instant::at(Duration::microseconds(77));
  for (Packet* packet : outside) packet->sent_at = mark;
  RandomStream random{1, 2, 3};
  PacketFifo fifo;
  std::deque<Packet*> model;
  for (int step = 0; step < 20'000; ++step) {
    const uint32_t draw = random.next() % 8;
    if (draw < 4 && !model.empty()) {
      Packet* packet = fifo.pop();
      ASSERT_EQ(packet, model.front());
      model.pop_front();
      packet->sent_at = mark;
      outside.insert(outside.begin(), packet);
    } else if (!outside.empty()) {
      Packet* packet = outside.back();
      outside.pop_back();
      if (draw == 7) {
        fifo.push_front(packet);
        model.push_front(packet);
      } else {
        fifo.push(packet);
        model.push_back(packet);
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(fifo, model)) << "step " << step;
    for (const Packet* packet : outside) ASSERT_EQ(packet->sent_at, mark) << "step " << step;
  }
}

// What rows are begun and appended by.
TEST(Either, IsTheFirstOrTheOtherWhateverTheyAre) {
  using lb::either;
  int here = 0, there = 0;
  EXPECT_EQ(either(true, &here, &there), &here);
  EXPECT_EQ(either(false, &here, &there), &there);
  EXPECT_EQ(either(false, &here, nullptr), nullptr);
  EXPECT_EQ(either(true, uint8_t{0xa5}, uint8_t{0x5a}), 0xa5);
  EXPECT_EQ(either(false, uint8_t{0xa5}, uint8_t{0x5a}), 0x5a);
  EXPECT_EQ(either(true, uint16_t{0xffff}, 0), 0xffff);
  EXPECT_EQ(either(false, uint32_t{0xffffffff}, 1u), 1u);
  EXPECT_EQ(either(true, Instant::never(), Instant::long_past()), Instant::never());
  EXPECT_EQ(either(false, Instant::never(), Instant::long_past()), Instant::long_past());
}

}  // namespace
}  // namespace eddy
