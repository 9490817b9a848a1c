// Fault sites: places in the code that can behave as if something rare had happened, for tests.
//
// Where a lane is nearly never full, a pool never empty, a poll never late, the code asks its
// FaultProbe whether it is so now. The answer comes from the FaultSites that a test hands in with
// its seed: which sites are on and how often each fires is drawn once, and each site has a stream
// of its own, so that the same seed gives the same faults and a new site shifts no other's. Without
// FaultSites the answer is no; in builds without EDDY_FAULT_SITES, as release is, that is known to
// the compiler and nothing of a site is left. A site does only what can happen: no invariant is
// exempt but those that the real thing would break. Owner: one world in one thread. Cost: where it
// is on, a random word a visit. Source: FoundationDB, whose name for it is BUGGIFY.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "net/random.h"

namespace eddy {

#ifdef EDDY_FAULT_SITES
inline constexpr bool kHasFaultSites = true;
#else
inline constexpr bool kHasFaultSites = false;
#endif

enum class FaultSite : uint8_t {
  packet_lane_full,     // packets that go to another shard's ports have no room in its lane
  credit_lane_full,     // octets owed to another shard's PG wait for a later poll
  mailbox_full,         // a message to another shard has no room
  neighbor_table_full,  // a host that is not known gets no entry
  guard_table_full,     // a flow gets no place in the table of RLB's order guard
  order_table_full,     // a flow gets no place in the table of the resequencer
  loop_full,            // RLB's loop takes no more packets
  pool_empty,           // no buffer for a frame of the switch's own
  device_full,          // the device takes only some of the frames
  poll_late,            // a switch is polled later than something concerns it
  timers_together,      // timers come due at one instant, with what else came meanwhile
  clock_wraps,          // the switches' stamps and counters of time pass their end in the run
  long_way,             // a burst finds no short way through reception; nothing else may change
  burst_apart,          // a burst goes from admission on packet by packet; nothing else may change
};
inline constexpr size_t kFaultSites = static_cast<size_t>(FaultSite::burst_apart) + 1;
// By FaultSite, as in reports.
inline constexpr std::array<std::string_view, kFaultSites> kFaultSiteNames = {
    "packet_lane_full", "credit_lane_full", "mailbox_full",    "neighbor_table_full",
    "guard_table_full", "order_table_full", "loop_full",       "pool_empty",
    "device_full",      "poll_late",        "timers_together", "clock_wraps",
    "long_way",         "burst_apart"};

class FaultSites {
 public:
  // Of 1,024 visits how many fire, by site.
  using Odds = std::array<uint16_t, kFaultSites>;
  static constexpr uint16_t kAlways = 1'024;

  struct Use {
    uint64_t reached = 0;
    uint64_t fired = 0;
  };

  // Each site is on in one draw of three; then it fires in one of 4, 32 or 256 visits.
  static Odds draw(uint64_t seed);

  FaultSites(uint64_t seed, const Odds& odds);

  bool on(FaultSite site) const { return odds_[static_cast<size_t>(site)] != 0; }
  bool fires(FaultSite site);
  const Use& use(FaultSite site) const { return uses_[static_cast<size_t>(site)]; }

 private:
  Odds odds_;
  std::array<Use, kFaultSites> uses_{};
  std::vector<RandomStream> streams_;  // by site
};

// What code with a site holds: nothing in builds without them.
class FaultProbe {
 public:
  FaultProbe() = default;
#ifdef EDDY_FAULT_SITES
  explicit FaultProbe(FaultSites* sites) : sites_(sites) {}
  bool fires(FaultSite site) const {
    return sites_ != nullptr && sites_->fires(site);
  }

 private:
  FaultSites* sites_ = nullptr;
#else
  explicit FaultProbe(FaultSites* /*sites*/) {}
  constexpr bool fires(FaultSite /*site*/) const {
    return false;
  }
#endif
};

}  // namespace eddy
