// PortSet: a set of ports as a bitmap, walked in port order. Cost: insert is two ORs; take_all the
// words that are not empty.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "net/ids.h"

namespace eddy {

class PortSet {
 public:
  void insert(PortId port) {
    words_[port.index() / 64] |= uint64_t{1} << (port.index() % 64);
    filled_ |= 1u << (port.index() / 64);
  }
  // The same if `when`, without a branch.
  void insert_if(PortId port, bool when) {
    const auto one = static_cast<uint32_t>(when);
    words_[port.index() / 64] |= uint64_t{one} << (port.index() % 64);
    filled_ |= one << (port.index() / 64);
  }
  bool empty() const { return filled_ == 0; }

  // Calls visit(first, ports) for 64 ports at a time, of which some are in the set: bit i of
  // `ports` is port first + i. Leaves the set empty; ports inserted meanwhile stay for the next
  // time.
  template <class Visit>
  void take_all(Visit&& visit) {
    for (uint32_t left = std::exchange(filled_, 0); left != 0; left &= left - 1) {
      const auto word = static_cast<size_t>(std::countr_zero(left));
      visit(word * 64, std::exchange(words_[word], 0));
    }
  }

 private:
  static_assert(kMaxPorts == 4 * 64);
  uint32_t filled_ = 0;  // bit = word that is not empty
  std::array<uint64_t, 4> words_{};
};

// What is noted of ports of a PortSet, as a bitmap that is walked with it.
class PortNotes {
 public:
  void note(PortId port, bool what) {
    words_[port.index() / 64] |= uint64_t{what} << (port.index() % 64);
  }
  // Of 64 ports from `first` on, as a mask; nothing is noted of them then.
  uint64_t take(size_t first) { return std::exchange(words_[first / 64], 0); }

 private:
  std::array<uint64_t, kMaxPorts / 64> words_{};
};

}  // namespace eddy
