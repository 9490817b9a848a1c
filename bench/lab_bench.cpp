// lab_bench: packet hops a CPU second of the virtual-time fabric, full switch pipeline, on one
// core.
//
//   lab_bench [--rounds N] [--only TEXT] [--threads N] [--slice US] [--json FILE]
//   lab_bench --instructions CASE [--slice US]
//
// Each case is a fabric under a permutation of flows that outlast the run, warmed up until ECN and
// PFC have found their balance; in the sparse one few hosts send, so that what idle nodes cost
// shows. Cases run in turn, in slices of virtual time, over many rounds; a sample is the hops of a
// slice over the CPU time of the thread, of the busiest one with --threads. A slice is each case's
// own, or of so many microseconds. With --instructions one case runs one slice after its warm-up,
// for callgrind (--toggle-collect='*measured_slice*').
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "bench/report.h"
#include "config/host.h"
#include "lab/fabric/build_topology.h"
#include "lab/world/huge_pages.h"
#include "lab/world/world.h"

namespace eddy::bench {
namespace {

using namespace eddy::literals;

struct Arguments {
  std::string only;
  std::string json;
  std::string instructions;
  int rounds = 20;
  size_t threads = 1;
  int64_t slice_us = 0;  // 0 = each case's own

  bool wants(const std::string& name) const { return name.find(only) != std::string::npos; }
};

struct Case {
  std::string name;
  config::Experiment experiment;
  Duration warmup;
  Duration slice;
  size_t senders = SIZE_MAX;  // as many of the hosts send
};

Case leaf_spine_288() {
  Case spec{"lab.hops_per_second.288", {}, 300_us, 20_us};
  spec.experiment.topology.leaves = 12;
  spec.experiment.topology.spines = 12;
  spec.experiment.topology.hosts_per_leaf = 24;
  spec.experiment.switches.buffer.size = 28_MiB;
  return spec;
}

Case fat_tree_1024() {
  Case spec{"lab.hops_per_second.1024", {}, 150_us, 5_us};
  spec.experiment.topology.kind = config::TopologyKind::fat_tree;
  spec.experiment.topology.k = 16;
  spec.experiment.topology.host_rate = 100_Gbps;
  spec.experiment.topology.fabric_rate = 100_Gbps;
  spec.experiment.topology.host_delay = 1_us;
  spec.experiment.topology.fabric_delay = 1_us;
  spec.experiment.switches.buffer.size = 32_MiB;
  return spec;
}

// 512 hosts, of which two send.
Case sparse() {
  Case spec{"lab.hops_per_second.sparse", {}, 300_us, 200_us, 2};
  spec.experiment.topology.leaves = 16;
  spec.experiment.topology.spines = 16;
  spec.experiment.topology.hosts_per_leaf = 32;
  spec.experiment.switches.buffer.size = 28_MiB;
  return spec;
}

// Host i sends to host i + half for longer than any run.
std::vector<lab::Flow> permutation(size_t hosts, size_t senders) {
  std::vector<lab::Flow> flows;
  for (size_t i = 0; i < std::min(hosts, senders); ++i)
    flows.push_back({.source = static_cast<uint32_t>(i),
                     .destination = static_cast<uint32_t>((i + hosts / 2) % hosts),
                     .size = Bytes(int64_t{1} << 40),
                     .start = Instant() + Duration::nanoseconds(static_cast<int64_t>(i) * 7),
                     .source_port = static_cast<uint16_t>(49'152 + i * 13)});
  return flows;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Bench {
 public:
  explicit Bench(const Case& spec, size_t threads = 1) : spec_(spec) {
    auto topology = lab::build_topology(spec.experiment);
    if (!topology) fail(topology.problems());
    const std::vector<lab::Flow> flows = permutation(topology->hosts.size(), spec.senders);
    lab::WorldOptions options;
    options.host = spec.experiment.host;
    options.host.bdp = Bytes(100'000);
    options.division.threads = threads;
    lab::reserve_heap(lab::World::memory_needed(*topology, flows.size()));
    auto world = lab::World::create(
        *topology, flows, [](uint32_t, uint32_t) { return 20_us; }, options);
    if (!world) fail(world.problems());
    world_ = std::move(*world);
    world_->run_until(world_->now() + spec.warmup);
  }
  const Case& spec() const { return spec_; }

  // Hops a CPU second in the next slice.
  double hops_a_second(Duration slice) {
    const uint64_t hops = world_->counts().packet_hops;
    const std::vector<double> helpers = world_->helper_seconds();
    const double from = cpu_seconds();
    measured_slice(slice);
    double spent = cpu_seconds() - from;
    const std::vector<double> after = world_->helper_seconds();
    for (size_t i = 0; i < after.size(); ++i) spent = std::max(spent, after[i] - helpers[i]);
    return static_cast<double>(world_->counts().packet_hops - hops) / spent;
  }
  // Without counting, for which a world looks at all that is pending.
  [[gnu::noinline]] void measured_slice(Duration slice) {
    world_->run_until(world_->now() + slice);
  }
  lab::WorldCounts counts() const { return world_->counts(); }
  bool lost_packets() {
    for (size_t i = 0; i < world_->switch_count(); ++i)
      if (world_->switch_at(i).balance().dropped != 0) return true;
    return false;
  }

 private:
  [[noreturn]] static void fail(const Problems& problems) {
    for (const std::string& problem : problems) std::fprintf(stderr, "%s\n", problem.c_str());
    std::exit(2);
  }
  Case spec_;
  std::unique_ptr<lab::World> world_;
};

int run_instructions(const Arguments& arguments, const std::vector<Case>& cases) {
  for (const Case& spec : cases) {
    if (spec.name != arguments.instructions) continue;
    Bench bench(spec);
    const lab::WorldCounts before = bench.counts();
    bench.measured_slice(spec.slice);
    const lab::WorldCounts after = bench.counts();
    std::printf("hops %lu events %lu polls %lu host_turns %lu ties %lu\n",
                after.packet_hops - before.packet_hops, after.events - before.events,
                after.polls - before.polls, after.host_turns - before.host_turns,
                after.ties - before.ties);
    return 0;
  }
  std::fprintf(stderr, "lab_bench: no case '%s'\n", arguments.instructions.c_str());
  return 2;
}

int run(const Arguments& arguments) {
  std::vector<Case> cases = {leaf_spine_288(), fat_tree_1024(), sparse()};
  if (arguments.slice_us != 0)
    for (Case& spec : cases) spec.slice = Duration::microseconds(arguments.slice_us);
  if (!arguments.instructions.empty()) return run_instructions(arguments, cases);
  std::vector<std::unique_ptr<Bench>> benches;
  for (const Case& spec : cases)
    if (arguments.wants(spec.name))
      benches.push_back(std::make_unique<Bench>(spec, arguments.threads));
  std::vector<std::vector<double>> samples(benches.size());
  for (int round = 0; round < arguments.rounds; ++round)
    for (size_t i = 0; i < benches.size(); ++i)
      samples[i].push_back(benches[i]->hops_a_second(benches[i]->spec().slice));
  std::vector<Result> results;
  bool sound = true;
  for (size_t i = 0; i < benches.size(); ++i) {
    results.push_back(summarize(benches[i]->spec().name, samples[i], "hops/s"));
    if (!benches[i]->lost_packets()) continue;
    std::fprintf(stderr, "%s lost packets\n", benches[i]->spec().name.c_str());
    sound = false;
  }
  print(results);
  if (!arguments.json.empty() && !write_json(results, arguments.json)) return 1;
  return sound ? 0 : 1;
}

}  // namespace
}  // namespace eddy::bench

int main(int argc, char** argv) {
  eddy::bench::Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const char* value = i + 1 < argc ? argv[++i] : nullptr;
    if (value != nullptr && flag == "--only") {
      arguments.only = value;
    } else if (value != nullptr && flag == "--json") {
      arguments.json = value;
    } else if (value != nullptr && flag == "--rounds" && std::atoi(value) > 0) {
      arguments.rounds = std::atoi(value);
    } else if (value != nullptr && flag == "--threads" && std::atoi(value) > 0) {
      arguments.threads = static_cast<size_t>(std::atoi(value));
    } else if (value != nullptr && flag == "--instructions") {
      arguments.instructions = value;
    } else if (value != nullptr && flag == "--slice" && std::atoi(value) > 0) {
      arguments.slice_us = std::atoi(value);
    } else {
      std::fprintf(stderr,
                   "lab_bench: '%s': valid are --only TEXT, --rounds N, --threads N, --json FILE, "
                   "--instructions CASE and --slice US\n",
                   flag.c_str());
      return 2;
    }
  }
  return eddy::bench::run(arguments);
}
