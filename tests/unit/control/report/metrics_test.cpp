#include "switch/control/report/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/control/report/sample_switch.h"

namespace eddy::control {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// "name{label="value",...}" -> value
std::map<std::string, double> values_of(const std::vector<MetricFamily>& families) {
  std::map<std::string, double> out;
  for (const MetricFamily& family : families)
    for (const ClientMetric& metric : family.metric) {
      std::string key = family.name + "{";
      for (const ClientMetric::Label& label : metric.label)
        key += (key.back() == '{' ? "" : ",") + label.name + "=" + label.value;
      out[key + "}"] =
          family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value;
    }
  return out;
}

std::vector<MetricFamily> metrics_of(const SampleSwitch& s) {
  return control::metrics_of(
      {.config = s.config, .now = s.now, .generation = 3, .started_at_ns = 500'000'000});
}

TEST(Metrics, NamesAreThoseOfTheCounters) {
  EXPECT_EQ(counter_metric("rx_packets"), "eddy_rx_packets_total");
  EXPECT_EQ(counter_metric("pfc_rx_paused_ps"), "eddy_pfc_rx_paused_seconds_total");
  EXPECT_EQ(counter_metric("selector_ties_total"), "eddy_selector_ties_total");
}

TEST(Metrics, EveryCounterIsThereForEveryPort) {
  const SampleSwitch s;
  std::map<std::string, size_t> found;
  for (const MetricFamily& family : metrics_of(s)) {
    EXPECT_FALSE(family.help.empty()) << family.name;
    EXPECT_EQ(found.count(family.name), 0u) << family.name << " is there twice";
    found[family.name] = family.metric.size();
    std::set<std::vector<ClientMetric::Label>> seen;
    for (const ClientMetric& metric : family.metric)
      EXPECT_TRUE(seen.insert(metric.label).second) << family.name << " has a value twice";
  }
  for (const CounterInfo& info : port_counter_infos())
    EXPECT_EQ(found[counter_metric(info.name)], 2u) << info.name;
  for (const auto infos : {pfc_counter_infos(), queue_counter_infos(), pg_counter_infos()})
    for (const CounterInfo& info : infos)
      EXPECT_EQ(found[counter_metric(info.name)], 2 * kPriorities) << info.name;
  EXPECT_EQ(found["eddy_dropped_packets_total"], 2 * kDropReasons);
}

TEST(Metrics, ValuesCountFromTheStartAndStatesAreGauges) {
  SampleSwitch s;
  s.now.numbers[0].port[index_of(PortCounter::rx_packets)] = 12;
  s.now.numbers[1].pfc[3][index_of(PfcCounter::pfc_rx_paused_ps)] = 2'500'000'000'000;
  s.now.numbers[1].drops[index_of(DropReason::headroom_full)] = 7;
  s.now.ports[1].queues[3] = {.used = 5'000, .watermark = {21, 22}, .paused = true};
  s.now.ports[0].pgs[3] = {.used = 9'000,
                           .headroom = 100,
                           .xoff = 8'000,
                           .shared_watermark = {23, 24},
                           .headroom_watermark = {25, 26},
                           .pausing = true};
  s.now.buffer = {.size = 1 << 20,
                  .shared_used = 77,
                  .shared_watermark = {27, 28},
                  .headroom_watermark = {29, 30}};
  s.now.workers = {{.worker = 1, .polls = 10, .poll_gap_max_ns = 1'500}};
  s.baseline = s.now.numbers;  // of clear counters: for people
  const auto values = values_of(metrics_of(s));
  EXPECT_EQ(values.at("eddy_rx_packets_total{switch=leaf1,port=host1}"), 12);
  EXPECT_EQ(values.at("eddy_pfc_rx_paused_seconds_total{switch=leaf1,port=spine1,prio=3}"), 2.5);
  EXPECT_EQ(values.at("eddy_dropped_packets_total{switch=leaf1,port=spine1,reason=headroom_full}"),
            7);
  EXPECT_EQ(values.at("eddy_queue_paused{switch=leaf1,port=spine1,queue=3}"), 1);
  EXPECT_EQ(values.at("eddy_queue_used_bytes{switch=leaf1,port=spine1,queue=3}"), 5'000);
  EXPECT_EQ(values.at("eddy_pg_used_bytes{switch=leaf1,port=host1,pg=3}"), 9'000);
  EXPECT_EQ(values.at("eddy_pg_headroom_used_bytes{switch=leaf1,port=host1,pg=3}"), 100);
  EXPECT_EQ(values.at("eddy_pg_pausing{switch=leaf1,port=host1,pg=3}"), 1);
  EXPECT_EQ(values.at("eddy_pg_pausing{switch=leaf1,port=host1,pg=4}"), 0);
  EXPECT_EQ(values.at("eddy_pg_lossless{switch=leaf1,port=host1,pg=3}"), 1);
  EXPECT_EQ(values.at("eddy_pg_lossless{switch=leaf1,port=host1,pg=0}"), 0);
  EXPECT_GT(values.at("eddy_pg_headroom_size_bytes{switch=leaf1,port=host1,pg=3}"), 0);
  EXPECT_EQ(values.at("eddy_buffer_shared_used_bytes{switch=leaf1}"), 77);
  const std::map<std::string, std::pair<double, double>> marks = {
      {"eddy_queue_X_watermark_bytes{switch=leaf1,port=spine1,queue=3}", {21, 22}},
      {"eddy_pg_shared_X_watermark_bytes{switch=leaf1,port=host1,pg=3}", {23, 24}},
      {"eddy_pg_headroom_X_watermark_bytes{switch=leaf1,port=host1,pg=3}", {25, 26}},
      {"eddy_buffer_shared_X_watermark_bytes{switch=leaf1}", {27, 28}},
      {"eddy_buffer_headroom_X_watermark_bytes{switch=leaf1}", {29, 30}}};
  for (const auto& [name, both] : marks) {
    const auto of = [&, &name = name](const char* which) {
      return values.at(std::string(name).replace(name.find('X'), 1, which));
    };
    EXPECT_EQ(std::pair(of("user"), of("persistent")), both) << name;
  }
  EXPECT_EQ(values.at("eddy_worker_polls_total{switch=leaf1,worker=1}"), 10);
  EXPECT_EQ(values.at("eddy_worker_poll_gap_max_seconds{switch=leaf1,worker=1}"), 1.5e-6);
  EXPECT_EQ(values.at("eddy_port_up{switch=leaf1,port=host1}"), 1);
  EXPECT_EQ(values.at("eddy_port_up{switch=leaf1,port=spine1}"), 0);
  EXPECT_EQ(values.at("eddy_uptime_seconds{switch=leaf1}"), 1.5);
  EXPECT_EQ(values.at("eddy_configuration_generation{switch=leaf1}"), 3);
}

// A port that was added by a reload is in the configuration before it is in a sample.
TEST(Metrics, PortsWithoutNumbersAreLeftOut) {
  SampleSwitch s;
  s.now.numbers.resize(1);
  s.now.ports.resize(1);
  const auto values = values_of(metrics_of(s));
  EXPECT_EQ(values.count("eddy_rx_packets_total{switch=leaf1,port=host1}"), 1u);
  EXPECT_EQ(values.count("eddy_rx_packets_total{switch=leaf1,port=spine1}"), 0u);
}

}  // namespace
}  // namespace eddy::control
