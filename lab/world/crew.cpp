#include "lab/world/crew.h"

#include <pthread.h>
#include <rte_pause.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "net/assert.h"

namespace eddy::lab {
namespace {

// What a thread that is woken, and who wakes it, need for that under a hypervisor.
constexpr std::chrono::microseconds kLookFor(100);

}  // namespace

Crew::Crew(size_t threads) : size_(threads) {
  ASSERT(threads > 0);
  helpers_.reserve(threads - 1);
  for (size_t number = 1; number < threads; ++number)
    helpers_.emplace_back([this, number] { help(number); });
}

Crew::~Crew() {
  work_ = nullptr;
  meet();
}

void Crew::run(const std::function<void(size_t)>& work) {
  work_ = &work;
  meet();
  work(0);
  meet();
}

void Crew::help(size_t number) {
  for (;;) {
    meet(At::start);
    if (work_ == nullptr) return;
    (*work_)(number);
    meet();
  }
}

void Crew::meet(At at) {
  const uint32_t meeting = meetings_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < size_) {
    if (!comes_soon(meeting, at)) meetings_.wait(meeting, std::memory_order_acquire);
    return;
  }
  arrived_.store(0, std::memory_order_relaxed);
  meetings_.store(meeting + 1, std::memory_order_release);
  meetings_.notify_all();
}

// Looks for the end of the meeting, where that is of use.
bool Crew::comes_soon(uint32_t meeting, At at) {
  const int trust = trust_.load(std::memory_order_relaxed);
  if (trust == 0 && (at == At::start || meeting % kTryEvery != 0)) return false;
  const auto learn = [&](int change) {
    if (at == At::work)
      trust_.store(std::clamp(trust + change, 0, kMostTrust), std::memory_order_relaxed);
  };
  constexpr int kLooksATime = 16;
  const auto until = std::chrono::steady_clock::now() + kLookFor;
  do {
    for (int i = 0; i < kLooksATime; ++i) {
      if (meetings_.load(std::memory_order_acquire) != meeting) {
        learn(1);
        return true;
      }
      rte_pause();
    }
  } while (std::chrono::steady_clock::now() < until);
  learn(-kVain);
  return false;
}

std::vector<double> Crew::helper_seconds() {
  constexpr double kNanosecond = 1e-9;
  std::vector<double> all;
  for (std::jthread& helper : helpers_) {
    clockid_t clock{};
    timespec now{};
    const bool known = pthread_getcpuclockid(helper.native_handle(), &clock) == 0 &&
                       clock_gettime(clock, &now) == 0;
    all.push_back(known ? static_cast<double>(now.tv_sec) +
                              static_cast<double>(now.tv_nsec) * kNanosecond
                        : 0);
  }
  return all;
}

}  // namespace eddy::lab
