// HostDaemon: eddyhost from its options to its results.
//
// Brings up EAL, pools, ports and one worker; waits until every port and every switch it was told
// of is up; lets the traffic begin; watches ports, flows and signals; writes run.json and
// flows.sqlite as eddylab does. What ends a run early keeps what there is, marked interrupted.
// Thread: the process's main one. Source: architecture, sections 1 and 6; docs/testbed.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/experiment_load.h"
#include "lab/real/host_devices.h"
#include "net/units.h"
#include "testbed/switch_watch.h"

namespace eddy::testbed {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kInterrupted = 130;  // as a shell has it

struct HostDaemonOptions {
  std::string name = "eddyhost";  // of the process: EAL's files
  const config::LoadedExperiment& loaded;
  const config::ExperimentRun& run;
  uint64_t seed = 1;
  std::vector<std::string> ports;  // HOST=DEVICE; a HOST of "*" stands for all others
  std::vector<SwitchSocket> switches;
  std::filesystem::path folder;  // of the run's files
  std::string replay;
  config::IdlePolicy idle = config::IdlePolicy::adaptive;
  Duration wait;              // for ports and switches
  Duration patience;          // without any frame while flows are running
  uint64_t memory_limit = 0;  // octets; 0 = what the machine has free
  bool quiet = false;
  std::vector<std::string> eal_arguments;
};

int run_host_daemon(const HostDaemonOptions& options);

// Of every host, by `assignments` (HOST=DEVICE).
Result<lab::HostDevices> devices_of(const lab::Topology& topology,
                                    const std::vector<std::string>& assignments);

}  // namespace eddy::testbed
