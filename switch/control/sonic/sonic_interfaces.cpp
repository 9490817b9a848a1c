// Addresses: of ports, of aggregates and VLANs with one port, and of the switch itself.
#include <algorithm>
#include <utility>

#include "net/addresses.h"
#include "net/quantity.h"
#include "switch/control/sonic/sonic_tables.h"

namespace eddy::control {
namespace {

using config::PortConfig;

// "Ethernet0|10.0.0.0/31" in two; the second is empty where there is no bar.
std::pair<std::string, std::string> split_key(const std::string& key) {
  const size_t bar = key.find('|');
  return {key.substr(0, bar), bar == std::string::npos ? std::string() : key.substr(bar + 1)};
}

}  // namespace

void SonicTables::addresses() {
  known("INTERFACE");
  for (const Entry& entry : db_.table("INTERFACE").entries) {
    const auto [name, prefix] = split_key(entry.key);
    if (beyond_.contains(name)) continue;
    PortConfig* port = port_named(name);
    if (port == nullptr)
      note(Treatment::ignored, "INTERFACE " + name, "is no port of PORT", entry.line);
    else if (entry.key.find('|') != std::string::npos)
      address(*port, "INTERFACE", entry, prefix);
  }
  groups({.table = "PORTCHANNEL",
          .why = "there are no link aggregates; parallel links are paths (leaves)",
          .one = "an aggregate of one port is that port"});
  groups({.table = "VLAN",
          .why = "there is no bridging: each port has a subnet of its own",
          .one = "a VLAN of one port is that port's: ports.*.vlan, tagging_mode"});
}

void SonicTables::address(PortConfig& port, const std::string& table, const Entry& entry,
                          const std::string& text) {
  const auto prefix = parse_ip_prefix(text);
  if (!prefix) {
    problem(entry.line, table + "|" + entry.key + ": is no IP prefix");
  } else if (port.role == config::PortRole::fabric) {
    note(Treatment::ignored, table, "links between switches have no addresses here", entry.line);
  } else {
    port.addresses.push_back(*prefix);
    note(Treatment::taken, table, "ports.*.addresses", entry.line);
  }
}

// Members are in a table of their own, and in old releases a list of the group, too.
std::map<std::string, std::set<std::string>> SonicTables::group_members(const std::string& table) {
  std::map<std::string, std::set<std::string>> of;
  for (const Entry& entry : db_.table(table).entries)
    if (const Field* listed = entry.find("members"))
      for (const std::string& name : sonic_list(listed->text)) of[entry.key].insert(name);
  for (const Entry& entry : db_.table(table + "_MEMBER").entries) {
    const auto [group, name] = split_key(entry.key);
    if (name.empty())
      problem(entry.line, table + "_MEMBER|" + entry.key + ": " + table + "|PORT is expected");
    else if (port_of(table + "_MEMBER", entry, name) != nullptr || beyond_.contains(name))
      of[group].insert(name);
  }
  return of;
}

void SonicTables::groups(const GroupKind& kind) {
  const std::string table(kind.table);
  for (const char* part : {"", "_MEMBER", "_INTERFACE"}) known(table + part);
  const auto members = group_members(table);
  std::map<std::string, PortConfig*> alone;
  for (const auto& [group, names] : members)
    if (names.size() == 1)
      if (PortConfig* port = port_named(*names.begin())) alone[group] = port;
  for (const Entry& entry : db_.table(table).entries) {
    const auto found = alone.find(entry.key);
    if (found != alone.end() && table == "VLAN")
      vlan(*found->second, entry, *members.at(entry.key).begin());
    note(found != alone.end() ? Treatment::approximated : Treatment::ignored, table,
         std::string(found != alone.end() ? kind.one : kind.why), entry.line);
  }
  for (const Entry& entry : db_.table(table + "_MEMBER").entries) {
    const bool is_alone = alone.contains(split_key(entry.key).first);
    note(is_alone ? Treatment::approximated : Treatment::ignored, table + "_MEMBER",
         std::string(is_alone ? kind.one : kind.why), entry.line);
  }
  for (const Entry& entry : db_.table(table + "_INTERFACE").entries) {
    const auto [group, prefix] = split_key(entry.key);
    if (prefix.empty()) continue;
    const auto found = alone.find(group);
    if (found != alone.end())
      address(*found->second, table + "_INTERFACE", entry, prefix);
    else
      note(Treatment::ignored, table + "_INTERFACE", std::string(kind.why), entry.line);
  }
}

void SonicTables::vlan(PortConfig& port, const Entry& entry, const std::string& name) {
  constexpr int64_t kLast = 4'094;
  constexpr std::string_view kName = "Vlan";  // and its number, where the entry does not say it
  const Field named{entry.key.starts_with(kName) ? entry.key.substr(kName.size()) : entry.key,
                    entry.line};
  const Field* said = entry.find("vlanid");
  const auto id =
      number("VLAN|" + entry.key + " vlanid", said == nullptr ? named : *said, 1, kLast);
  if (!id) return;
  if (port.vlan) {
    note(Treatment::ignored, "VLAN " + entry.key, "the port is in one VLAN at most", entry.line);
    return;
  }
  port.vlan = static_cast<int>(*id);
  const Entry* member = db_.table("VLAN_MEMBER").find(entry.key + "|" + name);
  const Field* mode = member == nullptr ? nullptr : member->find("tagging_mode");
  if (mode == nullptr || mode->text == "untagged")
    port.tagging_mode = config::TaggingMode::untagged;
  else if (mode->text != "tagged")
    problem(mode->line, "VLAN_MEMBER|" + member->key + " tagging_mode '" + mode->text +
                            "', valid are tagged, untagged");
}

void SonicTables::loopbacks() {
  known("LOOPBACK_INTERFACE");
  for (const Entry& entry : db_.table("LOOPBACK_INTERFACE").entries) {
    if (entry.key.find('|') == std::string::npos) continue;
    const std::string text = split_key(entry.key).second;
    const auto address = parse_ip(text.substr(0, text.find('/')));
    if (!address || !parse_ip_prefix(text)) {
      problem(entry.line, "LOOPBACK_INTERFACE|" + entry.key + ": is no IP prefix");
      continue;
    }
    config_.loopbacks.push_back(*address);
    note(Treatment::taken, "LOOPBACK_INTERFACE", "switch.loopbacks", entry.line);
  }
}

}  // namespace eddy::control
