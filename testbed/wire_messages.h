// What `eddywire join` and `eddywire serve` say to each other, over a Unix socket of packets: a
// request is "HOST DEVICE" with a descriptor of the host's network namespace, the answer is empty,
// or says in one line why not. The connection stays for as long as the host is there.
//
// Both sides are hostile to each other: lengths are bounded, a descriptor too many is closed. Cost:
// a system call each. Source: unix(7), SCM_RIGHTS.
#pragma once

#include <optional>
#include <string>

#include "net/result.h"

namespace eddy::testbed {

inline constexpr const char* kWireSocket = "/run/eddy/wire";

struct WireMessage {
  std::string text;
  int descriptor = -1;  // the receiver's, to be closed
};

// A listening socket there, or what is in the way. Whoever may write to it may connect.
Result<int> listen_on_wire(const std::string& path);
// Null: nobody listens there.
std::optional<int> connect_to_wire(const std::string& path);

// False: the other side is gone.
bool send_to_wire(int socket, const std::string& text, int descriptor = -1);
// Waits. Null: the other side is gone, or has sent what is no message.
std::optional<WireMessage> receive_from_wire(int socket);

}  // namespace eddy::testbed
