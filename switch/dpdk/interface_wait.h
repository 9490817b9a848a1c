// What a switch waits for before its EAL starts: network interfaces of the kernel that whoever
// wires its namespace has still to put there. net_af_packet and net_af_xdp find theirs when EAL
// probes them or never.
//
// Which ones: those that devices of the configuration name, and as many as the environment variable
// CLAB_INTFS says, which containerlab sets to the number of a node's links; lo, eth0 (its way to
// the outside) and the tunnels that the kernel puts into every namespace do not count.
// Main thread. Cost: a few system calls each kLookAgain.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy {

struct WantedInterfaces {
  std::vector<std::string> names;  // each once, in the order of the ports
  int count = 0;                   // CLAB_INTFS; 0: not asked for
};

// `clab_intfs`: its value, or null. Problems when that is no number.
Result<WantedInterfaces> wanted_interfaces(const config::SwitchConfig& config,
                                           const char* clab_intfs);

struct PresentInterface {
  std::string name;
  bool ethernet = true;
};

std::vector<PresentInterface> present_interfaces();

// What is not there yet, in one line for people; empty: all is.
std::string missing_interfaces(const WantedInterfaces& wanted,
                               const std::vector<PresentInterface>& present);

enum class WaitEnd : uint8_t { all_there, too_late, signalled };

struct WaitResult {
  WaitEnd end = WaitEnd::all_there;
  std::string missing;
};

inline constexpr Duration kLookAgain = Duration::milliseconds(20);

// Until all are there, `patience` is over, or SIGTERM or SIGINT comes, which it blocks from now on:
// process 1 of a container would not even notice them otherwise.
WaitResult wait_for_interfaces(const WantedInterfaces& wanted, Duration patience);

}  // namespace eddy
