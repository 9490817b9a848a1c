// A stream of draws of its own for a group of what a random lab is, so that a new one shifts no
// other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/random.h"

namespace eddy::test {

class LabDraws {
 public:
  LabDraws(uint64_t seed, uint32_t group, uint32_t purpose) : random_(seed, group, purpose) {}

  bool chance(uint32_t of) { return random_.below(of) == 0; }
  int between(int low, int high) {
    return low + static_cast<int>(random_.below(static_cast<uint32_t>(high - low + 1)));
  }
  template <class T, size_t kCount>
  T one_of(const T (&values)[kCount]) {
    return values[random_.below(kCount)];
  }

 private:
  RandomStream random_;
};

}  // namespace eddy::test
