#include "lab/real/switch_config.h"
#include "config/purpose.h"
#include "lab/fabric/build_topology.h"

#include <algorithm>

namespace eddy::lab {
namespace {

constexpr size_t kPortsOfAProcess = config::kDaemonPorts;
constexpr uint8_t kHostLength = 32;

std::string memif(size_t number, bool server, const std::filesystem::path& socket) {
  return "net_memif" + std::to_string(number) + ",role=" + (server ? "server" : "client") +
         ",id=0,socket=" + socket.string() + ",socket-abstract=no";
}

std::string host_device(const Topology& topology, size_t host, const RealPlace& place) {
  if (host < place.host_devices.size() && !place.host_devices[host].empty())
    return place.host_devices[host];
  const Topology::Host& it = topology.hosts[host];
  return memif(it.port.index(), true, host_socket(place.sockets, it.name));
}

void add_routes(const Topology& topology, size_t index, config::SwitchConfig& config) {
  for (const Topology::Host& host : topology.hosts) {
    config::RouteConfig& route =
        config.routes.emplace_back(config::RouteConfig{{host.address, kHostLength}, {}, {}});
    if (host.switch_index == index)
      route.port = config.ports[host.port.index()].name;
    else
      route.leaf = topology.switches[host.switch_index].leaf;
  }
}

}  // namespace

std::filesystem::path host_socket(const std::filesystem::path& sockets, const std::string& host) {
  return sockets / (host + ".memif");
}

Result<Topology> unscaled_topology(const config::Experiment& experiment) {
  config::Experiment own = experiment;
  own.switches.poll_gap = experiment.switches.poll_gap / experiment.run.time_dilation;
  return build_topology(own);
}

config::SwitchConfig real_switch(const config::Experiment& experiment, const Topology& topology,
                                 size_t index, const RealPlace& place) {
  config::SwitchConfig config = topology.switches[index];
  config.name = place.prefix + config.name;
  config.time_dilation = experiment.run.time_dilation;
  config.poll_gap = experiment.switches.poll_gap;
  config.idle = place.idle;
  config.control.socket = place.control.string();
  for (size_t i = 0; i < topology.hosts.size(); ++i)
    if (topology.hosts[i].switch_index == index)
      config.ports[topology.hosts[i].port.index()].device = host_device(topology, i, place);
  for (const Topology::Link& link : topology.links)
    for (const Topology::End* end : {&link.a, &link.b}) {
      if (end->switch_index != index) continue;
      config::PortConfig& port = config.ports[end->port.index()];
      port.device =
          memif(end->port.index(), end == &link.b, place.sockets / (link.name + ".memif"));
      port.admin_up = link.up;
    }
  add_routes(topology, index, config);
  return config;
}

Problems check_real(const config::Experiment& experiment, const Topology& topology) {
  Problems problems;
  if (!experiment.faults.empty())
    problems.emplace_back(
        "faults: real switches have none of the lab's faults; give an experiment "
        "without, or --set faults=[]");
  if (experiment.run.flow_queues != config::FlowQueues::off)
    problems.emplace_back(
        "run.flow_queues: a reference of virtual time; --set run.flow_queues=off would be valid");
  if (experiment.switches.path_service.shim == config::ShimUse::free)
    problems.emplace_back(
        "switches.path_service.shim: free is for virtual time, real lines carry the shim's octets; "
        "--set switches.path_service.shim=auto would be valid");
  for (size_t i = 0; i < experiment.traffic.size(); ++i)
    if (!experiment.traffic[i].paths.empty())
      problems.push_back("traffic." + std::to_string(i) +
                         ".paths: routes of real switches lead to a leaf by all of its paths");
  for (const config::SwitchConfig& each : topology.switches)
    if (each.ports.size() > kPortsOfAProcess)
      problems.push_back("switch " + each.name + ": " + std::to_string(each.ports.size()) +
                         " ports, a real eddyd has at most " + std::to_string(kPortsOfAProcess) +
                         "; a smaller --size would fit");
  if (topology.hosts.size() > kPortsOfAProcess)
    problems.push_back(std::to_string(topology.hosts.size()) +
                       " hosts: eddyhost has a port for each and at most " +
                       std::to_string(kPortsOfAProcess) + "; a smaller --size would fit");
  return problems;
}

Problems check_containers(const config::Experiment& experiment) {
  const std::string& plugin = experiment.load_balancer.plugin;
  if (plugin.find('/') == std::string::npos) return {};
  return {"load_balancer.plugin: " + plugin +
          " is a file of this machine, and containers have what is in their image; put it where "
          "packages put schemes (docs/plugins.md), there and here, and give its plain name"};
}

}  // namespace eddy::lab
