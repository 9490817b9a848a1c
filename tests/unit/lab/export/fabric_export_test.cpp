#include "lab/export/fabric_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/lab/export/exported.h"

namespace eddy::lab {
namespace {

using namespace testing_support;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

config::SwitchConfig config_of(const FabricExport::Switch& each) {
  auto loaded = config::load_text(each.name, each.yaml);
  for (const std::string& problem : loaded ? Problems{} : loaded.problems())
    ADD_FAILURE() << problem;
  return loaded ? loaded.value().config : config::SwitchConfig{};
}

std::string refusal(const config::LoadedExperiment& loaded, const ExportWishes& wishes) {
  const auto fabric = export_fabric(loaded, wishes);
  return fabric ? "" : fabric.problems().front();
}

config::LoadedExperiment written(const test::TempDirectory& folder, const std::string& name,
                                 const std::string& text) {
  std::ofstream(folder.file(name)) << text;
  return load_file(folder.file(name));
}

constexpr const char* kSmall =
    "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1, host_rate: 100Mbps, "
    "fabric_rate: 100Mbps}\n"
    "switches: {poll_gap: 10ms}\n"
    "run: {duration: 1s}\n";

TEST(FabricExport, TheDemoHasItsSwitchesAndNothingOfTheKernelForEddyhost) {
  const FabricExport fabric = demo(ExportedHosts::eddyhost);
  EXPECT_EQ(fabric.name, "demo");
  ASSERT_EQ(fabric.switches.size(), 4u);
  for (const FabricExport::Switch& each : fabric.switches) {
    EXPECT_FALSE(each.has_links);
    EXPECT_THAT(each.capabilities, IsEmpty());
    for (const config::PortConfig& port : config_of(each).ports)
      EXPECT_THAT(port.device, HasSubstr("socket=/run/eddy/"));
  }
  EXPECT_THAT(fabric.hosts, IsEmpty());
  EXPECT_THAT(fabric.eddyhost, Contains("/etc/eddy/experiment/demo.yaml"));
  EXPECT_THAT(fabric.eddyhost, Contains("spine2=/run/eddy/spine2.sock"));
  EXPECT_THAT(fabric.eddyhost, Contains("*=net_memif{n},socket=/run/eddy/{host}.memif"));
}

TEST(FabricExport, LinuxHostsHaveTheLabsAddressesAndLossyPorts) {
  const FabricExport fabric = demo(ExportedHosts::linux);
  ASSERT_EQ(fabric.hosts.size(), 4u);
  const FabricExport::Host& third = fabric.hosts[2];
  EXPECT_EQ(third.node, "leaf2-host1");
  EXPECT_EQ(third.at, "leaf2");
  EXPECT_EQ(third.device, "leaf2-host1");
  EXPECT_EQ(third.address, "10.0.2.1");
  EXPECT_EQ(third.mac, "02:aa:00:02:00:01");
  EXPECT_EQ(third.gateway, "169.254.0.3");
  EXPECT_EQ(third.mtu, 1'500);
  EXPECT_EQ(fabric.network, "10.0.0.0/22");
  EXPECT_THAT(fabric.eddyhost, IsEmpty());
  const config::SwitchConfig leaf = config_of(fabric.switches[1]);
  EXPECT_EQ(leaf.ports[0].device, "net_af_packet0,iface=leaf2-host1");
  EXPECT_EQ(to_string(leaf.ports[0].addresses.at(0)), "169.254.0.3/32");
  EXPECT_EQ(leaf.ports[0].pg_profiles[3], "lossy");
  EXPECT_EQ(leaf.ports[2].pg_profiles[3], "lossless");
  EXPECT_EQ(leaf.ports[0].queues[1].wred, "default");
  EXPECT_EQ(leaf.neighbors.at(0).mac, parse_mac("02:aa:00:02:00:01"));
  EXPECT_TRUE(fabric.switches[1].has_links);
  EXPECT_FALSE(fabric.switches[2].has_links);
  EXPECT_THAT(fabric.switches[1].capabilities, Contains("NET_RAW"));
  EXPECT_THAT(fabric.switches[2].capabilities, IsEmpty());
}

TEST(FabricExport, DevicesMayBeNumberedBySwitch) {
  const FabricExport fabric = demo(ExportedHosts::linux, true);
  std::vector<std::string> devices;
  for (const FabricExport::Host& host : fabric.hosts) devices.push_back(host.device);
  EXPECT_THAT(devices, ElementsAre("eth1", "eth2", "eth1", "eth2"));
}

TEST(FabricExport, TheSameExperimentGivesTheSameFiles) {
  const FabricExport once = demo(ExportedHosts::linux);
  const FabricExport again = demo(ExportedHosts::linux);
  for (size_t i = 0; i < once.switches.size(); ++i)
    EXPECT_EQ(once.switches[i].yaml, again.switches[i].yaml);
  const FabricExport other = exported(
      experiment("demo"), {.variants = {}, .seed = 2, .name = {}, .hosts = ExportedHosts::linux});
  EXPECT_NE(once.switches[0].yaml, other.switches[0].yaml);
}

// At 40 Gb/s no headroom lasts for 20 ms: rates are divided, and eddyhost is told the same.
TEST(FabricExport, WhatAMachineNeedsIsSetForSwitchesAndHosts) {
  const FabricExport fabric = exported(experiment("leaf-spine", {.size = "ci", .sets = {}}),
                                       {.variants = {"scheme=drill"}, .name = {}});
  const int64_t dilation = config_of(fabric.switches[0]).time_dilation;
  EXPECT_GT(dilation, 100);
  EXPECT_THAT(fabric.eddyhost, Contains("run.time_dilation=" + std::to_string(dilation)));
  EXPECT_THAT(fabric.eddyhost, Contains("switches.poll_gap=20ms"));
  EXPECT_THAT(fabric.eddyhost, Contains("scheme=drill"));
  ASSERT_EQ(fabric.experiment_files.size(), 2u);
  EXPECT_EQ(fabric.experiment_files[0].path, "experiment/leaf-spine.yaml");
  EXPECT_EQ(fabric.experiment_files[1].path, "experiment/workloads/web_search.csv");
}

TEST(FabricExport, AGivenDilationIsTaken) {
  const FabricExport fabric =
      exported(experiment("demo"), {.variants = {}, .name = {}, .time_dilation = 5});
  EXPECT_EQ(config_of(fabric.switches[0]).time_dilation, 5);
}

TEST(FabricExport, TooManyHostsOrPortsAreRefused) {
  EXPECT_THAT(refusal(experiment("demo", {.size = "full", .sets = {"topology.leaves=17"}}), {}),
              HasSubstr("34 hosts: eddyhost has a port for each and at most 32"));
  EXPECT_THAT(
      refusal(experiment("demo", {.size = "full",
                                  .sets = {"topology.hosts_per_leaf=31", "buffer.size=64MiB"}}),
              {.variants = {}, .name = {}, .hosts = ExportedHosts::linux}),
      HasSubstr("33 ports, a real eddyd has at most 32"));
  EXPECT_EQ(refusal(experiment("demo", {.size = "full",
                                        .sets = {"topology.hosts_per_leaf=30", "topology.leaves=1",
                                                 "topology.spines=1", "buffer.size=64MiB"}}),
                    {.variants = {}, .name = {}, .hosts = ExportedHosts::linux}),
            "");
}

TEST(FabricExport, AVariantHasToBeChosen) {
  EXPECT_THAT(refusal(experiment("leaf-spine", {.size = "ci", .sets = {}}), {}),
              HasSubstr("scheme=ecmp"));
}

TEST(FabricExport, NamesOfContainersAreLabels) {
  const test::TempDirectory folder;
  const auto loaded = written(folder, "My_Lab.yaml", kSmall);
  EXPECT_EQ(exported(loaded, {}).name, "my-lab");
  EXPECT_THAT(refusal(loaded, {.variants = {}, .name = "a b"}),
              HasSubstr("--name \"a b\": valid are"));
  EXPECT_THAT(refusal(loaded, {.variants = {}, .name = "abcdefghijklmnopqrstu"}),
              HasSubstr("1 to 20"));
  EXPECT_THAT(refusal(loaded, {.variants = {}, .name = "-x"}), HasSubstr("neither first nor last"));
}

// Two leaves under one spine, named by whoever wrote the file.
config::LoadedExperiment named(const test::TempDirectory& folder, const std::string& leaf1,
                               const std::string& leaf2) {
  std::ofstream(folder.file("t.topo"))
      << "switch " << leaf1 << " " << leaf2 << " top\nhosts " << leaf1 << "\nhosts " << leaf2
      << "\nlink " << leaf1 << " top rate=100Mbps\nlink " << leaf2 << " top rate=100Mbps\n";
  return written(folder, "x.yaml",
                 "topology: {kind: file, file: t.topo, host_rate: 100Mbps, fabric_rate: "
                 "100Mbps}\nswitches: {poll_gap: 10ms}\nrun: {duration: 1s}\n");
}

TEST(FabricExport, LongNamesMakeShortInterfaces) {
  const test::TempDirectory folder;
  const FabricExport fabric = exported(named(folder, "Top_Of_Rack_Number_1", "b"),
                                       {.variants = {}, .name = {}, .hosts = ExportedHosts::linux});
  EXPECT_EQ(fabric.switches.at(0).name, "Top_Of_Rack_Number_1");
  EXPECT_EQ(fabric.switches.at(0).node, "top-of-rack-number-1");
  EXPECT_EQ(fabric.hosts.at(0).node, "top-of-rack-number-1-host1");
  EXPECT_EQ(fabric.hosts.at(0).device, "h1");
  EXPECT_EQ(fabric.hosts.at(1).device, "h2");
  ASSERT_EQ(fabric.experiment_files.size(), 2u);
  EXPECT_EQ(fabric.experiment_files[1].path, "experiment/t.topo");
}

TEST(FabricExport, TwoSwitchesAreNotOneContainer) {
  const test::TempDirectory folder;
  EXPECT_THAT(refusal(named(folder, "Leaf_a", "leaf_A"), {}),
              HasSubstr("container of leaf_A: \"leaf-a\" is taken already"));
  EXPECT_THAT(refusal(named(folder, "wire", "b"), {}),
              HasSubstr("container of wire: \"wire\" is taken already"));
}

TEST(FabricExport, FilesThatItNamesComeAlong) {
  const test::TempDirectory folder;
  std::ofstream(folder.file("trace.csv"))
      << "start,source,destination,size\n0s,leaf1.host1,leaf2.host1,1kB\n";
  const std::string text = std::string(kSmall) + "traffic:\n  - {type: trace, file: ./trace.csv}\n";
  const FabricExport fabric = exported(written(folder, "x.yaml", text), {});
  ASSERT_EQ(fabric.experiment_files.size(), 2u);
  EXPECT_EQ(fabric.experiment_files[0].text, text);
  EXPECT_EQ(fabric.experiment_files[1].path, "experiment/trace.csv");
}

TEST(FabricExport, FilesFromElsewhereAreRefused) {
  const test::TempDirectory folder;
  std::ofstream(folder.file("trace.csv"))
      << "start,source,destination,size\n0s,leaf1.host1,leaf2.host1,1kB\n";
  std::filesystem::create_directory(folder.file("below"));
  const std::string text =
      std::string(kSmall) + "traffic:\n  - {type: trace, file: ../trace.csv}\n";
  EXPECT_THAT(refusal(written(folder, "below/x.yaml", text), {}),
              HasSubstr("only files beside or below it can be exported"));
}

}  // namespace
}  // namespace eddy::lab
