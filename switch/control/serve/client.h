// Clients of a running switch: one request over the control socket, and which switches there are.
//
// Used by eddyctl and tests. Every wait has an end: a switch that does not answer within the
// timeout is a problem, not a hang. Thread: any; nothing is shared.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "net/result.h"
#include "switch/control/report/json.h"
#include "switch/control/report/words.h"

namespace eddy::control {

inline constexpr int kReadTimeoutMs = 5'000;
inline constexpr int kChangeTimeoutMs = 60'000;  // a reload may restart ports

// Sends one line, returns the one-line answer: {"ok": true, "result": ...} or its problems.
Result<Json> request_over_socket(const std::string& path, const Json& request, int timeout_ms);

// What keeps us from the socket at `path`, of SOCK_STREAM or SOCK_SEQPACKET: a line that names it;
// empty: somebody listens.
Problems try_socket(const std::string& path, int socket_type);

// Switch name -> telemetry socket, of every process whose telemetry answers.
std::map<std::string, std::string> telemetry_sockets(const std::string& runtime_directory);

}  // namespace eddy::control
