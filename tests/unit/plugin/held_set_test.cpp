#include "plugin/held_set.h"

#include <gtest/gtest.h>

#include <vector>

#include "net/random.h"
#include "tests/support/paths.h"

namespace eddy::plugin {
namespace {

// Against a list, with a table that is full now and then.
TEST(HeldSet, KnowsWhatIsHeldAndInWhichOrderItWasTaken) {
  constexpr size_t kMost = 40;
  std::vector<Packet> packets(200, lb::test::make_packet(0));
  std::vector<Packet*> model;
  HeldSet held(kMost);
  RandomStream random(7, 1, 1);
  for (int step = 0; step < 20'000; ++step) {
    Packet* packet = &packets[random.below(200)];
    const auto found = std::ranges::find(model, packet);
    ASSERT_EQ(held.contains(packet), found != model.end()) << step;
    if (found != model.end() || random.below(3) == 0) {
      EXPECT_EQ(held.remove(packet), found != model.end());
      std::erase(model, packet);
    } else {
      EXPECT_EQ(held.add(packet), model.size() < kMost);
      if (model.size() < kMost) model.push_back(packet);
    }
    ASSERT_EQ(held.size(), model.size());
    if (random.below(1'000) != 0) continue;
    std::vector<Packet*> all;
    held.take_all([&](Packet& each) { all.push_back(&each); });
    EXPECT_EQ(all, model);
    EXPECT_EQ(held.size(), 0u);
    model.clear();
  }
}

}  // namespace
}  // namespace eddy::plugin
