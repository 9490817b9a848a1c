// RealFabric: the switches of an experiment as eddyd processes, and what they leave in a folder.
//
// NAME in real_folder() holds their configurations, sockets and logs, and state.json: who owns it,
// which processes there are and how they are deployed. They end with this object, and when its
// process dies; the folder goes with it, or with the next fabric or take_down() of that name. Owner
// and thread: one. Source: docs/testbed.md.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/real/child_process.h"
#include "lab/real/deployment.h"
#include "net/result.h"

namespace eddy::lab {

inline constexpr const char* kHostsNode = "hosts";  // the process of the hosts

// Root's is /run/eddy/lab, others' eddy/lab in $XDG_RUNTIME_DIR.
std::filesystem::path real_folder();

class RealFabric {
 public:
  // `experiment` as loaded, with its time dilation. `name`: 1 to 20 of a to z, 0 to 9 and -, no -
  // first. `deployment` has been checked, and outlives the fabric.
  static Result<std::unique_ptr<RealFabric>> start(const config::Experiment& experiment,
                                                   uint64_t seed, const std::string& name,
                                                   const Deployment& deployment);
  ~RealFabric();
  RealFabric(const RealFabric&) = delete;
  RealFabric& operator=(const RealFabric&) = delete;

  // Until every port between switches is up; false: interrupted.
  Result<bool> wait_until_up(Duration time, const std::atomic<bool>& interrupt);
  // The longest p99.9 of the time between polls that a switch saw in its last second.
  Result<Duration> poll_gap();
  // A switch that has ended, with the last that it said. Empty: all live.
  Problems check_alive();

  // The hosts, or another process beside the switches.
  Result<ChildProcess> start_node(const RealNode& node) const;

  const std::filesystem::path& folder() const { return folder_; }
  // At the experiment's own rates and delays, without time_dilation.
  const Topology& topology() const { return topology_; }
  // As a process of the fabric sees it.
  std::filesystem::path inside() const { return deployment_.inside(folder_); }
  std::string control_name(size_t index) const;  // of a switch's socket, in the folder
  size_t process_count() const { return switches_.size(); }

 private:
  RealFabric(Topology topology, std::string name, const Deployment& deployment);
  std::vector<std::string> nodes() const;  // that may be started
  Problems write_files(const config::Experiment& experiment);
  Problems start_switches();
  Problems save_state() const;
  bool fabric_ports_up(size_t index) const;

  Topology topology_;
  std::string name_;
  std::filesystem::path folder_;
  const Deployment& deployment_;
  std::vector<ChildProcess> switches_;
};

// Ends the fabric of that name, whoever has it; problems: there is none, or it does not end.
// `containers`, if given: also what there is of it in that engine without a folder.
Problems take_down(const std::string& name, Deployment* containers);
// Names of those there are.
std::vector<std::string> real_fabrics();

}  // namespace eddy::lab
