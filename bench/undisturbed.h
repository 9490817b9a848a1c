// Samples that no other process has cut into: on a shared machine a slice of a millisecond is often
// interrupted, and then says more of the machine than of the code.
#pragma once

#include <sys/resource.h>

namespace eddy::bench {

// How often this thread was taken off its core against its will.
inline long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// sample() again until nothing came between, or the last of kTries.
template <class Sample>
double undisturbed(Sample&& sample) {
  constexpr int kTries = 20;
  double value = 0;
  for (int i = 0; i < kTries; ++i) {
    const long before = preemptions();
    value = sample();
    if (preemptions() == before) break;
  }
  return value;
}

}  // namespace eddy::bench
