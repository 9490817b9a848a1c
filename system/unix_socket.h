// Unix sockets by their paths: what stands there, and making way for a socket of our own.
//
// A process that was killed leaves its socket behind, and bind() refuses the path until somebody
// unlinks it. clear_socket_path() is the one place that does with what may be another's, and only
// when the path is a socket and connect() says ECONNREFUSED: nobody holds it. Whoever owns one that
// is held, of whatever type, does not notice the question, which is asked by a socket of datagrams.
// Thread: any; nothing is shared. Errors are problems with the path in them.
#pragma once

#include <sys/un.h>

#include <cstdint>
#include <string>

#include "net/result.h"

namespace eddy {

enum class SocketPath : uint8_t {
  absent,  // nothing stands there
  dead,    // a socket that nobody holds
  held,    // a socket of a process that lives
  other,   // something that is no socket
  unknown  // it cannot be told, for want of rights for example
};
SocketPath socket_path_state(const std::string& path);

// False when the path is too long for a socket.
bool fill_unix_address(const std::string& path, sockaddr_un& address);

// What is in the way of a socket of ours: all but nothing and a dead one.
Problems check_socket_path(const std::string& path);
// Unlinks a dead socket. Afterwards nothing stands at `path`, or the problems say what does.
[[nodiscard]] Problems clear_socket_path(const std::string& path);
// Unlinks a socket that this process has bound and goes on holding, as a driver may: nobody else
// comes to it. What is no socket stays.
void hide_own_socket(const std::string& path);

}  // namespace eddy
