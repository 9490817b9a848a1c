#include "switch/dpdk/interface.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace eddy {
namespace {

// The request about the interface, answered; 0, or what is wrong.
int ask(unsigned long what, const std::string& name, ifreq& request) {
  if (name.size() >= sizeof(request.ifr_name)) return ENODEV;
  std::memcpy(request.ifr_name, name.c_str(), name.size() + 1);
  static const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);  // asked at every tick
  if (fd < 0) return EMFILE;
  return ioctl(fd, what, &request) == 0 ? 0 : errno;
}

int set_mtu(const std::string& name, int mtu) {
  ifreq request{};
  request.ifr_mtu = mtu;
  return ask(SIOCSIFMTU, name, request);
}

}  // namespace

bool interface_runs(const std::string& name) {
  ifreq request{};
  if (ask(SIOCGIFFLAGS, name, request) != 0) return false;
  constexpr unsigned kBoth = IFF_UP | IFF_RUNNING;
  return (static_cast<unsigned short>(request.ifr_flags) & kBoth) == kBoth;
}

unsigned interface_number(const std::string& name) {
  ifreq request{};
  return ask(SIOCGIFINDEX, name, request) == 0 ? static_cast<unsigned>(request.ifr_ifindex) : 0;
}

int set_interface_up(const std::string& name, bool up) {
  ifreq request{};
  if (const int error = ask(SIOCGIFFLAGS, name, request); error != 0) return error;
  const auto before = static_cast<unsigned short>(request.ifr_flags);
  const auto wanted = static_cast<unsigned short>(up ? before | IFF_UP : before & ~IFF_UP);
  if (wanted == before) return 0;
  request.ifr_flags = static_cast<short>(wanted);
  return ask(SIOCSIFFLAGS, name, request);
}

std::optional<int> interface_mtu(const std::string& name) {
  ifreq request{};
  if (ask(SIOCGIFMTU, name, request) != 0) return std::nullopt;
  return request.ifr_mtu;
}

Problems raise_interface_mtu(const std::string& name, int needed, int wanted) {
  const std::optional<int> before = interface_mtu(name);
  if (!before) return {"there is no network interface " + name};
  if (*before >= wanted || set_mtu(name, wanted) == 0 || *before >= needed) return {};
  const int error = set_mtu(name, needed);
  if (error == 0) return {};
  return {"interface " + name + " has mtu " + std::to_string(*before) + ", the port " +
          std::to_string(needed) + ", and it cannot be raised: " + std::strerror(error)};
}

}  // namespace eddy
