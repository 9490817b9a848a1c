// Which host stands on which device.
#include <fmt/format.h>
#include <rte_config.h>

#include <algorithm>

#include "testbed/host_daemon.h"

namespace eddy::testbed {
namespace {

void replace_all(std::string& text, std::string_view word, const std::string& by) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
}

std::string device_for(std::string device, const std::string& host, size_t number) {
  replace_all(device, "{host}", host);
  replace_all(device, "{n}", std::to_string(number));
  return device;
}

}  // namespace

Result<HostDevices> devices_of(const lab::Topology& topology,
                               const std::vector<std::string>& assignments) {
  const size_t hosts = topology.hosts.size();
  if (hosts > RTE_MAX_ETHPORTS)
    return Result<HostDevices>::failure(fmt::format(
        "{} hosts: one process has one port a host, and this build of DPDK has room for {}; a "
        "smaller --size, or --set topology.hosts_per_leaf=N, would fit",
        hosts, RTE_MAX_ETHPORTS));
  HostDevices out{std::vector<std::string>(hosts)};
  std::vector<std::string>& devices = out.by_host;
  std::string others;
  Problems problems;
  for (const std::string& assignment : assignments) {
    const size_t equals = assignment.find('=');
    const std::string name = assignment.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == assignment.size()) {
      problems.push_back(fmt::format("--port {}: write HOST=DEVICE", assignment));
      continue;
    }
    const std::string device = assignment.substr(equals + 1);
    if (name == "*") {
      others = device;
      continue;
    }
    const auto found = std::ranges::find(topology.hosts, name, &lab::Topology::Host::name);
    if (found == topology.hosts.end()) {
      problems.push_back(fmt::format("--port {}: no host of this name; they are {} to {}",
                                     assignment, topology.hosts.front().name,
                                     topology.hosts.back().name));
      continue;
    }
    const auto number = static_cast<size_t>(found - topology.hosts.begin());
    devices[number] = device_for(device, name, number);
  }
  for (size_t i = 0; i < hosts; ++i) {
    if (devices[i].empty() && !others.empty())
      devices[i] = device_for(others, topology.hosts[i].name, i);
    if (devices[i].empty() && problems.empty())
      problems.push_back(
          fmt::format("{} has no port; give --port {}=DEVICE, or one for all: --port "
                      "'*=net_memif{{n}},socket=DIR/{{host}}.memif'",
                      topology.hosts[i].name, topology.hosts[i].name));
  }
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace eddy::testbed
