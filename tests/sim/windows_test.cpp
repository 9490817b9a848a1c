// How a world divides its nodes and its time changes nothing that happens: random labs with faults,
// reconfigurations and RLB, under every scheme and both poll models, have the digest that they have
// under a watcher, instant by instant, for every grain, length of a window and number of threads,
// also where partitions go from one thread to another. EDDY_SEEDS=N runs N labs (scripts/soak
// windows).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "lb/registry.h"
#include "net/quantity.h"
#include "net/random.h"
#include "tests/sim/random_lab.h"

namespace eddy::test {
namespace {

using namespace eddy::literals;
using Grain = lab::DivisionOptions::Grain;

constexpr lab::DivisionOptions kDivisions[] = {
    {.grain = Grain::one},
    {.grain = Grain::rack},
    {.grain = Grain::node},
    {.grain = Grain::node, .longest = 70_ns},
    {.grain = Grain::rack, .together = 2, .longest = 333_ns},
    {.grain = Grain::node, .shortest = 1_us},
};

// Threads meet once a window, which is slow on a busy machine: they are for some labs, and not for
// the shortest windows.
constexpr uint64_t kThreaded = 3;  // every so many seeds

lab::DivisionOptions drawn_division(uint64_t seed) {
  RandomStream random(seed, 0, 0x77696e64);
  const auto below = [&random](uint64_t bound) { return random.next64() % bound; };
  lab::DivisionOptions division;
  division.grain = below(2) == 0 ? Grain::rack : Grain::node;
  division.together = 1 + below(3);
  const bool threaded = seed % kThreaded == 0;
  const int64_t shortest = threaded ? 300 : 5;
  division.longest = Duration::nanoseconds(shortest + static_cast<int64_t>(below(3'000)));
  if (below(3) == 0) division.shortest = Duration::nanoseconds(static_cast<int64_t>(below(2'000)));
  if (threaded) division.threads = 2 + below(3);
  if (threaded && below(3) != 0) division.windows_a_look = 1 + below(8);
  return division;
}

std::string to_text(const lab::DivisionOptions& division) {
  return "grain " + std::to_string(static_cast<int>(division.grain)) + ", together " +
         std::to_string(division.together) + ", windows of at most " + to_string(division.longest) +
         ", lines of at least " + to_string(division.shortest) + ", threads " +
         std::to_string(division.threads) + ", a look after " +
         std::to_string(division.windows_a_look);
}

TEST(Windows, ChangeNoDigest) {
  const char* seeds = std::getenv("EDDY_SEEDS");
  const uint64_t usual = 8 * lb::schemes().size() + 8;
  const uint64_t last = seeds == nullptr ? usual : std::strtoull(seeds, nullptr, 10);
  std::set<config::FaultType> faults;
  uint64_t with_rlb = 0, windows = 0, labs = 0, threaded = 0, moves = 0;
  for (uint64_t seed = 1; seed <= last; ++seed) {
    const Lab lab = varied_lab(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + lab.experiment.load_balancer.scheme);
    const LabResult one =
        run_lab(lab, {.division = {.grain = Grain::one}, .watched = false, .every_turn = true});
    ASSERT_THAT(one.problems, testing::IsEmpty());
    EXPECT_EQ(one.windows, 0u);
    std::vector<lab::DivisionOptions> divisions(std::begin(kDivisions), std::end(kDivisions));
    divisions.push_back(drawn_division(seed));
    for (const lab::DivisionOptions& division : divisions) {
      const LabResult divided = run_lab(lab, {.division = division, .watched = false});
      EXPECT_EQ(digest_line(seed, divided), digest_line(seed, one)) << to_text(division);
      EXPECT_EQ(divided.events, one.events) << to_text(division);
      threaded += divided.threads > 1 && divided.windows != 0 ? 1 : 0;
      moves += divided.moves;
      windows += divided.windows;
      labs += divided.windows != 0 ? 1 : 0;
    }
    faults.insert(one.faults.begin(), one.faults.end());
    with_rlb += lab.experiment.switches.rlb.enabled() ? 1 : 0;
  }
  std::printf("%llu windows in %llu runs, %llu of them on several threads, %llu moves\n",
              static_cast<unsigned long long>(windows), static_cast<unsigned long long>(labs),
              static_cast<unsigned long long>(threaded), static_cast<unsigned long long>(moves));
  if (last < usual) return;
  EXPECT_GT(threaded, last / kThreaded / 3);
  EXPECT_GT(moves, last);
  EXPECT_GT(labs, last * 2);
  EXPECT_GT(windows, last * 1'000);
  EXPECT_GT(with_rlb, last / 4);
  EXPECT_GT(faults.size(), 8u);
}

// Flows that wait for flows of their host, and for an item that ends on other partitions.
TEST(Windows, ChangeNothingOfCollectives) {
  uint64_t windows = 0, moves = 0;
  size_t ended = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const Lab lab = with_collectives(varied_lab(seed));
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + lab.experiment.load_balancer.scheme);
    const LabResult one = run_lab(lab, {.division = {.grain = Grain::one}, .watched = false});
    std::vector<lab::DivisionOptions> divisions(std::begin(kDivisions), std::end(kDivisions));
    divisions.push_back(drawn_division(seed));
    for (const lab::DivisionOptions& division : divisions) {
      const LabResult divided = run_lab(lab, {.division = division, .watched = false});
      EXPECT_EQ(digest_line(seed, divided), digest_line(seed, one)) << to_text(division);
      EXPECT_EQ(divided.events, one.events) << to_text(division);
      windows += divided.windows;
      moves += divided.moves;
    }
    ended += one.flows_ended == one.flows ? 1 : 0;
  }
  EXPECT_GT(windows, 1'000u);
  EXPECT_GT(moves, 24u);
  EXPECT_GT(ended, 12u);
}

// What nobody sees is what a checker sees: of labs without fault sites.
TEST(Windows, GiveTheDigestOfAWatchedRun) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const Lab lab = make_random_lab(seed);
    const LabResult watched = run_lab(lab, {.division = {.grain = Grain::node}});
    const LabResult divided = run_lab(lab, {.division = {.grain = Grain::node}, .watched = false});
    EXPECT_EQ(watched.windows, 0u);
    EXPECT_EQ(digest_line(seed, divided), digest_line(seed, watched));
  }
}

}  // namespace
}  // namespace eddy::test
