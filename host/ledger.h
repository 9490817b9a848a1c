// Ledger: what both halves of a NIC write: its counters and the completions not yet taken.
//
// Owner: one Nic. Bounds: a completion a QP. Cost: an increment. Source: reference D.6.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host/flow.h"
#include "host/nic_counters.h"

namespace eddy::host {

struct Ledger {
  explicit Ledger(size_t queue_pairs) { completions.reserve(queue_pairs); }

  void count(NicCounter which, uint64_t n = 1) { counters[static_cast<size_t>(which)] += n; }

  std::array<uint64_t, static_cast<size_t>(NicCounter::kCount)> counters{};
  std::vector<Completion> completions;
};

}  // namespace eddy::host
