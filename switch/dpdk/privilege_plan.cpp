#include "switch/dpdk/privilege_plan.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "config/capabilities.h"
#include "switch/dpdk/devargs.h"

namespace eddy {
namespace {

using config::CapabilitySet;
using Planned = Result<PrivilegePlan>;

uint64_t mask_of(CapabilitySet set) {
  uint64_t mask = 0;
  for (const config::Capability capability : set.list())
    mask |= uint64_t{1} << static_cast<unsigned>(capability);
  return mask;
}

std::string mebibytes(uint64_t octets) {
  return std::to_string((octets + (1 << 20) - 1) >> 20) + " MiB";
}

// Of a port to come: nobody else would say it before it comes.
Problems check_kinds_to_come(const config::SwitchConfig& config, CapabilitySet held) {
  Problems problems;
  for (const config::PortKind kind : config.privileges.ports) {
    config::SwitchConfig alone;
    alone.privileges.ports = {kind};
    const CapabilitySet missing = capability_demand(alone).needs - held;
    if (missing.empty()) continue;
    problems.push_back("privileges.ports: " + std::string(to_string(kind)) + " needs the " +
                       missing.named());
  }
  return problems;
}

struct Locked {
  Bytes size{0};
  std::string ports;
};

Locked locked_by(const config::SwitchConfig& config, const DaemonPlan& plan) {
  Locked out;
  for (const config::PortConfig& port : config.ports) {
    const Bytes size = locked_memory_of(port, plan);
    if (size == Bytes(0)) continue;
    out.size = out.size + size;
    out.ports += (out.ports.empty() ? "" : ", ") + port.name;
  }
  return out;
}

Problems check_limit(const Locked& locked, const Rights& rights) {
  if (static_cast<uint64_t>(locked.size.count()) <= rights.lockable) return {};
  return {"port " + locked.ports + ": " + mebibytes(static_cast<uint64_t>(locked.size.count())) +
          " of packet memory must be locked, the limit is " + mebibytes(rights.lockable) +
          ": needs the capability CAP_IPC_LOCK, or a higher limit (ulimit -l, LimitMEMLOCK)"};
}

void warn_of_comfort(CapabilitySet missing, const config::SwitchConfig& config,
                     PrivilegePlan& plan) {
  if (missing.empty()) return;
  std::string ports;
  for (const config::PortConfig& port : config.ports) {
    if ((config::capability_row(port.device).comfort & missing).empty()) continue;
    ports += (ports.empty() ? "" : ", ") + port.name;
  }
  if (ports.empty()) return;  // they are of kinds to come
  plan.warnings.push_back("port " + ports + ": without the " + missing.named() +
                          " (eddyd --capabilities says what for)");
}

// The user to become, none, or why it cannot be.
Result<std::optional<User>> choose_user(const config::SwitchConfig& config, bool ports_allow,
                                        const PrivilegeView& view, PrivilegePlan& plan) {
  using Chosen = Result<std::optional<User>>;
  const std::string& wanted = config.privileges.user;
  const bool automatic = wanted.empty();
  const std::optional<User> user = view.find_user(automatic ? kOwnUser : wanted);
  if (user && user->uid == view.rights.uid) return Chosen(std::nullopt);
  if (automatic && (!user || !ports_allow || view.rights.uid != 0)) return Chosen(std::nullopt);
  if (automatic && !view.rights.may_change_user()) return Chosen(std::nullopt);
  const std::string place = "privileges.user: ";
  if (!user) return Chosen::failure(place + "there is no user " + wanted);
  if (!view.rights.may_change_user())
    return Chosen::failure(place + "becoming " + wanted +
                           " needs the capabilities CAP_SETUID, CAP_SETGID");
  const Problems problems = view.check_files(*user);
  if (problems.empty()) return Chosen(user);
  if (!automatic) return Chosen::failure(place + problems.front());
  plan.notes.push_back("the user stays root: " + problems.front());
  return Chosen(std::nullopt);
}

int number(std::optional<std::string_view> text) {
  int value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

std::string folder_of(std::string_view path) {
  return std::filesystem::path(path).parent_path();
}

void add_files_of(const config::PortConfig& port, std::vector<FileNeed>& files) {
  const DeviceArgs device = with_driver_defaults(DeviceArgs::parse(port.device), port.mtu);
  const auto add = [&](std::string_view key, bool folder) {
    const auto value = device.find(key);
    if (value && value->starts_with('/'))
      files.push_back({folder ? folder_of(*value) : std::string(*value), folder});
  };
  switch (config::port_kind_of(port.device)) {
    case config::PortKind::memif: {
      const auto role = device.find("role").value_or("client");
      const bool server = role == "server" || role == "master";
      if (server && device.find("socket-abstract") == "no") add("socket", true);
      return;
    }
    case config::PortKind::vhost:
      if (device.find("client").value_or("0") != "1") add("iface", true);
      return;
    case config::PortKind::virtio:
      if (device.find("server").value_or("0") == "1") add("path", true);
      return;
    case config::PortKind::pcap:
      add("rx_pcap", false);
      add("tx_pcap", true);
      return;
    case config::PortKind::tap:
      files.push_back({"/dev/net/tun", false});
      return;
    case config::PortKind::af_packet:
    case config::PortKind::af_xdp:
    case config::PortKind::null:
    case config::PortKind::pci:
    case config::PortKind::ring:
    case config::PortKind::other:
      return;
  }
}

}  // namespace

Result<PrivilegePlan> plan_privileges(const config::SwitchConfig& config, const DaemonPlan& plan,
                                      const PrivilegeView& view) {
  const config::CapabilityDemand demand = capability_demand(config);
  const CapabilitySet held = CapabilitySet::of_mask(view.rights.capabilities);
  PrivilegePlan out;
  if (Problems problems = check_kinds_to_come(config, held); !problems.empty()) return problems;
  if (!held.has(config::Capability::ipc_lock))
    if (Problems problems = check_limit(locked_by(config, plan), view.rights); !problems.empty())
      return problems;
  warn_of_comfort(demand.comfort - held, config, out);
  out.narrows = demand.known;
  if (!out.narrows) {
    out.warnings.push_back(
        "nothing of its rights is given up: a port's driver is not in the table "
        "of eddyd --capabilities");
    return out;
  }
  auto user = choose_user(config, demand.own_user, view, out);
  if (!user) return user.problems();
  out.narrowing.user = *user;
  out.narrowing.keep = mask_of(demand.needs | demand.comfort);
  if (!out.narrowing.user && view.rights.uid == 0 && view.rights.may_change_group())
    out.narrowing.group = view.own_group;
  return out;
}

// Both rings of one queue; as the driver reckons, a ring is whole blocks.
Bytes locked_memory_of(const config::PortConfig& port, const DaemonPlan& plan) {
  const DeviceArgs device = with_driver_defaults(DeviceArgs::parse(port.device), port.mtu);
  if (device.is_af_xdp()) return plan.pools.memory();
  if (!device.is_af_packet()) return Bytes(0);
  const int64_t block = number(device.find("blocksz"));
  const int64_t slots = block / std::max(1, number(device.find("framesz")));
  return Bytes(2 * block * (number(device.find("framecnt")) / std::max<int64_t>(1, slots)));
}

std::vector<FileNeed> files_of(const config::SwitchConfig& config, const std::string& config_path,
                               const std::string& control_folder) {
  std::vector<FileNeed> files{{config_path, false}, {control_folder, true}};
  if (config.load_balancer.loaded != nullptr)  // a reload looks whether it has changed
    files.push_back({config.load_balancer.loaded->file, false});
  for (const config::PortConfig& port : config.ports) add_files_of(port, files);
  return files;
}

}  // namespace eddy
