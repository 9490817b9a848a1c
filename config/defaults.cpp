#include <algorithm>

#include "config/config.h"
#include "net/quantity.h"

namespace eddy::config {
namespace {

Duration stretched(Duration d, int64_t factor) {
  return d * factor;
}
BitRate slowed(BitRate rate, int64_t factor) {
  return BitRate::bits_per_second(rate.bps() / factor);
}

void scale_port(PortConfig& port, int64_t factor) {
  port.speed = slowed(port.speed, factor);
  port.shaper = slowed(port.shaper, factor);
  port.cable_delay = stretched(port.cable_delay, factor);
  port.pfc.refresh_limit = stretched(port.pfc.refresh_limit, factor);
  port.pfc.pause_budget = stretched(port.pfc.pause_budget, factor);
  port.pfc.budget_window = stretched(port.pfc.budget_window, factor);
  port.watchdog.detection_time = stretched(port.watchdog.detection_time, factor);
  port.watchdog.restoration_time = stretched(port.watchdog.restoration_time, factor);
  port.watchdog.poll_interval = stretched(port.watchdog.poll_interval, factor);
  for (QueueConfig& queue : port.queues)
    if (queue.max_rate) queue.max_rate = slowed(*queue.max_rate, factor);
}

// A scheme's parameters are words; those with a unit of time are times.
void scale_parameters(std::map<std::string, std::string>& parameters, int64_t factor) {
  for (auto& [name, text] : parameters)
    if (const auto time = parse_duration(text)) text = to_string(stretched(time.value(), factor));
}

}  // namespace

QosMaps QosMaps::sonic_defaults() {
  QosMaps maps;
  maps.dscp_to_tc.fill(TrafficClass(1));
  maps.dscp_to_tc[3] = TrafficClass(3);
  maps.dscp_to_tc[4] = TrafficClass(4);
  maps.dscp_to_tc[5] = TrafficClass(2);
  maps.dscp_to_tc[8] = TrafficClass(0);
  maps.dscp_to_tc[46] = TrafficClass(5);
  maps.dscp_to_tc[48] = TrafficClass(6);
  for (size_t i = 0; i < kPriorities; ++i) {
    maps.pcp_to_tc[i] = TrafficClass(i);
    const bool own_group = i == 3 || i == 4 || i == 7;
    maps.tc_to_pg[i] = PriorityGroupId(own_group ? i : 0);
    maps.tc_to_queue[i] = QueueId(i);
    maps.pfc_to_queue[i] = QueueId(i);
    maps.pg_to_pfc[i] = Priority(i);
  }
  return maps;
}

PortConfig default_port(std::string name) {
  PortConfig port;
  port.name = std::move(name);
  port.maps = QosMaps::sonic_defaults();
  port.pg_profiles.fill("lossy");
  for (size_t pg : {3, 4}) port.pg_profiles[pg] = "lossless";
  for (size_t i = 0; i < kPriorities; ++i) {
    QueueConfig& queue = port.queues[i];
    const bool lossless = i == 3 || i == 4;
    if (i >= 6) queue.scheduler = SchedulerType::strict;
    queue.weight = lossless ? 15 : 14;
    if (lossless) queue.wred = "default";
  }
  return port;
}

SwitchConfig default_switch(std::string name) {
  SwitchConfig config;
  config.name = std::move(name);
  BufferProfile lossless;
  lossless.lossless = true;
  lossless.mode = BufferMode::fixed;
  config.buffer.profiles["lossless"] = lossless;
  BufferProfile lossy;
  config.buffer.profiles["lossy"] = lossy;
  config.buffer.wred["default"] = WredProfile{};
  return config;
}

SwitchConfig scaled(const SwitchConfig& config) {
  SwitchConfig out = config;
  for (PortConfig& port : out.ports) scale_port(port, config.time_dilation);
  scale_parameters(out.load_balancer.parameters, config.time_dilation);
  out.dre.period = stretched(out.dre.period, config.time_dilation);
  out.control.neighbor_age = stretched(out.control.neighbor_age, config.time_dilation);
  out.time_dilation = 1;
  return out;
}

}  // namespace eddy::config
