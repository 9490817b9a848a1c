#include <utility>

#include "config/config.h"

namespace eddy::config {

RlbConfig rlb_preset(RlbPreset preset) {
  RlbConfig rlb;
  rlb.preset = preset;
  if (preset == RlbPreset::paper || preset == RlbPreset::paper_star) {
    rlb.predictor.mode = PredictorMode::fixed;
    rlb.predictor.until_drained = false;
    rlb.warning.clear = false;
    rlb.warning.until_cleared = false;
    rlb.warning.beside_pause = false;
    rlb.guard.mode = GuardMode::off;
    rlb.recirculation.on_exceed = OnExceed::optimal;
    rlb.all_warned = AllWarned::base;
    rlb.suspend = Suspend::most;
    rlb.heed = Heed::predicted;
    rlb.placement = Placement::alternative;
    rlb.culprits = false;
    rlb.failure_detector.mode = DetectorMode::paper;
  }
  if (preset == RlbPreset::standard) {
    rlb.guard.patience = 1_ms;
    rlb.placement = Placement::least_delay;
  }
  if (preset == RlbPreset::paper) {
    rlb.recirculation.limit = RoundLimit::most;
    rlb.recirculation.most_rounds = 64;
    rlb.recirculation.cumulative = false;
  }
  return rlb;
}

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
    maps.tc_to_next[i] = TrafficClass(i);
  }
  return maps;
}

// Ends in a circle, too, which Validator refuses.
std::vector<TrafficClass> QosMaps::channels_of(TrafficClass tc) const {
  std::vector<TrafficClass> channels = {tc};
  while (channels.size() < kPriorities) {
    const TrafficClass next = tc_to_next[channels.back().index()];
    if (next == channels.back()) break;
    channels.push_back(next);
  }
  return channels;
}

namespace {

PortConfig nameless_port() {
  PortConfig port;
  port.maps = QosMaps::sonic_defaults();
  port.pg_profiles.fill("lossy");
  for (size_t pg : {3, 4}) port.pg_profiles[pg] = "lossless";
  port.queues = default_queues();
  return port;
}

}  // namespace

SharedList<std::array<QueueConfig, 8>> default_queues() {
  SharedList<std::array<QueueConfig, 8>> queues;
  for (size_t i = 0; i < kPriorities; ++i) {
    const bool lossless = i == 3 || i == 4;
    QueueConfig& queue = queues[i];
    if (i >= 6) queue.scheduler = SchedulerType::strict;
    queue.weight = lossless ? 15 : 14;
    if (lossless) queue.wred = "default";
  }
  return queues;
}

PortConfig default_port(std::string name) {
  static const PortConfig usual = nameless_port();  // whose lists all ports share
  PortConfig port = usual;
  port.name = std::move(name);
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

uint8_t PfcPortConfig::priorities(uint8_t lossless) const {
  if (!enable) return lossless;
  uint8_t named = 0;
  for (const char c : *enable)
    if (c >= '0' && c < '0' + static_cast<char>(kPriorities))
      named = static_cast<uint8_t>(named | 1u << (c - '0'));
  return named;
}

}  // namespace eddy::config
