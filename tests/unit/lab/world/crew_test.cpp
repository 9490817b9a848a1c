#include "lab/world/crew.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "net/random.h"

namespace eddy::lab {
namespace {

// What one writes before a meeting, every other one reads behind it, a thousand times.
TEST(Crew, SeesAfterAMeetingWhatAllWroteBefore) {
  constexpr size_t kThreads = 3;
  Crew crew(kThreads);
  EXPECT_EQ(crew.size(), kThreads);
  std::array<std::array<uint64_t, kThreads>, 2> said{};
  std::array<uint64_t, kThreads> wrong{};
  crew.run([&](size_t thread) {
    for (uint64_t round = 0; round < 1'000; ++round) {
      said[round % 2][thread] = round;
      crew.meet();
      for (const uint64_t each : said[round % 2]) wrong[thread] += each != round ? 1 : 0;
    }
  });
  EXPECT_EQ(wrong, (std::array<uint64_t, kThreads>{}));
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
  crew.run([&](size_t thread) {
    RandomStream random(1, 2, 3);
    for (int i = 0; i < 200'000; ++i) sums[thread] ^= random.next64();
  });
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_GT(crew.helper_seconds().at(0), before);
}

}  // namespace
}  // namespace eddy::lab
