// What it takes to run an experiment for real on this machine: processes, memory, and by how much
// time has to be stretched.
//
// Time is stretched for three reasons: the processor has to handle all frames of the traffic; the
// buffer has to hold the headroom for what arrives between two polls; and the time between two
// polls must not be longer than a round trip of the fabric. Units in the types. Pure functions of
// their arguments; control plane. Cost: building a topology for each try. Source: docs/testbed.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/traffic/traffic.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

struct RealMachine {
  size_t cores = 1;
  uint64_t free_memory = 0;
};
RealMachine this_machine();

struct RealNeeds {
  size_t processes = 0;
  uint64_t memory = 0;       // octets, roughly
  int64_t for_load = 1;      // time dilation that the processor needs
  int64_t for_headroom = 1;  // that the buffers need at switches.poll_gap
  int64_t dilation() const { return for_load > for_headroom ? for_load : for_headroom; }
};

// Time between polls that processes on shared cores are given where an experiment says nothing.
inline constexpr Duration kSharedPollGap = Duration::milliseconds(20);
// Cells of a real switch's buffer: it has a packet buffer of a frame's size for each.
inline constexpr int kSmallestCell = 64;
// Shorter ones in an experiment are the lab's, not a machine's.
inline constexpr Duration kShortestPollGap = Duration::microseconds(10);

// `experiment` as loaded, with a poll gap of the machine. Problems: what no dilation mends.
Result<RealNeeds> real_needs(const config::Experiment& experiment, const Trace& trace,
                             const RealMachine& machine);

// The words of --set with which real switches take the experiment: `given`, and where it has only
// the lab's, the machine's time between polls and cells that a packet buffer each can be had for;
// and the dilation.
std::vector<std::string> real_sets(const std::vector<std::string>& given,
                                   const config::Experiment& experiment, int64_t dilation);

// The time dilation to run with where it is ours to choose: `wished`, at most what the key takes; a
// problem where that is less than `needed`.
Result<int64_t> dilation_of_choice(int64_t needed, int64_t wished);

// So that a round trip of the fabric is no shorter than `gap`.
int64_t dilation_for_gap(const Topology& unscaled, int mtu, Duration gap);

}  // namespace eddy::lab
