// Seeded random fabrics in the lab's world: every invariant holds for every seed, a seed gives the
// same run twice, the second time with clocks that are rebased all the time, and a few seeds give
// the digests that are written down, whatever compiled them. EDDY_SEEDS=N runs N seeds, EDDY_SEED=n
// that one alone; scripts/soak runs many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "host/registry.h"
#include "lb/registry.h"
#include "tests/sim/random_lab.h"

namespace eddy::test {
namespace {

using namespace eddy::literals;

constexpr uint64_t kSeeds = 200;
constexpr uint64_t kTwice = 6;  // every so many seeds, the run is repeated
constexpr uint64_t kRebaseEvery = kHasFaultSites ? 7 : 0;  // polls

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

TEST(RandomLabs, KeepTheInvariantsAndRepeatThemselves) {
  const uint64_t only = from_environment("EDDY_SEED", 0);
  const uint64_t last = only != 0 ? only : from_environment("EDDY_SEEDS", kSeeds);
  size_t flows = 0, ended = 0;
  std::set<config::FaultType> faults;
  for (uint64_t seed = only != 0 ? only : 1; seed <= last; ++seed) {
    const LabResult result = run_random_lab(seed);
    EXPECT_THAT(result.problems, testing::IsEmpty());
    flows += result.flows;
    ended += result.flows_ended;
    faults.insert(result.faults.begin(), result.faults.end());
    // Without faults nothing keeps a flow from ending, and no path seems to have failed.
    if (result.faults.empty()) {
      EXPECT_EQ(result.paths_failed, 0u) << "seed " << seed;
      EXPECT_EQ(result.flows_ended, result.flows) << "seed " << seed;
    }
    if (seed % kTwice == 0 || only != 0) {
      EXPECT_EQ(run_random_lab(seed, Generator::first, kRebaseEvery).digest, result.digest)
          << "seed " << seed;
    }
  }
  if (only != 0) return;
  EXPECT_GT(ended * 10, flows * 9);
  EXPECT_EQ(faults.size(), static_cast<size_t>(config::FaultType::reconfigure) + 1);
}

// A scheme that is registered makes other labs of no seed. These would be the first to change.
TEST(RandomLabs, OfTheFirstGeneratorStayWhatTheyAreWhenASchemeIsAdded) {
  const std::map<uint64_t, std::string> known = {{14, "presto"}, {15, "conga"},  {20, "conga"},
                                                 {21, "drill"},  {24, "hermes"}, {28, "letflow"}};
  for (const auto& [seed, scheme] : known)
    EXPECT_EQ(make_random_lab(seed).experiment.load_balancer.scheme, scheme) << seed;
}

TEST(RandomLabs, OfTheSecondGeneratorHaveEveryScheme) {
  std::set<std::string> drawn;
  for (uint64_t seed = 1; seed <= 300; ++seed)
    drawn.insert(make_random_lab(seed, Generator::second).experiment.load_balancer.scheme);
  EXPECT_EQ(drawn.size(), lb::schemes().size());
}

TEST(RandomLabs, OfTheSecondGeneratorHaveEveryLawOfHosts) {
  std::set<std::string> drawn;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const config::HostConfig host = make_random_lab(seed, Generator::second).experiment.host;
    const host::Laws laws = host::laws_of(host);
    EXPECT_FALSE(laws.entropy.law->spreads && laws.recovery.law->drops_ahead) << seed;
    for (const auto& name : {host.congestion_control, host.recovery, host.entropy, host.pacing})
      drawn.insert(name);
  }
  for (const host::LawInfo* law : host::all_laws())
    EXPECT_TRUE(drawn.contains(std::string(law->name))) << law->name;
}

// Everything that the second generator draws, fault sites among it: those of a switch with one
// shard are all reached, and fire but for those that need RLB to be busy where they are on. The
// sites between shards are fabric_sim_test's; neighbors are all configured.
TEST(RandomLabs, OfTheSecondGeneratorKeepTheInvariants) {
  constexpr uint64_t kMore = 60;
  std::array<FaultSites::Use, kFaultSites> uses{};
  for (uint64_t seed = 1; seed <= kMore; ++seed) {
    const LabResult result = run_random_lab(seed, Generator::second);
    EXPECT_THAT(result.problems, testing::IsEmpty());
    for (size_t i = 0; i < kFaultSites; ++i) {
      uses[i].reached += result.sites[i].reached;
      uses[i].fired += result.sites[i].fired;
    }
  }
  for (const FaultSite site :
       {FaultSite::guard_table_full, FaultSite::order_table_full, FaultSite::loop_full,
        FaultSite::pool_empty, FaultSite::device_full, FaultSite::poll_late,
        FaultSite::timers_together, FaultSite::clock_wraps, FaultSite::long_way,
        FaultSite::burst_apart}) {
    const FaultSites::Use& use = uses[static_cast<size_t>(site)];
    std::printf(
        "%-20s reached %8llu, fired %8llu\n", kFaultSiteNames[static_cast<size_t>(site)].data(),
        static_cast<unsigned long long>(use.reached), static_cast<unsigned long long>(use.fired));
    EXPECT_EQ(use.reached > 0, kHasFaultSites) << kFaultSiteNames[static_cast<size_t>(site)];
    if (site == FaultSite::guard_table_full || site == FaultSite::loop_full) continue;
    EXPECT_EQ(use.fired > 0, kHasFaultSites) << kFaultSiteNames[static_cast<size_t>(site)];
  }
}

std::set<std::string> drawn_by_third(uint64_t seeds) {
  std::set<std::string> drawn;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const config::Experiment experiment = make_random_lab(seed, Generator::third).experiment;
    const std::string& scheme = experiment.load_balancer.scheme;
    const config::HostConfig& host = experiment.host;
    drawn.insert(scheme + (experiment.switches.rlb.enabled() ? " with rlb" : " alone"));
    for (const auto& [name, value] : experiment.load_balancer.parameters)
      drawn.insert(scheme + "." + name + "=" + value);
    for (const auto& law : {host.congestion_control, host.recovery, host.entropy, host.pacing})
      drawn.insert(law);
    for (const config::FaultConfig& fault : experiment.faults) {
      drawn.insert(std::string(name_of(fault.type)));
      if (const auto change = fault.set.find("load_balancer.scheme"); change != fault.set.end())
        drawn.insert("beside " + change->second);
    }
  }
  return drawn;
}

// Each scheme in turn: alone, with RLB if that goes around it, in each of its modes, and as that of
// some leaves; each law of hosts and each fault.
TEST(RandomLabs, OfTheThirdGeneratorHaveEverythingThereIs) {
  const std::set<std::string> drawn = drawn_by_third(1'000);
  const auto expect = [&](const std::string& what) { EXPECT_TRUE(drawn.contains(what)) << what; };
  for (const lb::SchemeInfo& scheme : lb::schemes()) {
    const std::string name(scheme.name);
    expect(name + " alone");
    EXPECT_EQ(drawn.contains(name + " with rlb"), !scheme.grouped.detours) << name;
    expect("beside " + name);
    for (const lb::ParameterInfo& info : scheme.parameters)
      for (const std::string_view choice : info.choices)
        expect(name + "." + std::string(info.name) + "=" + std::string(choice));
  }
  for (const host::LawInfo* law : host::all_laws()) expect(std::string(law->name));
  for (const std::string_view fault : config::kFaultTypeNames) expect(std::string(fault));
}

TEST(RandomLabs, OfTheThirdGeneratorKeepTheInvariants) {
  const uint64_t twice_each = lb::schemes().size() * 2;
  for (uint64_t seed = 1; seed <= twice_each; ++seed)
    EXPECT_THAT(run_random_lab(seed, Generator::third).problems, testing::IsEmpty());
}

// RLB with culprits and isolation in each; most of them promise that nothing lossless is lost, and
// that all comes in order.
TEST(RandomLabs, OfTheFourthGeneratorIsolateAndKeepTheInvariants) {
  constexpr uint64_t kLabs = 13;
  size_t isolated = 0, long_flows = 0, warned = 0, lossless = 0, in_order = 0, reloads = 0;
  std::set<std::string> schemes;
  for (uint64_t seed = 1; seed <= kLabs; ++seed) {
    const config::Experiment experiment = make_random_lab(seed, Generator::fourth).experiment;
    EXPECT_TRUE(experiment.switches.isolation.enabled && experiment.switches.rlb.culprits);
    schemes.insert(experiment.load_balancer.scheme);
    reloads += std::ranges::count(experiment.faults, config::FaultType::reconfigure,
                                  &config::FaultConfig::type);
    const LabResult result = run_random_lab(seed, Generator::fourth);
    EXPECT_THAT(result.problems, testing::IsEmpty());
    isolated += result.isolated != 0 ? 1 : 0;
    long_flows += result.long_flows != 0 ? 1 : 0;
    warned += result.warned != 0 ? 1 : 0;
    lossless += result.lossless ? 1 : 0;
    in_order += result.in_order ? 1 : 0;
  }
  EXPECT_GE(schemes.size(), lb::schemes().size() - 3);  // ugal, valiant and minimal have channels
  EXPECT_GT(isolated, kLabs / 3);
  EXPECT_GT(long_flows, 0u);
  EXPECT_GT(warned, kLabs / 4);
  EXPECT_GT(lossless, kLabs / 2);
  EXPECT_GT(in_order, kLabs / 3);
  EXPECT_GT(reloads, kLabs / 2);
}

// Lab 20964: go-back-N on three paths, packet by packet, which sends nearly all again.
Lab slow_lab() {
  Lab lab = make_random_lab(20'964);
  lab.experiment.faults.clear();
  lab.flows.resize(1);
  lab.flows.front().size = 60_KiB;
  return lab;
}

TEST(LabBounds, LeaveALabAloneThatIsSlowAndGetsOn) {
  const LabResult result = run_lab(slow_lab(), {.replay = "this", .most_idle_turns = 4'000});
  EXPECT_THAT(result.problems, testing::IsEmpty());
  EXPECT_EQ(result.flows_ended, result.flows);
  EXPECT_GT(result.turns, 20'000u);
}

TEST(LabBounds, StopALabThatGetsNowhere) {
  Lab lab = slow_lab();
  lab.experiment.faults = {
      {.type = config::FaultType::random_drop, .hosts = {"leaf2.host2"}, .probability = 1}};
  const LabResult result = run_lab(lab, {.replay = "this", .most_idle_turns = 20'000});
  EXPECT_THAT(result.problems,
              testing::ElementsAre(testing::HasSubstr("no flow has got on for 20000 turns")));
  EXPECT_LT(result.turns, 25'000u);
}

TEST(LabBounds, LeaveALabAloneWhoseLinkIsCutAgainAndAgain) {
  Lab lab = slow_lab();
  lab.experiment.faults = {{.type = config::FaultType::link_flap,
                            .hosts = {"leaf2.host2"},
                            .duration = 29_us,
                            .period = 30_us}};
  const LabResult result = run_lab(lab, {.replay = "this", .most_idle_turns = 4'000});
  EXPECT_THAT(result.problems, testing::IsEmpty());
  EXPECT_LT(result.flows_ended, result.flows);
  EXPECT_GT(result.turns, 20'000u);
}

TEST(LabBounds, StopALabThatTakesTooMany) {
  const LabResult result = run_lab(slow_lab(), {.replay = "this", .most_turns = 20'000});
  EXPECT_THAT(result.problems,
              testing::ElementsAre(testing::HasSubstr("still running after 20000 turns")));
}

// When the switch, the NIC or the world changed on purpose: build/dev/bin/lab_sim 1 2 3 >
// tests/sim/lab_digests.txt
TEST(RandomLabs, GiveTheDigestsThatAreWrittenDown) {
  std::ifstream file(EDDY_SOURCE_DIR "/tests/sim/lab_digests.txt");
  std::string line;
  size_t lines = 0;
  while (std::getline(file, line)) {
    ++lines;
    const uint64_t seed = std::strtoull(line.c_str(), nullptr, 10);
    EXPECT_EQ(digest_line(seed, run_random_lab(seed)), line);
  }
  EXPECT_EQ(lines, 3u);
}

}  // namespace
}  // namespace eddy::test
