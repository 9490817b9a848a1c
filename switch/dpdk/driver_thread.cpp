#include "switch/dpdk/driver_thread.h"

#include <rte_alarm.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "net/assert.h"

namespace eddy {
namespace {

// DPDK's list of alarms has a lock of its own, but no tool can see into it. So the errand says in
// its own words what comes before what: that it is made before it is run, and that its alarm is set
// before it has been run, for then DPDK frees the alarm.
class Errand {
 public:
  explicit Errand(const std::function<void()>& work) : work_(work) {}
  void run_soon() {
    constexpr uint64_t kSoonUs = 1;
    std::unique_lock lock(mutex_);
    made_.store(true, std::memory_order_release);
    ASSERT(rte_eal_alarm_set(kSoonUs, run, this) == 0);
    changed_.wait(lock, [this] { return done_; });
  }

 private:
  static void run(void* errand) {
    auto* self = static_cast<Errand*>(errand);
    ASSERT(self->made_.load(std::memory_order_acquire));
    const std::lock_guard lock(self->mutex_);
    self->work_();
    self->done_ = true;
    self->changed_.notify_one();
  }

  const std::function<void()>& work_;
  std::atomic<bool> made_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

}  // namespace

void run_on_driver_thread(const std::function<void()>& work) {
  Errand(work).run_soon();
}

}  // namespace eddy
