#include "testbed/real_result.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

namespace eddy::testbed {
namespace {

uint64_t peak_rss() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void add_port_counters(const HostGroup& group, lab::RunResult& result) {
  const auto infos = host_port_counter_infos();
  for (const auto& port : group.ports())
    for (size_t i = 0; i < infos.size(); ++i)
      result.counters[std::string(infos[i].name)] += port->counter(static_cast<HostPortCounter>(i));
}

void add_warnings(const RealRun& run, lab::RunResult& result) {
  for (const auto* more : {&run.topology.warnings, &run.trace.warnings, &run.warnings})
    result.warnings.insert(result.warnings.end(), more->begin(), more->end());
}

}  // namespace

lab::RunResult real_result(const RealRun& run, const SwitchWatch& switches) {
  lab::RunResult result;
  result.real = true;
  result.time_dilation = run.dilation;
  result.scheme = run.experiment.load_balancer.scheme;
  result.seed = run.seed;
  result.trace_digest = run.trace.digest();
  result.traffic = run.trace.items;
  result.interrupted = run.interrupted;
  result.censored = !run.group.book().all_ended();
  result.simulated = std::max(run.ended_at.since_zero(), Duration{}) / run.dilation;
  add_warnings(run, result);
  Result<lab::PauseScope> scope = switches.collect(run.dilation, result);
  if (!scope)
    result.warnings.push_back(scope.problems().front() + "; counters of switches are missing");
  lab::NicTotals nics;
  for (const host::Nic* nic : run.group.nics())
    nics.add(*nic, run.experiment.host.priority, run.ended_at);
  const lab::FlowAccount account{.experiment = run.experiment,
                                 .dilation = run.dilation,
                                 .topology = run.topology,
                                 .paths = run.paths,
                                 .book = run.group.book(),
                                 .waits = &run.trace.waits,
                                 .nics = nics,
                                 .now = run.ended_at};
  lab::add_flow_results(account, result);
  lab::add_nic_results(account, scope ? *scope : lab::PauseScope{}, result);
  add_port_counters(run.group, result);
  result.packet_hops = result.counters["rx_packets"] + result.counters["nic_rx_packets"];
  result.cpu_seconds = cpu_seconds();
  result.peak_rss_bytes = peak_rss();
  return result;
}

void warn_of_gaps(const PollGapHistogram& gaps, Duration allowed, lab::RunResult& result) {
  const Duration often = gaps.quantile(999);
  const bool explains_drops = result.lossless_drops > 0 && gaps.longest() > allowed;
  if (often <= allowed && !explains_drops) return;
  result.warnings.push_back(
      fmt::format("hosts were polled every {} us at times (p99.9; the longest {} us), {} us are "
                  "allowed: the machine was busy",
                  often.ns() / 1'000, gaps.longest().ns() / 1'000, allowed.ns() / 1'000));
}

}  // namespace eddy::testbed
