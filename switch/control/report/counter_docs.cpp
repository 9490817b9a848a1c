#include "switch/control/report/counter_docs.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "switch/dataplane/state/counters.h"
#include "switch/dataplane/state/events.h"

namespace eddy::control {
namespace {

struct Section {
  std::string_view title;
  std::string_view labels;
  std::string_view shown;  // by which reports
  std::span<const CounterInfo> counters;
};

std::vector<Section> sections() {
  return {{"Ports", "port", "show ports", port_counter_infos()},
          {"PFC", "port, prio", "show pfc", pfc_counter_infos()},
          {"Queues", "port, queue", "show queues", queue_counter_infos()},
          {"Priority groups", "port, pg", "show pgs", pg_counter_infos()},
          {"Drop reasons", "port, reason", "show drops", drop_reason_infos()}};
}

constexpr CounterInfo kEventCounters[] = {
#define EDDY_EVENT_DOC(name, help) CounterInfo{#name, help},
    EDDY_EVENTS(EDDY_EVENT_DOC)
#undef EDDY_EVENT_DOC
};

std::string table(std::string_view head, std::span<const CounterInfo> infos) {
  std::string out = "| " + std::string(head) + " | meaning |\n|---|---|\n";
  for (const CounterInfo& info : infos)
    out += "| `" + std::string(info.name) + "` | " + std::string(info.help) + " |\n";
  return out;
}

}  // namespace

std::string counters_markdown() {
  std::string out =
      "# Counters, drop reasons and events\n\n"
      "Made from the lists in `switch/dataplane/state/counters.h` and `events.h` by `eddyctl "
      "counters\n"
      "--markdown > docs/counters.md`; a test compares them. `eddyctl`, DPDK telemetry and JSON "
      "use\n"
      "these names. Nothing is reset in the data plane: `eddyctl clear counters` keeps a baseline\n"
      "that reports subtract. Every packet ends in exactly one of `tx_packets`,\n"
      "`consumed_packets`, one drop reason, or is still held. PFC and PAUSE frames are none: what "
      "the\n"
      "MAC consumes is no unicast packet received (SAI_PORT_STAT_IF_IN_UCAST_PKTS) and stands in\n"
      "counters of its own. In Prometheus `rx_packets` is `eddy_rx_packets_total`\n"
      "([monitoring](monitoring/README.md)).\n";
  for (const Section& section : sections()) {
    const bool drops = section.title == "Drop reasons";
    out += "\n## " + std::string(section.title) + "\n\nLabels: " + std::string(section.labels) +
           ". Shown by `eddyctl " + std::string(section.shown) + "`.\n\n" +
           table(drops ? "reason" : "counter", section.counters);
  }
  out +=
      "\n## Events\n\nPrinted by the daemon, rate-limited by kind; the last 1,000 in `eddyctl "
      "show events`.\n\n";
  return out + table("event", kEventCounters);
}

std::string counters_text() {
  size_t width = 0;
  for (const Section& section : sections())
    for (const CounterInfo& info : section.counters) width = std::max(width, info.name.size());
  std::string out;
  for (const Section& section : sections()) {
    out += std::string(section.title) + " (" + std::string(section.labels) + ")\n";
    for (const CounterInfo& info : section.counters)
      out += "  " + std::string(info.name) + std::string(width - info.name.size() + 2, ' ') +
             std::string(info.help) + "\n";
  }
  return out;
}

}  // namespace eddy::control
