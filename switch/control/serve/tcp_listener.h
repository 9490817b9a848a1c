// A TCP socket that listens on an address as people write it: "127.0.0.1:9477", "[::1]:9477".
//
// Thread: any. Cost: once a server.
#pragma once

#include <string>

#include "net/result.h"
#include "switch/control/serve/socket_server.h"

namespace eddy::control {

// Port 0: any that is free. The problem says `who` wanted it and why it cannot be had.
Result<Fd> listen_on(const std::string& who, const std::string& address);

// What it listens on, with the port that it has: "127.0.0.1:43210".
std::string address_of(const Fd& listener);

}  // namespace eddy::control
