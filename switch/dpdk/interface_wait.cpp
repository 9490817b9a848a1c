#include "switch/dpdk/interface_wait.h"

#include <net/if.h>
#include <net/if_arp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>

#include "net/text/printable.h"
#include "switch/dpdk/devargs.h"

namespace eddy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostLinks = 1'024;
// Not of anybody's links, though of type Ethernet.
constexpr std::array<std::string_view, 4> kNoLinks = {"lo", "eth0", "gretap0", "erspan0"};
constexpr std::array<std::string_view, 3> kOfPcap = {"iface", "rx_iface", "tx_iface"};

void add_name(std::vector<std::string>& names, std::optional<std::string_view> name) {
  if (!name || name->empty()) return;
  if (std::find(names.begin(), names.end(), *name) == names.end()) names.emplace_back(*name);
}

void add_interfaces_of(const DeviceArgs& device, std::vector<std::string>& names) {
  const std::string driver = device.driver();
  if (device.is_af_packet() || device.is_af_xdp()) add_name(names, device.find("iface"));
  if (driver == "net_pcap" || driver == "eth_pcap")
    for (const std::string_view key : kOfPcap) add_name(names, device.find(key));
  if (driver == "net_tap") add_name(names, device.find("remote"));  // iface= is the one it makes
}

bool is_link(const PresentInterface& interface) {
  return interface.ethernet &&
         std::find(kNoLinks.begin(), kNoLinks.end(), interface.name) == kNoLinks.end();
}

void join(std::string& text, const std::string& more) {
  if (!text.empty()) text += ", ";
  text += more;
}

sigset_t ends() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

// Whether one of them comes in that time.
bool signalled_within(Duration time) {
  const sigset_t set = ends();
  const timespec pause{.tv_sec = time.ns() / 1'000'000'000, .tv_nsec = time.ns() % 1'000'000'000};
  return sigtimedwait(&set, nullptr, &pause) > 0;
}

}  // namespace

Result<WantedInterfaces> wanted_interfaces(const config::SwitchConfig& config,
                                           const char* clab_intfs) {
  WantedInterfaces wanted;
  for (const config::PortConfig& port : config.ports)
    add_interfaces_of(DeviceArgs::parse(port.device), wanted.names);
  if (clab_intfs == nullptr) return wanted;
  const std::string_view text(clab_intfs);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wanted.count);
  if (error != std::errc{} || end != text.data() + text.size() || wanted.count < 0 ||
      wanted.count > kMostLinks)
    return Result<WantedInterfaces>::failure("CLAB_INTFS is no number of interfaces from 0 to " +
                                             std::to_string(kMostLinks) + ": \"" + printable(text) +
                                             "\"");
  return wanted;
}

std::vector<PresentInterface> present_interfaces() {
  std::vector<PresentInterface> out;
  struct if_nameindex* const list = if_nameindex();
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  for (const struct if_nameindex* entry = list; entry != nullptr && entry->if_index != 0; ++entry) {
    ifreq request{};
    std::strncpy(request.ifr_name, entry->if_name, sizeof(request.ifr_name) - 1);
    const bool known = ioctl(fd, SIOCGIFHWADDR, &request) == 0;
    out.push_back({entry->if_name, known && request.ifr_hwaddr.sa_family == ARPHRD_ETHER});
  }
  if_freenameindex(list);
  if (fd >= 0) close(fd);
  return out;
}

std::string missing_interfaces(const WantedInterfaces& wanted,
                               const std::vector<PresentInterface>& present) {
  std::string missing;
  for (const std::string& name : wanted.names)
    if (std::none_of(present.begin(), present.end(),
                     [&](const PresentInterface& there) { return there.name == name; }))
      join(missing, "interface " + printable(name));
  const auto links = std::count_if(present.begin(), present.end(), is_link);
  if (links < wanted.count)
    join(missing, std::to_string(wanted.count - links) + " of the " + std::to_string(wanted.count) +
                      " interfaces that CLAB_INTFS counts beside lo and eth0");
  return missing;
}

WaitResult wait_for_interfaces(const WantedInterfaces& wanted, Duration patience) {
  const sigset_t set = ends();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const auto began = Clock::now();
  while (true) {
    std::string missing = missing_interfaces(wanted, present_interfaces());
    if (missing.empty()) return {};
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began);
    const Duration left = patience - Duration::nanoseconds(spent.count());
    if (left <= Duration()) return {WaitEnd::too_late, std::move(missing)};
    if (signalled_within(std::min(left, kLookAgain)))
      return {WaitEnd::signalled, std::move(missing)};
  }
}

}  // namespace eddy
