// show flows on a real leaf: what the order guards of its workers watch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "switch/control/serve/operations.h"
#include "tests/support/one_switch.h"
#include "tests/unit/control/report/live_switch.h"

namespace eddy::control {
namespace {

using namespace eddy::literals;
using ::testing::HasSubstr;

// Host ports 0 and 1, uplinks 2 and 3; leaves 2 and 3 beyond.
config::SwitchConfig leaf(size_t workers, int64_t flows, const char* scheme,
                          config::GuardMode guard = config::GuardMode::strict) {
  config::SwitchConfig config = test::leaf_spine({.leaves = 3, .spines = 2}).leaves[0];
  config.rlb = config::rlb_preset(config::RlbPreset::standard);
  config.rlb.guard.flows = flows;
  config.rlb.guard.mode = guard;
  config.rlb.guard.scope = config::GuardScope::all;
  config.path_service.shim = config::ShimUse::off;
  config.load_balancer.scheme = scheme;
  test::spread_over_workers(config, workers);
  return config;
}

struct Rig : test::OneSwitch {
  explicit Rig(size_t shards = 1, int64_t flows = 65'536, const char* scheme = "letflow",
               config::GuardMode guard = config::GuardMode::strict)
      : OneSwitch(leaf(shards, flows, scheme, guard), shards),
        operations(object(), backend,
                   {"", config, [this] { fabric.poll(node); }, [](const LoggedEvent&) {}, 0}) {
    run_for(1_us);
  }
  // A packet of the flow, from a host port of its own worker.
  void up(size_t port, uint16_t flow, size_t to_leaf) {
    test::UdpSpec spec{.destination_mac = port_mac(config, port),
                       .source_mac = test::host_mac(1, port + 1),
                       .source = test::host_ip(1, port + 1),
                       .destination = test::host_ip(to_leaf, 1),
                       .dscp = test::kLosslessDscp};
    spec.source_port = static_cast<uint16_t>(1'000 + flow);
    spec.frame_len = 200;
    spec.readable_len = 128;
    inject(port, test::udp_frame(spec), 200);
  }
  Json show(const Json& options = Json::object()) {
    Json request{{"command", "show"}, {"report", "flows"}};
    request.update(options);
    const Json answer = operations.handle(request, 0);
    EXPECT_TRUE(answer.at("ok")) << answer.dump();
    return answer.at("result");
  }

  FakeBackend backend;
  Operations operations;
};

TEST(Flows, EachWorkersFlowsAreShownOnce) {
  Rig rig(2);
  for (uint16_t flow = 0; flow < 20; ++flow) {
    rig.up(flow % 2, flow, 2 + flow % 3 / 2);
    rig.run_for(1_us);
  }
  const Json report = rig.show();
  EXPECT_EQ(report.at("watched_flows"), 20u);
  EXPECT_EQ(report.at("watched_places"), 2 * 65'536u);
  EXPECT_EQ(report.at("matching_flows"), 20u);
  EXPECT_EQ(report.at("scheme_flows"), 20u);
  EXPECT_EQ(report.at("scheme_places"), 2 * 65'536u);
  std::set<std::string> flows;
  std::set<uint64_t> workers;
  uint64_t idle = 0;
  for (const Json& row : report.at("rows")) {
    flows.insert(row.at("flow"));
    workers.insert(row.at("worker").get<uint64_t>());
    EXPECT_GE(row.at("idle_ns"), idle) << "the least idle first";
    idle = row.at("idle_ns");
    EXPECT_EQ(row.at("shared"), "no");
    EXPECT_EQ(row.at("proven"), "no") << "no path is measured";
    EXPECT_TRUE(row.contains("port"));
    EXPECT_FALSE(row.contains("moved") || row.contains("wanted_port")) << "of slots not known";
  }
  EXPECT_EQ(flows.size(), 20u);
  EXPECT_EQ(workers.size(), 2u);
  EXPECT_GE(idle, 19'000u);
}

TEST(Flows, AreFilteredByLeafAndPortAndCut) {
  Rig rig;
  for (uint16_t flow = 0; flow < 90; ++flow) {
    rig.up(0, flow, 2 + flow % 3 / 2);
    rig.run_for(1_us);
  }
  EXPECT_EQ(rig.show().at("rows").size(), 50u) << "unless asked for more";
  const Json all = rig.show({{"top", 100}});
  ASSERT_EQ(all.at("rows").size(), 90u);
  EXPECT_EQ(rig.show({{"leaf", 3}, {"top", 100}}).at("rows").size(), 30u);
  const Json few = rig.show({{"leaf", 2}, {"top", 7}});
  EXPECT_EQ(few.at("matching_flows"), 60u);
  ASSERT_EQ(few.at("rows").size(), 7u);
  for (const Json& row : few.at("rows")) EXPECT_EQ(row.at("leaf"), 2u);
  size_t by_port = 0;
  for (const char* port : {"spine1", "spine2"}) {
    const Json some = rig.show({{"port", port}, {"top", 100}});
    by_port += some.at("rows").size();
    for (const Json& row : some.at("rows")) EXPECT_EQ(row.at("port"), port);
  }
  EXPECT_EQ(by_port, 90u);
}

TEST(Flows, ATableThatIsNoWholeSliceIsReadToItsEnd) {
  Rig rig(1, 2'500, "ecmp");
  for (uint16_t flow = 0; flow < 400; ++flow) {
    rig.up(0, flow, 2);
    rig.run_for(1_us);
  }
  const Json report = rig.show({{"top", 1'000}});
  EXPECT_EQ(report.at("watched_places"), 5'000u);
  EXPECT_EQ(report.at("rows").size(), report.at("watched_flows"));
  EXPECT_GT(report.at("rows").size(), 360u) << "some share a slot";
}

// A place for each flow says what its scheme would want of it; slots that nothing can be on the way
// of are not shown.
TEST(Flows, AreShownOneByOneWhereTheGuardKeepsThemSo) {
  config::SwitchConfig config = leaf(1, 64, "letflow");
  Rig by_slots(1, 64);
  by_slots.up(0, 1, 2);
  by_slots.run_for(1_us);
  EXPECT_EQ(by_slots.show().at("rows").size(), 1u);
  by_slots.run_for(config.rlb.guard.age);
  EXPECT_EQ(by_slots.show().at("rows").size(), 0u);
  EXPECT_EQ(by_slots.show().at("watched_flows"), 0u);
  Rig rig(1, 64, "letflow", config::GuardMode::paced);
  rig.up(0, 1, 2);
  rig.run_for(1_us);
  const Json report = rig.show();
  EXPECT_EQ(report.at("watched_places"), 64u);
  ASSERT_EQ(report.at("rows").size(), 1u);
  EXPECT_EQ(report.at("rows")[0].at("moved"), "no");
  EXPECT_EQ(report.at("rows")[0].at("port"), report.at("rows")[0].at("wanted_port"));
}

}  // namespace
}  // namespace eddy::control
