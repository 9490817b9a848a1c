// Health: what of a switch is not as it should be, judged from its own reports.
//
// A port should be up when its configuration has it up and it is of those that count: ports of the
// fabric, since the other ends are switches that belong to the same thing; not host ports unless
// asked for, since a host that is switched off is no fault of the switch. A worker advances when
// its number of polls differs between two readings; one that rests still polls each millisecond.
// Pure functions of their arguments. Cost: linear in the rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"
#include "switch/control/report/json.h"
#include "switch/control/report/words.h"

namespace eddy::control {

enum class PortChoice : unsigned char { fabric, all, none };
std::span<const Word> port_choice_words();  // indexed by PortChoice; the first is the default
std::optional<PortChoice> parse_port_choice(std::string_view word);

struct Health {
  struct Ports {
    size_t up = 0;
    size_t all = 0;  // that the configuration has up
  };
  Ports fabric;
  Ports host;
  size_t workers = 0;
  size_t advancing = 0;
  Problems problems;  // empty: healthy
};

// Fills in `fabric`, `host` and their problems, from the report of ports.
void judge_ports(const Json& report, PortChoice choice, Health& health);

// The report of schemes: a plugin's that has failed is a problem.
void judge_scheme(const Json& report, Health& health);

// Rows of the workers in `now`, a report of workers, that have not polled since `before`.
std::vector<Json> still_workers(const Json& before, const Json& now);
// Fills in `workers`, `advancing` and their problems; `still`: after all the time they were given.
void judge_workers(const Json& now, const std::vector<Json>& still, int waited_ms, Health& health);

// "up: 2 of 2 fabric ports, 1 of 2 host ports; advancing: 1 of 1 workers"
std::string health_line(const Health& health);
Json health_json(const std::string& name, const Health& health);

}  // namespace eddy::control
