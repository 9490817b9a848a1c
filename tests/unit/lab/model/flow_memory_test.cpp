#include "lab/model/flow_memory.h"

#include <gtest/gtest.h>

namespace eddy::lab {
namespace {

constexpr double kMebi = 1'048'576;
constexpr FlowTableKind kFull = kFlowTableKinds[0];
constexpr FlowTableKind kIngress = kFlowTableKinds[1];
constexpr FlowTableKind kNic = kFlowTableKinds[2];
constexpr double kAnyNumber = 1e9;  // of flows

MemorySetting setting(double hosts, double rate, double rtt) {
  return {.hosts = hosts,
          .rate = rate,
          .rtt = rtt,
          .mtu = 2'048,
          .hosts_per_leaf = fat_tree_hosts_per_leaf(hosts)};
}

// Figure 4(a): "does not grow beyond 7 MiB" at 50 us; linear in the RTT.
TEST(FlowMemory, OfTheFullVariantIsWhatThePaperSays) {
  const double at_50_us = table_octets(setting(1'024, 200e9, 50e-6), kFull, kAnyNumber);
  EXPECT_LT(at_50_us, 7 * kMebi);
  EXPECT_GT(at_50_us, 6 * kMebi);
  EXPECT_DOUBLE_EQ(table_octets(setting(1'024, 200e9, 25e-6), kFull, kAnyNumber), at_50_us / 2);
  // Figure 4(c): above 50 MiB with more than 16,384 hosts.
  EXPECT_LT(table_octets(setting(16'384, 800e9, 5e-6), kFull, kAnyNumber), 50 * kMebi);
  EXPECT_GT(table_octets(setting(32'768, 800e9, 5e-6), kFull, kAnyNumber), 50 * kMebi);
}

// Of a leaf's hosts, and of one. The paper says 100 and 10 KiB, and neither for how many hosts nor
// for which packets; with packets of 2 KiB a fat tree of 65,536 hosts, 32 a leaf, has 76 and 2.4
// KiB.
TEST(FlowMemory, OfTheSmallVariantsIsThatOfTheirHostsAlone) {
  const MemorySetting large = setting(65'536, 800e9, 5e-6);
  EXPECT_DOUBLE_EQ(large.hosts_per_leaf, 32);
  const double nic = table_octets(large, kNic, kAnyNumber);
  EXPECT_NEAR(nic, 2'441, 1);
  EXPECT_DOUBLE_EQ(table_octets(large, kIngress, kAnyNumber), 32 * nic);
  EXPECT_DOUBLE_EQ(table_octets(large, kFull, kAnyNumber), 65'536 * nic * 11 / 10);
}

// Equation 1.
TEST(FlowMemory, GrowsWithTheFlowsOfAHostUpToItsPacketsInFlight) {
  const MemorySetting few = setting(1'024, 200e9, 5e-6);
  EXPECT_NEAR(packets_in_flight(few), 61.04, 0.01);
  EXPECT_DOUBLE_EQ(flows_in_flight(few, 10), 10);
  EXPECT_DOUBLE_EQ(flows_in_flight(few, 1'000), packets_in_flight(few));
  EXPECT_DOUBLE_EQ(table_octets(few, kFull, 10), 10 * 1'024 * 11);
}

// Table III.
TEST(FlowMemory, AFlowTakesWhatThePaperCounts) {
  const MemorySetting few = setting(1'024, 200e9, 5e-6);
  EXPECT_DOUBLE_EQ(table_octets(few, kFlowTableKinds[3], 1), 1'024 * 5);  // flowlet
  EXPECT_DOUBLE_EQ(table_octets(few, kFlowTableKinds[4], 1), 1'024 * 2);  // flowcell
  EXPECT_DOUBLE_EQ(few.hosts_per_leaf, 8);                                // k = 16
}

}  // namespace
}  // namespace eddy::lab
