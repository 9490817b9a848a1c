// PortSet: a set of ports as a bitmap, walked in port order. Cost: insert is one OR; take_all four
// words.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "net/ids.h"

namespace eddy {

class PortSet {
 public:
  void insert(PortId port) { words_[port.index() / 64] |= uint64_t{1} << (port.index() % 64); }
  bool empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }

  // Calls visit(PortId) for each port and leaves the set empty; ports inserted meanwhile stay for
  // the next time.
  template <class Visit>
  void take_all(Visit&& visit) {
    for (size_t word = 0; word < words_.size(); ++word) {
      uint64_t bits = words_[word];
      words_[word] = 0;
      for (; bits != 0; bits &= bits - 1)
        visit(PortId(word * 64 + static_cast<size_t>(std::countr_zero(bits))));
    }
  }

 private:
  static_assert(kMaxPorts == 4 * 64);
  std::array<uint64_t, 4> words_{};
};

}  // namespace eddy
