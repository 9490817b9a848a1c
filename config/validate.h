// What no single key can say: names that must exist, things that must not overlap or exceed a
// limit, and whether the buffer holds what the lossless groups need.
//
// Works on a configuration of any origin; places are paths of keys ("routes.0.prefix"). Owner: the
// caller; control plane only.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/purpose.h"

namespace eddy::config {

struct Finding {
  std::string path;
  std::string text;  // what, what would be valid
};

struct Findings {
  std::vector<Finding> problems;
  std::vector<Finding> warnings;  // the configuration is usable
};

Findings validate(const SwitchConfig& config, Purpose purpose);
// Whether the buffer holds reserved, headroom and thresholds; for configurations without problems.
Findings validate_buffer(const SwitchConfig& config);

// Every parameter of the chosen scheme, as written or its default, in canonical words.
void complete_parameters(LoadBalancerConfig& chosen);

}  // namespace eddy::config
