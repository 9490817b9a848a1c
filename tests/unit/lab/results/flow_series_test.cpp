#include "lab/results/flow_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/fabric/build_topology.h"
#include "lab/results/results.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using namespace eddy::literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> rows_of(const Result<std::vector<FlowCount>>& counts) {
  std::vector<std::string> out;
  for (const FlowCount& count : counts.value())
    out.push_back(std::to_string(count.at_ns) + " " + count.link + (count.link.empty() ? "" : " ") +
                  count.at + " " + std::to_string(static_cast<int>(count.flows)));
  return out;
}

// Two leaves with a host each, and two spines.
class FlowSeriesTest : public testing::Test {
 protected:
  FlowSeriesTest() {
    experiment_.topology.leaves = 2;
    experiment_.topology.spines = 2;
    experiment_.topology.hosts_per_leaf = 1;
    fs::remove_all(folder_);
  }
  ~FlowSeriesTest() override { fs::remove_all(folder_); }

  void build() {
    topology_ = build_topology(experiment_).value();
    world_ = std::move(
        World::create(topology_, {}, [](uint32_t, uint32_t) { return 20_us; }, {}).value());
    EXPECT_THAT(series_.open(folder_), IsEmpty());
    series_.attach({*world_, topology_, 0_us});
  }
  // Data of a flow over the link, from its end `a` or `b`.
  void send(size_t link, bool from_a, uint64_t flow, uint16_t flags = kPacketRoce,
            Watcher::Step step = Watcher::Step::entered) {
    const Topology::End& end = from_a ? topology_.links[link].a : topology_.links[link].b;
    Packet* packet = world_->pool().get();
    packet->order_hash = flow;
    packet->flags = flags;
    packet->payload_len = 100;
    series_.on_frame(world_->line_of(end.switch_index, end.port), step, *packet);
    world_->pool().put(packet);
  }
  void sample(int64_t at_us) {
    series_.sample(RunOptions::Sample::periodic, Instant() + Duration::microseconds(at_us));
  }

  config::Experiment experiment_;
  Topology topology_;
  std::unique_ptr<World> world_;
  FlowSeries series_{10};
  fs::path folder_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(FlowSeriesTest, CountsAFlowWhereASwitchSentItLast) {
  build();
  ASSERT_EQ(topology_.links[0].name, "leaf1-spine1");
  ASSERT_EQ(topology_.links[1].name, "leaf1-spine2");
  send(0, true, 7);
  send(0, true, 8);
  send(1, true, 7);   // it has moved
  send(0, false, 7);  // of another switch
  send(1, true, 9, kPacketRoce | kPacketRoceControl);
  send(1, true, 9, 0);
  send(1, true, 9, kPacketRoce, Watcher::Step::delivered);
  sample(50);
  send(0, true, 8);
  sample(60);
  series_.sample(RunOptions::Sample::last, Instant() + 70_us);
  ASSERT_THAT(series_.close(), IsEmpty());
  // Times are a tenth.
  EXPECT_THAT(rows_of(read_link_flows(folder_)),
              ElementsAre("5000 leaf1-spine1 leaf1 1", "5000 leaf1-spine1 spine1 1",
                          "5000 leaf1-spine2 leaf1 1", "6000 leaf1-spine1 leaf1 1"));
  EXPECT_THAT(rows_of(read_flow_tables(folder_)), IsEmpty()) << "ecmp remembers no flows";
}

TEST_F(FlowSeriesTest, HasTheTablesOfSwitchesThatRememberFlows) {
  experiment_.load_balancer.scheme = "letflow";
  build();
  world_->run_until(Instant() + 1_us);
  sample(10);
  ASSERT_THAT(series_.close(), IsEmpty());
  EXPECT_THAT(rows_of(read_flow_tables(folder_)),
              ElementsAre("1000 leaf1 0", "1000 leaf2 0", "1000 spine1 0", "1000 spine2 0"));
}

TEST_F(FlowSeriesTest, WhatIsNoSeriesIsSaid) {
  EXPECT_THAT(read_link_flows(folder_).problems(),
              ElementsAre(HasSubstr("not there; eddylab run --flow-series writes it")));
  fs::create_directories(folder_);
  ASSERT_THAT(write_text(folder_ / kFlowTablesFile, "at_ns,switch,flows\n1,a,b\n2,c\n"), IsEmpty());
  EXPECT_THAT(read_flow_tables(folder_).problems(),
              ElementsAre(HasSubstr("flow_tables.csv:3"), HasSubstr("flow_tables.csv:2:5")));
}

}  // namespace
}  // namespace eddy::lab
