// The links of a fabric, from what its switches say of their ports: a row for each link, of both
// its ends where both are known.
//
// Two ports are the ends of a link when each has the other's MAC as its peer_mac: configured, or
// learned by LLDP from whoever is behind the cable, of whatever device. Where several ports have
// the same two MACs, as those of two fabrics of one plan, nothing is joined. An end is fresh when
// its switch has answered; of a link with one fresh end the other direction is what that end has
// received. Units as in reports. Pure functions of their arguments. Cost: linear in the ports,
// times the logarithm of their number.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "switch/control/report/json.h"

namespace eddy::control {

enum class Presence : unsigned char { answers, silent, gone };

// What is known of one switch.
struct SwitchReading {
  std::string name;
  Presence presence = Presence::silent;
  std::string problem;           // why it is silent
  Json ports = Json::object();   // its last report of ports; without rows: it has given none
  uint64_t answered_ns_ago = 0;  // when that was
};

// Keeps what a port's peer was in rows that do not know it any more, since a link that is down is
// still the same link.
void remember_peers(const Json& before, Json& now);

// Both are reports that table_cells() knows: "links" and "switches". `title` is whose they are.
Json links_report(const std::string& title, std::span<const SwitchReading> switches);
Json switches_report(const std::string& title, std::span<const SwitchReading> switches);

// The rows of one report of all switches in one, with the switch in each: `reports` by the position
// of `switches`; those that are no reports are left out.
Json merged_report(const std::string& title, const std::string& report,
                   std::span<const SwitchReading> switches, std::span<const Json> reports);

// "demo: 4 switches, 1 does not answer"
std::string fabric_line(const std::string& title, std::span<const SwitchReading> switches);
// Why those that do not answer do not; empty: all answer.
std::string trouble_line(std::span<const SwitchReading> switches);

}  // namespace eddy::control
