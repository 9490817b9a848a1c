#include "lab/real/host_devices.h"

#include <algorithm>

namespace eddy::lab {
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

Result<HostDevices> host_devices(const Topology& topology,
                                 const std::vector<std::string>& assignments) {
  HostDevices out{std::vector<std::string>(topology.hosts.size())};
  std::string others;
  Problems problems;
  for (const std::string& assignment : assignments) {
    const size_t equals = assignment.find('=');
    const std::string name = assignment.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == assignment.size()) {
      problems.push_back("--port " + assignment + ": write HOST=DEVICE");
      continue;
    }
    const std::string device = assignment.substr(equals + 1);
    if (name == "*") {
      others = device;
      continue;
    }
    const auto found = std::ranges::find(topology.hosts, name, &Topology::Host::name);
    if (found == topology.hosts.end()) {
      problems.push_back("--port " + assignment + ": no host of this name; they are " +
                         topology.hosts.front().name + " to " + topology.hosts.back().name);
      continue;
    }
    const auto number = static_cast<size_t>(found - topology.hosts.begin());
    out.by_host[number] = device_for(device, name, number);
  }
  if (!problems.empty()) return problems;
  for (size_t i = 0; i < out.by_host.size() && !others.empty(); ++i)
    if (out.by_host[i].empty()) out.by_host[i] = device_for(others, topology.hosts[i].name, i);
  return out;
}

}  // namespace eddy::lab
