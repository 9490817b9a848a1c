// Crew: threads that take the same steps together.
//
// Whoever waits for the others looks for them as long as it takes to fall asleep and be woken, if
// that has been of use lately, and else sleeps at once: on a machine that has other things to do
// nobody comes while one looks, and all but a few meetings are slept through. Owner: one thread,
// which is number 0 of the crew.
// Bounds: the threads are started at construction and joined at the end. Source: decision 0032.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace eddy::lab {

class Crew {
 public:
  explicit Crew(size_t threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  size_t size() const { return size_; }
  // Calls work(number) on every thread, and returns when all of them have returned.
  void run(const std::function<void(size_t)>& work);
  // Within work: goes on when all threads have come here. What one wrote before, all see after.
  void meet() { meet(At::work); }
  // Seconds of CPU that each helper has used; thread 0 knows its own.
  std::vector<double> helper_seconds();

 private:
  enum class At : uint8_t { work, start };  // which comes when it comes, and says nothing of work

  static constexpr int kMostTrust = 16;
  static constexpr int kVain = 2;            // trust that a look in vain costs
  static constexpr uint32_t kTryEvery = 61;  // meetings, without any trust; no multiple of a run's

  void meet(At at);
  void help(size_t number);
  bool comes_soon(uint32_t meeting, At at);

  const size_t size_;
  const std::function<void(size_t)>* work_ = nullptr;  // null when called: the end
  alignas(64) std::atomic<size_t> arrived_ = 0;
  alignas(64) std::atomic<uint32_t> meetings_ = 0;
  // That a look is of use. Any thread that waits writes it.
  alignas(64) std::atomic<int> trust_ = 0;
  std::vector<std::jthread> helpers_;  // last: they use all of the above
};

}  // namespace eddy::lab
