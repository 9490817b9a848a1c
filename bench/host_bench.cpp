// The cost of the RoCEv2 NIC, a packet and step: a data packet sent, received, its ACK sent and
// received, between two NICs with nothing between them. Run: build/release/bin/host_bench; the
// counters are TSC cycles a packet in the best burst of 64, which a busy machine disturbs least.
// Instructions a packet: run one case under callgrind (valgrind --tool=callgrind
// build/release/bin/host_bench --benchmark_filter=/none) and divide the inclusive counts of the
// four functions here that are never inlined by their calls (callgrind_annotate --inclusive=yes).
#include <benchmark/benchmark.h>
#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <cstdint>

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

void exchange(benchmark::State& state, config::Recovery recovery,
              config::CongestionControl control) {
  config::HostConfig config;
  config.recovery = recovery;
  config.congestion_control = control;
  Pair pair(config);
  std::array<uint64_t, 4> least;
  least.fill(UINT64_MAX);
  for (auto _ : state) {
    pair.burst(least[0], [&](Packet& p) { ASSERT(transmit_data(pair.sender, p, pair.now)); });
    pair.burst(least[1], [&](Packet& p) { receive_data(pair.receiver, p, pair.now); });
    pair.burst(least[2], [&](Packet& p) { ASSERT(transmit_ack(pair.receiver, p, pair.now)); });
    pair.burst(least[3], [&](Packet& p) { receive_ack(pair.sender, p, pair.now); });
  }
  const std::array names = {"transmit_data", "receive_data", "transmit_ack", "receive_ack"};
  for (size_t i = 0; i < names.size(); ++i)
    state.counters[names[i]] = static_cast<double>(least[i]) / kPackets;
}

using config::CongestionControl;
using config::Recovery;
BENCHMARK_CAPTURE(exchange, none, Recovery::go_back_n, CongestionControl::none)
    ->Name("host.exchange/none");
BENCHMARK_CAPTURE(exchange, dcqcn, Recovery::go_back_n, CongestionControl::dcqcn)
    ->Name("host.exchange/dcqcn");
BENCHMARK_CAPTURE(exchange, dctcp, Recovery::go_back_n, CongestionControl::dctcp)
    ->Name("host.exchange/dctcp");
BENCHMARK_CAPTURE(exchange, irn, Recovery::irn, CongestionControl::none)->Name("host.exchange/irn");

}  // namespace
}  // namespace eddy::host

BENCHMARK_MAIN();
