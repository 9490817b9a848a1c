#include "switch/control/report/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "net/congestion/destination_tag.h"
#include "tests/unit/control/report/sample_switch.h"

namespace eddy::control {
namespace {

Json rows(const SampleSwitch& s, Report report, ReportOptions options = {}) {
  return make_report(report, s.input(), options).at("rows");
}

TEST(Report, EnvelopeNamesSwitchGenerationAndUptime) {
  const Json report = make_report(Report::ports, SampleSwitch().input(), {});
  EXPECT_EQ(report.at("report"), "ports");
  EXPECT_EQ(report.at("switch"), "leaf1");
  EXPECT_EQ(report.at("generation"), 3u);
  EXPECT_EQ(report.at("uptime_ns"), 1'500'000'000u);
}

TEST(Report, EveryReportIsFlatRowsOfStringsAndUnsigned) {
  SampleSwitch s;
  s.neighbors.push_back({*parse_ip("10.1.0.7"), MacAddress{}, PortId(0), Duration::seconds(3)});
  s.schemes.push_back({"ecmp", "buckets", "count", "256", "1 to 1024", "help"});
  s.events.push_back({{Instant{}, 1, PortId(0), Priority(3), EventKind::pfc_sent}, 1, 0});
  s.now.workers.resize(2);
  s.flows.rows.resize(1);
  s.isolated.resize(1);
  for (const Word& word : report_words()) {
    const Json all = rows(s, *parse_report(word.name), {true, {}});
    ASSERT_FALSE(all.empty()) << word.name;
    for (const Json& row : all)
      for (const auto& [key, value] : row.items())
        EXPECT_TRUE(value.is_string() || value.is_number_unsigned()) << word.name << " " << key;
  }
}

TEST(Report, PortsHaveEveryCounterOfTheList) {
  const Json row = rows(SampleSwitch(), Report::ports).at(0);
  for (const CounterInfo& info : port_counter_infos())
    EXPECT_TRUE(row.contains(std::string(info.name))) << info.name;
}

TEST(Report, AFabricPortWithALinkAndNoPeerSaysSo) {
  SampleSwitch s;
  EXPECT_EQ(rows(s, Report::ports).at(1).at("oper"), "down");
  s.now.ports[1].device.link_up = true;
  EXPECT_EQ(rows(s, Report::ports).at(1).at("oper"), "no_peer");
  s.now.ports[1].up = true;
  EXPECT_EQ(rows(s, Report::ports).at(1).at("oper"), "up");
}

TEST(Report, PortsNameBothEndsOfTheirLinksByMac) {
  SampleSwitch s;
  s.config.mac = {{0x02, 0, 0, 0, 0, 0x10}};
  s.now.ports[1].peer_mac = {{0x02, 0, 0, 0, 0, 9}};
  EXPECT_EQ(rows(s, Report::ports).at(0).at("mac"), "02:00:00:00:00:11");
  EXPECT_FALSE(rows(s, Report::ports).at(0).contains("peer_mac"));
  EXPECT_EQ(rows(s, Report::ports).at(1).at("mac"), "02:00:00:00:00:12");
  EXPECT_EQ(rows(s, Report::ports).at(1).at("peer_mac"), "02:00:00:00:00:09");
}

TEST(Report, RatesComeFromTheEarlierSample) {
  SampleSwitch s;
  s.earlier.numbers[0].port[index_of(PortCounter::rx_bytes)] = 1'000;
  s.now.numbers[0].port[index_of(PortCounter::rx_bytes)] = 126'000;
  s.now.numbers[0].port[index_of(PortCounter::rx_packets)] = 250;
  s.now.at_ns = s.earlier.at_ns + 500'000'000;
  const Json row = rows(s, Report::ports).at(0);
  EXPECT_EQ(row.at("rx_bps"), 2'000'000u);
  EXPECT_EQ(row.at("rx_pps"), 500u);
}

TEST(Report, NoRateWithoutAnEarlierSample) {
  SampleSwitch s;
  ReportInput input = s.input();
  input.earlier = nullptr;
  EXPECT_FALSE(make_report(Report::ports, input, {}).at("rows").at(0).contains("rx_bps"));
}

TEST(Report, CountersAreSinceTheBaselineRatesAreNot) {
  SampleSwitch s;
  s.now.numbers[0].port[index_of(PortCounter::tx_packets)] = 100;
  s.baseline.resize(2);
  s.baseline[0].port[index_of(PortCounter::tx_packets)] = 90;
  s.baseline[0].port[index_of(PortCounter::rx_packets)] = 7;  // of another life: never negative
  const Json row = rows(s, Report::ports).at(0);
  EXPECT_EQ(row.at("tx_packets"), 10u);
  EXPECT_EQ(row.at("rx_packets"), 0u);
  EXPECT_EQ(row.at("tx_pps"), 100u);
}

TEST(Report, QuietRowsAreLeftOutUnlessAll) {
  SampleSwitch s;
  EXPECT_EQ(rows(s, Report::drops).size(), 0u);
  EXPECT_EQ(rows(s, Report::queues).size(), 0u);
  s.now.numbers[1].drops[index_of(DropReason::ttl_expired)] = 2;
  const Json drops = rows(s, Report::drops);
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_EQ(drops[0].at("port"), "spine1");
  EXPECT_EQ(drops[0].at("reason"), "ttl_expired");
  EXPECT_EQ(rows(s, Report::drops, {true, {}}).size(), 2 * kDropReasons);
  EXPECT_EQ(rows(s, Report::queues, {true, {}}).size(), 2 * kPriorities);
}

TEST(Report, RlbShowsPortsWhereSomethingOfItHappened) {
  SampleSwitch s;
  EXPECT_EQ(rows(s, Report::rlb).size(), 0u);
  s.now.numbers[1].port[index_of(PortCounter::pfc_predicted)] = 3;
  s.now.numbers[1].port[index_of(PortCounter::guard_replaced_flows)] = 4;
  const Json rlb = rows(s, Report::rlb);
  ASSERT_EQ(rlb.size(), 1u);
  EXPECT_EQ(rlb[0].at("port"), "spine1");
  EXPECT_EQ(rlb[0].at("pfc_predicted"), 3u);
  EXPECT_EQ(rlb[0].at("guard_replaced_flows"), 4u);
  EXPECT_FALSE(rlb[0].contains("tx_packets"));
  EXPECT_EQ(rows(s, Report::rlb, {true, {}}).size(), 2u);
}

TEST(Report, RlbSaysHowLongPacketsWaited) {
  SampleSwitch s;
  ReportInput input = s.input();
  const auto report = [&] { return make_report(Report::rlb, input, {}); };
  EXPECT_FALSE(report().contains("rlb_wait_p50_ns")) << "none did";
  Values<DelayHistogram::kSteps> before{};
  before[DelayHistogram::step_of(Duration::milliseconds(1))] = 500;
  s.now.waits = before;
  s.now.waits[DelayHistogram::step_of(Duration::microseconds(1))] = 98;
  s.now.waits[DelayHistogram::step_of(Duration::microseconds(8))] = 2;
  input.waits_baseline = &before;
  EXPECT_GE(report().at("rlb_wait_p50_ns"), 1'000u);
  EXPECT_LE(report().at("rlb_wait_p50_ns"), 1'250u);
  EXPECT_GE(report().at("rlb_wait_p99_ns"), 8'000u);
  EXPECT_LE(report().at("rlb_wait_p99_ns"), 10'000u);
  input.waits_baseline = nullptr;
  EXPECT_GE(report().at("rlb_wait_p50_ns"), 1'000'000u);
}

FlowRow flow_to_leaf_2(uint8_t member, uint8_t wanted) {
  return {.flow = 0x0123456789abcdee,
          .leaf = LeafId(2),
          .member = member,
          .wanted = wanted,
          .worker = 1,
          .idle = Duration::microseconds(4)};
}

TEST(Report, FlowsSayWhereTheyGoAndWhereTheyWould) {
  SampleSwitch s;
  s.config.leaves[0].paths.push_back(config::PathConfig{"host1"});
  s.flows = {.rows = {flow_to_leaf_2(1, 0)}, .matching = 7, .watched = 9, .places = 64};
  s.now.numbers[0].port[index_of(PortCounter::guard_placeless_packets)] = 3;
  s.now.numbers[1].port[index_of(PortCounter::guard_replaced_flows)] = 2;
  const Json report = make_report(Report::flows, s.input(), {});
  EXPECT_EQ(report.at("matching_flows"), 7u);
  EXPECT_EQ(report.at("watched_flows"), 9u);
  EXPECT_EQ(report.at("watched_places"), 64u);
  EXPECT_EQ(report.at("guard_placeless_packets"), 3u);
  EXPECT_EQ(report.at("guard_replaced_flows"), 2u);
  Json row = report.at("rows").at(0);
  EXPECT_EQ(row.at("flow"), "0123456789abcdee");
  EXPECT_EQ(row.at("worker"), 1u);
  EXPECT_EQ(row.at("leaf"), 2u);
  EXPECT_EQ(row.at("port"), "host1");
  EXPECT_EQ(row.at("path"), "1");
  EXPECT_EQ(row.at("wanted_port"), "spine1");
  EXPECT_EQ(row.at("moved"), "yes");
  EXPECT_EQ(row.at("idle_ns"), 4'000u);
  s.flows.rows[0].wanted = 1;
  EXPECT_EQ(rows(s, Report::flows).at(0).at("moved"), "no");
  s.flows.rows[0].set = 1;  // of another configuration
  row = rows(s, Report::flows).at(0);
  EXPECT_FALSE(row.contains("port"));
  s.flows.rows[0].leaf = LeafId::none();
  EXPECT_FALSE(rows(s, Report::flows).at(0).contains("leaf"));
}

using Named = IsolatedRow::Named;
using State = IsolatedRow::State;

IsolatedRow heard(uint32_t tag, Named named, State state = State::hot) {
  return {.tag = tag,
          .host = named == Named::unknown ? tag : destination_tag(*parse_ip("10.2.0.7")),
          .destination = named == Named::unknown ? IpAddress{} : *parse_ip("10.2.0.7"),
          .leaf = LeafId(2),
          .port = PortId::none(),
          .origin = SwitchId(9),
          .named = named,
          .state = state,
          .was_hot = true,
          .hot_for = Duration::microseconds(30),
          .queue_bytes = 70'000};
}

// Two workers know two flows to the host, one of them both.
TEST(Report, FlowsInPlaceOfTheirHostAreOneRowOfIt) {
  SampleSwitch s;
  s.isolated = {heard(11, Named::flow), heard(12, Named::flow, State::cold),
                heard(11, Named::flow)};
  s.isolated[0].packets = 5;
  s.isolated[0].flows = 1;
  s.isolated[1].hot_for = Duration::milliseconds(1);
  s.isolated[2].packets = 7;
  s.isolated[2].flows = 4;
  const Json all = rows(s, Report::isolated);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0], (Json{{"destination", "10.2.0.7"},
                          {"tag", all[0].at("tag")},
                          {"leaf", 2u},
                          {"state", "hot"},
                          {"hot_ns", 30'000u},
                          {"queued_bytes", 70'000u},
                          {"named", "flows"},
                          {"named_flows", 2u},
                          {"isolated_flows", 2u},
                          {"isolated_packets", 12u},
                          {"said_by", "switch 9"}}));
}

// Its own port; by the neighbor there the host's address is known.
TEST(Report, AHostOfThisLeafHasItsPortAndAddress) {
  SampleSwitch s;
  s.config.id = SwitchId(4);
  s.config.leaf = LeafId(1);
  const uint32_t tag = destination_tag(*parse_ip("10.1.0.7"));
  s.neighbors.push_back({*parse_ip("10.1.0.7"), MacAddress{}, PortId(0), Duration::seconds(3)});
  s.isolated = {{.tag = 1'000,  // a little longer known, and nobody knows of what
                 .host = 1'000,
                 .leaf = LeafId::none(),
                 .port = PortId::none(),
                 .origin = SwitchId::none(),
                 .state = State::cold,
                 .flows = ~uint64_t{0}},
                {.tag = tag,
                 .host = tag,
                 .leaf = LeafId(1),
                 .port = PortId(0),
                 .origin = SwitchId(4),
                 .named = Named::host,
                 .state = State::crowded,
                 .was_hot = true}};
  const Json all = rows(s, Report::isolated);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("destination"), "10.1.0.7");
  EXPECT_EQ(all[0].at("port"), "host1");
  EXPECT_EQ(all[0].at("leaf"), 1u);
  EXPECT_EQ(all[0].at("state"), "crowded");
  EXPECT_EQ(all[0].at("named"), "host");
  EXPECT_EQ(all[0].at("said_by"), "this switch");
  EXPECT_EQ(all[1].at("tag"), "000003e8");
  EXPECT_EQ(all[1].at("state"), "cold");
  EXPECT_EQ(all[1].at("named"), "unknown");
  EXPECT_EQ(all[1].at("said_by"), "its packets");
  EXPECT_EQ(all[1].at("isolated_flows"), 266u) << "or more";
  for (const char* absent : {"destination", "leaf", "port", "hot_ns"})
    EXPECT_FALSE(all[1].contains(absent)) << absent;
  EXPECT_EQ(rows(s, Report::isolated, {.port = "host1"}).size(), 1u);
  EXPECT_EQ(rows(s, Report::isolated, {.port = "spine1"}).size(), 0u);
  EXPECT_EQ(rows(s, Report::isolated, {.top = 1}).size(), 1u);
}

TEST(Report, PfcwdShowsAllStormsAndTheLast) {
  SampleSwitch s;
  EXPECT_TRUE(rows(s, Report::pfcwd).empty());
  auto& counters = s.now.numbers[0].queue[3];
  counters[index_of(QueueCounter::pfcwd_deadlock_detected)] = 3;
  counters[index_of(QueueCounter::pfcwd_deadlock_restored)] = 2;
  counters[index_of(QueueCounter::pfcwd_tx_packets)] = 10;
  counters[index_of(QueueCounter::pfcwd_tx_dropped_packets)] = 20;
  counters[index_of(QueueCounter::pfcwd_rx_packets)] = 30;
  counters[index_of(QueueCounter::pfcwd_rx_dropped_packets)] = 40;
  s.now.ports[0].queues[3] = {.storm = true, .last_storm = {9, 15, 0, 40}};
  const Json all = rows(s, Report::pfcwd);
  ASSERT_EQ(all.size(), 1u);
  const Json expected = {{"port", "host1"},
                         {"queue", 3},
                         {"status", "stormed"},
                         {"action", "drop"},
                         {"pfcwd_deadlock_detected", 3},
                         {"pfcwd_deadlock_restored", 2},
                         {"pfcwd_tx_packets", 10},
                         {"pfcwd_tx_packets_last", 1},
                         {"pfcwd_tx_dropped_packets", 20},
                         {"pfcwd_tx_dropped_packets_last", 5},
                         {"pfcwd_rx_packets", 30},
                         {"pfcwd_rx_packets_last", 30},
                         {"pfcwd_rx_dropped_packets", 40},
                         {"pfcwd_rx_dropped_packets_last", 0}};
  EXPECT_EQ(all.at(0), expected);
  s.baseline = s.now.numbers;  // cleared in the last storm: it cannot have more than all have
  EXPECT_EQ(rows(s, Report::pfcwd).at(0).at("pfcwd_rx_packets_last"), 0);
}

TEST(Report, WatermarksNameTheirKindAndPoolsHaveNoPort) {
  SampleSwitch s;
  s.now.ports[0].pgs[3] = {.used = 900,
                           .headroom = 200,
                           .shared_watermark = {1'000, 1'001},
                           .headroom_watermark = {1'002, 1'003}};
  s.now.ports[1].queues[4] = {.used = 5, .watermark = {1'004, 1'005}};
  s.now.buffer = {.shared_used = 6,
                  .headroom_used = 7,
                  .stages_used = 8,
                  .shared_watermark = {1'006, 1'007},
                  .headroom_watermark = {1'008, 0},
                  .stages_watermark = {1'009, 1'010}};
  std::vector<std::string> said;
  for (const Json& row : rows(s, Report::watermarks)) {
    said.emplace_back();
    for (const Json& value : row) said.back() += (said.back().empty() ? "" : " ") + value.dump();
  }
  const std::vector<std::string> expected = {R"("host1" 3 "pg-shared" 700 1000 1001)",
                                             R"("host1" 3 "pg-headroom" 200 1002 1003)",
                                             R"("spine1" 4 "queue" 5 1004 1005)",
                                             R"("pool" 6 1006 1007)",
                                             R"("headroom-pool" 7 1008 0)",
                                             R"("stages" 8 1009 1010)"};
  EXPECT_EQ(said, expected);
  EXPECT_EQ(rows(s, Report::watermarks, {false, "spine1"}).size(), 1u);
}

TEST(Report, PfcSaysWhichPrioritiesAreEnabled) {
  SampleSwitch s;
  const auto enabled = [&] {
    std::string priorities;
    for (const Json& row : rows(s, Report::pfc, {true, "host1"}))
      if (row.at("enabled") == "yes") priorities += row.at("prio").dump();
    return priorities;
  };
  EXPECT_EQ(enabled(), "34") << "those of the lossless groups";
  s.config.ports[0].pfc.enable = "0,4";
  EXPECT_EQ(enabled(), "04");
}

TEST(Report, LeafAndTopOptionsKeepFewerRows) {
  SampleSwitch s;
  s.config.leaves.push_back({LeafId(3), {config::PathConfig{"spine1"}}});
  s.config.routes.push_back({*parse_ip_prefix("10.3.0.0/16"), LeafId(3), {}});
  for (const Report report : {Report::paths, Report::routes}) {
    const Json of_leaf = rows(s, report, {.leaf = 3});
    ASSERT_EQ(of_leaf.size(), 1u);
    EXPECT_EQ(of_leaf[0].at("leaf"), 3u);
    EXPECT_EQ(rows(s, report, {.top = 1}).size(), 1u);
  }
  EXPECT_EQ(rows(s, Report::paths, {.top = 9}).size(), 2u);
}

TEST(Report, PortOptionKeepsRowsOfThatPort) {
  const Json only = rows(SampleSwitch(), Report::pgs, {true, "spine1"});
  ASSERT_EQ(only.size(), kPriorities);
  for (const Json& row : only) EXPECT_EQ(row.at("port"), "spine1");
}

TEST(Report, PathsAndRoutesFollowTheLinks) {
  SampleSwitch s;
  EXPECT_EQ(rows(s, Report::paths).at(0).at("live"), "no");
  EXPECT_EQ(rows(s, Report::routes).at(1).at("live_paths"), 0u);
  s.now.ports[1].up = true;
  EXPECT_EQ(rows(s, Report::paths).at(0).at("live"), "yes");
  const Json route = rows(s, Report::routes).at(1);
  EXPECT_EQ(route.at("prefix"), "10.2.0.0/16");
  EXPECT_EQ(route.at("live_paths"), 1u);
  EXPECT_EQ(rows(s, Report::routes).at(0).at("type"), "connected");
}

TEST(Report, PathsSayWhatIsMeasuredAndWhatKeepsPacketsOff) {
  SampleSwitch s;
  ReportInput input = s.input();
  PathRow path{.leaf = input.config.leaves[0].id,
               .live = true,
               .measured = true,
               .delay = Duration::microseconds(12),
               .least_delay = Duration::microseconds(5),
               .age = Duration::microseconds(3),
               .marked = 32'768,
               .congestion = 255};
  const auto row = [&] {
    input.paths = {&path, 1};
    return make_report(Report::paths, input, {}).at("rows").at(0);
  };
  EXPECT_EQ(row().at("delay_ns"), 12'000u);
  EXPECT_EQ(row().at("least_delay_ns"), 5'000u);
  EXPECT_EQ(row().at("age_ns"), 3'000u);
  EXPECT_EQ(row().at("ecn_percent"), 50u);
  EXPECT_EQ(row().at("utilisation_percent"), 100u);
  EXPECT_EQ(row().at("warned"), "no");
  EXPECT_EQ(row().at("why"), "");
  for (const char* key : {"best", "told_percent", "told_age_ns", "busy_ns"})
    EXPECT_FALSE(row().contains(key)) << key;
  path.told = {.best = true,
               .utilisation = uint8_t{51},
               .age = Duration::microseconds(40),
               .busy = Duration{}};
  EXPECT_EQ(row().at("best"), "yes");
  EXPECT_EQ(row().at("told_percent"), 20u);
  EXPECT_EQ(row().at("told_age_ns"), 40'000u);
  EXPECT_EQ(row().at("busy_ns"), 0u);
  path.unanswered = 5;
  EXPECT_EQ(row().at("why"), "5 unanswered");
  path.warned = 0x18;
  path.severity = 20;
  EXPECT_EQ(row().at("warned"), "3,4");
  EXPECT_EQ(row().at("why"), "warned, severity 20");
  path.paused = 0x08;
  EXPECT_EQ(row().at("paused"), "3");
  EXPECT_EQ(row().at("why"), "paused by PFC");
  path.failed = true;
  path.failure = lb::PathFailure::silent;
  EXPECT_EQ(row().at("why"), "failed, 5 unanswered");
  path.last = true;
  EXPECT_EQ(row().at("why"), "failed, 5 unanswered, but the last");
  path.last = false;
  path.failure = lb::PathFailure::forced;
  EXPECT_EQ(row().at("why"), "failed, slow without load");
  path.failure = lb::PathFailure::rounds;
  EXPECT_EQ(row().at("why"), "failed, too many rounds for it");
  path.live = false;
  EXPECT_EQ(row().at("why"), "port down");
  path.measured = false;
  EXPECT_FALSE(row().contains("delay_ns"));
  EXPECT_TRUE(row().contains("least_delay_ns"));
  path.member = 7;
  EXPECT_FALSE(row().contains("why")) << "of another configuration";
}

TEST(Report, SchemesShowTheOneInForceWithItsValues) {
  SampleSwitch s;
  s.config.load_balancer = {.scheme = "letflow", .parameters = {{"gap", "70us"}}};
  s.schemes = {{"ecmp", "buckets", "count", "256", "1 to 1024", "help"},
               {"letflow", "gap", "duration", "50us", "1us to 1s", "help"}};
  const Json active = rows(s, Report::schemes);
  ASSERT_EQ(active.size(), 1u);
  EXPECT_EQ(active[0].at("value"), "70us");
  EXPECT_EQ(active[0].at("default"), "50us");
  EXPECT_EQ(rows(s, Report::schemes, {true, {}}).size(), 2u);
}

TEST(Report, SchemesNameThePluginAndWhatItThrew) {
  SampleSwitch s;
  EXPECT_FALSE(make_report(Report::schemes, s.input(), {}).contains("plugin"));
  config::SchemeTrouble trouble;
  const config::LoadedScheme loaded{
      .file = "/opt/mine.so", .version = "0.1.0", .sha256 = "e3b0", .trouble = &trouble};
  s.config.load_balancer = {.plugin = "/opt/mine.so", .scheme = "mine", .loaded = &loaded};
  Json report = make_report(Report::schemes, s.input(), {});
  EXPECT_EQ(report.at("plugin"), "/opt/mine.so");
  EXPECT_EQ(report.at("plugin_version"), "0.1.0");
  EXPECT_EQ(report.at("plugin_sha256"), "e3b0");
  EXPECT_FALSE(report.contains("failed"));
  trouble.selectors = 1;
  EXPECT_EQ(make_report(Report::schemes, s.input(), {}).at("failed"), "unknown");
  std::copy_n("no luck", 8, trouble.what.begin());
  trouble.written = true;
  EXPECT_EQ(make_report(Report::schemes, s.input(), {}).at("failed"), "no luck");
  trouble.selectors = 0;
  EXPECT_FALSE(make_report(Report::schemes, s.input(), {}).contains("failed"));
}

TEST(Report, WorkersShowTheBusyShareOfTheInterval) {
  SampleSwitch s;
  s.earlier.workers = {{.worker = 0, .busy_cycles = 100, .total_cycles = 1'000}};
  s.now.workers = {{.worker = 0, .busy_cycles = 350, .total_cycles = 2'000}};
  const Json row = rows(s, Report::workers).at(0);
  EXPECT_EQ(row.at("busy_percent"), 25u);
  EXPECT_EQ(row.at("ports"), "host1");
  EXPECT_FALSE(row.contains("cpu"));
}

TEST(Report, ReadsEveryCounterOfAShard) {
  Counters counters(1);
  counters[PortId(0)].drops[DropReason::runt].add(3);
  counters[PortId(0)].pfc[4][PfcCounter::pfc_tx_xon].add(5);
  PortNumbers sum = read_numbers(counters, PortId(0));
  sum += read_numbers(counters, PortId(0));
  EXPECT_EQ(sum.total_drops(), 6u);
  EXPECT_EQ(sum.pfc[4][index_of(PfcCounter::pfc_tx_xon)], 10u);
}

}  // namespace
}  // namespace eddy::control
