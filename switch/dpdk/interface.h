// A network interface of the kernel, by its name: whether it runs, and its MTU.
//
// Control thread. Nothing is kept but one socket to ask by. Cost: a system call each. Source:
// netdevice(7).
#pragma once

#include <optional>
#include <string>

#include "net/result.h"

namespace eddy {

// It is up and has its carrier (a veth: its peer is up as well); false when it is gone.
bool interface_runs(const std::string& name);
// The kernel's number of it; 0 when it is gone. One that comes back has another number.
unsigned interface_number(const std::string& name);
// Sets or clears IFF_UP; without it the other end of a cable or a veth has no carrier. 0, or errno.
// Needs CAP_NET_ADMIN.
int set_interface_up(const std::string& name, bool up);
// Layer-3 octets; nothing when it is gone.
std::optional<int> interface_mtu(const std::string& name);
// Raises its MTU to `wanted`, or at least to `needed`; what is higher already stays. Problems when
// it is below `needed` in the end. Needs CAP_NET_ADMIN where there is something to raise.
Problems raise_interface_mtu(const std::string& name, int needed, int wanted);

}  // namespace eddy
