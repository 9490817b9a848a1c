// What changed between two configurations, key by key, and what it takes to apply it.
//
// Owner: the caller; control plane only. Order: as in the key table. Source: architecture,
// section 6.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace eddy::config {

enum class KeyClass : uint8_t {
  hot,      // applied to the running switch, no packet is lost
  port,     // the port is stopped and started again
  restart,  // only a restart of the process applies it; a reload is refused
};
std::string_view to_string(KeyClass key_class);

struct Change {
  std::string key;  // "ports.host1.speed"
  KeyClass key_class = KeyClass::hot;
  std::string before;  // as YAML; empty = was not there
  std::string after;   // empty = is no longer there
  std::string port;    // name of the port it belongs to; empty = none
};

std::vector<Change> diff(const SwitchConfig& before, const SwitchConfig& after);

}  // namespace eddy::config
