#include "bench/pipeline_cases.h"

#include <rte_cycles.h>

#include <cstdio>
#include <cstdlib>

#include "lb/registry.h"
#include "tests/support/topologies.h"

namespace eddy::bench {
namespace {

using namespace eddy::literals;

constexpr BitRate kSpeed = BitRate::gbps(400);

std::string number(size_t n) {
  return std::to_string(n);
}
std::string spine(size_t number_of_spine) {
  return "spine" + number(number_of_spine);
}

void add_uplinks(config::SwitchConfig& leaf, size_t count) {
  for (size_t u = 1; u <= count; ++u) {
    test::add_fabric_port(leaf, spine(u), kSpeed);
    leaf.ports.back().peer_mac = MacAddress{{2, 0xed, 0, 9, 0, static_cast<uint8_t>(u)}};
  }
}

std::string remote_prefix(const Case& spec, size_t leaf) {
  return spec.ipv6 ? "fd00:0:" + number(leaf) + "::/48" : "10." + number(leaf) + ".0.0/16";
}
std::string remote_host(const Case& spec, size_t leaf) {
  return spec.ipv6 ? "fd00:0:" + number(leaf) + "::2" : "10." + number(leaf) + ".1.2";
}

// Leaf `to` over spec.members paths, dealt out over the uplinks from another one for each leaf.
void add_leaf(config::SwitchConfig& leaf, const Case& spec, size_t to) {
  config::LeafConfig far{LeafId(to), {}};
  const size_t members = spec.members == 0 ? spec.uplinks : spec.members;
  for (size_t m = 0; m < members; ++m)
    far.paths.push_back({spine((to + m) % spec.uplinks + 1), 1, {}});
  leaf.leaves.push_back(far);
  leaf.routes.push_back({test::prefix(remote_prefix(spec, to)), LeafId(to), {}});
}

Case ports_case(size_t ports, size_t bursts, const char* name) {
  return {.name = name + number(ports), .hosts = ports / 2, .uplinks = ports / 2, .bursts = bursts};
}

}  // namespace

// What is compared, beside the plain cases:
//   ports.N   N ports in use, half of them hosts; each host has a burst ready at each poll, so the
//             load a port is the same for every N
//   spread.N  the same ports, one burst a poll in all: the same load spread ever thinner, down to 2
//             frames a port and poll
//   load.16   2 ports with the load of ports.32: 16 bursts a poll, so 512 packets in flight
//   paths.N   16 uplinks, each path set with N members over them; load and egress ports are
//             the same
//   shim_*    ecmp with the shim that conga (every packet) or hermes (some) asks for
//   idle.N    10k with N idle ports beside it
//   isolation.idle*  letflow.10k, ecmp.10k and connected.10k with isolation, while nobody is
//             congested: what it costs is what is above those
std::vector<Case> pipeline_cases() {
  std::vector<Case> all = {{.name = "pipeline.letflow.10k"},
                           {.name = "pipeline.letflow.1m", .flows = 1'000'000},
                           {.name = "pipeline.letflow.1flow", .flows = 1},
                           {.name = "pipeline.ipv6.10k", .ipv6 = true},
                           {.name = "pipeline.connected.10k", .hosts = 16, .connected = true},
                           {.name = "pipeline.sums_good.10k", .sums_good = true}};
  for (const lb::SchemeInfo& scheme : lb::schemes())
    if (scheme.name != "letflow")
      all.push_back({.name = "pipeline." + std::string(scheme.name) + ".10k",
                     .scheme = std::string(scheme.name)});
  all.push_back(
      {.name = "pipeline.shim_every.10k", .scheme = "ecmp", .shim = config::ShimUse::every});
  all.push_back(
      {.name = "pipeline.shim_sampled.10k", .scheme = "ecmp", .shim = config::ShimUse::sampled});
  for (const size_t ports : {2, 4, 8, 16, 32})
    all.push_back(ports_case(ports, ports / 2, "pipeline.ports."));
  for (const size_t ports : {2, 8, 32}) all.push_back(ports_case(ports, 1, "pipeline.spread."));
  all.push_back({.name = "pipeline.load.16", .hosts = 1, .uplinks = 1, .bursts = 16});
  for (const size_t members : {1, 2, 4, 16, 64})
    all.push_back({.name = "pipeline.paths." + number(members), .uplinks = 16, .members = members});
  all.push_back({.name = "pipeline.idle.240", .idle_hosts = 240});
  all.push_back({.name = "isolation.idle.10k", .isolation = true});
  all.push_back({.name = "isolation.idle_ecmp.10k", .scheme = "ecmp", .isolation = true});
  all.push_back(
      {.name = "isolation.idle_connected.10k", .hosts = 16, .connected = true, .isolation = true});
  return all;
}

config::SwitchConfig config_of(const Case& spec) {
  config::SwitchConfig leaf = test::bare_switch("leaf", 1);
  leaf.leaf = LeafId(1);
  leaf.buffer.size = Bytes::mib(1'024);  // headroom for 240 idle ports, too
  leaf.load_balancer.scheme = spec.scheme;
  leaf.path_service.shim = spec.shim;
  leaf.isolation.enabled = spec.isolation;
  for (size_t h = 1; h <= spec.hosts + spec.idle_hosts; ++h)
    test::add_host_port(leaf, 1, h, kSpeed, h <= spec.hosts);
  add_uplinks(leaf, spec.uplinks);
  if (!spec.connected)
    for (size_t to = 2; to < 2 + spec.prefixes; ++to) add_leaf(leaf, spec, to);
  return leaf;
}

ReplaySpec replay_of(const Case& spec, const config::SwitchConfig& config) {
  ReplaySpec replay;
  replay.flows = spec.flows;
  replay.bursts = spec.bursts;
  replay.sums_good = spec.sums_good;
  const size_t talking = spec.connected ? 2 : spec.hosts;
  for (size_t h = 0; h < talking; ++h) {
    replay.ingress.push_back(PortId(h));
    replay.macs.push_back(port_mac(config, h));
  }
  for (size_t to = 0; to < spec.prefixes; ++to) {
    if (!spec.connected)
      replay.destinations.push_back(test::ip(remote_host(spec, to + 2)));
    else if (to >= talking && to < spec.hosts)
      replay.destinations.push_back(test::host_ip(1, to + 1));
  }
  replay.source = spec.ipv6 ? test::ip("fd00:0:1::2") : test::host_ip(1, 1);
  return replay;
}

std::unique_ptr<Switch> make_switch(const config::SwitchConfig& config, size_t shards) {
  auto made = Switch::create(config, {.shards = shards});
  if (made) return std::move(*made);
  for (const std::string& problem : made.problems()) std::fprintf(stderr, "%s\n", problem.c_str());
  std::exit(1);
}

Bench::Bench(const Case& spec)
    : spec_(spec),
      config_(config_of(spec)),
      io_(replay_of(spec, config_)),
      object_(make_switch(config_, 1)) {
  for (size_t port = 0; port < config_.ports.size(); ++port) io_.raise_link(PortId(port));
  run(shard(), 2'000);
  count_sends();
}

// What a slice sends, so that the driver alone sends as many packets at a time.
void Bench::count_sends() {
  CountingIo io(io_);
  for (size_t i = 0; i < kPolls; ++i) {
    now_ = now_ + kPollGap;
    io_.next_poll();
    shard().poll(io, now_);
    io.end_poll(spec_.bursts * kBurst);
  }
  empty_.send_as(io.sent_at_a_time());
}

double Bench::run(Shard& shard, size_t polls) {
  const uint64_t before = rte_rdtsc();
  for (size_t i = 0; i < polls; ++i) {
    now_ = now_ + kPollGap;
    io_.next_poll();
    shard.poll(io_, now_);
  }
  return static_cast<double>(rte_rdtsc() - before) /
         static_cast<double>(polls * spec_.bursts * kBurst);
}

double Bench::run_slice() {
  const size_t polls = std::max<size_t>(1, kPolls / spec_.bursts);
  run(shard(), polls);
  return run(shard(), polls);
}

double Bench::run_idle() {
  const uint64_t before = rte_rdtsc();
  for (size_t i = 0; i < kPolls; ++i) {
    now_ = now_ + kPollGap;
    shard().poll(io_, now_);
  }
  return static_cast<double>(rte_rdtsc() - before) / kPolls;
}

bool Bench::lost_packets() const {
  const Balance balance = object_->balance();
  return balance.dropped != 0 || !balance.holds();
}

}  // namespace eddy::bench
