#include "lab/world/crew.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "net/random.h"

namespace eddy::lab {
namespace {

uint64_t work_a_while(int draws) {
  RandomStream random(1, 2, 3);
  uint64_t sum = 0;
  for (int i = 0; i < draws; ++i) sum ^= random.next64();
  return sum;
}

// What one writes before a meeting, every other one reads behind it, a thousand times: whether it
// comes while the others look for it, or when they have fallen asleep.
TEST(Crew, SeesAfterAMeetingWhatAllWroteBefore) {
  constexpr size_t kThreads = 3;
  constexpr uint64_t kLateEvery = 7;
  constexpr int kLate = 50'000;  // draws: longer than others look
  std::array<uint64_t, kThreads> sums{};
  Crew crew(kThreads);
  EXPECT_EQ(crew.size(), kThreads);
  std::array<std::array<uint64_t, kThreads>, 2> said{};
  std::array<uint64_t, kThreads> wrong{};
  crew.run([&](size_t thread) {
    for (uint64_t round = 0; round < 1'000; ++round) {
      if (round % kLateEvery == thread) sums[thread] += work_a_while(kLate);
      said[round % 2][thread] = round;
      crew.meet();
      for (const uint64_t each : said[round % 2]) wrong[thread] += each != round ? 1 : 0;
    }
  });
  EXPECT_EQ(wrong, (std::array<uint64_t, kThreads>{}));
  EXPECT_NE(sums[0], 0u);
}

TEST(Crew, WorksAgainAndAgainAndEachThreadHasANumber) {
  Crew crew(4);
  std::vector<int> calls(4);
  for (int round = 0; round < 50; ++round) crew.run([&](size_t thread) { ++calls[thread]; });
  EXPECT_EQ(calls, std::vector<int>(4, 50));
}

TEST(Crew, OfOneNeedsNoOther) {
  Crew crew(1);
  int calls = 0;
  crew.run([&](size_t thread) {
    crew.meet();
    calls += thread == 0 ? 1 : 0;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(crew.helper_seconds().empty());
}

TEST(Crew, KnowsTheTimeThatHelpersUsed) {
  Crew crew(2);
  const double before = crew.helper_seconds().at(0);
  std::array<uint64_t, 2> sums{};
  crew.run([&](size_t thread) { sums[thread] = work_a_while(200'000); });
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_GT(crew.helper_seconds().at(0), before);
}

}  // namespace
}  // namespace eddy::lab
