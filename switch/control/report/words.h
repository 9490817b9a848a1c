// The words of the control protocol, in one place: what can be shown and cleared, with help, and
// where a switch's sockets are. Used by the daemon's side, eddyctl and the generated docs.
//
// Constants and pure functions of their arguments.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace eddy::control {

#define EDDY_REPORTS(X)                                                                    \
  X(ports, "state, rates and counters of each port")                                       \
  X(queues, "egress queues: depth, watermarks, ECN marks, drops")                          \
  X(pgs, "ingress priority groups: use, thresholds, pauses")                               \
  X(pfc, "PFC frames, pause time and watchdog by port and priority")                       \
  X(pfcwd, "PFC watchdog by port and queue: storms, and packets during storms")            \
  X(buffers, "the shared buffer: reserved, shared, headroom")                              \
  X(watermarks, "highest use of groups, queues and pools, user and persistent")            \
  X(drops, "dropped packets by port and reason")                                           \
  X(rlb, "PFC foreseen, warnings, and what RLB did with packets, by port")                 \
  X(isolation, "congested hosts, and packets to them in a class apart, by port")           \
  X(isolated, "who is isolated or congests a port here: since when, backlog, who said so") \
  X(paths, "path sets by destination leaf: members, delay, load, warnings")                \
  X(flows, "flows that RLB's order guard watches: where they go, and where they would")    \
  X(schemes, "path selection schemes and their parameters")                                \
  X(workers, "load and poll gap of each worker")                                           \
  X(neighbors, "resolved neighbors")                                                       \
  X(routes, "prefixes and where they lead")                                                \
  X(events, "the last events of the data plane")

enum class Report : unsigned char {
#define EDDY_REPORT_ENUM(name, help) name,
  EDDY_REPORTS(EDDY_REPORT_ENUM)
#undef EDDY_REPORT_ENUM
};

struct Word {
  std::string_view name;
  std::string_view help;
};
std::span<const Word> report_words();  // indexed by Report
std::span<const Word> clear_words();   // counters, watermarks, persistent-watermarks
// What has watermarks, indexed by WatermarkOf: pg-shared, ... stages
std::span<const Word> watermark_words();
std::optional<Report> parse_report(std::string_view word);
std::string_view to_string(Report report);
// "ports, queues, ..."
std::string join_words(std::span<const Word> words);

inline constexpr std::string_view kSocketDirectory = "/run/eddy";
inline constexpr size_t kMaxRequestBytes = 64 * 1024;  // one line of the protocol

// /run/eddy/<name>.sock
std::string default_socket_path(std::string_view switch_name);
// In dpdk_run_folder() every process of DPDK has a folder named by its file prefix, eddy-<name>.
inline constexpr std::string_view kFilePrefix = "eddy-";
inline constexpr std::string_view kTelemetrySocket = "dpdk_telemetry.v2";
// The switch's name in a file prefix ("eddy-leaf1" -> "leaf1"); empty when it is not one of ours.
std::string switch_of_prefix(std::string_view file_prefix);

}  // namespace eddy::control
