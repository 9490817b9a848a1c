// The fabric, switches and the run; what goes by the rate of ports is in ns3_rates.cpp, hosts are
// in ns3_hosts.cpp.
#include "lab/import/ns3_translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lab/import/ns3_units.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

constexpr Duration kBase = Duration::seconds(2);  // where the simulators' generators begin

struct Output {
  std::string_view key;
  std::string_view why;
};
constexpr auto kOutputs = std::to_array<Output>({
    {"CNP_OUTPUT_FILE", "eddylab run --conweave writes out_cnp.txt"},
    {"CONN_MON_FILE", "eddylab run --conweave writes out_conn.txt"},
    {"DATA_RATE", "that program does not use it: rates are the topology file's"},
    {"ENABLE_TRACE", "packets are recorded by eddylab run --capture"},
    {"EST_ERROR_MON_FILE", "there is no such file here"},
    {"FLOW_INPUT_FILE", "there is no such file here: it lists the flows again"},
    {"LINK_DELAY", "that program does not use it: delays are the topology file's"},
    {"LOAD", "a label: the flows are the flow file's"},
    {"QLEN_MON_END", "queues are sampled all the time, see run.sample_period"},
    {"QLEN_MON_FILE", "queues are in result.json; there is no such file here"},
    {"QLEN_MON_START", "queues are sampled all the time, see run.sample_period"},
    {"TRACE_FILE", "packets are recorded by eddylab run --capture"},
    {"TRACE_OUTPUT_FILE", "packets are recorded by eddylab run --capture"},
    {"UPLINK_MON_FILE", "eddylab run --conweave writes out_uplink.txt"},
    {"VOQ_MON_DETAIL_FILE", "there is no such file here"},
    {"VOQ_MON_FILE", "there is no such file here; result.json says how much flow stages held"},
});

}  // namespace

void Ns3Translation::translate() {
  fabric();
  buffer();
  ecn();
  ports_by_rate();
  pfc();
  hosts();
  balancer();
  traffic();
  faults();
  run();
  outputs();
}

void Ns3Translation::fabric() {
  settings_.set("topology.kind", "hpcc");
  settings_.set("topology.file", "topology.txt");
  always("topology.line_overhead", "0", "frames have no preamble, FCS and gap on its lines");
  for (const auto& [key, what] : {std::pair("TOPOLOGY_FILE", "topology.txt, topology.file"),
                                  std::pair("FLOW_FILE", "flow.txt, traffic.0.file")})
    if (config_.find(key) != nullptr) finding(Treatment::taken, key, what);
}

void Ns3Translation::buffer() {
  constexpr int64_t kMostMib = 4'096;
  const int64_t mib = integer("BUFFER_SIZE", conweave_ ? 0 : 16, 0, kMostMib);
  if (mib > 0) {
    take("BUFFER_SIZE", "buffer.size", fmt::format("{}MiB", mib));
  } else if (conweave_) {
    constexpr int64_t kBytesAPort = 375'000;
    const auto ports = static_cast<int64_t>(topology_.most_ports());
    approximate(
        "BUFFER_SIZE", "buffer.size", to_string(Bytes(kBytesAPort * ports)),
        fmt::format("0 is 375 kB a port; all switches have that of the one with most, {}", ports));
  } else {
    config_.problem("BUFFER_SIZE",
                    "BUFFER_SIZE 0 leaves switches no buffer, 1 or more would be "
                    "valid");
  }
  always("buffer.cell", "1", "buffers count octets");
  settings_.set("buffer.profiles.lossless.mode", "dynamic");
  if (conweave_) {
    always("buffer.profiles.lossless.dynamic_th", "-4", "PFC begins at 1/16 of the free buffer");
  } else {
    always("buffer.profiles.lossless.dynamic_th", "-3", "PFC begins at 1/8 of the free buffer");
    always("buffer.profiles.lossless.reserved", kOwnOfAGroup, "each group has 4 KiB of its own");
    always("buffer.profiles.lossless.xon_offset", kXonOffset, "3 KiB below, it resumes");
  }
  const bool dynamic = flag("USE_DYNAMIC_PFC_THRESHOLD", true);
  finding(
      dynamic ? Treatment::taken : Treatment::approximated, "USE_DYNAMIC_PFC_THRESHOLD",
      dynamic ? "buffer.profiles.lossless.mode: dynamic" : "thresholds are dynamic all the same");
}

void Ns3Translation::pfc() {
  if (conweave_) {
    const bool on = flag("ENABLE_PFC", true);
    take("ENABLE_PFC", "switches.pfc", on ? "true" : "false");
  }
  ignore("PAUSE_TIME", "a pause lasts until it is taken back, in both");
  report_.add({Treatment::approximated,
               {},
               0,
               "headroom of PFC",
               conweave_ ? "as 802.1Qbb has it; that program has two packets and the cable"
                         : "as 802.1Qbb has it; that program has three times the cable"});
}

void Ns3Translation::balancer() {
  if (!conweave_) {
    always("load_balancer.scheme", "ecmp", "a flow keeps one path, by its hash");
    return;
  }
  const int64_t mode = integer("LB_MODE", 0, 0, INT32_MAX);
  const auto scheme = [&](const char* name) { take("LB_MODE", "load_balancer.scheme", name); };
  const auto measured_for_free = [&] {
    always("path_service.shim", "free", "what it measures is on no line");
  };
  if (mode == 0) {
    scheme("ecmp");
  } else if (mode == 2) {
    scheme("drill");
    always("load_balancer.d", "2", "two random ports are compared");
    always("load_balancer.m", "1", "and the best one of before");
    always("load_balancer.memory", "destination_host", "which is remembered for each host");
    always("load_balancer.queue", "waiting", "without the frame on the line");
  } else if (mode == 3) {
    scheme("conga");
    always("load_balancer.gap", "100us", "ends a flowlet");
    always("load_balancer.mode", "exact", "");
    always("load_balancer.ageing", "500us", "");
    always("load_balancer.hold", "0s", "each flowlet looks anew");
    always("dre.period", "50us", "");
    always("dre.alpha", "0.2", "");
    measured_for_free();
  } else if (mode == 6) {
    scheme("letflow");
    always("load_balancer.gap", "100us", "ends a flowlet");
    always("load_balancer.mode", "exact", "");
  } else if (mode == 9) {
    scheme("conweave");
    measured_for_free();
  } else {
    config_.problem("LB_MODE", fmt::format("LB_MODE {}, valid are 0 ECMP, 2 DRILL, 3 CONGA, 6 "
                                           "LetFlow, 9 ConWeave",
                                           mode));
  }
  conweave();
}

void Ns3Translation::conweave() {
  struct Time {
    const char* key;
    const char* setting;
    int64_t fallback_us;
  };
  constexpr auto kTimes = std::to_array<Time>({
      {"CONWEAVE_REPLY_TIMEOUT_EXTRA", "load_balancer.reply", 4},
      {"CONWEAVE_PATH_PAUSE_TIME", "load_balancer.busy", 8},
      {"CONWEAVE_TX_EXPIRY_TIME", "load_balancer.inactive", 1'000},
      {"CONWEAVE_EXTRA_VOQ_FLUSH_TIME", "load_balancer.slack", 32},
      {"CONWEAVE_DEFAULT_VOQ_WAITING_TIME", "load_balancer.wait", 500},
  });
  const bool used = integer("LB_MODE", 0, 0, INT32_MAX) == 9;
  for (const auto& [key, setting, fallback] : kTimes) {
    if (!used) {
      ignore(key, "of ConWeave, which LB_MODE does not choose");
      continue;
    }
    constexpr int64_t kMostUs = 100'000'000;
    Duration time = Duration::microseconds(integer(key, fallback, 0, kMostUs));
    if (std::string_view(setting) != "load_balancer.reply") {
      take(key, setting, to_string(time));
      continue;
    }
    time += reach_.between_leaves * 2;
    take(key, setting, to_string(time),
         fmt::format("on top of the {} there and back between leaves",
                     to_string(reach_.between_leaves * 2)));
  }
}

void Ns3Translation::traffic() {
  // Their generators begin at 2 s; the time of other files is that of their first flow.
  const bool usual = flows_.first >= kBase && flows_.first < kBase + Duration::seconds(1);
  origin_ = usual ? kBase : flows_.first;
  settings_.set("traffic",
                fmt::format("[{{type: trace, file: flow.txt, start: {}}}]", to_string(origin_)));
  report_.add({Treatment::taken,
               {},
               0,
               fmt::format("{} of the flow file", to_string(origin_)),
               "is the run's beginning, traffic.0.start"});
}

void Ns3Translation::faults() {
  const auto drop = [&](const Ns3Topology::Target& target, double probability) {
    faults_ += fmt::format("\n  - {{type: random_drop, {}: [{}], probability: {}}}",
                           target.is_host ? "hosts" : "links", in_yaml(target.name),
                           in_decimals(probability));
  };
  const double all = config_.real("ERROR_RATE_PER_LINK", 0, 1).value_or(0);
  if (all == 0) {
    ignore("ERROR_RATE_PER_LINK", "no link loses packets");
  } else {
    finding(Treatment::taken, "ERROR_RATE_PER_LINK", "faults: random_drop on every link");
  }
  for (size_t i = 0; i < topology_.links.size(); ++i) {
    const Ns3Topology::Link& link = topology_.links[i];
    if (link.error_rate > 0)
      report_.add({Treatment::taken, topology_.name, link.line,
                   fmt::format("{} {} error rate {}", link.a, link.b, link.error_rate),
                   "faults: random_drop"});
    if (const double rate = link.error_rate > 0 ? link.error_rate : all; rate > 0)
      drop(topology_.target_of(i), rate);
  }
  link_down();
  if (!faults_.empty()) settings_.set("faults", faults_);
}

void Ns3Translation::link_down() {
  const auto* down = config_.find("LINK_DOWN");
  if (down == nullptr) return;
  const auto at = config_.file().number(down->values[0], 0, 1'000'000'000);
  const auto a = config_.file().number(down->values[1], 0, topology_.nodes - 1);
  const auto b = config_.file().number(down->values[2], 0, topology_.nodes - 1);
  if (!at || !a || !b) return;
  if (*at == 0) return ignore("LINK_DOWN", "no link goes down");
  const auto target = topology_.target(*a, *b);
  if (!topology_.is_read) return;
  if (!target)
    return config_.problem("LINK_DOWN", fmt::format("there is no link between {} and {}", *a, *b));
  if (target->is_joined)
    return ignore("LINK_DOWN", "one of several links of a host, which has one here");
  const Duration start = kBase + Duration::microseconds(*at) - origin_;
  const std::string name = in_yaml(target->name);
  if (!target->is_host && start <= flows_.first - origin_)
    return take("LINK_DOWN", "topology.failed", fmt::format("[{{links: [{}]}}]", name),
                "before the first flow starts");
  faults_ += fmt::format("\n  - {{type: link_flap, {}: [{}], start: {}}}",
                         target->is_host ? "hosts" : "links", name,
                         to_string(std::max(start, Duration{})));
  finding(Treatment::approximated, "LINK_DOWN",
          fmt::format("faults: link_flap of {} from {} on; the switches at its ends leave it, and "
                      "others do not hear of it, where that program computes all routes anew",
                      target->name, to_string(std::max(start, Duration{}))));
}

void Ns3Translation::run() {
  constexpr double kMostSeconds = 1'000;
  const uint64_t seed =
      conweave_ ? static_cast<uint64_t>(integer("RANDOM_SEED", 1, 0, INT32_MAX)) : 1;
  if (conweave_)
    take("RANDOM_SEED", "run.seeds", fmt::format("[{}]", seed));
  else
    always("run.seeds", "[1]", "one run");
  settings_.set("run.warmup", "0s");
  const Duration last = flows_.last - origin_ + Duration::nanoseconds(1);
  Duration drain = Duration::seconds(1);
  if (conweave_) {
    const double start = config_.real("FLOWGEN_START_TIME", 0, 1e6).value_or(2.0);
    const double stop = config_.real("FLOWGEN_STOP_TIME", 0, 1e6).value_or(2.5);
    finding(Treatment::ignored, "FLOWGEN_START_TIME",
            "flows start when the flow file says, and all are measured (run.warmup: 0s)");
    finding(Treatment::ignored, "FLOWGEN_STOP_TIME",
            "of that program's monitoring; the run ends with the last flow");
    if (stop < start) config_.problem("FLOWGEN_STOP_TIME", "FLOWGEN_STOP_TIME is before its start");
    const int64_t sample = integer("SW_MONITORING_INTERVAL", 10'000, 1, 1'000'000'000);
    take("SW_MONITORING_INTERVAL", "run.sample_period", to_string(Duration::nanoseconds(sample)));
  } else {
    const double stop = config_.real("SIMULATOR_STOP_TIME", 0, 1e6).value_or(3.01);
    const double seconds = stop - static_cast<double>((origin_ + last).ps()) / 1e12;
    if (seconds <= 0 && flows_.count > 0)
      config_.problem("SIMULATOR_STOP_TIME", "SIMULATOR_STOP_TIME is before the last flow starts");
    drain = Duration::picoseconds(std::llround(std::clamp(seconds, 0.0, kMostSeconds) * 1e6) *
                                  1'000'000);
    finding(Treatment::taken, "SIMULATOR_STOP_TIME",
            fmt::format("run.drain: {} behind the last start, if flows take so long",
                        to_string(drain)));
  }
  settings_.set("run.duration", to_string(std::max(last, Duration::microseconds(1))),
                "the last flow starts within");
  settings_.set("run.drain", to_string(drain));
}

void Ns3Translation::outputs() {
  for (const Output& output : kOutputs) ignore(output.key, std::string(output.why));
  const char* program = conweave_ ? "--conweave writes out_fct.txt" : "--hpcc writes fct.txt";
  ignore("FCT_OUTPUT_FILE", fmt::format("eddylab run {}", program));
  ignore("PFC_OUTPUT_FILE", conweave_ ? "eddylab run --conweave writes out_pfc.txt"
                                      : "eddylab run --hpcc writes pfc.txt");
}

void Ns3Translation::set(std::string_view key, std::string_view setting, const std::string& value) {
  const auto* entry = config_.find(key);
  constexpr size_t kShown = 60;
  settings_.set(setting, value,
                entry == nullptr
                    ? fmt::format("no {}: its default", key)
                    : fmt::format("line {}: {}", entry->key.line, entry->text.substr(0, kShown)));
}

void Ns3Translation::take(std::string_view key, std::string_view setting, const std::string& value,
                          const std::string& note) {
  set(key, setting, value);
  finding(Treatment::taken, key,
          fmt::format("{}: {}{}{}", setting, value, note.empty() ? "" : ", ", note));
}

void Ns3Translation::approximate(std::string_view key, std::string_view setting,
                                 const std::string& value, const std::string& note) {
  set(key, setting, value);
  finding(Treatment::approximated, key, fmt::format("{}: {}, {}", setting, value, note));
}

void Ns3Translation::ignore(std::string_view key, const std::string& why) {
  if (config_.find(key) != nullptr) finding(Treatment::ignored, key, why);
}

void Ns3Translation::always(std::string_view setting, const std::string& value,
                            const std::string& why) {
  settings_.set(setting, value, why);
  report_.add({Treatment::taken,
               {},
               0,
               "as that program does",
               fmt::format("{}: {}{}{}", setting, value, why.empty() ? "" : ", ", why)});
}

void Ns3Translation::finding(Treatment treatment, std::string_view key, const std::string& text) {
  const auto* entry = config_.find(key);
  if (entry != nullptr)
    report_.add({treatment, config_.name(), entry->key.line, entry->text, text});
  else
    report_.add({treatment, config_.name(), 0, fmt::format("no {}, its default", key), text});
}

int64_t Ns3Translation::integer(std::string_view key, int64_t fallback, int64_t least,
                                int64_t most) {
  return config_.integer(key, least, most).value_or(fallback);
}

bool Ns3Translation::flag(std::string_view key, bool fallback) {
  return integer(key, fallback ? 1 : 0, 0, UINT32_MAX) != 0;
}

void Ns3Translation::microseconds(std::string_view key, std::string_view setting, double fallback) {
  constexpr double kPicoseconds = 1e6;
  constexpr double kMost = 1e9;
  const double us = config_.real(key, 0, kMost).value_or(fallback);
  take(key, setting, to_string(Duration::picoseconds(std::llround(us * kPicoseconds))));
}

void Ns3Translation::rate(std::string_view key, std::string_view setting) {
  if (config_.find(key) == nullptr)
    return config_.problem(key, fmt::format("{} is missing, such as '{} 40Mb/s'", key, key));
  if (const auto rate = config_.rate(key)) take(key, setting, to_string(*rate));
}

}  // namespace eddy::lab
