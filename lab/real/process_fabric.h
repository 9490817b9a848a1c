// RealFabric: the switches of an experiment as eddyd processes, and what they leave in a folder.
//
// /run/eddy/lab/NAME holds their configurations, sockets and logs, and state.json: who owns it and
// which processes there are. Each eddyd has a network namespace of its own. They end with this
// object, and when its process dies; the folder goes with it, or with the next fabric or
// take_down() of that name. Owner and thread: one. Source: docs/testbed.md.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/real/child_process.h"
#include "net/result.h"

namespace eddy::lab {

inline constexpr const char* kRealFolder = "/run/eddy/lab";

class RealFabric {
 public:
  // `experiment` as loaded, with its time dilation. `name`: 1 to 20 of a to z, 0 to 9 and -, no -
  // first.
  static Result<std::unique_ptr<RealFabric>> start(const config::Experiment& experiment,
                                                   uint64_t seed, const std::string& name);
  ~RealFabric();
  RealFabric(const RealFabric&) = delete;
  RealFabric& operator=(const RealFabric&) = delete;

  // Until every port between switches is up; false: interrupted.
  Result<bool> wait_until_up(Duration time, const std::atomic<bool>& interrupt);
  // The longest p99.9 of the time between polls that a switch saw in its last second.
  Result<Duration> poll_gap();
  // A switch that has ended, with the last that it said. Empty: all live.
  Problems check_alive();

  const std::filesystem::path& folder() const { return folder_; }
  // At the experiment's own rates and delays, without time_dilation.
  const Topology& topology() const { return topology_; }
  std::filesystem::path control_of(size_t index) const;
  size_t process_count() const { return switches_.size(); }

 private:
  RealFabric(Topology topology, std::string name);
  Problems write_files(const config::Experiment& experiment);
  Problems start_switches();
  Problems save_state() const;
  bool fabric_ports_up(size_t index) const;

  Topology topology_;
  std::string name_;
  std::filesystem::path folder_;
  std::vector<ChildProcess> switches_;
};

// A program beside this one.
std::filesystem::path program_beside(const std::string& name);

// Ends the fabric of that name, whoever has it; problems: there is none, or it does not end.
Problems take_down(const std::string& name);
// Names of those there are.
std::vector<std::string> real_fabrics();

}  // namespace eddy::lab
