// pipeline_bench: cycles a packet of the whole switch object, in process.
//
//   pipeline_bench [--seconds N] [--only NAME] [--instructions CASE]
//
// Each case is a leaf whose hosts' frames go up to other leaves. Cases and the empty driver are run in turn, in slices,
// over many rounds; a case's value is the median of (slice - driver slice next to it). With --instructions one case
// runs a fixed number of packets, for callgrind.
#include <rte_cycles.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bench/replay_io.h"
#include "switch/dataplane/switch.h"
#include "tests/support/topologies.h"

namespace eddy::bench {
namespace {

using namespace eddy::literals;

struct Case {
  std::string name;
  std::string scheme = "letflow";
  uint32_t flows = 10'000;
  size_t hosts = 2;
  size_t uplinks = 4;
  size_t prefixes = 16;  // destination leaves, one path set each
};

config::SwitchConfig leaf_of(const Case& spec) {
  config::SwitchConfig leaf = test::bare_switch("leaf", 1);
  leaf.leaf = LeafId(1);
  leaf.buffer.size = Bytes::mib(512);
  leaf.load_balancer.scheme = spec.scheme;
  for (size_t h = 1; h <= spec.hosts; ++h) test::add_host_port(leaf, 1, h, 400_Gbps);
  for (size_t u = 1; u <= spec.uplinks; ++u) {
    test::add_fabric_port(leaf, "spine" + std::to_string(u), 400_Gbps);
    leaf.ports.back().peer_mac = MacAddress{{2, 0xed, 0, 9, 0, static_cast<uint8_t>(u)}};
  }
  for (size_t to = 2; to < 2 + spec.prefixes; ++to) {
    config::LeafConfig far{LeafId(to), {}};
    for (size_t u = 1; u <= spec.uplinks; ++u) far.paths.push_back({"spine" + std::to_string(u), 1, {}});
    leaf.leaves.push_back(far);
    leaf.routes.push_back({test::prefix("10." + std::to_string(to) + ".0.0/16"), LeafId(to), {}});
  }
  return leaf;
}

class Bench {
 public:
  explicit Bench(const Case& spec) : spec_(spec), config_(leaf_of(spec)), io_(replay_of()) {
    auto made = Switch::create(config_, {});
    if (!made) {
      for (const std::string& problem : made.problems()) std::fprintf(stderr, "%s\n", problem.c_str());
      std::exit(1);
    }
    object_ = std::move(*made);
    io_.raise_links(config_.ports.size());
    run(object_->shard(ShardId(0)), 2'000);
  }

  // Polls `bursts` times; returns cycles a packet.
  double run(Shard& shard, size_t bursts) {
    const uint64_t before = rte_rdtsc();
    for (size_t i = 0; i < bursts; ++i) {
      now_ = now_ + 400_ns;  // 32 packets of 88 octets at 100 Gb/s take 225 ns
      io_.next_burst();
      shard.poll(io_, now_);
    }
    return static_cast<double>(rte_rdtsc() - before) / static_cast<double>(bursts * kBurst);
  }

  Shard& shard() { return object_->shard(ShardId(0)); }
  const Case& spec() const { return spec_; }
  bool lossless() const {
    const Balance balance = object_->balance();
    return balance.dropped == 0 && balance.held < 64;
  }

 private:
  ReplaySpec replay_of() const {
    ReplaySpec replay;
    replay.flows = spec_.flows;
    for (size_t h = 0; h < spec_.hosts; ++h) {
      replay.ingress.push_back(PortId(h));
      replay.macs.push_back(port_mac(config_, h));
    }
    for (size_t to = 2; to < 2 + spec_.prefixes; ++to)
      replay.destinations.push_back(test::ip("10." + std::to_string(to) + ".1.2"));
    replay.source = test::host_ip(1, 1);
    return replay;
  }

  Case spec_;
  config::SwitchConfig config_;
  ReplayIo io_;
  std::unique_ptr<Switch> object_;
  Instant now_ = Instant::at(1_ms);
};

std::vector<Case> cases() {
  return {{"pipeline.letflow.10k"},
          {"pipeline.letflow.1m", "letflow", 1'000'000},
          {"pipeline.ecmp.10k", "ecmp"},
          {"pipeline.drill.10k", "drill"},
          {"pipeline.ports.2", "letflow", 10'000, 1, 1},
          {"pipeline.ports.32", "letflow", 10'000, 16, 16},
          {"pipeline.paths.64", "letflow", 10'000, 2, 64}};
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

int measure(const std::string& only, int rounds) {
  std::vector<std::unique_ptr<Bench>> benches;
  for (const Case& spec : cases())
    if (only.empty() || spec.name.find(only) != std::string::npos)
      benches.push_back(std::make_unique<Bench>(spec));
  std::vector<std::vector<double>> values(benches.size());
  std::vector<double> driver;
  EmptyShard empty;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < benches.size(); ++i) {
      const double idle = benches[i]->run(empty, 100);
      driver.push_back(idle);
      benches[i]->run(benches[i]->shard(), 50);
      values[i].push_back(benches[i]->run(benches[i]->shard(), 100) - idle);
    }
  }
  std::printf("%-28s %8.1f cycles/packet (subtracted)\n", "driver", median(driver));
  for (size_t i = 0; i < benches.size(); ++i)
    std::printf("%-28s %8.1f cycles/packet%s\n", benches[i]->spec().name.c_str(), median(values[i]),
                benches[i]->lossless() ? "" : "  LOST PACKETS");
  return 0;
}

int instructions(const std::string& name) {
  for (const Case& spec : cases()) {
    if (spec.name != name) continue;
    Bench bench(spec);
    bench.run(bench.shard(), 10'000);
    return 0;
  }
  std::fprintf(stderr, "no such case: %s\n", name.c_str());
  return 2;
}

}  // namespace
}  // namespace eddy::bench

int main(int argc, char** argv) {
  std::string only;
  int rounds = 1'000;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--instructions") == 0) return eddy::bench::instructions(argv[i + 1]);
  }
  return eddy::bench::measure(only, rounds);
}
