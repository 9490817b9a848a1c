#include "lb/packet_fifo.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "net/random.h"
#include "tests/support/packet_pool.h"

namespace eddy {
namespace {

constexpr size_t kPackets = 12;

// The chain is the model's, and every packet names the one two behind.
void expect_same(const PacketFifo& fifo, const std::deque<Packet*>& model) {
  ASSERT_EQ(fifo.count(), model.size());
  ASSERT_EQ(fifo.empty(), model.empty());
  Packet* at = fifo.head();
  for (size_t i = 0; i < model.size(); ++i, at = at->next) {
    ASSERT_EQ(at, model[i]) << "place " << i;
    ASSERT_EQ(at->ahead, i + 2 < model.size() ? model[i + 2] : nullptr) << "place " << i;
  }
  ASSERT_EQ(at, nullptr);
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

}  // namespace
}  // namespace eddy
