// Which switches there are, by the sockets in a folder, and which of them a command is for.
//
// The folder is /run/eddy unless --dir names another; DPDK's telemetry knows of switches whose
// control socket stands elsewhere, but only /run/eddy is asked together with it. Thread: any. Cost:
// a connection to each socket.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "net/result.h"
#include "switch/control/ctl/arguments.h"

namespace eddy::control {

// Whose control or telemetry socket is served, and what is wrong with the control sockets that are
// there otherwise.
struct Sockets {
  std::set<std::string> running;
  std::map<std::string, std::string> problems;  // by name
};
Sockets find_sockets(const Arguments& arguments);

// /run/eddy, unless the arguments name another.
std::string folder_of(const Arguments& arguments);
// What may be control sockets, by name: sockets NAME.sock of the folder. Nobody is asked.
std::map<std::string, std::string> socket_files(const std::string& folder);

// Makes of --fabric the folder that it means, and of no folder /run/eddy; the problem, or empty.
Problems choose_folder(Arguments& arguments);

// Fills in arguments.name when there is one switch; the problem, or empty.
Problems choose_switch(Arguments& arguments);

std::string control_socket(const Arguments& arguments);

// One switch to be asked.
struct Target {
  std::string name;  // of its socket
  std::string socket;
};
// The one that the arguments mean, or, if they ask all, each that has a socket in the folder,
// whether anybody answers there or not: a switch that was killed leaves its socket behind. By name.
Result<std::vector<Target>> targets_of(Arguments arguments);

}  // namespace eddy::control
