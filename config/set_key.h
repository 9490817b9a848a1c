// Sets single keys of a configuration that is already there, by their path and a value written as
// in a file: "buffer.profiles.lossless.xoff" and "64KiB".
//
// "ports.NAME.key" is a key of one port, "port_defaults.key" and "qos.key" of all ports. Keys that
// are lists of things (routes, leaves, neighbors, ports as such) cannot be set, nor those that only
// a restart applies. Another load_balancer.scheme drops the parameters of the one before, and its
// plugin. Nothing is scaled by time_dilation. Owner: the caller; control plane only.
#pragma once

#include <string>
#include <string_view>

#include "config/config.h"
#include "net/result.h"

namespace eddy::config {

// On problems, each "KEY: what, what would be valid", the configuration stays as it was.
[[nodiscard]] Problems set_key(SwitchConfig& config, const std::string& path,
                               std::string_view value);

}  // namespace eddy::config
