#include "switch/dpdk/served.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

namespace eddy {

bool is_served(const std::filesystem::path& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& text = socket_path.native();
  if (text.size() >= sizeof(address.sun_path)) return false;
  text.copy(address.sun_path, text.size());
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const bool served =
      fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  if (fd >= 0) close(fd);
  return served;
}

}  // namespace eddy
