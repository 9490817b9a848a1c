// How many processes share a lab changes nothing that happens in it: random labs with faults,
// reconfigurations and RLB, under every scheme and both poll models, have the digest of one process
// on two to four ranks, which are threads here. EDDY_SEEDS=N runs N labs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/sim/random_lab.h"
#include "tests/support/thread_ranks.h"

namespace eddy::test {
namespace {

using Grain = lab::DivisionOptions::Grain;

// Rank 0's.
LabResult run_ranks(const Lab& lab, size_t ranks, const lab::DivisionOptions& division) {
  LabResult result;
  ThreadRanks(ranks).run([&](lab::Exchange& exchange) {
    LabResult mine = run_lab(lab, {.division = division, .watched = false, .exchange = &exchange});
    if (exchange.rank() == 0) result = std::move(mine);
  });
  return result;
}

bool needs_one_process(const LabResult& result) {
  return !result.problems.empty() &&
         (result.problems.front().find("too few for") != std::string::npos ||
          result.problems.front().find("known to one process alone") != std::string::npos);
}

TEST(SharedLabs, ChangeNoDigest) {
  const char* seeds = std::getenv("EDDY_SEEDS");
  const uint64_t usual = 60;  // in one of them a link goes down under a frame that has not left
  const uint64_t last = seeds == nullptr ? usual : std::strtoull(seeds, nullptr, 10);
  std::set<config::FaultType> faults;
  uint64_t with_rlb = 0, meetings = 0, frames = 0, runs = 0, moves = 0;
  for (uint64_t seed = 1; seed <= last; ++seed) {
    const Lab lab = varied_lab(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + lab.experiment.load_balancer.scheme);
    const LabResult one = run_lab(lab, {.division = {.grain = Grain::one}, .watched = false});
    ASSERT_THAT(one.problems, testing::IsEmpty());
    const size_t ranks = 2 + seed % 3;
    const LabResult shared = run_ranks(lab, ranks,
                                       {.grain = seed % 2 == 0 ? Grain::rack : Grain::node,
                                        .threads = 1 + seed / 2 % 2,
                                        .windows_a_look = 1 + seed % 4});
    if (needs_one_process(shared)) continue;
    EXPECT_THAT(shared.problems, testing::IsEmpty());
    EXPECT_EQ(digest_line(seed, shared), digest_line(seed, one)) << ranks << " ranks";
    EXPECT_EQ(shared.events, one.events) << ranks << " ranks";
    EXPECT_EQ(shared.polls, one.polls) << ranks << " ranks";
    ++runs;
    meetings += shared.meetings;
    frames += shared.frames;
    moves += shared.moves;
    faults.insert(shared.faults.begin(), shared.faults.end());
    with_rlb += lab.experiment.switches.rlb.enabled() ? 1 : 0;
  }
  std::printf("%llu runs, in which ranks met %llu times and rank 0 sent %llu frames, %llu moves\n",
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(meetings),
              static_cast<unsigned long long>(frames), static_cast<unsigned long long>(moves));
  if (last < usual) return;
  EXPECT_GT(runs, last * 3 / 4);
  EXPECT_GT(frames, runs * 100);
  EXPECT_GT(moves, runs);  // between threads of rank 0
  EXPECT_GT(with_rlb, last / 4);
  EXPECT_GT(faults.size(), 6u);
}

TEST(SharedLabs, ChangeNothingOfCollectives) {
  uint64_t runs = 0, moves = 0;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    const Lab lab = with_collectives(varied_lab(seed));
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + lab.experiment.load_balancer.scheme);
    const LabResult one = run_lab(lab, {.division = {.grain = Grain::one}, .watched = false});
    const LabResult shared = run_ranks(lab, 2 + seed % 3,
                                       {.grain = seed % 2 == 0 ? Grain::rack : Grain::node,
                                        .threads = 1 + seed / 2 % 2,
                                        .windows_a_look = 1 + seed % 4});
    if (needs_one_process(shared)) continue;
    EXPECT_THAT(shared.problems, testing::IsEmpty());
    EXPECT_EQ(digest_line(seed, shared), digest_line(seed, one));
    EXPECT_EQ(shared.events, one.events);
    EXPECT_EQ(shared.polls, one.polls);
    moves += shared.moves;
    ++runs;
  }
  EXPECT_GT(runs, 10u);
  EXPECT_GT(moves, 0u);
}

}  // namespace
}  // namespace eddy::test
