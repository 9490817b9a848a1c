// What changed between two configurations, key by key, and what it takes to apply it.
//
// Owner: the caller; control plane only. Order: as in the key table. Source: architecture,
// section 6.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/keys/key_class.h"

namespace eddy::config {

struct Change {
  std::string key;  // "ports.host1.speed"
  KeyClass key_class = KeyClass::hot;
  std::string before;  // as YAML; empty = was not there
  std::string after;   // empty = is no longer there
  std::string port;    // name of the port it belongs to; empty = none
};

std::vector<Change> diff(const SwitchConfig& before, const SwitchConfig& after);

}  // namespace eddy::config
