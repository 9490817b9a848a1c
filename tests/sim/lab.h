// A whole lab as tests run it: an experiment with its flows, in the lab's world under the checker.
//
// Owner: one test. Bounds: the run ends with its last flow, at 60 ms of virtual time, or at a
// bound of LabOptions. Cost: some ten milliseconds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/traffic/traffic.h"
#include "lab/world/exchange.h"
#include "lab/world/world_options.h"
#include "net/fault_sites.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::test {

struct Lab {
  config::Experiment experiment;
  std::vector<lab::Flow> flows;
  lab::Waits waits;
  uint64_t seed = 0;
  // Fault sites in the code (net/fault_sites.h), in builds that have them.
  FaultSites::Odds sites{};
  Duration clock_ahead{};  // clock_wraps: what the switches' clocks show at first
  Duration latest{};       // poll_late, timers_together: no poll is later
};

struct LabOptions {
  std::string replay;  // the command that runs the same again
  // A lab that takes more is a problem, and is stopped.
  // Turns of switches and hosts in a row in which no flow gets on and no link is cut. Labs with two
  // storms take up to 211,000, by the probes of their paths.
  uint64_t most_idle_turns = 1'000'000;
  // In all. Most labs take below 200,000. Go-back-N without a window on paths that reorder sends
  // nearly all again: labs 20964 and 23234 take 2,600,000, lab 100004 takes 5,900,000 in 60 ms, and
  // lab 66515 takes 13,500,000 until its last flow has ended.
  uint64_t most_turns = 40'000'000;
  // Frames that a switch has not read. Most labs have below 1,000; lab 92959, whose leaf reads one
  // frame of a port in 2 us, has above 30,000 and ends well.
  size_t most_unread = 100'000;
  uint64_t rebase_every = 0;  // as in lab::WorldOptions
  lab::DivisionOptions division;
  // False: nobody looks, so that the world may run in windows; without fault sites.
  bool watched = true;
  bool every_turn = false;            // not watched, and yet every instant and turn as if it were
  lab::Exchange* exchange = nullptr;  // not watched: this run has a part of the lab
};

struct LabResult {
  uint64_t digest = 0;
  uint64_t packet_hops = 0;
  uint64_t checks = 0;
  std::vector<std::string> unended;  // the flows that did not end, a sentence each
  uint64_t excused = 0;  // lossless packets that found no headroom, as the peer read a pause late
  uint64_t turns = 0;
  uint64_t idle_turns = 0;  // at most in a row
  uint64_t windows = 0;     // of time, in which partitions ran by themselves
  size_t threads = 1;       // that they ran on
  uint64_t moves = 0;       // of partitions, from one of them to another
  uint64_t meetings = 0;    // of ranks
  uint64_t frames = 0;      // that this rank sent others
  uint64_t events = 0;
  uint64_t polls = 0;
  size_t flows = 0;
  size_t flows_ended = 0;
  std::vector<config::FaultType> faults;  // that began
  uint64_t paths_failed = 0;              // times a failure detector excluded one
  uint64_t isolated = 0;                  // packets put into the isolated class
  uint64_t long_flows = 0;                // times one became long at a fabric port
  uint64_t warned = 0;                    // times a path became warned
  bool lossless = true;                   // what was promised and checked
  bool in_order = true;
  std::array<bool, kFaultSites> sites_on{};
  std::array<FaultSites::Use, kFaultSites> sites{};
  Problems problems;  // empty: every invariant held
};

// With an exchange the result of rank 0 is that of the lab.
LabResult run_lab(const Lab& lab, const LabOptions& options);
// "7 0123456789abcdef: 12 of 12 flows, 3456 hops"
std::string digest_line(uint64_t seed, const LabResult& result);

}  // namespace eddy::test
