#include "lab/real/switch_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/document.h"
#include "config/load.h"
#include "lab/fabric/build_topology.h"
#include "lab/real/host_devices.h"
#include "lab/run/flow_results.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using testing::ElementsAre;
using testing::HasSubstr;

config::Experiment small() {
  config::Experiment experiment;
  experiment.topology.leaves = experiment.topology.spines = experiment.topology.hosts_per_leaf = 2;
  experiment.switches.poll_gap = 20_ms;
  experiment.run.time_dilation = 1'000;
  return experiment;
}

config::SwitchConfig switch_of(const config::Experiment& experiment, size_t index) {
  auto topology = unscaled_topology(experiment);
  for (const std::string& problem : topology ? Problems{} : topology.problems())
    ADD_FAILURE() << problem;
  seed_switches(*topology, 1);
  return real_switch(experiment, *topology, index,
                     {.sockets = "/s", .control = {}, .prefix = "x-"});
}

TEST(RealSwitch, EveryPortHasItsSocketWithOneServer) {
  const config::SwitchConfig leaf = switch_of(small(), 1);
  const config::SwitchConfig spine = switch_of(small(), 3);
  EXPECT_EQ(leaf.name, "x-leaf2");
  std::vector<std::string> devices;
  for (const config::PortConfig& port : leaf.ports) devices.push_back(port.device);
  const std::string tail = ".memif,socket-abstract=no";
  EXPECT_THAT(devices, ElementsAre("net_memif0,role=server,id=0,socket=/s/leaf2.host1" + tail,
                                   "net_memif1,role=server,id=0,socket=/s/leaf2.host2" + tail,
                                   "net_memif2,role=client,id=0,socket=/s/leaf2-spine1" + tail,
                                   "net_memif3,role=client,id=0,socket=/s/leaf2-spine2" + tail));
  EXPECT_EQ(spine.ports[1].device, "net_memif1,role=server,id=0,socket=/s/leaf2-spine2" + tail);
}

TEST(RealSwitch, AHostMayStandOnAnotherDevice) {
  const config::Experiment experiment = small();
  auto topology = unscaled_topology(experiment);
  ASSERT_TRUE(topology.ok());
  const auto devices = host_devices(*topology, {"leaf2.host1=net_af_packet7,iface=eth7",
                                                "leaf1.host2=net_af_xdp{n},iface={host}"});
  ASSERT_TRUE(devices.ok());
  const RealPlace place{.sockets = "/s", .host_devices = devices.value().by_host};
  const config::SwitchConfig leaf1 = real_switch(experiment, *topology, 0, place);
  const config::SwitchConfig leaf2 = real_switch(experiment, *topology, 1, place);
  EXPECT_THAT(leaf1.ports[0].device, HasSubstr("socket=/s/leaf1.host1.memif"));
  EXPECT_EQ(leaf1.ports[1].device, "net_af_xdp1,iface=leaf1.host2");
  EXPECT_EQ(leaf2.ports[0].device, "net_af_packet7,iface=eth7");
  EXPECT_THAT(leaf2.ports[1].device, HasSubstr("socket=/s/leaf2.host2.memif"));
  EXPECT_THAT(leaf2.ports[2].device, HasSubstr("socket=/s/leaf2-spine1.memif"));
}

TEST(RealSwitch, RoutesLeadToPortsOfOwnHostsAndToLeaves) {
  const config::SwitchConfig leaf = switch_of(small(), 0);
  ASSERT_EQ(leaf.routes.size(), 4u);
  EXPECT_EQ(leaf.routes[1].port, "host2");
  EXPECT_FALSE(leaf.routes[1].leaf);
  EXPECT_EQ(leaf.routes[2].leaf, LeafId(2));
  EXPECT_FALSE(leaf.routes[2].port);
}

// eddyd scales what it reads: rates are the experiment's, the poll gap is the machine's.
TEST(RealSwitch, ScaledItIsWhatTheLabScales) {
  const config::Experiment experiment = small();
  const config::SwitchConfig real = config::scaled(switch_of(experiment, 0));
  auto lab = build_topology(config::scaled(experiment));
  ASSERT_TRUE(lab.ok());
  EXPECT_EQ(real.poll_gap, 20_ms);
  EXPECT_EQ(real.path_service, lab->switches[0].path_service);
  EXPECT_EQ(real.rlb, lab->switches[0].rlb);
  for (size_t i = 0; i < real.ports.size(); ++i) {
    config::PortConfig port = real.ports[i];
    port.device.clear();
    EXPECT_EQ(port, lab->switches[0].ports[i]) << port.name;
  }
}

TEST(RealSwitch, WhatIsPrintedLoadsBackTheSame) {
  for (const char* scheme : {"letflow", "drill"})
    for (const bool rlb : {false, true}) {
      config::Experiment experiment = small();
      experiment.load_balancer.scheme = scheme;
      if (rlb) experiment.switches.rlb = config::rlb_preset(config::RlbPreset::standard);
      config::SwitchConfig config = switch_of(experiment, 0);
      config.seed = config::kLargestSeed;
      const auto loaded = config::load_text("leaf1.yaml", print_config(config));
      ASSERT_TRUE(loaded.ok()) << loaded.problems().front();
      config::SwitchConfig back = loaded.value().config;
      back.load_balancer = config.load_balancer;  // the scheme's defaults are filled in
      EXPECT_TRUE(print_config(back) == print_config(config)) << scheme << rlb;
      EXPECT_EQ(loaded.value().config.routes, config.routes);
      EXPECT_EQ(loaded.value().config.neighbors, config.neighbors);
    }
}

TEST(RealSwitch, WhatRealSwitchesCannotDoIsRefused) {
  config::Experiment experiment = small();
  const auto refusal = [&] {
    const auto topology = unscaled_topology(experiment);
    return testing::PrintToString(check_real(experiment, topology.value()));
  };
  EXPECT_EQ(refusal(), "{}");
  experiment.faults.emplace_back();
  EXPECT_THAT(refusal(), HasSubstr("faults: real switches have none"));
  experiment.faults.clear();
  experiment.run.flow_queues = config::FlowQueues::marked_by_port;
  EXPECT_THAT(refusal(), HasSubstr("run.flow_queues: a reference of virtual time"));
  experiment.run.flow_queues = config::FlowQueues::off;
  experiment.switches.path_service.shim = config::ShimUse::free;
  EXPECT_THAT(refusal(), HasSubstr("switches.path_service.shim: free is for virtual time"));
  experiment.switches.path_service.shim = config::ShimUse::automatic;
  experiment.traffic.emplace_back().paths = {"spine1"};
  EXPECT_THAT(refusal(), HasSubstr("traffic.0.paths"));
  experiment.traffic.clear();
  experiment.switches.buffer.size = 256_MiB;
  experiment.topology.hosts_per_leaf = 31;
  EXPECT_THAT(refusal(), HasSubstr("switch leaf1: 33 ports, a real eddyd has at most 32"));
  EXPECT_THAT(refusal(), HasSubstr("62 hosts"));
}

}  // namespace
}  // namespace eddy::lab
