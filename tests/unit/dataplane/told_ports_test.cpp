// Who was told of a warning is known until it is over, and no longer.
#include "switch/dataplane/paths/told_ports.h"

#include <gtest/gtest.h>

namespace eddy {
namespace {

using namespace eddy::literals;

constexpr Priority kLossless(3);

struct Rig {
  ToldPorts::Ports& hear(Duration now, uint32_t source = 7, Priority priority = kLossless,
                         bool clears = false) {
    return told.hear({source, priority, clears, Instant::at(now + 24_us)}, Instant::at(now));
  }
  ToldPorts::Ports& clear(Duration now) { return hear(now, 7, kLossless, true); }
  ToldPorts told{4};
};

TEST(ToldPorts, AreRememberedWhileTheWarningLasts) {
  Rig rig;
  EXPECT_TRUE(rig.hear(0_us).none());
  rig.hear(0_us).set(2);
  rig.hear(8_us).set(3);
  for (Duration now = 16_us; now < 200_us; now += 8_us) EXPECT_EQ(rig.hear(now).to_ulong(), 0xcu);
}

TEST(ToldPorts, OfOtherSourcesAndPrioritiesAreOthers) {
  Rig rig;
  rig.hear(0_us).set(2);
  EXPECT_TRUE(rig.hear(0_us, 8).none());
  EXPECT_TRUE(rig.hear(0_us, 7, Priority(4)).none());
  EXPECT_EQ(rig.hear(1_us).to_ulong(), 4u);
}

TEST(ToldPorts, OfAClearAreStillThereWhenItComesAgain) {
  Rig rig;
  rig.hear(0_us).set(2);
  EXPECT_EQ(rig.clear(8_us).to_ulong(), 4u);
  EXPECT_EQ(rig.clear(16_us).to_ulong(), 4u);
  EXPECT_TRUE(rig.hear(18_us).none()) << "another danger";
}

TEST(ToldPorts, AreForgottenWhenNothingMoreIsHeard) {
  Rig rig;
  rig.hear(0_us).set(2);
  EXPECT_EQ(rig.hear(23'999_ns).to_ulong(), 4u);
  EXPECT_TRUE(rig.hear(23'999_ns + 24_us).none());
}

// Four ports have 16 places: a storm of sources that nobody knows takes those that ended first.
TEST(ToldPorts, GiveTheirPlaceToOthersWhenThereIsNone) {
  Rig rig;
  rig.hear(0_us).set(2);
  for (uint32_t source = 100; source < 300; ++source) EXPECT_TRUE(rig.hear(1_us, source).none());
  EXPECT_TRUE(rig.hear(2_us).none());
  size_t kept = 0;
  for (uint32_t source = 100; source < 300; ++source) rig.hear(3_us, source).set(1);
  for (uint32_t source = 300; source-- > 100;) kept += rig.hear(3_us, source).any() ? 1 : 0;
  EXPECT_GT(kept, 3u);
  EXPECT_LE(kept, 16u);
}

}  // namespace
}  // namespace eddy
