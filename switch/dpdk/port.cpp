#include "switch/dpdk/port.h"

#include <net/if.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "switch/dpdk/driver_thread.h"
#include "switch/dpdk/interface.h"
#include "switch/dpdk/packet_socket.h"
#include "system/rights.h"
#include "system/unix_socket.h"

namespace eddy {
namespace {

constexpr uint16_t kDescriptors = 1'024;

std::string socket_of(const DeviceArgs& device) {
  return std::string(device.find("socket").value_or("/run/memif.sock"));
}

bool is_memif_server(const DeviceArgs& device) {
  const auto role = device.find("role").value_or("client");
  return role == "server" || role == "master";
}

// Whose socket stands at a path, and is no abstract one.
bool serves_path(const DeviceArgs& device) {
  return device.driver() == "net_memif" && is_memif_server(device) &&
         device.find("socket-abstract") == "no";
}

// Server sockets of this process: several ports may share one path.
bool already_ours(const std::string& path) {
  uint16_t device = 0;
  RTE_ETH_FOREACH_DEV(device) {
    rte_eth_dev_info info{};
    if (rte_eth_dev_info_get(device, &info) != 0 || rte_dev_devargs(info.device) == nullptr)
      continue;
    const char* arguments = rte_dev_devargs(info.device)->args;
    if (arguments != nullptr && std::strstr(arguments, path.c_str()) != nullptr) return true;
  }
  return false;
}

// A client without its server waits, so only a server can be wrong. Its directory is made when only
// the last part is missing.
Problems check_memif(const DeviceArgs& device) {
  namespace fs = std::filesystem;
  const fs::path path = socket_of(device);
  if (path.native().size() >= sizeof(sockaddr_un{}.sun_path))
    return {"socket path " + path.native() + " is too long"};
  if (!serves_path(device)) return {};
  const fs::path above = path.parent_path().parent_path();
  if (!above.empty() && !fs::is_directory(above))
    return {"the directory of socket " + path.native() + " does not exist"};
  return check_socket_path(path);
}

Problems check_interface(const DeviceArgs& device) {
  const std::string interface(device.find("iface").value_or(""));
  if (interface.empty()) return {"needs iface=<network interface>"};
  if (if_nametoindex(interface.c_str()) == 0) return {"there is no network interface " + interface};
  return {};
}

Problems check_device(const DeviceArgs& device) {
  const std::string driver = device.driver();
  if (driver == "net_memif") return check_memif(device);
  if (device.is_af_packet() || device.is_af_xdp()) return check_interface(device);
  if (driver == "net_tap" && access("/dev/net/tun", R_OK | W_OK) != 0)
    return {"cannot use /dev/net/tun: " + std::string(std::strerror(errno))};
  return {};
}

Problems named(const std::string& port, const std::string& device, Problems problems) {
  const std::string place = "port " + port + " (" + device + "): ";
  for (std::string& problem : problems) problem.insert(0, place);
  return problems;
}

// A server that was killed leaves its socket behind, and bind() would refuse it.
Problems clear_way_for_socket(const DeviceArgs& device) {
  const std::filesystem::path path = socket_of(device);
  if (!serves_path(device) || already_ours(path)) return {};
  std::error_code ignored;
  std::filesystem::create_directory(path.parent_path(), ignored);
  return clear_socket_path(path);
}

std::string hardware_pfc(uint16_t device) {
  rte_eth_pfc_queue_info info{};
  if (rte_eth_dev_priority_flow_ctrl_queue_info_get(device, &info) == 0 && info.tc_max > 0)
    return "hardware: per queue, " + std::to_string(info.tc_max) + " classes (not driven by us)";
  return {};
}

// A NIC eats MAC control frames unless told to hand them over; a virtual device passes all.
std::string describe_pfc(uint16_t device, bool is_virtual) {
  if (is_virtual) return "software: virtual device, MAC control frames pass";
  rte_eth_fc_conf flow{};
  if (rte_eth_dev_flow_ctrl_get(device, &flow) == 0) {
    flow.mode = RTE_ETH_FC_NONE;
    flow.mac_ctrl_frame_fwd = 1;
    if (rte_eth_dev_flow_ctrl_set(device, &flow) == 0 &&
        rte_eth_dev_flow_ctrl_get(device, &flow) == 0 && flow.mac_ctrl_frame_fwd == 1)
      return "software: the device hands MAC control frames over";
  }
  std::string hardware = hardware_pfc(device);
  if (!hardware.empty()) return hardware;
  return "none: the device does not say that it hands MAC control frames over";
}

// The kernel discards without a word what is longer than its interface's MTU. Fabric links carry
// the shim besides.
Problems let_through(const DeviceArgs& device, const config::PortConfig& config) {
  const bool fabric = config.role == config::PortRole::fabric;
  const int with_shim = config.mtu + (fabric ? kLongestShim : 0);
  return raise_interface_mtu(std::string(device.find("iface").value_or("")), config.mtu, with_shim);
}

int on_link_interrupt(uint16_t, rte_eth_event_type, void* context, void*) {
  (*static_cast<std::function<void()>*>(context))();
  return 0;
}

}  // namespace

config::CapabilitySet DpdkPort::missing_capabilities(const config::PortConfig& config) {
  return config::capability_row(config.device).needs -
         config::CapabilitySet::of_mask(rights_of_process().capabilities);
}

Problems DpdkPort::check(const config::PortConfig& config) {
  const DeviceArgs device = with_driver_defaults(DeviceArgs::parse(config.device), config.mtu);
  const config::CapabilitySet missing = missing_capabilities(config);
  Problems problems =
      missing.empty() ? check_device(device) : Problems{"needs the " + missing.named()};
  return named(config.name, config.device, std::move(problems));
}

Result<std::unique_ptr<DpdkPort>> DpdkPort::open(const config::PortConfig& config,
                                                 rte_mempool* pool, std::function<void()> lsc) {
  const DeviceArgs arguments = with_driver_defaults(DeviceArgs::parse(config.device), config.mtu);
  if (Problems problems = check(config); !problems.empty()) return problems;
  if (Problems problems = clear_way_for_socket(arguments); !problems.empty())
    return named(config.name, config.device, std::move(problems));
  const int error = rte_dev_probe(arguments.to_string().c_str());
  if (error != 0)
    return named(config.name, config.device,
                 {"the device cannot be used: " + std::string(rte_strerror(-error))});
  uint16_t device = 0;
  const bool by_name = rte_eth_dev_get_port_by_name(arguments.name().c_str(), &device) == 0;
  if (!by_name)
    return named(config.name, config.device, {"the driver made no Ethernet device of this name"});
  std::unique_ptr<DpdkPort> port(new DpdkPort(config.name, arguments, device));
  port->lsc_ = std::move(lsc);
  if (Problems problems = port->configure(config, pool); !problems.empty()) return problems;
  return port;
}

DpdkPort::DpdkPort(std::string name, DeviceArgs arguments, uint16_t device)
    : name_(std::move(name)), arguments_(std::move(arguments)), device_(device) {
  if (is_on_interface()) interface_number_ = interface_number(interface());
}

DpdkPort::~DpdkPort() {
  if (watches_link_)
    rte_eth_dev_callback_unregister(device_, RTE_ETH_EVENT_INTR_LSC, on_link_interrupt, &lsc_);
  stop();
  if (was_started_ && !can_be_closed()) {
    if (serves_path(arguments_)) hide_own_socket(peer());
    return;  // the driver still answers those who have come before
  }
  rte_eth_dev_info info{};
  const bool known = rte_eth_dev_info_get(device_, &info) == 0;
  in_drivers_turn(rte_eth_dev_close);
  if (known && info.device != nullptr) rte_dev_remove(info.device);
}

Problems DpdkPort::configure(const config::PortConfig& config, rte_mempool* pool) {
  const auto failed = [&](const char* what, int error) {
    return named(config.name, config.device,
                 {std::string(what) + " failed: " + rte_strerror(-error)});
  };
  rte_eth_dev_info info{};
  if (const int e = rte_eth_dev_info_get(device_, &info); e != 0) return failed("asking", e);
  rte_eth_conf conf{};
  const DriverLimits limits{info.max_mtu, info.max_rx_pktlen};
  conf.rxmode.mtu = driver_mtu(arguments_, limits, config.mtu);
  if (conf.rxmode.mtu == 0)
    return named(config.name, config.device,
                 {"the device takes packets of at most " + std::to_string(longest_mtu_of(limits)) +
                  " octets, mtu is " + std::to_string(config.mtu)});
  if (arguments_.is_af_packet())
    if (Problems problems = let_through(arguments_, config); !problems.empty())
      return named(config.name, config.device, std::move(problems));
  if (arguments_.is_pci())  // what a virtual port offers, its driver does by software
    conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
  conf.intr_conf.lsc = (*info.dev_flags & RTE_ETH_DEV_INTR_LSC) != 0 && lsc_ ? 1 : 0;
  if (const int e = rte_eth_dev_configure(device_, 1, 1, &conf); e != 0)
    return failed("configuring", e);
  uint16_t receive = kDescriptors;
  uint16_t transmit = kDescriptors;
  rte_eth_dev_adjust_nb_rx_tx_desc(device_, &receive, &transmit);
  if (const int e = rte_eth_rx_queue_setup(device_, 0, receive, SOCKET_ID_ANY, nullptr, pool);
      e != 0)
    return failed("setting up the receive queue", e);
  if (const int e = rte_eth_tx_queue_setup(device_, 0, transmit, SOCKET_ID_ANY, nullptr); e != 0)
    return failed("setting up the transmit queue", e);
  watches_link_ = watches_link_ || (conf.intr_conf.lsc != 0 &&
                                    rte_eth_dev_callback_register(device_, RTE_ETH_EVENT_INTR_LSC,
                                                                  on_link_interrupt, &lsc_) == 0);
  pfc_ = describe_pfc(device_, !arguments_.is_pci());
  return {};
}

// On the thread where the driver handles its peers, if it does so; see driver_thread.h.
int DpdkPort::in_drivers_turn(int (*call)(uint16_t)) const {
  if (arguments_.driver() != "net_memif") return call(device_);
  int result = 0;
  run_on_driver_thread([&] { result = call(device_); });
  return result;
}

Problems DpdkPort::start() {
  if (started_) return {};
  if (const int e = in_drivers_turn(rte_eth_dev_start); e != 0)
    return {"port " + name_ + " (" + arguments_.name() + "): starting failed: " + rte_strerror(-e)};
  started_ = was_started_ = true;
  rte_eth_promiscuous_enable(device_);  // drivers that cannot are promiscuous already
  rte_eth_allmulticast_enable(device_);
  return {};
}

Problems DpdkPort::show_link(bool up) {
  if (hidden_ == !up) return {};
  if (arguments_.driver() == "net_memif") {
    stop();
    hidden_ = !up;
    return up ? start_anew() : Problems{};
  }
  hidden_ = !up;
  if (arguments_.driver() == "net_tap") return {};  // its interface, with routes, is the host's own
  const int error = is_on_interface() ? set_interface_up(interface(), up)
                    : up              ? -rte_eth_dev_set_link_up(device_)
                                      : -rte_eth_dev_set_link_down(device_);
  if (error == 0 || error == ENOTSUP) return {};
  return named(
      name_, arguments_.name(),
      {"its link cannot be taken " + std::string(up ? "up: " : "down: ") + rte_strerror(error)});
}

// A server takes connections while it is stopped, too: one of that time begins anew.
Problems DpdkPort::start_anew() {
  if (Problems problems = start(); must_reconnect() || !problems.empty()) return problems;
  stop();
  return start();
}

// An interface is left as it was found.
void DpdkPort::stop() {
  if (hidden_ && is_on_interface()) (void)show_link(true);
  hidden_ = false;
  if (!started_) return;
  in_drivers_turn(rte_eth_dev_stop);
  started_ = false;
}

// A tap whose kernel end was moved to another network namespace can no longer be asked; it is as
// good as plugged in.
bool DpdkPort::out_of_sight() const {
  if (arguments_.driver() != "net_tap") return false;
  const std::string interface(arguments_.find("iface").value_or(""));
  return !interface.empty() && if_nametoindex(interface.c_str()) == 0;
}

bool DpdkPort::link_up() const {
  if (out_of_sight()) return started_;
  if (started_ && is_on_interface())  // its driver always says "up"
    return !interface_replaced() && interface_runs(interface());
  rte_eth_link link{};
  return started_ && rte_eth_link_get_nowait(device_, &link) == 0 &&
         link.link_status == RTE_ETH_LINK_UP;
}

bool DpdkPort::interface_replaced() const {
  if (!is_on_interface()) return false;
  const unsigned now = interface_number(interface());
  return now != 0 && now != interface_number_;
}

uint64_t DpdkPort::link_speed_bps() const {
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(device_, &link) != 0 || link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
    return 0;
  return uint64_t{link.link_speed} * 1'000'000;
}

PortLosses DpdkPort::losses() {
  rte_eth_stats stats{};
  if (rte_eth_stats_get(device_, &stats) != 0) return {};
  if (arguments_.is_af_packet()) {
    const std::string interface(arguments_.find("iface").value_or(""));
    kernel_drops_ += take_packet_socket_drops(if_nametoindex(interface.c_str()));
  }
  return {stats.imissed + kernel_drops_, stats.rx_nombuf};
}

bool DpdkPort::must_reconnect() const {
  return arguments_.driver() == "net_memif" && !is_memif_server(arguments_);
}

bool DpdkPort::can_be_closed() const {
  return arguments_.driver() != "net_memif" || must_reconnect();
}

std::string DpdkPort::peer() const {
  return arguments_.driver() == "net_memif" ? socket_of(arguments_) : std::string{};
}

}  // namespace eddy
