// SonicTables: turns the tables of a ConfigDb into a SwitchConfig, and remembers what became of
// each. The parts are in sonic_buffers.cpp, sonic_qos.cpp, sonic_ports.cpp,
// sonic_interfaces.cpp and sonic_fields.cpp. Owner:
// import_sonic().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "config/config.h"
#include "net/result.h"
#include "switch/control/sonic/config_db.h"
#include "system/import_report.h"

namespace eddy::control {

// A map from numbers to numbers, as SONiC has it for a port.
struct MapKind {
  std::string_view field;  // of PORT_QOS_MAP
  std::string_view table;
  int64_t keys;          // are below this
  std::string_view key;  // of ours
};

// Of a port of SONiC's platforms, at most.
inline constexpr size_t kQueuesThere = 64;

class SonicTables {
 public:
  SonicTables(const std::string& file, const ConfigDb& db);

  void translate();
  config::SwitchConfig& config() { return config_; }
  // In the order of finding; the same of several entries is one, with the ports that it concerns.
  Problems problems() const;
  // Of all findings so far: the same of several lines is one, at the first of them.
  void report(ImportReport& to) const;
  void note(Treatment treatment, std::string_view what, std::string text, int line = 0);

 private:
  using Entry = ConfigDb::Entry;
  using Field = ConfigDb::Field;

  // sonic_ports.cpp
  void metadata();
  void ports();
  void choose_ports();
  void port(const Entry& entry);
  void roles();
  void cables();
  void others();
  // sonic_interfaces.cpp
  struct GroupKind {
    std::string_view table;
    std::string_view why;  // it has no counterpart
    std::string_view one;  // of one port: it has
  };
  void addresses();
  void address(config::PortConfig& port, const std::string& table, const Entry& entry,
               const std::string& text);
  std::map<std::string, std::set<std::string>> group_members(const std::string& table);
  void groups(const GroupKind& kind);
  void vlan(config::PortConfig& port, const Entry& entry, const std::string& name);
  void loopbacks();
  // sonic_fields.cpp
  void unread_fields();
  // sonic_buffers.cpp
  void pools();
  void profiles();
  void profile(const Entry& entry);
  void priority_groups();
  void lossless_by_pfc();
  void name_lossless(config::PortConfig& port, size_t pg, int threshold);
  const Entry* looked_up(const config::PortConfig& port) const;
  void unused_groups();
  void queue_buffers();
  void drop_unused_profiles();
  // sonic_qos.cpp
  void port_maps();
  void apply_maps(config::PortConfig& port, const Entry& entry);
  void apply_map(config::PortConfig& port, const MapKind& kind, const Field& field);
  void wred();
  void schedulers();
  void schedule(config::QueueConfig& queue, const Entry& scheduler);
  std::optional<BitRate> rate_of(const Entry& scheduler);  // of its pir
  void watchdogs();

  // Ports and numbers of a key such as "Ethernet0,Ethernet4|3-4"; problems where it is none.
  struct Members {
    std::vector<config::PortConfig*> ports;
    std::vector<size_t> numbers;  // below kPriorities
  };
  // `end`: what they are all below; those that are not priorities are told and left out.
  Members members(std::string_view table, const Entry& entry, size_t end = kPriorities);
  config::PortConfig* port_named(std::string_view name);
  // The same; null and a problem where PORT has none.
  config::PortConfig* port_of(std::string_view table, const Entry& entry, std::string_view name);
  // The entry of another table that a field names; a problem where there is none.
  const Entry* refer(std::string_view table, const Field& field);
  std::optional<int64_t> number(std::string_view what, const Field& field, int64_t least,
                                int64_t most);
  std::optional<int64_t> number(std::string_view table, const Entry& entry, std::string_view field,
                                int64_t least, int64_t most);
  // As eddyd's names are.
  std::string profile_name(const std::string& name);
  void problem(int line, const std::string& text);
  // What is found next is found for these ports; none: for the file.
  void look_for(const std::vector<config::PortConfig*>& ports);
  // Fields of a table's entries that nobody has asked for.
  void ignore_fields(std::string_view table,
                     const std::map<std::string_view, std::string_view>& why);
  void known(std::string_view table) { known_.emplace(table); }

  const std::string& file_;
  const ConfigDb& db_;
  config::SwitchConfig config_;
  struct Wrong {
    int line;  // the first of them
    std::string text;
    std::vector<std::string> ports;
  };
  std::vector<Wrong> wrong_;
  std::map<std::string, size_t, std::less<>> wrong_at_;  // by text
  std::vector<std::string> looked_for_;                  // ports
  std::map<std::string, size_t, std::less<>> port_at_;
  std::set<std::string, std::less<>> beyond_;  // ports that eddyd has no room for
  std::map<std::string, std::string> profile_names_;
  std::set<std::string, std::less<>> known_;  // tables
  struct Note {
    Treatment treatment;
    std::string what;
    std::string text;
    int line;
    size_t times;
  };
  std::vector<Note> notes_;
  std::map<std::tuple<Treatment, std::string, std::string>, size_t> note_at_;
  bool shared_headroom_ = false;
  std::map<std::string, std::string, std::less<>> cable_of_;  // by port, as "5m"
  // Groups whose profile is to be found, by port and number, and where that stands.
  std::map<std::pair<std::string, size_t>, int> looks_up_;
};

}  // namespace eddy::control
