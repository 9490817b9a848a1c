// The cost of the RoCEv2 NIC, a packet and step: a data packet sent, received, its ACK sent and
// received, between two NICs with nothing between them. Run: build/release/bin/host_bench; the
// counters are TSC cycles a packet in the best burst of 64, which a busy machine disturbs least.
// `host_bench --instructions CASE [EXCHANGES]` runs a fixed number of bursts, for callgrind, which
// collects exchange_burst(); `host_bench --list` names the cases and the packets of a burst.
#include <benchmark/benchmark.h>
#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "host/nic.h"
#include "net/assert.h"
#include "tests/support/packet_pool.h"

namespace eddy::host {
namespace {

using namespace eddy::literals;

constexpr size_t kPackets = 64;
constexpr size_t kQueuePairs = 4;
constexpr Bytes kEndless{int64_t{1} << 46};

// g++ would make one function of two with equal bodies, and the profile could not tell them apart.
// clang++ has no such attribute and merges none unless told to.
#if __has_cpp_attribute(gnu::no_icf)
#define EDDY_OWN_BODY [[gnu::no_icf]]
#else
#define EDDY_OWN_BODY
#endif

[[gnu::noinline]] EDDY_OWN_BODY bool transmit_data(Nic& nic, Packet& out, Instant now) {
  return nic.transmit(out, now);
}
[[gnu::noinline]] EDDY_OWN_BODY void receive_data(Nic& nic, const Packet& in, Instant now) {
  nic.receive(in, now);
}
[[gnu::noinline]] EDDY_OWN_BODY bool transmit_ack(Nic& nic, Packet& out, Instant now) {
  return nic.transmit(out, now);
}
[[gnu::noinline]] EDDY_OWN_BODY void receive_ack(Nic& nic, const Packet& in, Instant now) {
  nic.receive(in, now);
}

NicOptions options(const config::HostConfig& config, uint8_t host) {
  NicOptions options;
  options.config = config;
  options.mac = {{2, 0, 0, 0, 0, host}};
  options.gateway = {{2, 0, 0, 0, 0, static_cast<uint8_t>(3 - host)}};
  options.address = Ipv4Address{0x0a000000u + host};
  options.speed = 100_Gbps;
  options.senders = options.receivers = kQueuePairs;
  return options;
}

struct Pair {
  explicit Pair(const config::HostConfig& config)
      : sender(options(config, 1)), receiver(options(config, 2)) {
    for (uint32_t qpn = 0; qpn < kQueuePairs; ++qpn) {
      const uint32_t in =
          receiver.expect({.size = kEndless, .source = Ipv4Address{0x0a000001}, .source_qpn = qpn});
      sender.open({.size = kEndless,
                   .destination = Ipv4Address{0x0a000002},
                   .destination_qpn = in,
                   .base_rtt = 8_us});
      sender.start(qpn, now);
    }
    for (Packet*& packet : packets) packet = pool.get();
  }

  template <class Step>
  void burst(uint64_t& least, Step&& step) {
    const uint64_t start = rte_rdtsc();
    for (Packet* packet : packets) step(*packet);
    least = std::min(least, static_cast<uint64_t>(rte_rdtsc() - start));
    now = now + 6_us;
  }

  test::PacketPool pool{kPackets};
  std::array<Packet*, kPackets> packets{};
  Instant now;
  Nic sender;
  Nic receiver;
};

using Least = std::array<uint64_t, 4>;

// 64 packets and their acknowledgements.
[[gnu::noinline]] void exchange_burst(Pair& pair, Least& least) {
  pair.burst(least[0], [&](Packet& p) { ASSERT(transmit_data(pair.sender, p, pair.now)); });
  pair.burst(least[1], [&](Packet& p) { receive_data(pair.receiver, p, pair.now); });
  pair.burst(least[2], [&](Packet& p) { ASSERT(transmit_ack(pair.receiver, p, pair.now)); });
  pair.burst(least[3], [&](Packet& p) { receive_ack(pair.sender, p, pair.now); });
}

struct Case {
  const char* name;
  const char* recovery;
  const char* control;
};
constexpr std::array kCases = {Case{"host.exchange.none", "go_back_n", "none"},
                               Case{"host.exchange.dcqcn", "go_back_n", "dcqcn"},
                               Case{"host.exchange.dctcp", "go_back_n", "dctcp"},
                               Case{"host.exchange.irn", "irn", "none"}};

config::HostConfig config_of(const Case& spec) {
  config::HostConfig config;
  config.recovery = spec.recovery;
  config.congestion_control = spec.control;
  return config;
}

void exchange(benchmark::State& state, const Case& spec) {
  Pair pair(config_of(spec));
  Least least;
  least.fill(UINT64_MAX);
  for (auto _ : state) exchange_burst(pair, least);
  const std::array names = {"transmit_data", "receive_data", "transmit_ack", "receive_ack"};
  for (size_t i = 0; i < names.size(); ++i)
    state.counters[names[i]] = static_cast<double>(least[i]) / kPackets;
}

int list() {
  for (const Case& spec : kCases) std::printf("%s %zu\n", spec.name, kPackets);
  return 0;
}

int instructions(std::string_view name, size_t bursts) {
  for (const Case& spec : kCases) {
    if (name != spec.name) continue;
    Pair pair(config_of(spec));
    Least least;
    least.fill(UINT64_MAX);
    for (size_t i = 0; i < bursts; ++i) exchange_burst(pair, least);
    return 0;
  }
  std::fprintf(stderr, "no such case: %.*s\n", static_cast<int>(name.size()), name.data());
  return 2;
}

int run(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--list" && argc == 2) return list();
  if (first == "--instructions" && (argc == 3 || argc == 4))
    return instructions(argv[2], argc == 4 ? std::strtoul(argv[3], nullptr, 10) : 1'000);
  for (const Case& spec : kCases) benchmark::RegisterBenchmark(spec.name, exchange, spec);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace eddy::host

int main(int argc, char** argv) {
  return eddy::host::run(argc, argv);
}
