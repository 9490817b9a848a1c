// A real Switch with two hosts in the manual-clock fabric, its configuration in a file, and
// Operations on it. Shards are polled where control would wait.
#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "config/document.h"
#include "config/load.h"
#include "config/places.h"
#include "net/assert.h"
#include "switch/control/serve/operations.h"
#include "tests/support/fabric.h"
#include "tests/support/temp_directory.h"
#include "tests/support/topologies.h"

namespace eddy::control {

class FakeBackend final : public Backend {
 public:
  Instant now() override { return clock; }
  std::vector<WorkerStats> worker_stats() override { return {WorkerStats{}}; }
  DeviceInfo device_info(PortId) override { return {"net_null0", "net_null", "software", 0, true}; }
  Problems check_port(PortId, const config::PortConfig&) override { return check_problems; }
  Problems restart_port(PortId port, const config::PortConfig& config) override {
    restarted.push_back(port);
    last = config;
    return restart_problems;
  }

  Problems check_new_port(PortId, const config::SwitchConfig&) override { return new_problems; }
  Problems check_removal(PortId) override { return removal_problems; }
  Problems plug_port(PortId place, const config::SwitchConfig& next) override {
    if (next.ports[place.index()].name == unplugged_name) return {"it has no plug"};
    plugged[place.index()] = next.ports[place.index()].name;
    return {};
  }
  void use_port(PortId port) override { used.push_back(port); }
  Problems unplug_port(PortId port) override {
    plugged.erase(port.index());
    return {};
  }
  void set_admin_up(PortId port, bool up) override { admin_up[port.index()] = up; }

  Instant clock;
  std::map<size_t, bool> admin_up;  // as last told, by port
  Problems check_problems;
  Problems restart_problems;
  Problems new_problems;
  Problems removal_problems;
  std::string unplugged_name;             // of a port whose device cannot be opened
  std::map<size_t, std::string> plugged;  // of ports that came, by place
  std::vector<PortId> used;
  std::vector<PortId> restarted;
  config::PortConfig last;
};

// As the daemon has it: printed to the file, then loaded, with every default filled in.
inline config::SwitchConfig as_loaded(const config::SwitchConfig& config) {
  Result<config::LoadedConfig> loaded =
      config::load_text("two_hosts", config::print_config(config));
  ASSERT(loaded.ok());
  return loaded->config;
}

// "host1" and "host2" of leaf 1, dealt out over the workers.
inline config::SwitchConfig two_hosts(size_t workers, int spare = 0) {
  config::SwitchConfig config = test::bare_switch("leaf1", 1);
  config.poll_gap = Duration::microseconds(1);  // the least that a file may say
  for (size_t host : {1, 2}) test::add_host_port(config, 1, host, BitRate::gbps(10));
  test::spread_over_workers(config, workers);
  config.spare_ports = spare;
  for (size_t i = 0; i < config.ports.size(); ++i)
    config.ports[i].device = "net_null" + std::to_string(i);
  return as_loaded(config);
}

struct LiveSwitch {
  explicit LiveSwitch(size_t workers = 1, int spare = 0)
      : config(two_hosts(workers, spare)),
        node(fabric.add_switch(config::seated(config), workers)) {
    for (size_t i = 0; i < 2; ++i)
      hosts[i] = &fabric.attach_host(node, PortId(i), Duration::nanoseconds(100));
    fabric.run_until(Instant::at(Duration::microseconds(1)));
    write(config);
    operations = std::make_unique<Operations>(
        object(), backend,
        Operations::Setup{path(), config, [this] { fabric.poll(node); },
                          [this](const LoggedEvent& event) { said.push_back(event); }, 0});
  }

  Switch& object() { return fabric.at(node); }
  std::string path() const { return directory.file("switch.yaml"); }
  void write(const config::SwitchConfig& next) { write_text(config::print_config(next)); }
  void write_text(const std::string& text) { std::ofstream(path()) << text; }
  Json ask(const Json& request, int64_t now_ns = 0) { return operations->handle(request, now_ns); }
  Json rows(const char* report, int64_t now_ns = 0) {
    const Json answer = ask({{"command", "show"}, {"report", report}, {"all", true}}, now_ns);
    return answer.at("result").at("rows");
  }
  // `count` UDP frames from host 1 to host 2.
  void send(size_t count, uint8_t dscp = 3) {
    test::UdpSpec spec;
    spec.destination_mac = port_mac(config, 0);
    spec.source_mac = test::host_mac(1, 1);
    spec.source = test::host_ip(1, 1);
    spec.destination = test::host_ip(1, 2);
    spec.dscp = dscp;
    spec.frame_len = 200;
    for (size_t i = 0; i < count; ++i) hosts[0]->to_send.push_back({test::udp_frame(spec)});
    fabric.kick(*hosts[0]);
  }
  void run(Duration time) { fabric.run_until(fabric.now() + time); }

  test::TempDirectory directory;
  config::SwitchConfig config;
  test::Fabric fabric;
  size_t node;
  std::array<test::FabricHost*, 2> hosts{};
  FakeBackend backend;
  std::vector<LoggedEvent> said;
  std::unique_ptr<Operations> operations;
};

}  // namespace eddy::control
