// Two NICs joined by two lines that lose, double, delay and mark frames by a seed.
#include <gtest/gtest.h>

#include <string>

#include "tests/conformance/host_pipe.h"

namespace eddy::test {
namespace {

using namespace eddy::literals;
using host::NicCounter;

enum class Way : uint8_t { go_back_n, irn, reorder_buffer };

PipeScenario scenario(Way way, const std::string& control, PipeFaults faults) {
  const char* const ways[] = {"go_back_n", "irn", "reorder_buffer"};
  PipeScenario out;
  out.name = std::string(ways[static_cast<size_t>(way)]) + "_" + control;
  out.config.recovery = way == Way::irn ? "irn" : "go_back_n";
  out.config.reorder_buffer = way == Way::reorder_buffer;
  out.config.congestion_control = control;
  out.config.rto = 200_us;
  out.config.nak_timer = 20_us;
  out.config.reorder_timeout = 30_us;
  out.config.icrc_check = control == "dcqcn";
  out.faults = faults;
  return out;
}

std::vector<PipeScenario> scenarios(PipeFaults faults) {
  std::vector<PipeScenario> out;
  for (const Way way : {Way::go_back_n, Way::irn, Way::reorder_buffer})
    for (const auto control : {"none", "dcqcn", "dctcp"})
      out.push_back(scenario(way, control, faults));
  return out;
}

constexpr PipeFaults kHostile = {.lost = 20, .doubled = 10, .delayed = 50, .marked = 50};

TEST(Pipe, EveryFlowArrivesWholeThroughLossDoublingAndReordering) {
  for (const PipeScenario& each : scenarios(kHostile)) {
    for (uint64_t seed = 1; seed <= 2; ++seed) {
      SCOPED_TRACE(testing::Message() << each.name << " seed " << seed);
      HostPipe pipe(each, seed);
      pipe.run();
      pipe.expect_all_done();
      EXPECT_GT(pipe.counter(NicCounter::retransmitted_packets), 0u);
      EXPECT_EQ(pipe.allocated(), 0u);
    }
  }
}

TEST(Pipe, AcksForManyPacketsDoAsWell) {
  for (PipeScenario each : scenarios(kHostile)) {
    each.config.ack_every = 8;
    each.config.variable_window = true;
    SCOPED_TRACE(each.name);
    HostPipe pipe(each, 5);
    pipe.run();
    pipe.expect_all_done();
  }
}

TEST(Pipe, WithoutPipeFaultsNothingIsSentTwiceAndTheLineIsFull) {
  for (const PipeScenario& each : scenarios({})) {
    SCOPED_TRACE(each.name);
    HostPipe pipe(each, 1);
    pipe.run();
    pipe.expect_all_done();
    EXPECT_EQ(pipe.counter(NicCounter::retransmitted_packets), 0u);
    EXPECT_EQ(pipe.counter(NicCounter::tx_nak_packets), 0u);
    EXPECT_EQ(pipe.counter(NicCounter::timeouts), 0u);
    EXPECT_LT(pipe.now(), Instant::at(300_us));
  }
}

TEST(Pipe, AnyPayloadFrom256To4096GetsThrough) {
  for (const int mtu : {256, 257, 1'000, 1'001, 4'095, 4'096})
    for (const bool icrc : {false, true}) {
      SCOPED_TRACE(testing::Message() << mtu << (icrc ? " with ICRC" : ""));
      PipeScenario each = scenario(Way::go_back_n, "dcqcn", {});
      each.config.mtu = mtu;
      each.config.icrc_check = icrc;
      HostPipe pipe(each, 3);
      pipe.run();
      pipe.expect_all_done();
      EXPECT_EQ(pipe.counter(NicCounter::retransmitted_packets), 0u);
    }
}

TEST(Pipe, ReorderingAloneIsHarmlessToTheReorderBuffer) {
  PipeScenario each = scenario(Way::reorder_buffer, "none", {.delayed = 100});
  HostPipe pipe(each, 7);
  pipe.run();
  pipe.expect_all_done();
  EXPECT_EQ(pipe.counter(NicCounter::retransmitted_packets), 0u);
  EXPECT_EQ(pipe.counter(NicCounter::tx_nak_packets), 0u);
}

TEST(Pipe, TheSameSeedGivesTheSameFrames) {
  for (const PipeScenario& each : scenarios(kHostile)) {
    SCOPED_TRACE(each.name);
    std::array<uint64_t, 3> digests{};
    for (size_t i = 0; i < 3; ++i) {
      HostPipe pipe(each, i == 2 ? 2 : 1);
      pipe.run();
      digests[i] = pipe.digest();
    }
    EXPECT_EQ(digests[0], digests[1]);
    EXPECT_NE(digests[0], digests[2]);
  }
}

}  // namespace
}  // namespace eddy::test
