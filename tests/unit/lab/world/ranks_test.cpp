#include "lab/world/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "lab/fabric/build_topology.h"
#include "lab/run/run.h"
#include "lab/world/world.h"
#include "tests/support/thread_ranks.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using testing::ElementsAre;
using testing::HasSubstr;

config::Experiment small_experiment() {
  config::Experiment experiment;
  experiment.topology.leaves = 4;
  experiment.topology.spines = 2;
  experiment.topology.hosts_per_leaf = 2;
  experiment.traffic.push_back({.type = config::TrafficType::permutation});
  experiment.traffic.back().size = Bytes(50'000);
  experiment.run.duration = 100_us;
  return experiment;
}

// Of every rank.
std::vector<Result<RunResult>> run(const config::Experiment& experiment, size_t ranks,
                                   size_t threads = 1) {
  std::vector<Result<RunResult>> results(ranks, Result<RunResult>::failure("none"));
  test::ThreadRanks(ranks).run([&](Exchange& exchange) {
    results[exchange.rank()] =
        run_experiment(experiment, {.threads = threads, .exchange = &exchange});
  });
  return results;
}

TEST(Ranks, GiveTheResultOfOneProcess) {
  const config::Experiment experiment = small_experiment();
  const Result<RunResult> alone = run_experiment(experiment, {});
  ASSERT_TRUE(alone.ok()) << alone.problems().front();
  const RunResult& one = alone.value();
  ASSERT_FALSE(one.flows.empty());
  for (const size_t ranks : {2, 3, 6}) {
    const auto results = run(experiment, ranks, ranks == 2 ? 2 : 1);
    ASSERT_TRUE(results[0].ok()) << results[0].problems().front();
    const RunResult& shared = results[0].value();
    EXPECT_EQ(shared.digest, one.digest);
    EXPECT_EQ(shared.counters, one.counters);
    EXPECT_EQ(shared.events, one.events);
    EXPECT_EQ(shared.polls, one.polls);
    EXPECT_EQ(shared.ties, one.ties);
    EXPECT_EQ(shared.packet_hops, one.packet_hops);
    EXPECT_EQ(shared.simulated, one.simulated);
    EXPECT_EQ(shared.ood_histogram, one.ood_histogram);
    EXPECT_EQ(shared.pfc_paused_us, one.pfc_paused_us);
    EXPECT_EQ(shared.fct_us.mean, one.fct_us.mean);
    EXPECT_EQ(shared.links.size(), one.links.size());
    ASSERT_EQ(shared.flows.size(), one.flows.size());
    for (size_t i = 0; i < one.flows.size(); ++i) {
      EXPECT_EQ(shared.flows[i].fct, one.flows[i].fct);
      EXPECT_EQ(shared.flows[i].sent.sent_packets, one.flows[i].sent.sent_packets);
      EXPECT_EQ(shared.flows[i].received.delivered_bytes, one.flows[i].received.delivered_bytes);
    }
    ASSERT_EQ(shared.ranks.size(), ranks);
    for (const RankUse& use : shared.ranks) {
      EXPECT_GT(use.traffic.frames, 0u);
      EXPECT_EQ(use.traffic.windows, shared.ranks[0].traffic.windows);
      EXPECT_EQ(use.traffic.messages, use.traffic.windows * (ranks - 1));
    }
  }
}

TEST(Ranks, SamplesOfQueuesAreOfTheWholeFabric) {
  config::Experiment experiment = small_experiment();
  experiment.run.sample_period = 3_us;
  const Result<RunResult> alone = run_experiment(experiment, {});
  const auto shared = run(experiment, 3);
  ASSERT_TRUE(alone.ok() && shared[0].ok());
  ASSERT_EQ(shared[0].value().samples.size(), alone.value().samples.size());
  for (size_t i = 0; i < alone.value().samples.size(); ++i) {
    const QueueSample& a = alone.value().samples[i];
    const QueueSample& b = shared[0].value().samples[i];
    EXPECT_EQ(b.at, a.at);
    EXPECT_EQ(b.max_queue, a.max_queue);
    EXPECT_EQ(b.max_buffer, a.max_buffer);
    EXPECT_EQ(b.paused_queues, a.paused_queues);
  }
}

TEST(Ranks, AreRefusedWhereTheyAreMoreThanParts) {
  for (const auto& result : run(small_experiment(), 7))
    EXPECT_THAT(result.problems(), ElementsAre(HasSubstr("divides into 6 parts")));
}

TEST(Ranks, AreRefusedWhatOneProcessAloneKnows) {
  config::Experiment experiment = small_experiment();
  experiment.run.packets = 1'000;
  for (const auto& result : run(experiment, 2))
    EXPECT_THAT(result.problems(), ElementsAre(HasSubstr("run.packets: ")));
  experiment.run.packets = 0;
  experiment.faults.push_back({.type = config::FaultType::pool_exhaustion, .duration = 10_us});
  for (const auto& result : run(experiment, 2))
    EXPECT_THAT(result.problems(), ElementsAre(HasSubstr("faults.0.switches: the pool")));
}

// A rank that lacks memory tells the others, which would wait for it.
TEST(Ranks, EndTogether) {
  std::vector<Problems> said(3);
  test::ThreadRanks(3).run([&](Exchange& exchange) {
    said[exchange.rank()] =
        run_experiment(small_experiment(),
                       {.memory_limit = exchange.rank() == 1 ? uint64_t{1} : uint64_t{0},
                        .exchange = &exchange})
            .problems();
  });
  for (const Problems& each : said)
    EXPECT_THAT(each, ElementsAre(HasSubstr("rank 1: this run needs about")));
}

// A rank has the memory of its own nodes.
TEST(Ranks, HaveTheirOwnSwitchesAndNicsAlone) {
  const auto topology = build_topology(small_experiment());
  ASSERT_TRUE(topology.ok());
  std::vector<size_t> here(3);
  test::ThreadRanks(3).run([&](Exchange& exchange) {
    const auto world = World::create(topology.value(), {}, [](uint32_t, uint32_t) { return 10_us; },
                                     {.exchange = &exchange});
    ASSERT_TRUE(world.ok());
    for (uint32_t node = 0; node < 6 + 8; ++node)
      here[exchange.rank()] += world.value()->is_here(node) ? 1 : 0;
  });
  EXPECT_EQ(here[0] + here[1] + here[2], 14u);
  for (const size_t each : here) EXPECT_GT(each, 0u);
}

// Messages of a rank that has lost its way.
class Liar final : public Exchange {
 public:
  explicit Liar(Message message) : message_(std::move(message)) {}
  size_t rank() const override { return 0; }
  size_t ranks() const override { return 2; }
  void trade(std::span<const Message>, std::span<Message> from_each) override {
    from_each[1] = message_;
  }

 private:
  Message message_;
};

// What the world says of a message with one frame of this line and arrival.
std::string answer_to(uint32_t line, Instant at) {
  PacketPool pool(1);
  Packet* packet = pool.get();
  packet->held_len = 64;
  packet->wire_len = 64;
  Message message;
  begin_window(message);
  add_frame(message, at, line, *packet);
  finish_window(message, 0, 1, {.now = Instant() + 1_us});
  Liar liar(message);
  const auto topology = build_topology(small_experiment());
  const auto world = World::create(topology.value(), {}, [](uint32_t, uint32_t) { return 10_us; },
                                   {.exchange = &liar});
  try {
    world.value()->run_until(Instant());
  } catch (const ExchangeError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Ranks, DoubtWhatComes) {
  EXPECT_THAT(answer_to(1'000'000, Instant() + 5_us), HasSubstr("rank 1: a frame of line 1000000"));
  EXPECT_THAT(answer_to(0, Instant() + 5_us), HasSubstr("does not lead here from there"));
  std::set<std::string> late;
  for (uint32_t line = 0; line < 16; ++line) late.insert(answer_to(line, Instant()));
  EXPECT_THAT(late, testing::Contains(HasSubstr("comes from the past")));
}

}  // namespace
}  // namespace eddy::lab
