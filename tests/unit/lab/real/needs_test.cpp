#include "lab/real/needs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/real/switch_config.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using testing::HasSubstr;

constexpr RealMachine kMachine{.cores = 2, .free_memory = uint64_t{8} << 30};

config::Experiment small() {
  config::Experiment experiment;
  experiment.topology.leaves = experiment.topology.spines = experiment.topology.hosts_per_leaf = 2;
  experiment.switches.poll_gap = 20_ms;
  experiment.run.warmup = Duration{};
  experiment.run.duration = 1_ms;
  return experiment;
}

Trace flows(int64_t octets) {
  Trace trace;
  trace.flows.push_back({.source = 0, .destination = 2, .size = Bytes(octets)});
  return trace;
}

// 1,000 packets and as many ACKs, each handled by two hosts and three switches, in 1 ms: 10 million
// a second, of which two cores do 100,000.
TEST(RealNeeds, LoadIsTheFramesThatAllProcessesHandle) {
  const auto needs = real_needs(small(), flows(1'000 * 1'024 - 1), kMachine);
  ASSERT_TRUE(needs.ok()) << needs.problems().front();
  EXPECT_EQ(needs.value().for_load, 101);
  EXPECT_EQ(needs.value().processes, 5u);
  const auto twice = real_needs(small(), flows(2'000 * 1'024 - 1), kMachine);
  EXPECT_EQ(twice.value().for_load, 201);
}

TEST(RealNeeds, FlowsAreNoFasterThanTheReceiversLine) {
  // 50 MB at 40 Gb/s are 10 ms of the line, whatever run.duration says.
  const auto needs = real_needs(small(), flows(50'000'000), kMachine);
  EXPECT_NEAR(static_cast<double>(needs.value().for_load), 50e6 / 1'024 * 2 * 5 / 0.01 / 1e5, 2);
}

TEST(RealNeeds, HeadroomAtTheMachinesPollGapHasToFitTheBuffer) {
  const auto long_gap = real_needs(small(), flows(1), kMachine);
  config::Experiment quick = small();
  quick.switches.poll_gap = 1_ms;
  const auto short_gap = real_needs(quick, flows(1), kMachine);
  EXPECT_GT(long_gap.value().for_headroom, 4 * short_gap.value().for_headroom);
  // It is the smallest that does, to within a 64th.
  config::Experiment dilated = small();
  dilated.run.time_dilation = long_gap.value().for_headroom;
  EXPECT_TRUE(unscaled_topology(dilated).ok());
  dilated.run.time_dilation = long_gap.value().for_headroom * 62 / 64;
  EXPECT_FALSE(unscaled_topology(dilated).ok());
  EXPECT_EQ(long_gap.value().dilation(), long_gap.value().for_headroom);
}

TEST(RealNeeds, ARoundTripIsNoShorterThanThePollGap) {
  config::Experiment experiment = small();
  experiment.run.time_dilation = 1'000;
  const auto topology = unscaled_topology(experiment);
  ASSERT_TRUE(topology.ok());
  // 8 x 2 us of propagation, and an MTU over four lines of 40 Gb/s.
  const Duration rtt = 16_us + LineRate(40_Gbps).time_of(Bytes(1'024)) * 4;
  EXPECT_EQ(dilation_for_gap(topology.value(), 1'024, rtt), 1);
  EXPECT_EQ(dilation_for_gap(topology.value(), 1'024, rtt * 100), 100);
  EXPECT_EQ(dilation_for_gap(topology.value(), 1'024, rtt * 100 + 1_ps), 101);
}

TEST(RealNeeds, SaysWhatNoDilationMends) {
  const auto refusal = [](const config::Experiment& experiment, const RealMachine& machine) {
    const auto needs = real_needs(experiment, flows(1), machine);
    return needs ? "" : testing::PrintToString(needs.problems());
  };
  EXPECT_THAT(refusal(small(), {.cores = 2, .free_memory = 100 << 20}),
              HasSubstr("MiB of memory, 100 MiB are free"));
  config::Experiment wide = small();
  wide.switches.buffer.size = 256_MiB;
  wide.topology.hosts_per_leaf = 40;
  EXPECT_THAT(refusal(wide, kMachine), HasSubstr("a real eddyd has at most 32"));
  config::Experiment tiny = small();
  tiny.switches.buffer.size = Bytes(4'096);
  EXPECT_THAT(refusal(tiny, kMachine), HasSubstr("switches.buffer"));
}

// A machine that is busy enough measures a gap for which there is no dilation.
TEST(RealNeeds, ADilationOfOurChoiceIsOneThatTheKeyTakes) {
  EXPECT_EQ(dilation_of_choice(10, 20).value(), 20);
  EXPECT_EQ(dilation_of_choice(6'000, 12'000).value(), 10'000);
  EXPECT_EQ(dilation_of_choice(10'000, 20'000).value(), 10'000);
  const Result<int64_t> none = dilation_of_choice(10'001, 20'002);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.problems(),
              testing::ElementsAre(HasSubstr("would need a time dilation of 10001 now")));
}

}  // namespace
}  // namespace eddy::lab
