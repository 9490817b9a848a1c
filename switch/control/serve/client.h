// Clients of a running switch: one request over the control socket, and which switches there are.
//
// Used by eddyctl, eddyhost and tests. Who answers may be anybody: an answer has bounds in size, in
// depth and in time (a switch that has not answered whole by then is a problem, not a hang), and
// check_report() says whether it has the form of a table. Thread: any; nothing is shared.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"
#include "switch/control/report/json.h"
#include "switch/control/report/words.h"
#include "switch/control/serve/socket_server.h"

namespace eddy::control {

inline constexpr int kAnswerMs = 2'000;
inline constexpr int kReloadMs = 60'000;  // it may restart ports

// How long an answer is waited for, from connecting to its last octet.
struct Patience {
  int give_up_ms = kAnswerMs;
  std::function<void()> still_waiting = {};  // called once, after kAnswerMs
  int stop_fd = -1;                          // readable: it is not waited any longer
};

// Sends one line, returns the one-line answer: {"ok": true, "result": ...} or its problems.
Result<Json> request_over_socket(const std::string& path, const Json& request,
                                 const Patience& patience);

// An answer behind which the connection goes on, with what was handed over.
struct OpenAnswer {
  Json answer;
  std::vector<Fd> descriptors;
  Fd connection;
};
Result<OpenAnswer> open_over_socket(const std::string& path, const Json& request,
                                    const Patience& patience);

// What keeps a result from being shown as a table; empty: nothing. A report has "rows", objects of
// numbers and texts, at most as many as a switch has ever had.
Problems check_report(const Json& result);

// What keeps us from the socket at `path`, of SOCK_STREAM or SOCK_SEQPACKET: a line that names it;
// empty: somebody listens.
Problems try_socket(const std::string& path, int socket_type);

// The process that serves the socket, as the kernel names it here; 0: nobody, or of another
// container. Whoever hangs is known, too.
int peer_process(const std::string& path);

// Somebody serves the socket, but as one of another type: memif's are SOCK_SEQPACKET.
bool is_of_another_type(const std::string& path, int socket_type);

// Switch name -> telemetry socket, of every process whose telemetry answers.
std::map<std::string, std::string> telemetry_sockets(const std::string& runtime_directory);

}  // namespace eddy::control
