// What the nodes of a world have counted, in a form that ranks can tell each other and add up.
//
// Plain values. Owner: the world, or whoever asks it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/nic.h"
#include "lab/world/nodes.h"
#include "net/units.h"
#include "switch/dataplane/state/counters.h"
#include "switch/dataplane/state/delay_histogram.h"

namespace eddy::lab {

using NicCounts = std::array<uint64_t, static_cast<size_t>(host::NicCounter::kCount)>;

// NICs, summed.
struct NicTotals {
  size_t nics = 0;
  NicCounts counters{};
  std::array<uint64_t, host::Nic::kOodBuckets> ood_histogram{};
  Duration paused{};

  // `paused`: until `now`, of this priority.
  void add(const host::Nic& nic, Priority priority, Instant now) {
    ++nics;
    for (size_t i = 0; i < counters.size(); ++i)
      counters[i] += nic.counter(static_cast<host::NicCounter>(i));
    const auto histogram = nic.ood_histogram();
    for (size_t i = 0; i < histogram.size(); ++i) ood_histogram[i] += histogram[i];
    paused += nic.paused_time(priority, now);
  }
  void add(const NicTotals& other) {
    nics += other.nics;
    for (size_t i = 0; i < counters.size(); ++i) counters[i] += other.counters[i];
    for (size_t i = 0; i < ood_histogram.size(); ++i) ood_histogram[i] += other.ood_histogram[i];
    paused += other.paused;
  }
};

// Switches and NICs, summed.
struct FabricFacts {
  NicTotals nics;
  using Delays = std::array<uint64_t, DelayHistogram::kSteps>;
  Delays waits{};              // in RLB's loop
  Delays heard{};              // from a host port's threshold to a switch that hears of it
  Delays isolated{};           // and to its first packet that is isolated
  uint64_t pausing = 0;        // priority groups that pause their senders now
  uint64_t pausing_hosts = 0;  // of these, at ports to hosts
  Duration in_force{};  // of received pauses that last: what pfc_rx_paused_ps does not say yet
};

// What other ranks have told of their nodes.
struct ToldFacts {
  struct Host {
    NicCounts counters{};
    std::vector<std::pair<uint16_t, uint64_t>> ood;  // buckets that are not zero
  };
  std::vector<std::unique_ptr<Counters>> switches;  // by switch; null: it is here
  std::vector<Host> hosts;                          // by host
  FabricFacts sums;
  WorldCounts counts;
};

}  // namespace eddy::lab
