#include "switch/control/report/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/unit/control/report/sample_switch.h"

namespace eddy::control {
namespace {

TEST(Table, Ports) {
  SampleSwitch s;
  PortNumbers& host = s.now.numbers[0];
  host.port[index_of(PortCounter::rx_bytes)] = 93'750'000;
  host.port[index_of(PortCounter::rx_packets)] = 1'234'567;
  host.drops[index_of(DropReason::no_route)] = 12;
  host.pfc[3][index_of(PfcCounter::pfc_tx_xoff)] = 40;
  s.now.ports[0].queued_bytes[3] = 4'608;
  s.now.ports[1].tx_on = false;
  EXPECT_EQ(
      render_table(make_report(Report::ports, s.input(), {})),
      R"(Port    Role    Admin  Oper  Tx      Speed     Rx rate  Tx rate  Rx packets  Tx packets   Queued  Dropped  ECN  PFC sent  PFC rcvd
host1   host    up     up    on   1.0 Gb/s  750.0 Mb/s    0 b/s   1,234,567           0  4.5 KiB       12    0        40         0
spine1  fabric  up     down  off  1.0 Gb/s       0 b/s    0 b/s           0           0      0 B        0    0         0         0
)");
}

TEST(Table, Drops) {
  SampleSwitch s;
  s.now.numbers[0].drops[index_of(DropReason::ttl_expired)] = 1'000;
  EXPECT_EQ(render_table(make_report(Report::drops, s.input(), {})),
            R"(Port   Reason       Packets  A second  Meaning
host1  ttl_expired    1,000     1,000  TTL or hop limit used up
)");
}

TEST(Table, Neighbors) {
  SampleSwitch s;
  s.neighbors = {
      {*parse_ip("10.1.0.7"), *parse_mac("02:00:00:00:00:07"), PortId(0), Duration::seconds(200)},
      {*parse_ip("10.1.0.8"), *parse_mac("02:00:00:00:00:09"), PortId(0), Duration::seconds(1),
       false,
       /*lost=*/true},
      {*parse_ip("fd00::1"), *parse_mac("02:00:00:00:00:08"), PortId(1), {}, true}};
  EXPECT_EQ(render_table(make_report(Report::neighbors, s.input(), {})),
            R"(Address   MAC                Port    Type     State         Age
10.1.0.7  02:00:00:00:00:07  host1   learned  reachable  3m 20s
10.1.0.8  02:00:00:00:00:09  host1   learned  lost        1.0 s
fd00::1   02:00:00:00:00:08  spine1  static   reachable       -
)");
}

TEST(Table, FlowsEndWithHowFullTheTablesAre) {
  SampleSwitch s;
  EXPECT_EQ(render_table(make_report(Report::flows, s.input(), {})),
            "no flow is watched: RLB is off, or there is no path to choose\n");
  s.config.load_balancer.scheme = "letflow";
  s.config.rlb.guard.mode = config::GuardMode::strict;
  s.flows = {.rows = {{.flow = 0x10, .leaf = LeafId(2), .idle = Duration::microseconds(4)}},
             .matching = 1'200,
             .watched = 1'300,
             .places = 65'536,
             .scheme_flows = 40,
             .scheme_places = 65'536};
  EXPECT_EQ(
      render_table(make_report(Report::flows, s.input(), {})),
      R"(Flow              Worker  Leaf  Member  Port    Path  Wanted  Wanted port  Moved  Proven    Idle
0000000000000010       0     2       0  spine1  0          0  spine1       no     no      4.0 us
guard strict: 1 of 1,200 flows shown; 1,300 of 65,536 places taken, 0 flows replaced, 0 packets without a place
letflow: 40 of 65,536 entries in use
)");
}

TEST(Table, ASchemeThatTellsItsFlowsApartSaysSoWithoutRlb) {
  SampleSwitch s;
  s.config.load_balancer.scheme = "conweave";
  s.flows = {
      .scheme_flows = 1'040, .scheme_places = 65'536, .phased = true, .asking = 1'012, .moved = 3};
  EXPECT_EQ(render_table(make_report(Report::flows, s.input(), {})),
            "no flow is watched: RLB is off, or there is no path to choose\n"
            "conweave: 1,040 of 65,536 entries in use; 1,012 wait for an answer, 3 have moved and "
            "their tail is out\n");
}

TEST(Table, WhatFewSchemesKnowOfPathsHasAColumnWhereItIsKnown) {
  SampleSwitch s;
  ReportInput input = s.input();
  PathRow path{.leaf = input.config.leaves[0].id};
  input.paths = {&path, 1};
  const auto heads = [&] {
    const std::string text = render_table(make_report(Report::paths, input, {}));
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(heads().find("Best"), std::string::npos) << heads();
  EXPECT_EQ(heads().find("Busy for"), std::string::npos) << heads();
  path.told = {.best = false, .utilisation = uint8_t{255}, .age = Duration::microseconds(3)};
  EXPECT_NE(heads().find("Best   Told"), std::string::npos) << heads();
  EXPECT_EQ(heads().find("Busy for"), std::string::npos) << heads();
}

TEST(Table, RlbEndsWithHowLongPacketsWaited) {
  SampleSwitch s;
  s.now.numbers[0].port[index_of(PortCounter::rlb_rounds_1)] = 1'200;
  s.now.numbers[1].port[index_of(PortCounter::rlb_rounds_1)] = 34;
  s.now.numbers[1].port[index_of(PortCounter::rlb_rounds_8)] = 5;
  s.now.waits[DelayHistogram::step_of(Duration::nanoseconds(1'023))] = 1;
  const std::string text = render_table(make_report(Report::rlb, s.input(), {}));
  EXPECT_NE(text.find("waited in the loop: p50 1.0 us, p99 1.0 us; by rounds: 1: 1,234, 8+: 5\n"),
            std::string::npos)
      << text;
}

TEST(Table, IsolationCountsLongFlows) {
  SampleSwitch s;
  s.now.numbers[0].port[index_of(PortCounter::isolation_long_flows)] = 1'234;
  const std::string text = render_table(make_report(Report::isolation, s.input(), {}));
  EXPECT_NE(text.find("Long"), std::string::npos) << text;
  EXPECT_NE(text.find("1,234"), std::string::npos) << text;
}

TEST(Table, IsolatedHosts) {
  SampleSwitch s;
  EXPECT_EQ(render_table(make_report(Report::isolated, s.input(), {})),
            "nobody is isolated, and no port here is congested\n");
  s.isolated = {{.tag = 7,
                 .host = 0x1234abcd,
                 .destination = *parse_ip("10.2.0.7"),
                 .leaf = LeafId(2),
                 .port = PortId::none(),
                 .origin = SwitchId(9),
                 .named = IsolatedRow::Named::flow,
                 .state = IsolatedRow::State::hot,
                 .was_hot = true,
                 .hot_for = Duration::microseconds(30),
                 .queue_bytes = 71'680,
                 .packets = 1'200,
                 .flows = 1}};
  EXPECT_EQ(
      render_table(make_report(Report::isolated, s.input(), {})),
      R"(Destination  Tag       Leaf  Port  State  Hot for    Queued  Named  Flows named  Flows isolated  Packets  Said by
10.2.0.7     1234abcd     2  -     hot    30.0 us  70.0 KiB  flows            1               1    1,200  switch 9
)");
}

TEST(Table, NothingToShowSaysHowToSeeMore) {
  EXPECT_EQ(render_table(make_report(Report::drops, SampleSwitch().input(), {})),
            "nothing to show (--all shows every row)\n");
}

TEST(Table, EveryReportRendersAsManyLinesAsRows) {
  SampleSwitch s;
  s.now.workers.resize(2);
  for (const Word& word : report_words()) {
    const Json report = make_report(*parse_report(word.name), s.input(), {true, {}});
    const std::string text = render_table(report);
    const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    EXPECT_EQ(lines, report.at("rows").size() + 1) << text;
  }
}

TEST(Table, UnknownReportIsPrintedAsJson) {
  EXPECT_EQ(render_table(Json{{"report", "new"}}), "{\n  \"report\": \"new\"\n}\n");
}

TEST(Table, Units) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(~0ull), "18,446,744,073,709,551,615");
  EXPECT_EQ(bytes_text(1'023), "1023 B");
  EXPECT_EQ(bytes_text(1'536), "1.5 KiB");
  EXPECT_EQ(bytes_text(12ull << 20), "12.0 MiB");
  EXPECT_EQ(rate_text(999), "999 b/s");
  EXPECT_EQ(rate_text(1'250'000'000), "1.3 Gb/s");
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(1'500'000), "1.5 us");
  EXPECT_EQ(duration_text(119'000'000'000'000), "119.0 s");
  EXPECT_EQ(duration_text(7'500'000'000'000'000), "2h 5m");
  EXPECT_EQ(duration_text(~0ull), "213d 12h");
}

}  // namespace
}  // namespace eddy::control
