// CompletionCalendar: when each port's line becomes free.
//
// A heap of (done, port) with at most one entry a port; a later transmit of a waiting port moves
// its entry on when that comes up. Owner: one world, one thread. Bounds: 32 ports. Cost: a compare
// while nothing is due, else a heap step a port. Source: architecture, section 3.
#pragma once

#include <rte_config.h>

#include <array>
#include <cstddef>
#include <span>

#include "net/ids.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy {

class CompletionCalendar {
 public:
  void set(PortId port, Instant done);
  // Moves what is due to `out` (room for every port); returns how many.
  size_t take_due(Instant now, std::span<PortId> out);
  void rebase(const Rebase& rebase);
  Instant next() const { return size_ == 0 ? Instant::never() : heap_[0].done; }

 private:
  struct Entry {
    Instant done;
    PortId port;
    bool operator>(const Entry& other) const {
      return done != other.done ? done > other.done : port > other.port;
    }
  };
  std::array<Entry, RTE_MAX_ETHPORTS> heap_;
  size_t size_ = 0;
  std::array<Instant, kMaxPorts> done_{};  // of each port's last transmit
  std::array<bool, kMaxPorts> waiting_{};  // has an entry
};

}  // namespace eddy
