#include "lab/results/pfc_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/fabric/build_topology.h"
#include "net/pause_frame.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;

// A leaf with two hosts, and a spine. A frame stops priority 3 and lets 5 go.
TEST(PfcLog, HasALineForEachPriorityThatAFrameNames) {
  config::Experiment experiment;
  experiment.topology.leaves = 1;
  experiment.topology.spines = 1;
  experiment.topology.hosts_per_leaf = 2;
  auto topology = build_topology(experiment);
  ASSERT_TRUE(topology.ok());
  auto made = World::create(*topology, {}, [](uint32_t, uint32_t) { return 20_us; }, {});
  ASSERT_TRUE(made.ok());
  const std::unique_ptr<World> world = std::move(*made);
  PfcLog log(10);
  log.attach({*world, *topology, 2'000_us});
  world->run_until(Instant::at(50_us));

  PauseFrame pause{.enabled = 1 << 3 | 1 << 5};
  pause.quanta[3] = 0xffff;
  Packet* packet = world->pool().get();
  packet->held_len = static_cast<uint16_t>(encode(pause, {packet->data(), 64}));
  log.on_frame(world->line_of_host(1), Watcher::Step::entered, *packet);
  EXPECT_EQ(log.text(), "") << "it is not there yet";
  log.on_frame(world->line_of_host(1), Watcher::Step::delivered, *packet);
  log.on_frame(world->line_of(0, PortId(0)), Watcher::Step::delivered, *packet);
  // Hosts are nodes 0 and 1, the leaf is node 2; 50 us are 5 us undilated, and
  // the trace's file was at 2 ms when the run began.
  EXPECT_EQ(log.text(), "2005000 2 1 2 1\n2005000 2 1 2 0\n2005000 0 0 1 1\n2005000 0 0 1 0\n");
  world->pool().put(packet);
}

}  // namespace
}  // namespace eddy::lab
