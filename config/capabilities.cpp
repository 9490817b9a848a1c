#include "config/capabilities.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace eddy::config {
namespace {

using enum Capability;

struct Name {
  Capability capability;
  std::string_view name;
};
constexpr std::array kNames = {Name{net_admin, "NET_ADMIN"}, Name{net_raw, "NET_RAW"},
                               Name{ipc_lock, "IPC_LOCK"},   Name{sys_rawio, "SYS_RAWIO"},
                               Name{sys_admin, "SYS_ADMIN"}, Name{sys_nice, "SYS_NICE"}};
constexpr std::array kAll = {net_admin, net_raw, ipc_lock, sys_rawio, sys_admin, sys_nice};

constexpr std::array<std::string_view, 11> kKinds = {"af_packet", "af_xdp", "memif", "null",
                                                     "pcap",      "pci",    "ring",  "tap",
                                                     "vhost",     "virtio", "other"};

constexpr std::string_view kWithInterface = "iface=, rx_iface=, rx_iface_in= or tx_iface=";
constexpr std::string_view kByKernel = "path=/dev/...";

constexpr std::array kTable = {
    CapabilityRow{.kind = PortKind::af_packet,
                  .needs = {net_admin, net_raw},
                  .comfort = {ipc_lock},
                  .why = "a packet socket, and the MTU, address and promiscuity of its interface; "
                         "its rings are locked memory, which is limited without IPC_LOCK"},
    CapabilityRow{.kind = PortKind::af_xdp,
                  .needs = {net_admin, net_raw, sys_admin},
                  .comfort = {ipc_lock},
                  .why = "an XDP program on its interface, which libxdp finds by its number, and "
                         "an XDP socket; packet buffers are locked memory, which is limited "
                         "without IPC_LOCK"},
    CapabilityRow{.kind = PortKind::memif, .why = "a socket in a folder, and shared memory"},
    CapabilityRow{.kind = PortKind::null, .why = "nothing outside the process"},
    CapabilityRow{.kind = PortKind::pcap,
                  .when = kWithInterface,
                  .needs = {net_raw},
                  .why = "a packet socket of libpcap's"},
    CapabilityRow{.kind = PortKind::pcap, .why = "files"},
    CapabilityRow{.kind = PortKind::pci,
                  .comfort = {net_admin, net_raw, ipc_lock, sys_rawio, sys_admin, sys_nice},
                  .own_user = false,
                  .files = "/dev/vfio/*, /dev/uio*, /dev/infiniband/*",
                  .measured = false,
                  .why = "depends on the NIC's driver: IPC_LOCK to map memory for it, NET_ADMIN "
                         "and NET_RAW where the kernel keeps the NIC, SYS_ADMIN for physical "
                         "addresses, SYS_RAWIO without vfio, SYS_NICE to place hugepages"},
    CapabilityRow{.kind = PortKind::ring, .why = "nothing outside the process"},
    CapabilityRow{.kind = PortKind::tap,
                  .needs = {net_admin},
                  .files = "/dev/net/tun",
                  .why = "makes a network interface"},
    CapabilityRow{.kind = PortKind::vhost, .why = "a socket in a folder, and shared memory"},
    CapabilityRow{.kind = PortKind::virtio,
                  .when = kByKernel,
                  .needs = {net_admin},
                  .files = "/dev/vhost-net, /dev/net/tun",
                  .measured = false,
                  .why = "makes a network interface, which the kernel serves"},
    CapabilityRow{.kind = PortKind::virtio, .why = "a socket in a folder, and shared memory"},
    CapabilityRow{.kind = PortKind::other,
                  .own_user = false,
                  .measured = false,
                  .why = "a driver that this table does not know: nothing is given up"}};

constexpr CapabilityRow kHugepages{
    .comfort = {sys_nice},
    .why = "container runtimes tie the calls that place memory on a NUMA node to SYS_NICE"};

std::string_view name_of(std::string_view device) {
  return device.substr(0, device.find(','));
}

bool is_pci_address(std::string_view name) {
  const auto hex_or_mark = [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
  };
  return name.find(':') != std::string_view::npos && name.find('.') != std::string_view::npos &&
         std::all_of(name.begin(), name.end(), hex_or_mark);
}

// The value of an argument behind the name; empty: it is not there.
std::string_view argument_of(std::string_view device, std::string_view key) {
  for (size_t comma = device.find(','); comma != std::string_view::npos;) {
    device.remove_prefix(comma + 1);
    comma = device.find(',');
    const std::string_view part = device.substr(0, comma);
    if (part.size() > key.size() && part.starts_with(key) && part[key.size()] == '=')
      return part.substr(key.size() + 1);
  }
  return {};
}

bool row_applies(const CapabilityRow& row, std::string_view device) {
  if (row.when.empty()) return true;
  if (row.when == kByKernel) return argument_of(device, "path").starts_with("/dev/");
  constexpr std::array<std::string_view, 4> kKeys = {"iface", "rx_iface", "rx_iface_in",
                                                     "tx_iface"};
  return std::any_of(kKeys.begin(), kKeys.end(),
                     [&](std::string_view key) { return !argument_of(device, key).empty(); });
}

}  // namespace

std::string_view to_string(Capability capability) {
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [&](const Name& each) { return each.capability == capability; });
  return found->name;
}

std::span<const Capability> all_capabilities() {
  return kAll;
}

CapabilitySet CapabilitySet::of_mask(uint64_t mask) {
  CapabilitySet out;
  for (const Capability capability : kAll) out.bits_ |= mask & bit(capability);
  return out;
}

std::vector<Capability> CapabilitySet::list() const {
  std::vector<Capability> out;
  for (const Capability capability : kAll)
    if (has(capability)) out.push_back(capability);
  return out;
}

std::string CapabilitySet::words(std::string_view before, std::string_view gap) const {
  std::string out;
  for (const Capability capability : list()) {
    if (!out.empty()) out += gap;
    out += before;
    out += to_string(capability);
  }
  return out;
}

std::string CapabilitySet::named() const {
  return (list().size() == 1 ? "capability " : "capabilities ") + words("CAP_", ", ");
}

std::span<const std::string_view> port_kind_names() {
  return kKinds;
}

std::string_view to_string(PortKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

// Most drivers answer to net_X and eth_X; their devices end with a number.
PortKind port_kind_of(std::string_view device) {
  std::string_view name = name_of(device);
  if (is_pci_address(name)) return PortKind::pci;
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0)
    name.remove_suffix(1);
  if (name == "net_virtio_user" || name == "virtio_user") return PortKind::virtio;
  if (name == "net_tun") return PortKind::tap;
  if (!name.starts_with("net_") && !name.starts_with("eth_")) return PortKind::other;
  name.remove_prefix(4);
  const auto found = std::find(kKinds.begin(), kKinds.end(), name);
  const bool is_driver = found != kKinds.end() && name != "pci" && name != "virtio";
  return is_driver ? static_cast<PortKind>(found - kKinds.begin()) : PortKind::other;
}

std::span<const CapabilityRow> capability_table() {
  return kTable;
}

const CapabilityRow& hugepage_row() {
  return kHugepages;
}

const CapabilityRow& capability_row(std::string_view device) {
  const PortKind kind = port_kind_of(device);
  return *std::find_if(kTable.begin(), kTable.end(), [&](const CapabilityRow& row) {
    return row.kind == kind && row_applies(row, device);
  });
}

void CapabilityDemand::add(const CapabilityRow& row) {
  needs = needs | row.needs;
  comfort = comfort | row.comfort;
  own_user = own_user && row.own_user;
  known = known && row.kind != PortKind::other;
}

CapabilityDemand capability_demand(const SwitchConfig& config) {
  CapabilityDemand out;
  for (const PortConfig& port : config.ports) out.add(capability_row(port.device));
  for (const PortKind kind : config.privileges.ports)
    for (const CapabilityRow& row : kTable)
      if (row.kind == kind) out.add(row);
  return out;
}

}  // namespace eddy::config
