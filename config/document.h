// What eddyd says about its configuration: as YAML, as JSON Schema, as a table of keys, in words.
//
// All of it comes from the one table of keys. Owner: the caller; control plane only. Same input,
// same text, byte for byte.
#pragma once

#include <string>

#include "config/config.h"
#include "config/plugin_source.h"

namespace eddy::config {

// Everything in force as one YAML text, which loads back to the same configuration.
std::string print_config(const SwitchConfig& config);
// The same without what is a default, and with what all ports share said once: for people to read.
// It loads back to the same configuration, too, with the defaults of this version.
std::string print_brief(const SwitchConfig& config);
// JSON Schema (draft 2020-12) of a configuration file; with the schemes of a plugin it knows their
// parameters, without it takes whatever stands beside a plugin.
std::string json_schema(PluginSchemes plugins = {});
// docs/configuration.md.
std::string keys_as_markdown();
// What the configuration means: ports, lossless groups with their thresholds, the buffer plan.
std::string describe(const SwitchConfig& config);

}  // namespace eddy::config
