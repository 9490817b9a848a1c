#include "lab/world/crew.h"

#include <pthread.h>

#include <ctime>

#include "net/assert.h"

namespace eddy::lab {

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
    meet();
    if (work_ == nullptr) return;
    (*work_)(number);
    meet();
  }
}

void Crew::meet() {
  const uint32_t meeting = meetings_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < size_) {
    meetings_.wait(meeting, std::memory_order_acquire);
    return;
  }
  arrived_.store(0, std::memory_order_relaxed);
  meetings_.store(meeting + 1, std::memory_order_release);
  meetings_.notify_all();
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
