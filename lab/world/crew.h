// Crew: threads that take the same steps together.
//
// Whoever waits for the others sleeps, so that a busy machine loses nothing by it; on an idle one
// each meeting costs some ten microseconds. Owner: one thread, which is number 0 of the crew.
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
  void meet();
  // Seconds of CPU that each helper has used; thread 0 knows its own.
  std::vector<double> helper_seconds();

 private:
  void help(size_t number);

  const size_t size_;
  const std::function<void(size_t)>* work_ = nullptr;  // null when called: the end
  alignas(64) std::atomic<size_t> arrived_ = 0;
  alignas(64) std::atomic<uint32_t> meetings_ = 0;
  std::vector<std::jthread> helpers_;  // last: they use all of the above
};

}  // namespace eddy::lab
