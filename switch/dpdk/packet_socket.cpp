#include "switch/dpdk/packet_socket.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace eddy {
namespace {

bool is_bound_to(int file, unsigned interface_index) {
  sockaddr_ll address{};
  socklen_t size = sizeof(address);
  if (getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  return address.sll_family == AF_PACKET &&
         address.sll_ifindex == static_cast<int>(interface_index);
}

uint64_t take_drops(int file) {
  tpacket_stats statistics{};
  socklen_t size = sizeof(statistics);
  if (getsockopt(file, SOL_PACKET, PACKET_STATISTICS, &statistics, &size) != 0) return 0;
  return statistics.tp_drops;
}

}  // namespace

uint64_t take_packet_socket_drops(unsigned interface_index) {
  uint64_t drops = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename();
    int file = -1;
    std::from_chars(name.data(), name.data() + name.size(), file);
    if (is_bound_to(file, interface_index)) drops += take_drops(file);
  }
  return drops;
}

}  // namespace eddy
