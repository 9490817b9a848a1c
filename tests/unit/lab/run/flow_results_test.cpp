// What NICs and counters amount to: order of arrival, pauses and losses.
#include "lab/run/flow_results.h"

#include <gtest/gtest.h>

#include "tests/unit/host/one_nic.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using test::at;
using test::OneNic;

// NICs by hand, without a fabric and without flows.
struct Account {
  explicit Account(std::vector<const host::Nic*> of) : nics(std::move(of)) {}
  void add(const PauseScope& scope = {}) {
    NicTotals totals;
    for (const host::Nic* nic : nics) totals.add(*nic, experiment.host.priority, now);
    const FlowAccount account{.experiment = experiment,
                              .dilation = dilation,
                              .topology = topology,
                              .paths = paths,
                              .book = book,
                              .nics = totals,
                              .now = now};
    add_nic_results(account, scope, result);
  }

  config::Experiment experiment;
  int64_t dilation = 1;
  Topology topology;
  FabricPaths paths{topology};
  FlowBook book{{}, 1};
  std::vector<const host::Nic*> nics;
  Instant now;
  RunResult result;
};

// Packet `index` of a flow of 50, of which packet 0 never comes, so often.
void arrive(OneNic& one, uint32_t qpn, int64_t index, int times) {
  for (int i = 0; i < times; ++i) one.data(qpn, index, at(1_us));
}

TEST(FlowResults, TheTailOfDisorderIsTheNinetyNinthPercentOfAllNicsDisorder) {
  for (const bool last_percent : {true, false}) {
    OneNic first(test::plain_config());
    OneNic second(test::plain_config());
    arrive(first, first.expect(50), 2, 60);
    const uint32_t qpn = second.expect(50);
    arrive(second, qpn, 2, last_percent ? 39 : 38);
    arrive(second, qpn, 7, last_percent ? 1 : 2);
    Account account({&first.nic, &second.nic});
    account.add();
    EXPECT_EQ(account.result.ood_p99, last_percent ? 2 : 7);
    ASSERT_EQ(account.result.ood_histogram.size(), host::Nic::kOodBuckets);
    EXPECT_EQ(account.result.ood_histogram[2], last_percent ? 99u : 98u);
    EXPECT_EQ(account.result.ood_histogram[7], last_percent ? 1u : 2u);
  }
}

// What comes in order is no disorder, however much of it there is.
TEST(FlowResults, PacketsInOrderDoNotThinTheTailOfDisorder) {
  OneNic one(test::plain_config());
  const uint32_t qpn = one.expect(50);
  for (int64_t index = 0; index < 40; ++index) one.data(qpn, index, at(1_us));
  Account ordered({&one.nic});
  ordered.add();
  EXPECT_EQ(ordered.result.ood_p99, 0);
  one.data(qpn, 45, at(1_us));
  Account late({&one.nic});
  late.add();
  EXPECT_EQ(late.result.ood_p99, 5);
  EXPECT_EQ(late.result.ood_histogram[0], 40u);
}

TEST(FlowResults, TheRatioIsOfMeasuredFlowsAndTheMostOfAll) {
  Account account({});
  FlowResult measured{.measured = true};
  measured.received = {.received_packets = 30, .out_of_order_packets = 6, .max_ood = 4};
  FlowResult another = measured;
  another.received = {.received_packets = 10, .out_of_order_packets = 4, .max_ood = 9};
  FlowResult other;
  other.received = {.received_packets = 60, .out_of_order_packets = 60, .max_ood = 17};
  account.result.flows = {measured, other, another};
  account.add();
  EXPECT_DOUBLE_EQ(account.result.ooo_ratio, 0.25);
  EXPECT_EQ(account.result.ood_max, 17u);
}

// Ethernet, IP, UDP, BTH and ICRC, and what a frame takes on the line beside them.
TEST(FlowResults, HeadersAreThoseOfTheHostsAddresses) {
  const config::Experiment experiment;
  Topology topology;
  topology.hosts.resize(1);
  topology.hosts[0].address = *parse_ip("10.0.0.1");
  EXPECT_EQ(header_octets(experiment, topology), Bytes(14 + 20 + 8 + 12 + 4 + 24));
  topology.hosts[0].address = *parse_ip("fd00::1");
  EXPECT_EQ(header_octets(experiment, topology), Bytes(14 + 40 + 8 + 12 + 4 + 24));
}

// Two priority groups pause their senders when the run ends: they have begun to, and not resumed. A
// host is paused from 10 us on for 5.12 us, of which 2 us have passed; ports of switches have been
// for 4 us, and for 6 more by pauses that are in force and not counted.
TEST(FlowResults, PausesInForceAtTheEndCount) {
  OneNic one(test::plain_config());
  one.send(1);
  one.pause(Priority(3), 1'000, at(10_us));
  Account account({&one.nic});
  account.now = at(12_us);
  account.dilation = 2;
  account.result.simulated = 6_us;
  account.result.counters = {{"pfc_tx_xoff", 9},
                             {"pfc_tx_xon", 3},
                             {"pfc_rx_paused_ps", 4'000'000},
                             {"lossless_dropped_packets", 5},
                             {"pfc_prediction_lead_ps", 700}};
  account.add({.switch_ports = 2, .pausing = 2, .of_hosts = 3, .in_force = 6_us});
  const RunResult& result = account.result;
  EXPECT_EQ(result.pfc_frames, 9u);
  EXPECT_EQ(result.pfc_events, 5u);
  EXPECT_EQ(result.pfc_host_events, 3u);
  EXPECT_DOUBLE_EQ(result.pfc_paused_us, 6) << "10 us of switches and 2 of the host, undilated";
  EXPECT_DOUBLE_EQ(result.pfc_pause_rate, 5 / 6e-6 / 2);
  EXPECT_DOUBLE_EQ(result.pfc_paused_fraction, 6.0 / 6 / 3);
  EXPECT_EQ(result.lossless_drops, 5u);
  EXPECT_EQ(result.prediction_lead, 350_ps);
  EXPECT_EQ(result.counters.at("nic_rx_pfc_packets"), 1u);
}

// Nearest rank: the smallest value that at least so many percent do not exceed.
TEST(Statistics, PercentilesAreByNearestRank) {
  std::vector<double> values;
  for (int i = 1'000; i > 0; --i) values.push_back(i);
  const Statistics many = statistics(values);
  EXPECT_EQ(many.count, 1'000u);
  EXPECT_DOUBLE_EQ(many.mean, 500.5);
  EXPECT_EQ(many.p50, 500);
  EXPECT_EQ(many.p95, 950);
  EXPECT_EQ(many.p99, 990);
  EXPECT_EQ(many.p999, 999);
  EXPECT_EQ(many.max, 1'000);
  std::vector<double> three = {3, 1, 2};
  const Statistics few = statistics(three);
  EXPECT_EQ(few.p50, 2);
  EXPECT_EQ(few.p95, 3);
  std::vector<double> none;
  EXPECT_EQ(statistics(none).count, 0u);
  EXPECT_EQ(statistics(none).max, 0);
}

}  // namespace
}  // namespace eddy::lab
