// Cycles an operation of the lossless machinery, in the state in which a packet finds it when
// nothing is wrong: accepted, not paused, below all thresholds. Run: build/release/bin/pfc_bench;
// the counter `cycles` is TSC cycles an operation in the best batch of 1,024, which a busy machine
// disturbs least. The baseline is an empty loop over the same
// data.
#include <benchmark/benchmark.h>
#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "config/config.h"
#include "net/random.h"
#include "pfc/buffer_pool.h"
#include "pfc/pause_receiver.h"
#include "pfc/pause_sender.h"
#include "pfc/scheduler.h"
#include "pfc/wred.h"

namespace eddy::pfc {
namespace {

using namespace eddy::literals;

constexpr size_t kPgs = 64;
constexpr size_t kPackets = 1'024;

// What each packet of a batch is: the same for every benchmark, different from packet to packet.
struct Batch {
  Batch() {
    RandomStream random(1, 0, 0);
    for (size_t i = 0; i < kPackets; ++i) {
      pg[i] = static_cast<uint16_t>(random.below(kPgs));
      charge[i] = static_cast<int>(256 + random.below(6) * 256);
    }
  }
  std::array<uint16_t, kPackets> pg;
  std::array<int, kPackets> charge;
};

template <class Body>
void measure(benchmark::State& state, Body&& body) {
  const Batch batch;
  uint64_t least = UINT64_MAX;
  for (auto _ : state) {
    const uint64_t start = rte_rdtsc();
    for (size_t i = 0; i < kPackets; ++i) body(batch.pg[i], batch.charge[i]);
    benchmark::ClobberMemory();
    least = std::min(least, static_cast<uint64_t>(rte_rdtsc() - start));
  }
  state.counters["cycles"] = static_cast<double>(least) / kPackets;
}

void baseline(benchmark::State& state) {
  measure(state, [](size_t pg, int64_t charge) {
    benchmark::DoNotOptimize(pg);
    benchmark::DoNotOptimize(charge);
  });
}
BENCHMARK(baseline)->Name("pfc.baseline");

void admit_release(benchmark::State& state, const char* profile_name) {
  const auto profile = config::default_switch("s").buffer.profiles.at(profile_name);
  std::array<PoolUse, 1> use;
  BufferPool pool(use, ShardId(0), 12_MiB);
  std::array<PgBuffer, kPgs> pgs;
  std::array<PgLimits, kPgs> limits;
  limits.fill(PgLimits::of(profile, 30_KiB));
  measure(state, [&](size_t pg, int64_t charge) {
    benchmark::DoNotOptimize(pool.admit(pgs[pg], limits[pg], charge));
    benchmark::DoNotOptimize(pool.release(pgs[pg], limits[pg], charge));
  });
}
BENCHMARK_CAPTURE(admit_release, fixed, "lossless")->Name("pfc.admit_release.static");
BENCHMARK_CAPTURE(admit_release, dynamic, "lossy")->Name("pfc.admit_release.dynamic");

void wred(benchmark::State& state) {
  const WredCurve curve = WredCurve::of(config::WredProfile{});
  RandomStream random(1, 0, 0);
  const int64_t queue = state.range(0);
  measure(state, [&](size_t, int64_t charge) {
    benchmark::DoNotOptimize(curve.marks(queue + charge, [&] { return random.next(); }));
  });
}
BENCHMARK(wred)->Arg(10'000)->Arg(400'000)->Name("pfc.wred");

// The argument is the mask of queues that hold packets.
void pick(benchmark::State& state) {
  Scheduler scheduler;
  scheduler.configure(SchedulerPlan::of(config::default_port("p")));
  const auto backlogged = static_cast<uint8_t>(state.range(0));
  measure(state, [&](size_t, int64_t charge) {
    const auto queue = scheduler.pick(backlogged, 0, [&](QueueId) { return charge; });
    scheduler.sent(*queue, charge);
    benchmark::DoNotOptimize(queue);
  });
}
BENCHMARK(pick)->Arg(0x08)->Arg(0x18)->Arg(0x1B)->Name("pfc.pick");

// What a poll asks when there is nothing to do: no pause owed or running out, no queue paused.
void idle_poll(benchmark::State& state) {
  PauseSender sender(32);
  PauseReceiver receiver(32);
  Instant now;
  measure(state, [&](size_t pg, int64_t) {
    now = now + 1_ns;
    sender.flush(now, [](const OwedPause&) { return true; });
    receiver.expire(now, [](const PauseChange&) {});
    benchmark::DoNotOptimize(receiver.paused_queues(PortId(pg % 32)));
  });
}
BENCHMARK(idle_poll)->Name("pfc.idle_poll");

void receive_pfc(benchmark::State& state) {
  PauseReceiver receiver(kPgs);
  for (size_t i = 0; i < kPgs; ++i)
    (void)receiver.configure(PortId(i), PauseRxPlan::of(config::default_port("p"), 0x18),
                             Instant());
  const std::array<uint16_t, kPriorities> times = {0, 0, 0, 0xFFFF, 0, 0, 0, 0};
  Instant now;
  measure(state, [&](size_t pg, int64_t) {
    now = now + 1_ns;
    benchmark::DoNotOptimize(receiver.on_pfc(PortId(pg), 0x08, times, now));
  });
}
BENCHMARK(receive_pfc)->Name("pfc.receive");

}  // namespace
}  // namespace eddy::pfc

BENCHMARK_MAIN();
