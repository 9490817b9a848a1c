#include "switch/control/report/event_log.h"

#include <gtest/gtest.h>

#include <vector>

namespace eddy::control {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

struct Fixture : ::testing::Test {
  std::vector<LoggedEvent> said;
  EventLog log{[this](const LoggedEvent& e) { said.push_back(e); }};

  void add(EventKind kind, int64_t now_ns, uint64_t value = 0) {
    log.add({Instant{}, value, PortId(0), Priority(3), kind}, now_ns);
  }
};
using EventLogTest = Fixture;

TEST_F(EventLogTest, BurstPassesThenTheBucketHoldsBack) {
  for (int i = 0; i < 100; ++i) add(EventKind::pfc_sent, 0);
  EXPECT_EQ(said.size(), static_cast<size_t>(EventLog::kBurst));
  EXPECT_EQ(log.suppressed_total(), 100u - EventLog::kBurst);
}

TEST_F(EventLogTest, TheNextThatPassesSaysHowManyWereHeldBack) {
  for (int i = 0; i < 60; ++i) add(EventKind::pfc_sent, 0);
  add(EventKind::pfc_sent, kSecond / EventLog::kPerSecond);
  ASSERT_EQ(said.size(), static_cast<size_t>(EventLog::kBurst) + 1);
  EXPECT_EQ(said.back().suppressed, 60u - EventLog::kBurst);
  add(EventKind::pfc_sent, kSecond);
  EXPECT_EQ(said.back().suppressed, 0u);
}

TEST_F(EventLogTest, AStormOfOneKindDoesNotHideAnother) {
  for (int i = 0; i < 1'000; ++i) add(EventKind::pfc_sent, 0);
  add(EventKind::link_down, 0);
  EXPECT_EQ(said.back().event.kind, EventKind::link_down);
}

TEST_F(EventLogTest, FlushSaysTheLastOfAKindThatWentQuiet) {
  for (uint64_t i = 0; i < 60; ++i) add(EventKind::pfc_sent, 0, i);
  log.flush(0);
  EXPECT_EQ(said.size(), static_cast<size_t>(EventLog::kBurst)) << "no token yet";
  log.flush(kSecond);
  ASSERT_EQ(said.size(), static_cast<size_t>(EventLog::kBurst) + 1);
  EXPECT_EQ(said.back().event.value, 59u);
  EXPECT_EQ(said.back().suppressed, 60u - EventLog::kBurst - 1);
  log.flush(2 * kSecond);
  EXPECT_EQ(said.size(), static_cast<size_t>(EventLog::kBurst) + 1);
}

TEST_F(EventLogTest, KeepsTheLastThousandInOrder) {
  for (int i = 0; i < 1'200; ++i) add(EventKind::link_up, i * kSecond);
  ASSERT_EQ(log.kept().size(), kEventsKept);
  EXPECT_EQ(log.kept().front().number, 201u);
  EXPECT_EQ(log.kept().back().number, 1'200u);
}

TEST(PathEvents, SayLeafPathAndWhy) {
  const auto text = [](EventKind kind, const PathEvent& path) {
    return path_text_of({.value = path.packed(), .kind = kind});
  };
  EXPECT_EQ(text(EventKind::path_failed, {LeafId(300), PathId(0x01ff), 1}),
            "leaf 300, path 1, silent");
  EXPECT_EQ(text(EventKind::path_returned, {LeafId(2), PathId(0x0302), 2}),
            "leaf 2, path 3.2, forced");
  EXPECT_EQ(text(EventKind::path_warned, {LeafId(2), PathId(0x0302), 2}), "");
}

TEST(TokenBucket, FillsAtItsRateUpToItsBurst) {
  TokenBucket bucket(10, 2);
  EXPECT_TRUE(bucket.take(0));
  EXPECT_TRUE(bucket.take(0));
  EXPECT_FALSE(bucket.take(0));
  EXPECT_FALSE(bucket.take(99'999'999));
  EXPECT_TRUE(bucket.take(100'000'000));
  EXPECT_FALSE(bucket.take(100'000'000));
  EXPECT_TRUE(bucket.take(1'000'000 * kSecond));  // long idle: no overflow, no more than the burst
  EXPECT_TRUE(bucket.take(1'000'000 * kSecond));
  EXPECT_FALSE(bucket.take(1'000'000 * kSecond));
}

TEST(TokenBucket, TimeThatGoesBackGivesNothing) {
  TokenBucket bucket(10, 1);
  EXPECT_TRUE(bucket.take(kSecond));
  EXPECT_FALSE(bucket.take(0));
  EXPECT_FALSE(bucket.take(kSecond));
}

}  // namespace
}  // namespace eddy::control
