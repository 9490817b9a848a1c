#include "lab/real/needs.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <map>

#include "lab/fabric/fabric_paths.h"
#include "lab/real/switch_config.h"
#include "system/free_memory.h"

namespace eddy::lab {
namespace {

// Frames that a core handles a second when a dozen processes take turns on it: received, looked
// at, sent on. An estimate on the safe side: shared cores are to keep their poll gaps, not to be
// full.
constexpr double kFramesACoreAndSecond = 50'000;
constexpr int64_t kMostDilation = 10'000;
constexpr uint64_t kProcessMemory = uint64_t{110} << 20;  // rss.demo_switch without its pool
constexpr uint64_t kPacketOverhead = 640;                 // mbuf, Packet, headroom of a buffer

double seconds(Duration time) {
  return static_cast<double>(time.ps()) * 1e-12;
}

// Frames handled a second by all processes together, in the experiment's own time.
double frames_a_second(const config::Experiment& experiment, const Topology& topology,
                       const Trace& trace) {
  const FabricPaths paths(topology);
  double frames = 0;
  std::map<uint32_t, double> to;  // seconds that a destination's line is busy
  for (const Flow& flow : trace.flows) {
    const int64_t data = flow.size.count() / experiment.host.mtu + 1;
    const double packets =
        static_cast<double>(data) * (1 + 1.0 / std::max(1, experiment.host.ack_every));
    frames += packets * (paths.path(flow.source, flow.destination).links + 1);
    to[flow.destination] += static_cast<double>(flow.size.count()) * 8 /
                            static_cast<double>(topology.hosts[flow.destination].rate.bps());
  }
  double time = seconds(experiment.run.warmup + experiment.run.duration);
  for (const auto& [host, busy] : to) time = std::max(time, busy);
  return time > 0 ? frames / time : 0;
}

bool fits(config::Experiment experiment, int64_t dilation) {
  experiment.run.time_dilation = dilation;
  return unscaled_topology(experiment).ok();
}

// The smallest dilation with which the fabric can be configured; 0: none.
int64_t smallest_fitting(const config::Experiment& experiment) {
  int64_t most = 1;
  while (!fits(experiment, most)) {
    if (most >= kMostDilation) return 0;
    most *= 2;
  }
  int64_t least = most / 2;  // does not fit, or is 0
  while (most - least > std::max<int64_t>(1, most / 64)) {
    const int64_t middle = (least + most) / 2;
    (fits(experiment, middle) ? most : least) = middle;
  }
  return most;
}

uint64_t memory_of(const Topology& topology) {
  uint64_t octets = kProcessMemory;  // eddyhost
  for (const config::SwitchConfig& each : topology.switches) {
    const auto packets = static_cast<uint64_t>(each.buffer.size.count() / each.buffer.cell_bytes);
    const int mtu = each.ports.empty() ? 0 : each.ports.front().mtu;
    octets += kProcessMemory + packets * (static_cast<uint64_t>(mtu) + kPacketOverhead);
  }
  return octets;
}

}  // namespace

RealMachine this_machine() {
  RealMachine machine;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    machine.cores = static_cast<size_t>(CPU_COUNT(&set));
  machine.free_memory = free_memory();
  return machine;
}

Result<RealNeeds> real_needs(const config::Experiment& experiment, const Trace& trace,
                             const RealMachine& machine) {
  RealNeeds needs;
  needs.for_headroom = smallest_fitting(experiment);
  config::Experiment fitting = experiment;
  fitting.run.time_dilation = std::max<int64_t>(needs.for_headroom, 1);
  const Result<Topology> topology = unscaled_topology(fitting);
  if (!topology) return topology.problems();  // no dilation mends it
  if (Problems problems = check_real(experiment, topology.value()); !problems.empty())
    return problems;
  needs.processes = topology.value().switches.size() + 1;
  needs.memory = memory_of(topology.value());
  if (needs.memory > machine.free_memory)
    return Result<RealNeeds>::failure("the " + std::to_string(needs.processes) +
                                      " processes need about " +
                                      std::to_string(needs.memory >> 20) + " MiB of memory, " +
                                      std::to_string(machine.free_memory >> 20) +
                                      " MiB are free; would fit: a smaller fabric or buffer.size");
  const double room = kFramesACoreAndSecond * static_cast<double>(machine.cores);
  needs.for_load =
      static_cast<int64_t>(frames_a_second(experiment, topology.value(), trace) / room) + 1;
  return needs;
}

std::vector<std::string> real_sets(const std::vector<std::string>& given,
                                   const config::Experiment& experiment, int64_t dilation) {
  std::vector<std::string> sets = given;
  if (experiment.switches.poll_gap < kShortestPollGap)
    sets.push_back(fmt::format("switches.poll_gap={}ms", kSharedPollGap.ns() / 1'000'000));
  if (experiment.switches.buffer.cell_bytes < kSmallestCell)
    sets.push_back(fmt::format("buffer.cell={}", config::BufferConfig{}.cell_bytes));
  if (dilation != experiment.run.time_dilation)
    sets.push_back(fmt::format("run.time_dilation={}", dilation));
  return sets;
}

Result<int64_t> dilation_of_choice(int64_t needed, int64_t wished) {
  if (needed <= kMostDilation) return std::min(wished, kMostDilation);
  return Result<int64_t>::failure(fmt::format(
      "this machine would need a time dilation of {} now, and {} is the most; it would do with "
      "longer delays, with less traffic, or with less else to do on this machine",
      needed, kMostDilation));
}

int64_t dilation_for_gap(const Topology& unscaled, int mtu, Duration gap) {
  const FabricPaths paths(unscaled);
  Duration longest;
  for (uint32_t to = 1; to < unscaled.hosts.size(); ++to)
    if (paths.path(0, to).links > 0) longest = std::max(longest, paths.base_rtt(0, to, Bytes(mtu)));
  const int64_t round_trip = longest.ps();
  if (round_trip <= 0) return 1;
  return (gap.ps() + round_trip - 1) / round_trip;
}

}  // namespace eddy::lab
