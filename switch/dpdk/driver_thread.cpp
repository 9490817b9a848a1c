#include "switch/dpdk/driver_thread.h"

#include <rte_alarm.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "net/assert.h"

namespace eddy {
namespace {

class Errand {
 public:
  explicit Errand(const std::function<void()>& work) : work_(work) {}
  static void run(void* errand) {
    auto* self = static_cast<Errand*>(errand);
    ASSERT(self->handed_over_.load(std::memory_order_acquire));
    self->work_();
    const std::lock_guard lock(self->mutex_);
    self->done_ = true;
    self->changed_.notify_one();
  }
  // Before run(), which is on another thread. DPDK's list of alarms has a lock of its own, but no
  // tool can see into it.
  void hand_over() { handed_over_.store(true, std::memory_order_release); }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

 private:
  const std::function<void()>& work_;
  std::atomic<bool> handed_over_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

}  // namespace

void run_on_driver_thread(const std::function<void()>& work) {
  constexpr uint64_t kSoonUs = 1;
  Errand errand(work);
  errand.hand_over();
  ASSERT(rte_eal_alarm_set(kSoonUs, Errand::run, &errand) == 0);
  errand.wait();
}

}  // namespace eddy
