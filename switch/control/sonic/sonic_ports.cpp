// Ports and their cables, and the tables and fields that have no counterpart.
#include <algorithm>
#include <array>
#include <utility>

#include "config/purpose.h"
#include "net/addresses.h"
#include "net/quantity.h"
#include "net/text/plain_name.h"
#include "switch/control/sonic/sonic_tables.h"

namespace eddy::control {
namespace {

using config::PortConfig;

constexpr size_t kLongestName = 32;

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, kLongestName)) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    out += good ? c : '_';
  }
  if (out.empty() || out.front() == '-') out.insert(0, "switch");
  return out.substr(0, kLongestName);
}

struct OtherTable {
  std::string_view name;
  std::string_view why;
};
// Why SONiC's commonest other tables have no counterpart.
constexpr auto kOthers = std::to_array<OtherTable>({
    {"ACL_RULE", "there are no access lists"},
    {"ACL_TABLE", "there are no access lists"},
    {"BGP_NEIGHBOR", "there is no BGP: paths and prefixes are the keys leaves and routes"},
    {"BGP_PEER_RANGE", "there is no BGP: paths and prefixes are the keys leaves and routes"},
    {"BUFFER_PORT_EGRESS_PROFILE_LIST", "limits of whole ports are not there, those of queues are"},
    {"BUFFER_PORT_INGRESS_PROFILE_LIST",
     "limits of whole ports are not there, those of groups are"},
    {"CRM", "tables of an ASIC"},
    {"DEVICE_NEIGHBOR", "only whether a neighbor is a router: role: fabric"},
    {"DEVICE_NEIGHBOR_METADATA", "only whether a neighbor is a router: role: fabric"},
    {"FEATURE", "of SONiC's containers"},
    {"FLEX_COUNTER_TABLE", "all counters count all the time"},
    {"LOSSLESS_TRAFFIC_PATTERN", "auto headroom is for full packets (buffer.profiles.*.headroom)"},
    {"MGMT_INTERFACE", "the switch has no interface for management: eddyctl has a socket"},
    {"MGMT_PORT", "the switch has no interface for management: eddyctl has a socket"},
    {"NTP_SERVER", "of the machine"},
    {"PFC_WD_TABLE", "PFC_WD is there, too, which is its name now"},
    {"SNMP", "numbers are for Prometheus (telemetry.prometheus)"},
    {"STATIC_ROUTE", "prefixes and their leaves are the key routes"},
    {"SYSLOG_SERVER", "of the machine"},
    {"TACPLUS", "of the machine"},
    {"TC_TO_DSCP_MAP", "the DSCP of packets is left as it is"},
    {"VERSIONS", "of the file"},
});

}  // namespace

void SonicTables::metadata() {
  known("DEVICE_METADATA");
  const Entry* local = db_.table("DEVICE_METADATA").find("localhost");
  if (local == nullptr) return;
  if (const Field* name = local->find("hostname")) {
    config_.name = plain(name->text);
    note(config_.name == name->text ? Treatment::taken : Treatment::approximated,
         "DEVICE_METADATA hostname", "switch.name: " + config_.name, name->line);
  }
  if (const Field* mac = local->find("mac")) {
    const auto parsed = parse_mac(mac->text);
    if (!parsed) {
      problem(mac->line, "DEVICE_METADATA|localhost mac: '" + mac->text + "' is no MAC address");
    } else {
      config_.mac = *parsed;
      note(Treatment::taken, "DEVICE_METADATA mac", "switch.mac", mac->line);
    }
  }
  for (const auto& [name, field] : local->fields)
    if (name != "hostname" && name != "mac")
      note(Treatment::ignored, "DEVICE_METADATA " + name, "of SONiC's platform", field.line);
}

void SonicTables::ports() {
  known("PORT");
  // Not set by a file that has no BUFFER_* and QoS of its own.
  config_.idle = config::IdlePolicy::busy;
  note(Treatment::approximated, "the switch polls",
       "switch.idle: busy, on cores of its own, so that headroom is as small as it can be");
  choose_ports();
  for (const Entry& entry : db_.table("PORT").entries) {
    if (beyond_.contains(entry.key)) continue;
    if (!is_plain_name(entry.key) || entry.key.size() > kLongestName)
      problem(entry.line, "PORT|" + entry.key + ": is no name of a port");
    else
      port(entry);
  }
  ignore_fields("PORT", {{"lanes", "of an ASIC"},
                         {"alias", "ports have one name"},
                         {"index", "of transceivers"},
                         {"fec", "of NICs: ethtool"},
                         {"autoneg", "of NICs: ethtool"},
                         {"adv_speeds", "of NICs: ethtool"},
                         {"description", "there are no descriptions"},
                         {"tpid", "tags are 802.1Q's"},
                         {"role", "all ports are in front"},
                         {"mux_cable", "there are no dual ToRs"}});
}

// Ports that are up go first.
void SonicTables::choose_ports() {
  std::vector<const Entry*> entries;
  for (const Entry& entry : db_.table("PORT").entries) entries.push_back(&entry);
  std::stable_partition(entries.begin(), entries.end(), [](const Entry* entry) {
    const Field* status = entry->find("admin_status");
    return status != nullptr && status->text == "up";
  });
  for (size_t i = config::kDaemonPorts; i < entries.size(); ++i) {
    beyond_.insert(entries[i]->key);
    note(Treatment::ignored, "PORT beyond " + std::to_string(config::kDaemonPorts),
         "eddyd has so many ports at most, as DPDK is built; those that are up go first",
         entries[i]->line);
  }
}

void SonicTables::port(const Entry& entry) {
  PortConfig port = config::default_port(entry.key);
  port.pg_profiles.fill("lossy");
  for (size_t i = 0; i < kPriorities; ++i) port.queues[i].wred.reset();
  port.watchdog.enabled = false;
  port.pfc.enable = "none";
  port.maps.trust_pcp = false;
  port.device = "net_af_packet" + std::to_string(config_.ports.size()) + ",iface=" + entry.key;
  note(Treatment::approximated, "PORT",
       "ports.*.device: an AF_PACKET device of the interface of this name; write the PCI address "
       "of a NIC for more than 1 Gb/s",
       entry.line);
  constexpr int64_t kSlowest = 1;
  constexpr int64_t kFastest = 1'600'000;
  if (entry.find("speed") == nullptr)
    problem(entry.line, "PORT|" + entry.key + ": speed is missing");
  if (const auto speed = number("PORT", entry, "speed", kSlowest, kFastest)) {
    port.speed = BitRate::mbps(*speed);
    note(Treatment::taken, "PORT speed", "ports.*.speed", entry.find("speed")->line);
  }
  if (const auto mtu = number("PORT", entry, "mtu", 576, 9216)) {
    port.mtu = static_cast<int>(*mtu);
    note(Treatment::taken, "PORT mtu", "ports.*.mtu", entry.find("mtu")->line);
  } else {
    port.mtu = 9'100;  // SONiC's default
  }
  const Field* status = entry.find("admin_status");
  port.admin_up = status != nullptr && status->text == "up";  // SONiC's default is down
  note(Treatment::taken, "PORT admin_status", "ports.*.admin_up",
       status == nullptr ? entry.line : status->line);
  if (const Field* asymmetric = entry.find("pfc_asym")) {
    port.pfc.asymmetric = asymmetric->text == "on";
    note(Treatment::taken, "PORT pfc_asym", "ports.*.pfc.asymmetric", asymmetric->line);
  }
  port_at_.emplace(entry.key, config_.ports.size());
  config_.ports.push_back(std::move(port));
}

void SonicTables::roles() {
  for (const Entry& entry : db_.table("DEVICE_NEIGHBOR").entries) {
    PortConfig* port = port_named(entry.key);
    const Field* name = entry.find("name");
    if (port == nullptr || name == nullptr) continue;
    const Entry* neighbor = db_.table("DEVICE_NEIGHBOR_METADATA").find(name->text);
    const Field* type = neighbor == nullptr ? nullptr : neighbor->find("type");
    if (type == nullptr || type->text.find("Router") == std::string::npos) continue;
    port->role = config::PortRole::fabric;
    note(Treatment::approximated, "DEVICE_NEIGHBOR",
         "ports.*.role: fabric, towards routers; leaves and routes are to be written", entry.line);
  }
}

void SonicTables::cables() {
  known("CABLE_LENGTH");
  for (const Entry& entry : db_.table("CABLE_LENGTH").entries)
    for (const auto& [name, field] : entry.fields) {
      PortConfig* port = port_named(name);
      if (beyond_.contains(name)) continue;
      if (port == nullptr) {
        note(Treatment::ignored, "CABLE_LENGTH " + name, "is no port of PORT", field.line);
        continue;
      }
      constexpr int64_t kLongest = 200'000;  // 1 ms
      constexpr int64_t kNanosecondsAMeter = 5;
      const Field meters{field.text.substr(0, field.text.find('m')), field.line};
      const auto length = number("CABLE_LENGTH " + name, meters, 0, kLongest);
      if (!length) continue;
      const auto [said, fresh] = cable_of_.emplace(name, field.text);
      if (!fresh && said->second != field.text) {
        note(Treatment::ignored, "CABLE_LENGTH|" + entry.key,
             "another entry has said another length of the port before", field.line);
        continue;
      }
      port->cable_delay = Duration::nanoseconds(*length * kNanosecondsAMeter);
      note(Treatment::taken, "CABLE_LENGTH", "ports.*.cable_delay, 5 ns a meter", field.line);
    }
}

void SonicTables::others() {
  for (const auto& [name, table] : db_.tables()) {
    if (known_.contains(name)) continue;
    const auto found = std::ranges::find(kOthers, name, &OtherTable::name);
    const std::string entries = std::to_string(table.entries.size());
    note(Treatment::ignored, name + ", " + entries + (entries == "1" ? " entry" : " entries"),
         found == kOthers.end() ? "there is nothing of the kind here" : std::string(found->why),
         table.line);
  }
}

}  // namespace eddy::control
