// A run: a selector in a World, burst after burst, with packets that go round a loop and come back;
// all that it did as octets, so that two runs can be compared, and what was wrong with it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "lab/conformance/world.h"

namespace eddy::conformance {

struct RunPlan {
  bool warned = false;   // RLB has something to do
  bool loop = false;     // packets may go round
  bool rebases = false;  // the clock of the switch
  bool watched = true;   // there is a table of flows for the order guard
};

struct RunResult {
  std::string octets;        // packets as they were sent, what was told and counted meanwhile
  uint32_t packets = 0;      // sent
  uint32_t not_live = 0;     // by a member that did not live then
  uint32_t not_told = 0;     // with a port or path that is not the member's
  uint64_t allocations = 0;  // by the selector
  uint32_t too_long = 0;     // went round more often than the loop allows
  uint32_t went_round = 0;
  uint32_t came_back = 0;  // from the loop, and were chosen for again
  uint32_t followed = 0;   // one of their flow
  std::array<uint32_t, lb::kDecisions> decisions{};
  std::array<uint32_t, lb::kGuardEvents> guarded{};
};

inline constexpr int kBursts = 40;

RunResult run(lb::Selector& selector, const RunPlan& plan);

}  // namespace eddy::conformance
