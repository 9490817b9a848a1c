#include "bench/bare_hop.h"

#include <pthread.h>
#include <rte_cycles.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "net/assert.h"
#include "switch/dataplane/state/io.h"
#include "switch/dataplane/state/spsc_ring.h"

namespace eddy::bench {
namespace {

constexpr size_t kLines = 3;
constexpr size_t kItems = 1'024;
constexpr size_t kBurstsOfSample = 4'000;

struct Item {
  struct alignas(64) Line {
    uint64_t words[8];
  };
  Line lines[kLines];
};

// Bursts go in whole, so they come out whole.
using Ring = SpscRing<Item*, 2 * kItems>;

// Moves a burst from one ring to the other and writes on its items. Busy cycles; nothing if there
// was no burst.
std::optional<uint64_t> move_burst(Ring& from, Ring& to) {
  const uint64_t before = rte_rdtsc();
  std::array<Item*, kBurst> burst;
  if (from.receive(burst) == 0) return std::nullopt;
  for (Item* item : burst)
    for (Item::Line& line : item->lines) ++line.words[0];
  ASSERT(to.send(burst) == kBurst);
  return rte_rdtsc() - before;
}

class BareHop {
 public:
  BareHop() : items_(new Item[kItems]()) {
    for (size_t i = 0; i < kItems; i += kBurst) {
      std::array<Item*, kBurst> burst;
      for (size_t j = 0; j < kBurst; ++j) burst[j] = &items_[i + j];
      ASSERT(back_.send(burst) == kBurst);
    }
  }

  // One thread does both ends' work.
  double in_one_thread() {
    uint64_t busy = 0;
    for (size_t i = 0; i < kBurstsOfSample; ++i)
      busy += move_burst(back_, forth_).value_or(0) + move_burst(forth_, back_).value_or(0);
    return static_cast<double>(busy) / (kBurstsOfSample * kBurst);
  }

  // The calling thread's end; the other end runs far_end().
  double between_threads() {
    const uint64_t before = far_busy_.load(std::memory_order_relaxed);
    uint64_t busy = 0;
    for (size_t i = 0; i < kBurstsOfSample;) {
      const auto cycles = move_burst(back_, forth_);
      if (!cycles) {
        sched_yield();  // under a real-time policy the other end may wait for this very core
        continue;
      }
      busy += *cycles;
      ++i;
    }
    return static_cast<double>(busy + far_busy_.load(std::memory_order_relaxed) - before) /
           (kBurstsOfSample * kBurst);
  }
  void far_end() {
    while (!stop_.load(std::memory_order_relaxed)) {
      if (const auto cycles = move_burst(forth_, back_))
        far_busy_.store(far_busy_.load(std::memory_order_relaxed) + *cycles,
                        std::memory_order_relaxed);
      else
        sched_yield();
    }
  }
  void stop() { stop_ = true; }

 private:
  std::unique_ptr<Item[]> items_;
  Ring forth_, back_;
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<uint64_t> far_busy_{0};
};

}  // namespace

bool pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

std::vector<double> bare_hop_samples(int count) {
  if (std::thread::hardware_concurrency() < 2) return {};
  BareHop hop;
  hop.in_one_thread();  // warms up
  const double alone = hop.in_one_thread();
  std::atomic<bool> pinned{pin_to(kReceivingCpu)};
  std::thread far([&] {
    if (!pin_to(kSendingCpu)) pinned = false;
    hop.far_end();
  });
  std::vector<double> out;
  hop.between_threads();
  for (int i = 0; i < count && pinned; ++i) out.push_back(hop.between_threads() - alone);
  hop.stop();
  far.join();
  return out;
}

}  // namespace eddy::bench
