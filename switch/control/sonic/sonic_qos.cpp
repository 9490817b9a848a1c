// Maps, WRED, schedulers, PFC and its watchdog.
#include <algorithm>
#include <array>

#include "net/quantity.h"
#include "switch/control/sonic/sonic_tables.h"

namespace eddy::control {
namespace {

using config::PortConfig;
using config::SchedulerType;

constexpr int64_t kMostOctets = int64_t{1} << 30;

constexpr auto kMaps = std::to_array<MapKind>({
    {"dscp_to_tc_map", "DSCP_TO_TC_MAP", 64, "dscp_to_tc"},
    {"dot1p_to_tc_map", "DOT1P_TO_TC_MAP", 8, "pcp_to_tc"},
    {"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", 8, "tc_to_pg"},
    {"tc_to_queue_map", "TC_TO_QUEUE_MAP", 8, "tc_to_queue"},
    {"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", 8, "pfc_to_queue"},
    {"pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", 8, "pg_to_pfc"},
});

void store(config::QosMaps& maps, std::string_view field, size_t key, size_t value) {
  if (field == "dscp_to_tc_map") maps.dscp_to_tc[key] = TrafficClass(value);
  if (field == "dot1p_to_tc_map") maps.pcp_to_tc[key] = TrafficClass(value);
  if (field == "tc_to_pg_map") maps.tc_to_pg[key] = PriorityGroupId(value);
  if (field == "tc_to_queue_map") maps.tc_to_queue[key] = QueueId(value);
  if (field == "pfc_to_queue_map") maps.pfc_to_queue[key] = QueueId(value);
  if (field == "pfc_to_pg_map") maps.pg_to_pfc[value] = Priority(key);  // the other way round
}

}  // namespace

void SonicTables::port_maps() {
  known("PORT_QOS_MAP");
  for (const MapKind& kind : kMaps) known(kind.table);
  const auto& table = db_.table("PORT_QOS_MAP");
  if (const Entry* global = table.find("global"); global != nullptr)
    for (PortConfig& port : config_.ports) apply_maps(port, *global);
  for (const Entry& entry : table.entries) {
    if (entry.key == "global") continue;
    for (const std::string& name : sonic_list(entry.key))
      if (PortConfig* port = port_of("PORT_QOS_MAP", entry, name)) apply_maps(*port, entry);
  }
  look_for({});
}

void SonicTables::apply_maps(PortConfig& port, const Entry& entry) {
  look_for({&port});
  for (const auto& [name, field] : entry.fields) {
    const auto* kind = std::ranges::find(kMaps, name, &MapKind::field);
    if (kind != kMaps.end()) {
      apply_map(port, *kind, field);
    } else if (name == "pfc_enable") {
      const auto priorities = sonic_range(field.text, kPriorities);
      if (!priorities && !field.text.empty()) {
        problem(field.line, "pfc_enable '" + field.text + "': priorities from 0 to 7, such as 3,4");
        continue;
      }
      port.pfc.enable = field.text.empty() ? "none" : field.text;
      note(Treatment::taken, "PORT_QOS_MAP pfc_enable", "ports.*.pfc.enable", field.line);
    } else if (name == "pfcwd_sw_enable") {
      note(Treatment::approximated, "PORT_QOS_MAP pfcwd_sw_enable",
           "the watchdog watches all lossless queues of a port that PFC_WD names", field.line);
    } else if (name == "scheduler") {
      const Entry* scheduler = refer("SCHEDULER", field);
      const auto pir = scheduler == nullptr ? std::nullopt : rate_of(*scheduler);
      if (pir) port.shaper = *pir;
      note(pir ? Treatment::taken : Treatment::ignored, "PORT_QOS_MAP scheduler",
           pir ? "ports.*.shaper of pir" : "without pir it does nothing", field.line);
    } else {
      note(Treatment::ignored, "PORT_QOS_MAP " + name, "there is nothing of the kind here",
           field.line);
    }
  }
}

void SonicTables::apply_map(PortConfig& port, const MapKind& kind, const Field& field) {
  const Entry* map = refer(kind.table, field);
  if (map == nullptr) return;
  if (kind.field == "dscp_to_tc_map") port.maps.dscp_to_tc.fill(TrafficClass(0));
  if (kind.field == "dot1p_to_tc_map") port.maps.trust_pcp = true;
  for (const auto& [key, value] : map->fields) {
    const std::string what = std::string(kind.table) + "|" + map->key;
    const auto from = number(what, {key, value.line}, 0, kind.keys - 1);
    const auto to = number(what + " " + key, value, 0, kPriorities - 1);
    if (from && to)
      store(port.maps, kind.field, static_cast<size_t>(*from), static_cast<size_t>(*to));
  }
  note(Treatment::taken, kind.table, "qos." + std::string(kind.key) + " of ports", map->line);
}

void SonicTables::wred() {
  known("WRED_PROFILE");
  for (const Entry& entry : db_.table("WRED_PROFILE").entries) {
    config::WredProfile profile;
    const Field* ecn = entry.find("ecn");
    profile.ecn = ecn != nullptr && (ecn->text == "ecn_all" || ecn->text.starts_with("ecn_green"));
    const auto kmin = number("WRED_PROFILE", entry, "green_min_threshold", 0, kMostOctets);
    const auto kmax = number("WRED_PROFILE", entry, "green_max_threshold", 1, kMostOctets);
    const auto percent = number("WRED_PROFILE", entry, "green_drop_probability", 0, 100);
    if (kmin) profile.kmin = Bytes(*kmin);
    if (kmax) profile.kmax = Bytes(*kmax);
    constexpr double kPercent = 100;
    profile.pmax = static_cast<double>(percent.value_or(100)) / kPercent;
    if (kmin && kmax && *kmin > *kmax)
      problem(entry.line, "WRED_PROFILE|" + entry.key +
                              ": green_min_threshold is above "
                              "green_max_threshold");
    if (!kmin || !kmax)
      note(Treatment::approximated, "WRED_PROFILE without green thresholds",
           "wred.*: kmin and kmax are the defaults", entry.line);
    config_.buffer.wred[profile_name(entry.key)] = profile;
    note(Treatment::taken, "WRED_PROFILE", "wred.*: kmin, kmax, pmax and ecn of green", entry.line);
    for (const auto& [name, field] : entry.fields)
      if (name.starts_with("yellow_") || name.starts_with("red_") ||
          name.starts_with("wred_yellow") || name.starts_with("wred_red"))
        note(Treatment::ignored, "WRED_PROFILE of yellow and red", "packets have no colour",
             field.line);
    if (const Field* green = entry.find("wred_green_enable");
        green != nullptr && green->text == "true")
      note(Treatment::approximated, "WRED_PROFILE wred_green_enable",
           "packets that cannot be marked are not dropped early", green->line);
  }
}

std::optional<BitRate> SonicTables::rate_of(const Entry& scheduler) {
  constexpr int64_t kMost = 200'000'000'000;  // octets/s of 1.6 Tb/s
  constexpr int64_t kBits = 8;
  constexpr int64_t kSlowest = 1'000'000;
  const auto pir = number("SCHEDULER", scheduler, "pir", 0, kMost);
  if (!pir || *pir * kBits < kSlowest) return std::nullopt;
  return BitRate::bits_per_second(*pir * kBits);
}

void SonicTables::schedulers() {
  known("SCHEDULER");
  known("QUEUE");
  for (const Entry& entry : db_.table("QUEUE").entries) {
    look_for({});
    const Members members = this->members("QUEUE", entry, kQueuesThere);
    look_for(members.ports);
    const Field* named = entry.find("scheduler");
    const Entry* scheduler = named == nullptr ? nullptr : refer("SCHEDULER", *named);
    const Field* wred = entry.find("wred_profile");
    const Entry* profile = wred == nullptr ? nullptr : refer("WRED_PROFILE", *wred);
    for (PortConfig* port : members.ports)
      for (const size_t queue : members.numbers) {
        if (scheduler != nullptr) schedule(port->queues[queue], *scheduler);
        if (profile != nullptr) port->queues[queue].wred = profile_name(profile->key);
      }
    note(Treatment::taken, "QUEUE", "ports.*.queues.*: scheduler, weight, wred", entry.line);
  }
  look_for({});
}

void SonicTables::schedule(config::QueueConfig& queue, const Entry& scheduler) {
  constexpr int64_t kMostWeight = 255;
  const Field* type = scheduler.find("type");
  const bool strict = type != nullptr && type->text == "STRICT";
  if (type != nullptr && !strict && type->text != "DWRR" && type->text != "WRR")
    problem(type->line, "SCHEDULER|" + scheduler.key + " type '" + type->text +
                            "', valid are DWRR, WRR, STRICT");
  if (type != nullptr && type->text == "WRR")
    note(Treatment::approximated, "SCHEDULER WRR", "scheduler: dwrr, by octets", type->line);
  queue.scheduler = strict ? SchedulerType::strict : SchedulerType::dwrr;
  note(Treatment::taken, "SCHEDULER", "ports.*.queues.*: scheduler, weight", scheduler.line);
  if (const auto weight = number("SCHEDULER", scheduler, "weight", 1, kMostWeight))
    queue.weight = static_cast<int>(*weight);
  if (const auto rate = rate_of(scheduler)) {
    queue.max_rate = *rate;
    note(Treatment::taken, "SCHEDULER pir", "ports.*.queues.*.max_rate", scheduler.line);
  }
  for (const char* field : {"cir", "cbs", "pbs", "meter_type"})
    if (const Field* found = scheduler.find(field))
      note(Treatment::ignored, std::string("SCHEDULER ") + field,
           "queues have a weight and a largest rate", found->line);
}

void SonicTables::watchdogs() {
  // The second is its name in releases of 2018; others() tells of it beside the first.
  const std::string named = db_.tables().contains("PFC_WD") ? "PFC_WD" : "PFC_WD_TABLE";
  known(named);
  const auto& table = db_.table(named);
  const Entry* global = table.find("GLOBAL");
  std::optional<int64_t> interval;
  if (global != nullptr) {
    interval = number(named, *global, "POLL_INTERVAL", 1, 60'000);
    for (const auto& [name, field] : global->fields)
      note(name == "POLL_INTERVAL" ? Treatment::taken : Treatment::ignored, named + " " + name,
           name == "POLL_INTERVAL" ? "ports.*.watchdog.poll_interval"
                                   : "there is nothing of the kind here",
           field.line);
  }
  for (const Entry& entry : table.entries) {
    if (entry.key == "GLOBAL") continue;
    const auto detection = number(named, entry, "detection_time", 1, 5'000);
    const auto restoration = number(named, entry, "restoration_time", 1, 60'000);
    const Field* action = entry.find("action");
    if (action != nullptr && action->text != "drop" && action->text != "forward" &&
        action->text != "alert")
      problem(action->line, named + "|" + entry.key + " action '" + action->text +
                                "', valid are drop, forward, alert");
    for (const std::string& name : sonic_list(entry.key)) {
      PortConfig* port = port_of(named, entry, name);
      if (port == nullptr) continue;
      config::WatchdogConfig& watchdog = port->watchdog;
      watchdog.enabled = true;
      if (detection) watchdog.detection_time = Duration::milliseconds(*detection);
      if (restoration) watchdog.restoration_time = Duration::milliseconds(*restoration);
      if (interval) watchdog.poll_interval = Duration::milliseconds(*interval);
      if (action != nullptr && action->text == "forward")
        watchdog.action = config::WatchdogAction::forward;
      if (action != nullptr && action->text == "alert")
        watchdog.action = config::WatchdogAction::alert;
    }
    note(Treatment::taken, named, "ports.*.watchdog", entry.line);
  }
}

}  // namespace eddy::control
