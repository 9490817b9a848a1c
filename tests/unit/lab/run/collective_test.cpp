// Collectives on an idle fabric take the time that can be written down for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lab/run/run.h"
#include "lab/traffic/wire_cost.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using config::CollectiveOp;
using testing::IsEmpty;

constexpr double kTolerance = 0.01;
constexpr int kPayload = 1'000;

// Eight hosts on one leaf, and as many on another, 40 Gb/s; nobody acknowledges but at the end, so
// that what a host receives takes nothing of its own line.
config::Experiment idle(CollectiveOp op, int ranks, int chunks = 1) {
  config::Experiment experiment;
  experiment.topology.leaves = 2;
  experiment.topology.spines = 2;
  experiment.topology.hosts_per_leaf = 8;
  experiment.host.congestion_control = "none";
  experiment.host.window = false;
  experiment.host.mtu = kPayload;
  experiment.host.ack_every = 1'000'000;
  experiment.run.warmup = Duration{};
  experiment.run.duration = 1_ms;
  config::TrafficConfig traffic{
      .type = config::TrafficType::collective, .size = Bytes(4'200'000), .op = op};
  traffic.ranks = {"leaf1.host1-" + std::to_string(ranks)};
  traffic.chunks = chunks;
  experiment.traffic = {traffic};
  return experiment;
}

RunResult run(const config::Experiment& experiment) {
  auto result = run_experiment(experiment, {.check = true});
  for (const std::string& problem : result ? Problems{} : result.problems())
    ADD_FAILURE() << problem;
  return result ? std::move(*result) : RunResult{};
}

// Of so many octets of payload on a line of 40 Gb/s, in microseconds.
double line_us(double octets) {
  const WireCost cost(kPayload, 24, false);
  return octets * (kPayload + static_cast<double>(cost.a_packet)) / kPayload * 8 / 40e3;
}
// Between two hosts of a leaf: 2 us on each link, and a packet once more, at the switch.
double latency_us() {
  return 2 + 2 + line_us(kPayload);
}

void expect_time(const RunResult& result, double us) {
  ASSERT_EQ(result.requests.size(), 1u);
  const RequestResult& found = result.requests[0];
  EXPECT_TRUE(found.finished && found.measured);
  EXPECT_NEAR(static_cast<double>(found.time.ps()) * 1e-6 / us, 1, kTolerance);
  EXPECT_NEAR(static_cast<double>(found.ideal.ps()) * 1e-6 / us, 1, kTolerance);
  EXPECT_THAT(result.violations, IsEmpty());
  EXPECT_EQ(result.lossless_drops, 0u);
}

uint64_t delivered(const RunResult& result) {
  uint64_t octets = 0;
  for (const FlowResult& flow : result.flows) octets += flow.received.delivered_bytes;
  return octets;
}

// 2 (N - 1) steps of 1/N of the data each: 2 (N - 1) / N * size over the rate, and the steps'
// latencies.
TEST(IdleFabric, ARingTakesItsIdealTime) {
  for (const int n : {2, 4, 7}) {
    const RunResult result = run(idle(CollectiveOp::all_reduce_ring, n));
    const double size = 4'200'000;
    expect_time(result, 2.0 * (n - 1) / n * line_us(size) + 2.0 * (n - 1) * latency_us());
    EXPECT_EQ(delivered(result), static_cast<uint64_t>(2 * (n - 1)) * 4'200'000);
  }
}

// While one chunk is on its way the next ones leave: one latency is left of all.
TEST(IdleFabric, ChunksHideTheLatenciesOfARing) {
  expect_time(run(idle(CollectiveOp::all_reduce_ring, 4, 10)),
              2.0 * 3 / 4 * line_us(4'200'000) + latency_us());
}

TEST(IdleFabric, AnAllGatherTakesHalfOfIt) {
  const int n = 6;
  expect_time(run(idle(CollectiveOp::all_gather, n)),
              (n - 1.0) / n * line_us(4'200'000) + (n - 1) * latency_us());
}

TEST(IdleFabric, AnAllToAllTakesWhatItsLineTakes) {
  const int n = 7;
  for (const int chunks : {1, 3})
    expect_time(run(idle(CollectiveOp::all_to_all, n, chunks)),
                (n - 1.0) / n * line_us(4'200'000) + latency_us());
}

// A chain of one child: up and down. With two children their line is shared, on each of two levels.
TEST(IdleFabric, ATreeTakesItsLevels) {
  expect_time(run(idle(CollectiveOp::all_reduce_tree, 2)), 2 * (line_us(4'200'000) + latency_us()));
  expect_time(run(idle(CollectiveOp::all_reduce_tree, 3)),
              2 * (2 * line_us(4'200'000) + latency_us()));
}

TEST(Collectives, BeginAfterAnItemOrARepetition) {
  config::Experiment experiment = idle(CollectiveOp::all_gather, 4);
  experiment.traffic[0].name = "first";
  experiment.traffic[0].repeat = 3;
  config::TrafficConfig second = experiment.traffic[0];
  second.name = "second";
  second.after = "first";
  second.start = 30_us;
  second.repeat = 0;
  second.ranks = {"leaf2.host1-4"};
  experiment.traffic.push_back(second);
  const RunResult result = run(experiment);
  ASSERT_EQ(result.requests.size(), 4u);
  const auto end = [&](size_t i) { return result.requests[i].start + result.requests[i].time; };
  for (size_t i : {0, 1}) {
    EXPECT_GT(result.requests[i + 1].start, result.requests[i].start);
    EXPECT_LE(result.requests[i + 1].start, end(i));  // the first rank that has what it needs
    EXPECT_GE(end(i + 1) - end(i), result.requests[0].ideal * 9 / 10);
  }
  EXPECT_EQ(result.requests[3].start, end(2) + 2_us + 30_us);  // word takes a link's delay
}

// Both jobs cross the one uplink: neither takes its ideal time, and nothing is lost.
TEST(Collectives, TwoJobsShareWhatThereIs) {
  config::Experiment experiment = idle(CollectiveOp::all_reduce_ring, 8);
  experiment.topology.spines = 1;
  experiment.traffic[0].ranks = {"leaf1.host1", "leaf2.host1", "leaf1.host2", "leaf2.host2"};
  experiment.traffic[0].name = "a";
  experiment.traffic.push_back(experiment.traffic[0]);
  experiment.traffic[1].name = "b";
  experiment.traffic[1].ranks = {"leaf1.host3", "leaf2.host3", "leaf1.host4", "leaf2.host4"};
  const RunResult result = run(experiment);
  ASSERT_EQ(result.requests.size(), 2u);
  for (const RequestResult& each : result.requests) {
    EXPECT_TRUE(each.finished);
    EXPECT_GT(each.slowdown, 3.5);  // two flows of each job go each way
  }
  EXPECT_THAT(result.violations, IsEmpty());
  EXPECT_EQ(delivered(result), 2u * 6 * 4'200'000);
}

TEST(Collectives, ARunThatEndsEarlySaysSo) {
  config::Experiment experiment = idle(CollectiveOp::all_reduce_ring, 4);
  experiment.run.duration = 300_us;
  experiment.run.drain = 100_us;
  const RunResult result = run(experiment);
  ASSERT_EQ(result.requests.size(), 1u);
  EXPECT_FALSE(result.requests[0].finished);
  EXPECT_EQ(result.requests[0].time, result.simulated);
  EXPECT_TRUE(result.censored);
  EXPECT_LT(result.flows.size(), 24u);  // those that have begun
}

TEST(Collectives, AnIncastsRequestIsWhatItsAnswersTake) {
  config::Experiment experiment = idle(CollectiveOp::all_gather, 4);
  experiment.traffic[0] = {.type = config::TrafficType::incast,
                           .destinations = {"leaf1.host1"},
                           .size = Bytes(400'000),
                           .degree = 4};
  const RunResult result = run(experiment);
  ASSERT_EQ(result.requests.size(), 1u);
  EXPECT_EQ(result.requests[0].flows, 4u);
  Duration last;
  for (const FlowResult& flow : result.flows) last = std::max(last, flow.receiver_fct);
  EXPECT_EQ(result.requests[0].time, last);
  EXPECT_NEAR(result.requests[0].slowdown, 1, 0.05);
}

}  // namespace
}  // namespace eddy::lab
