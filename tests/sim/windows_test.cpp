// How a world divides its nodes and its time changes nothing that happens: random labs with faults,
// reconfigurations and RLB, under every scheme and both poll models, have the digest that they have
// under a watcher, instant by instant, for every grain and length of a window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "lb/registry.h"
#include "net/quantity.h"
#include "tests/sim/random_lab.h"

namespace eddy::test {
namespace {

using namespace eddy::literals;
using Grain = lab::DivisionOptions::Grain;

constexpr lab::DivisionOptions kDivisions[] = {
    {.grain = Grain::rack},
    {.grain = Grain::node},
    {.grain = Grain::node, .longest = 70_ns},
    {.grain = Grain::rack, .together = 2, .longest = 333_ns},
    {.grain = Grain::node, .shortest = 1_us},
};

// Every scheme, each with and without RLB, each in both poll models: what the seed drew remains.
Lab varied_lab(uint64_t seed) {
  Lab lab = make_random_lab(seed, seed % 2 == 0 ? Generator::first : Generator::second);
  const auto schemes = lb::schemes();
  const std::string scheme(schemes[seed / 4 % schemes.size()].name);
  config::LoadBalancerConfig& balancer = lab.experiment.load_balancer;
  if (scheme != balancer.scheme) balancer = {.scheme = scheme, .control = balancer.control};
  config::RunConfig& run = lab.experiment.run;
  if (seed / 2 % 2 == 0) {
    run.poll_model = config::PollModel::exact;
  } else if (run.poll_model == config::PollModel::exact) {
    run.poll_model = config::PollModel::busy_poll;
    run.poll_period = 500_ns;
    run.poll_jitter = 100_ns;
    lab.experiment.switches.poll_gap = 1'200_ns;
  }
  return lab;
}

TEST(Windows, ChangeNoDigest) {
  const uint64_t last = 4 * lb::schemes().size() + 8;
  std::set<config::FaultType> faults;
  uint64_t with_rlb = 0, windows = 0, labs = 0;
  for (uint64_t seed = 1; seed <= last; ++seed) {
    const Lab lab = varied_lab(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + lab.experiment.load_balancer.scheme);
    const LabResult one = run_lab(lab, {.division = {.grain = Grain::one}, .watched = false});
    ASSERT_THAT(one.problems, testing::IsEmpty());
    EXPECT_EQ(one.windows, 0u);
    for (const lab::DivisionOptions& division : kDivisions) {
      const LabResult divided = run_lab(lab, {.division = division, .watched = false});
      EXPECT_EQ(digest_line(seed, divided), digest_line(seed, one))
          << "grain " << static_cast<int>(division.grain) << ", at most "
          << to_string(division.longest);
      windows += divided.windows;
      labs += divided.windows != 0 ? 1 : 0;
    }
    faults.insert(one.faults.begin(), one.faults.end());
    with_rlb += lab.experiment.switches.rlb.enabled() ? 1 : 0;
  }
  std::printf("%llu windows in %llu runs\n", static_cast<unsigned long long>(windows),
              static_cast<unsigned long long>(labs));
  EXPECT_GT(labs, last * 2);
  EXPECT_GT(windows, last * 1'000);
  EXPECT_GT(with_rlb, last / 4);
  EXPECT_GT(faults.size(), 8u);
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
