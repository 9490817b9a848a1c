#include "system/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace eddy {

bool fill_unix_address(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

SocketPath socket_path_state(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0)
    return errno == ENOENT || errno == ENOTDIR ? SocketPath::absent : SocketPath::unknown;
  if (!S_ISSOCK(status.st_mode)) return SocketPath::other;
  sockaddr_un address;
  const int probe = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0 || !fill_unix_address(path, address)) {
    if (probe >= 0) ::close(probe);
    return SocketPath::unknown;
  }
  const bool connected =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  const int error = connected ? 0 : errno;
  ::close(probe);
  if (error == ECONNREFUSED) return SocketPath::dead;
  return connected || error == EPROTOTYPE || error == EAGAIN ? SocketPath::held
                                                             : SocketPath::unknown;
}

Problems check_socket_path(const std::string& path) {
  switch (socket_path_state(path)) {
    case SocketPath::absent:
    case SocketPath::dead:
      return {};
    case SocketPath::held:
      return {"socket " + path + " is served by another process"};
    case SocketPath::other:
      return {"socket " + path + ": the path exists and is not a socket"};
    case SocketPath::unknown:
      break;
  }
  return {"socket " + path + ": it cannot be told whether another process serves it"};
}

Problems clear_socket_path(const std::string& path) {
  const SocketPath state = socket_path_state(path);
  if (state != SocketPath::dead) return check_socket_path(path);
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return {"socket " + path +
          ": a process that was killed left it, and it cannot be removed: " + std::strerror(errno)};
}

void hide_own_socket(const std::string& path) {
  if (socket_path_state(path) == SocketPath::held) (void)::unlink(path.c_str());
}

}  // namespace eddy
