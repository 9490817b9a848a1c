#include <algorithm>

#include "config/config.h"
#include "config/experiment.h"
#include "net/quantity.h"

namespace eddy::config {
namespace {

// Beyond any run, and far from where adding two of them would overflow.
constexpr Duration kEndless = Duration::seconds(1'000'000);

Duration stretched(Duration d, int64_t factor) {
  return d > kEndless / factor ? kEndless : d * factor;
}
BitRate slowed(BitRate rate, int64_t factor) {
  return BitRate::bits_per_second(rate.bps() / factor);
}

template <class... T>
void stretch(int64_t factor, T&... times) {
  ((times = stretched(times, factor)), ...);
}
template <class... T>
void slow(int64_t factor, T&... rates) {
  ((rates = slowed(rates, factor)), ...);
}
void scale_pfc(PfcPortConfig& pfc, WatchdogConfig& watchdog, int64_t factor) {
  stretch(factor, pfc.refresh_limit, pfc.pause_budget, pfc.budget_window);
  stretch(factor, watchdog.detection_time, watchdog.restoration_time, watchdog.poll_interval);
}

void scale_port(PortConfig& port, int64_t factor) {
  slow(factor, port.speed, port.shaper);
  stretch(factor, port.cable_delay);
  scale_pfc(port.pfc, port.watchdog, factor);
  for (QueueConfig& queue : port.queues)
    if (queue.max_rate) queue.max_rate = slowed(*queue.max_rate, factor);
}

// A scheme's parameters are words; those with a unit of time are times.
void scale_parameters(std::map<std::string, std::string>& parameters, int64_t factor) {
  for (auto& [name, text] : parameters)
    if (const auto time = parse_duration(text)) text = to_string(stretched(time.value(), factor));
}

void scale_rlb(RlbConfig& rlb, int64_t factor) {
  PredictorConfig& predictor = rlb.predictor;
  stretch(factor, predictor.interval, predictor.reaction);
  if (predictor.horizon) predictor.horizon = stretched(*predictor.horizon, factor);
  WarningConfig& warning = rlb.warning;
  stretch(factor, warning.refresh, warning.life, warning.dwell, warning.contribution);
  stretch(factor, rlb.recirculation.latency);
  if (rlb.recirculation.rate) rlb.recirculation.rate = slowed(*rlb.recirculation.rate, factor);
  FailureDetectorConfig& detector = rlb.failure_detector;
  stretch(factor, detector.window, detector.silence, detector.exclusion,
          detector.longest_exclusion);
  GuardConfig& guard = rlb.guard;
  stretch(factor, guard.margin, guard.pause, guard.age, guard.linger);
}

void stretch_given(std::optional<Duration>& time, int64_t factor) {
  if (time) time = stretched(*time, factor);
}

void scale_path_service(PathServiceConfig& service, int64_t factor) {
  stretch_given(service.base_rtt, factor);
  stretch_given(service.sample, factor);
  stretch_given(service.echo, factor);
  stretch_given(service.probe, factor);
}

void slow_given(std::optional<BitRate>& rate, int64_t factor) {
  if (rate) rate = slowed(*rate, factor);
}

void scale_topology(TopologyConfig& topology, int64_t factor) {
  slow(factor, topology.host_rate, topology.fabric_rate);
  stretch(factor, topology.host_delay, topology.fabric_delay);
  for (LinkChoice& choice : topology.degraded) slow_given(choice.rate, factor);
}

void scale_host(HostConfig& host, int64_t factor) {
  DcqcnConfig& dcqcn = host.dcqcn;
  stretch(factor, dcqcn.alpha_timer, dcqcn.decrease_interval, dcqcn.cnp_interval,
          dcqcn.increase_timer);
  slow(factor, dcqcn.additive_increase, dcqcn.hyper_increase, dcqcn.min_rate);
  stretch(factor, host.irn.rto_low, host.irn.rto_high);
  stretch(factor, host.rto, host.nak_timer, host.reorder_timeout);
}

}  // namespace

RlbConfig rlb_preset(RlbPreset preset) {
  RlbConfig rlb;
  rlb.preset = preset;
  if (preset == RlbPreset::paper || preset == RlbPreset::paper_star) {
    rlb.predictor.mode = PredictorMode::fixed;
    rlb.warning.clear = false;
    rlb.guard.mode = GuardMode::off;
    rlb.recirculation.on_exceed = OnExceed::optimal;
    rlb.all_warned = AllWarned::base;
    rlb.failure_detector.mode = DetectorMode::paper;
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
  scale_rlb(out.rlb, config.time_dilation);
  scale_path_service(out.path_service, config.time_dilation);
  stretch_given(out.resequence.wait, config.time_dilation);
  out.control.neighbor_age = stretched(out.control.neighbor_age, config.time_dilation);
  out.time_dilation = 1;
  return out;
}

Experiment scaled(const Experiment& experiment) {
  Experiment out = experiment;
  const int64_t factor = experiment.run.time_dilation;
  scale_topology(out.topology, factor);
  scale_pfc(out.switches.pfc_port, out.switches.watchdog, factor);
  stretch(factor, out.switches.dre.period);
  scale_rlb(out.switches.rlb, factor);
  scale_path_service(out.switches.path_service, factor);
  stretch_given(out.switches.resequence.wait, factor);
  scale_host(out.host, factor);
  scale_parameters(out.load_balancer.parameters, factor);
  for (TrafficConfig& traffic : out.traffic) {
    stretch(factor, traffic.start, traffic.stop, traffic.period);
    slow_given(traffic.rate, factor);
  }
  for (FaultConfig& fault : out.faults) {
    stretch(factor, fault.start, fault.duration, fault.period, fault.delay);
    slow_given(fault.rate, factor);
    scale_parameters(fault.set, factor);
  }
  stretch(factor, out.run.warmup, out.run.duration, out.run.drain, out.run.sample_period);
  out.run.time_dilation = 1;
  return out;
}

}  // namespace eddy::config
