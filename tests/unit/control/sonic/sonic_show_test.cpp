#include "switch/control/sonic/sonic_show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace eddy::control {
namespace {

using testing::HasSubstr;

SonicTable table(const std::vector<std::string>& words) {
  const auto parsed = parse_sonic_table(words);
  EXPECT_TRUE(parsed) << words.front();
  return parsed ? parsed.value() : SonicTable{};
}

Json rows(const std::string& text) {
  return {{"rows", Json::parse(text)}};
}

// The heads are those of SONiC's tools; two ports, a number of four digits.
TEST(SonicShow, PfcCounters) {
  EXPECT_EQ(
      render_sonic(
          table({"show", "pfc", "counters"}),
          rows(
              R"([{"port": "Ethernet0", "prio": 3, "pfc_rx_xoff": 1000, "pfc_rx_xon": 234, "pfc_tx_xoff": 1, "pfc_tx_xon": 0},
                            {"port": "h1", "prio": 0, "pfc_rx_xoff": 0, "pfc_rx_xon": 0, "pfc_tx_xoff": 0, "pfc_tx_xon": 7}])")),
      "  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
      "---------  ------  ------  ------  ------  ------  ------  ------  ------\n"
      "Ethernet0     N/A     N/A     N/A   1,234     N/A     N/A     N/A     N/A\n"
      "       h1       0     N/A     N/A     N/A     N/A     N/A     N/A     N/A\n"
      "\n"
      "  Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
      "---------  ------  ------  ------  ------  ------  ------  ------  ------\n"
      "Ethernet0     N/A     N/A     N/A       1     N/A     N/A     N/A     N/A\n"
      "       h1       7     N/A     N/A     N/A     N/A     N/A     N/A     N/A\n");
}

TEST(SonicShow, OnlyQueuesWithAStormAreInTheWatchdogsTable) {
  const std::string text = render_sonic(
      table({"pfcwd", "show", "stats"}),
      rows(
          R"([{"port": "e0", "queue": 3, "status": "stormed", "pfcwd_deadlock_detected": 2, "pfcwd_deadlock_restored": 1,
                "pfcwd_tx_packets": 5, "pfcwd_tx_dropped_packets": 6, "pfcwd_rx_packets": 7, "pfcwd_rx_dropped_packets": 8,
                "pfcwd_tx_packets_last": 1, "pfcwd_tx_dropped_packets_last": 2, "pfcwd_rx_packets_last": 3,
                "pfcwd_rx_dropped_packets_last": 4},
               {"port": "e0", "queue": 4, "status": "operational", "pfcwd_deadlock_detected": 0, "pfcwd_deadlock_restored": 0,
                "pfcwd_tx_packets": 0, "pfcwd_tx_dropped_packets": 0, "pfcwd_rx_packets": 0, "pfcwd_rx_dropped_packets": 0,
                "pfcwd_tx_packets_last": 0, "pfcwd_tx_dropped_packets_last": 0, "pfcwd_rx_packets_last": 0,
                "pfcwd_rx_dropped_packets_last": 0}])"));
  EXPECT_EQ(text,
            "  QUEUE    STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST "
            "OK/DROP    RX LAST OK/DROP\n"
            "-------  --------  -------------------------  ------------  ------------  "
            "-----------------  -----------------\n"
            "   e0:3   stormed                        2/1           5/6           7/8              "
            "  1/2                3/4\n");
}

TEST(SonicShow, WatermarksOfQueuesGroupsAndPools) {
  const Json report = rows(
      R"([{"port": "e0", "queue": 1, "kind": "queue", "user_watermark_bytes": 11, "persistent_watermark_bytes": 111},
          {"port": "e0", "pg": 3, "kind": "pg-shared", "user_watermark_bytes": 22, "persistent_watermark_bytes": 222},
          {"port": "e0", "pg": 3, "kind": "pg-headroom", "user_watermark_bytes": 33, "persistent_watermark_bytes": 333},
          {"kind": "pool", "user_watermark_bytes": 44, "persistent_watermark_bytes": 444},
          {"kind": "headroom-pool", "user_watermark_bytes": 55, "persistent_watermark_bytes": 555}])");
  EXPECT_THAT(render_sonic(table({"show", "queue", "watermark", "unicast"}), report),
              HasSubstr("  Port    UC0    UC1    UC2"));
  EXPECT_THAT(render_sonic(table({"show", "queue", "watermark"}), report),
              HasSubstr("    e0    N/A     11    N/A"));
  EXPECT_THAT(render_sonic(table({"show", "queue", "persistent-watermark"}), report),
              HasSubstr("    e0    N/A    111"));
  EXPECT_THAT(render_sonic(table({"show", "priority-group", "watermark", "shared"}), report),
              HasSubstr("  Port    PG0    PG1    PG2    PG3"));
  EXPECT_THAT(render_sonic(table({"show", "priority-group", "watermark", "shared"}), report),
              HasSubstr("     22"));
  EXPECT_THAT(render_sonic(table({"show", "priority-group", "watermark", "headroom"}), report),
              HasSubstr("     33"));
  EXPECT_THAT(
      render_sonic(table({"show", "priority-group", "persistent-watermark", "headroom"}), report),
      HasSubstr("    333"));
  EXPECT_EQ(render_sonic(table({"show", "buffer_pool", "watermark"}), report),
            "  Pool    Bytes\n------  -------\nshared       44\n");
  EXPECT_EQ(render_sonic(table({"show", "headroom-pool", "persistent-watermark"}), report),
            "    Pool    Bytes\n--------  -------\nheadroom      555\n");
}

TEST(SonicShow, QueueCountersHaveATableAPort) {
  EXPECT_EQ(
      render_sonic(
          table({"show", "queue", "counters"}),
          rows(
              R"([{"port": "a", "queue": 0, "queue_tx_packets": 1, "queue_tx_bytes": 2, "queue_dropped_packets": 3},
                                  {"port": "b", "queue": 7, "queue_tx_packets": 4, "queue_tx_bytes": 5, "queue_dropped_packets": 6}])")),
      "  Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes\n"
      "------  -----  --------------  ---------------  -----------  ------------\n"
      "     a    UC0               1                2            3           N/A\n"
      "\n"
      "  Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes\n"
      "------  -----  --------------  ---------------  -----------  ------------\n"
      "     b    UC7               4                5            6           N/A\n");
}

TEST(SonicShow, DropsOfGroups) {
  EXPECT_THAT(render_sonic(table({"show", "priority-group", "drop", "counters"}),
                           rows(R"([{"port": "a", "pg": 7, "pg_dropped_packets": 9}])")),
              HasSubstr("    N/A      9\n"));
}

TEST(SonicShow, OtherWordsAreRefusedWithThoseThatThereAre) {
  EXPECT_THAT(
      parse_sonic_table({"show", "vlan"}).problems().front(),
      HasSubstr("\"show vlan\" is no table of --style sonic; they are: show pfc counters; "));
  EXPECT_FALSE(parse_sonic_table({}));
}

// An answer of somebody who is no switch.
TEST(SonicShow, StrangeRowsDoNoHarm) {
  for (const char* text : {R"([])", R"([{}])", R"([{"port": 5, "prio": 99}])",
                           R"([{"port": "\u001b[2J", "prio": 1}])"}) {
    const std::string shown = render_sonic(table({"show", "pfc", "counters"}), rows(text));
    EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace eddy::control
