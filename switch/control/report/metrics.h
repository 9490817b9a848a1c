// A sample as families of Prometheus metrics.
//
// Names are eddy_ and the counter's of counters.h, with _total as Prometheus has it; picoseconds
// become seconds. Labels are switch, port, prio, queue, pg, reason, worker. Counters count from the
// start of the switch: `clear counters` is for people and does not reach here. Gauges are what
// reports show as state. Pure function of its arguments. Cost: about 250 values a port.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "switch/control/report/sample.h"

namespace eddy::control {

struct MetricsInput {
  const config::SwitchConfig& config;  // as in force
  const Sample& now;
  uint64_t generation = 0;
  int64_t started_at_ns = 0;
};
std::vector<prometheus::MetricFamily> metrics_of(const MetricsInput& input);

// "rx_packets" -> "eddy_rx_packets_total", "pfc_rx_paused_ps" -> "eddy_pfc_rx_paused_seconds_total"
std::string counter_metric(std::string_view counter);

}  // namespace eddy::control
