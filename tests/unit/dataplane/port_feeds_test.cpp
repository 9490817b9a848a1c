// Which port fed which, and how long ago, to a microsecond.
#include "switch/dataplane/state/port_feeds.h"

#include <gtest/gtest.h>

namespace eddy {
namespace {

using namespace eddy::literals;

constexpr Duration kUnit = Duration::picoseconds(int64_t{1} << 20);

TEST(PortFeeds, KnowsEachPairAndItsDirection) {
  PortFeeds feeds(3);
  const Instant noted = Instant::at(kUnit * 1'000);
  feeds.note(PortId(2), PortId(1), noted);
  EXPECT_EQ(feeds.since(PortId(2), PortId(1), noted), 0_ps);
  EXPECT_EQ(feeds.since(PortId(2), PortId(1), noted + kUnit * 30), kUnit * 30);
  EXPECT_EQ(feeds.since(PortId(1), PortId(2), noted), Duration::max()) << "the other way";
  EXPECT_EQ(feeds.since(PortId(2), PortId(0), noted), Duration::max());
  EXPECT_EQ(feeds.since(PortId(0), PortId(1), noted), Duration::max());
  feeds.note(PortId(2), PortId(1), noted + kUnit * 30);
  EXPECT_EQ(feeds.since(PortId(2), PortId(1), noted + kUnit * 31), kUnit);
}

// Stamp 0 stands for never; the first unit of time and the one behind each wrap are taken for the
// next.
TEST(PortFeeds, ANoteAtTheVeryBeginningOrAtTheWrapIsNoNever) {
  PortFeeds feeds(2);
  feeds.note(PortId(0), PortId(1), Instant{});
  EXPECT_EQ(feeds.since(PortId(0), PortId(1), Instant{}), 0_ps);
  const Instant wrap = Instant::at(kUnit * (int64_t{1} << 32));
  feeds.note(PortId(0), PortId(1), wrap);
  EXPECT_EQ(feeds.since(PortId(0), PortId(1), wrap + kUnit * 5), kUnit * 4);
  feeds.note(PortId(0), PortId(1), wrap - kUnit * 3);
  EXPECT_EQ(feeds.since(PortId(0), PortId(1), wrap + kUnit * 5), kUnit * 8);
}

}  // namespace
}  // namespace eddy
