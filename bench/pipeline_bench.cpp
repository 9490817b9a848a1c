// pipeline_bench: cycles a packet of the whole switch object, in process.
//
//   pipeline_bench [--rounds N] [--only TEXT] [--json FILE]
//   pipeline_bench --instructions CASE [--polls N]
//   pipeline_bench --list
//
// Each case is a switch of one shard with its own driver (pipeline_cases.h). Cases and the empty
// driver are run in turn, in slices, over many rounds; a sample is a case's slice less the driver's
// slice beside it. --only takes the cases whose name contains TEXT. With --instructions one case
// runs a fixed number of polls, for callgrind; --list names those cases and says how many packets
// a poll of each brings.
#include <rte_cycles.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/capture.h"
#include "bench/counted.h"
#include "bench/hop.h"
#include "bench/overhead.h"
#include "bench/pipeline_cases.h"
#include "bench/report.h"
#include "bench/single_polls.h"
#include "bench/stages.h"
#include "bench/storm.h"
#include "bench/undisturbed.h"

namespace eddy::bench {
namespace {

struct Arguments {
  std::string only;
  std::string json;
  std::string instructions;
  int rounds = 300;
  size_t polls = 10'000;

  bool wants(const std::string& name) const { return name.find(only) != std::string::npos; }
};

// False when a switch lost packets: what it costs to drop them is not what is asked.
bool measure_pipeline(const Arguments& arguments, std::vector<Result>& results) {
  std::vector<std::unique_ptr<Bench>> benches;
  for (const Case& spec : pipeline_cases())
    if (arguments.wants(spec.name)) benches.push_back(std::make_unique<Bench>(spec));
  std::vector<std::vector<double>> samples(benches.size());
  for (int round = 0; round < arguments.rounds; ++round) {
    for (size_t i = 0; i < benches.size(); ++i) {
      samples[i].push_back(undisturbed([&] {
        const double driver = benches[i]->run_empty();
        return benches[i]->run_slice() - driver;
      }));
    }
  }
  bool sound = true;
  for (size_t i = 0; i < benches.size(); ++i) {
    results.push_back(summarize(benches[i]->spec().name, samples[i]));
    if (!benches[i]->lost_packets()) continue;
    std::fprintf(stderr, "%s lost packets\n", benches[i]->spec().name.c_str());
    sound = false;
  }
  return sound;
}

// A poll that finds nothing, on a switch of 6 ports and of 246.
std::vector<Result> measure_idle(int rounds) {
  Bench few({.name = "few"});
  Bench many({.name = "many", .idle_hosts = 240});
  std::vector<double> of_few;
  std::vector<double> of_many;
  for (int round = 0; round < rounds; ++round) {
    of_few.push_back(undisturbed([&] { return few.run_idle(); }));
    of_many.push_back(undisturbed([&] { return many.run_idle(); }));
  }
  return {summarize("poll.empty.6ports", of_few, "cycles/poll"),
          summarize("poll.empty.246ports", of_many, "cycles/poll")};
}

// What isolation adds to a packet while nobody is congested, as differences of slices side by side.
std::vector<Result> measure_isolation(int rounds) {
  struct Pair {
    const char* name;
    Case bare;
  };
  const std::vector<Pair> pairs = {
      {"isolation.overhead", {}},
      {"isolation.overhead.ecmp", {.scheme = "ecmp"}},
      {"isolation.overhead.connected", {.hosts = 16, .connected = true}}};
  std::vector<Result> results;
  for (const Pair& pair : pairs) {
    Case isolating = pair.bare;
    isolating.isolation = true;
    Bench without(pair.bare);
    Bench with(isolating);
    std::vector<double> more;
    for (int round = 0; round < rounds; ++round)
      more.push_back(undisturbed([&] {
        const double bare = without.run_slice();
        return with.run_slice() - bare;
      }));
    results.push_back(summarize(pair.name, more));
  }
  return results;
}

// The TSC's rate, against the system's clock.
std::vector<Result> measure_tsc(int) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  for (int i = 0; i < 9; ++i) {
    const auto began = Clock::now();
    const uint64_t before = rte_rdtsc();
    while (Clock::now() - began < std::chrono::milliseconds(5)) {
    }
    const auto cycles = static_cast<double>(rte_rdtsc() - before);
    samples.push_back(cycles /
                      std::chrono::duration<double, std::micro>(Clock::now() - began).count());
  }
  return {summarize("machine.tsc", samples, "MHz")};
}

int measure(const Arguments& arguments) {
  std::vector<Result> results;
  const bool sound = measure_pipeline(arguments, results);
  const auto add = [&](const char* family, std::vector<Result> (*measure_family)(int)) {
    if (!arguments.wants(family) && arguments.only.find(family) == std::string::npos) return;
    const std::vector<Result> more = measure_family(arguments.rounds);
    results.insert(results.end(), more.begin(), more.end());
  };
  add("machine.tsc", measure_tsc);
  add("poll.empty", measure_idle);
  add("poll.one_packet", measure_single_polls);
  add("memory.switch", measure_switch_memory);
  add("rlb.storm", measure_storm);
  add("rlb.overhead", measure_overhead);
  add("isolation.overhead", measure_isolation);
  add("stage", measure_stages);
  add("worker.hop", measure_hop);
  add("capture.overhead", measure_capture);
  print(results);
  if (!arguments.json.empty() && !write_json(results, arguments.json)) {
    std::fprintf(stderr, "cannot write %s\n", arguments.json.c_str());
    return 1;
  }
  return sound ? 0 : 1;
}

std::vector<Counted> counted_cases() {
  std::vector<Counted> all;
  for (const Case& spec : pipeline_cases())
    all.push_back({spec.name, spec.bursts * kBurst, [spec](size_t polls) {
                     Bench bench(spec);
                     bench.run(bench.shard(), polls);
                   }});
  for (auto* family : {counted_hop, counted_overhead, counted_storm, counted_capture})
    for (Counted& each : family()) all.push_back(std::move(each));
  return all;
}

int list() {
  for (const Counted& each : counted_cases())
    std::printf("%s %zu\n", each.name.c_str(), each.packets);
  return 0;
}

int instructions(const Arguments& arguments) {
  for (const Counted& each : counted_cases()) {
    if (each.name != arguments.instructions) continue;
    each.run(arguments.polls);
    return 0;
  }
  if (run_single_polls(arguments.instructions, arguments.polls)) return 0;
  std::fprintf(stderr, "no such case: %s\n", arguments.instructions.c_str());
  return 2;
}

bool take(Arguments& arguments, const char* option, const char* value) {
  if (std::strcmp(option, "--only") == 0)
    arguments.only = value;
  else if (std::strcmp(option, "--json") == 0)
    arguments.json = value;
  else if (std::strcmp(option, "--instructions") == 0)
    arguments.instructions = value;
  else if (std::strcmp(option, "--rounds") == 0)
    arguments.rounds = std::atoi(value);
  else if (std::strcmp(option, "--polls") == 0)
    arguments.polls = std::strtoul(value, nullptr, 10);
  else
    return false;
  return true;
}

}  // namespace
}  // namespace eddy::bench

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) return eddy::bench::list();
  eddy::bench::Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && take(arguments, argv[i], argv[i + 1])) continue;
    std::fprintf(stderr,
                 "usage: pipeline_bench [--rounds N] [--only TEXT] [--json FILE]\n"
                 "       pipeline_bench --instructions CASE [--polls N]\n"
                 "       pipeline_bench --list\n");
    return 2;
  }
  if (arguments.rounds < 1) return 2;
  return arguments.instructions.empty() ? measure(arguments) : instructions(arguments);
}
