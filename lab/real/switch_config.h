// A switch of a fabric as an eddyd of its own: the world's configuration, with memif devices and
// its own routes.
//
// A link's socket is DIRECTORY/LINK.memif, a host's, unless another device is given for it,
// DIRECTORY/HOST.memif; the switch is the server of its hosts and of the links that it is the upper
// end of, so that whoever is restarted finds its way back. Plain values; control plane only.
// Source: docs/testbed.md.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "net/result.h"

namespace eddy::lab {

struct RealPlace {
  std::filesystem::path sockets;  // a folder
  // Of the hosts' ports, by host; empty, as any of them may be: memif.
  std::vector<std::string> host_devices;
  std::filesystem::path control;  // of the switch's control socket; empty: eddyd's default
  std::string prefix;             // begins the switch's name, which is unique on a machine
  config::IdlePolicy idle = config::IdlePolicy::adaptive;
};

// The fabric of an experiment as its file has it: rates and times are not scaled. The time between
// polls is the machine's own, so what it costs in headroom is what it costs at the scaled rates.
[[nodiscard]] Result<Topology> unscaled_topology(const config::Experiment& experiment);

// Of that topology, with seed_switches() done; eddyd scales it by the experiment's time_dilation.
config::SwitchConfig real_switch(const config::Experiment& experiment, const Topology& topology,
                                 size_t index, const RealPlace& place);

std::filesystem::path host_socket(const std::filesystem::path& sockets, const std::string& host);

// What real switches cannot be told: faults, paths of single traffic items, more ports than a
// process can have. Empty: nothing is in the way.
Problems check_real(const config::Experiment& experiment, const Topology& topology);
// What containers have not: a plugin that is not where packages of an image put schemes.
Problems check_containers(const config::Experiment& experiment);

}  // namespace eddy::lab
