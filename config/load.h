// From a YAML text to a SwitchConfig: every problem at once, or a configuration that holds
// together.
//
// A problem reads "file:line:column: what, what would be valid". Units are mandatory in the text.
// Owner: the caller; control plane only, no state is kept. Cost: linear in the text (1 MiB at
// most), plus one comparison of every pair of subnets. Source: architecture, section 8.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/keys/positions.h"
#include "config/plugin_source.h"
#include "config/purpose.h"
#include "net/result.h"

namespace eddy::config {

struct LoadedConfig {
  SwitchConfig config;
  std::vector<std::string> warnings;  // "file:line:column: warning: text"; usable all the same
  std::string file;
  Positions positions;

  // "file:line:column: text" at a key's place, for what is found out later.
  std::string message(std::string_view path, std::string_view text) const;
};

// `plugins` may be null: then a file that names a plugin is refused.
Result<LoadedConfig> load_file(const std::filesystem::path& path, Purpose purpose = Purpose::daemon,
                               PluginSource* plugins = nullptr);
// `name` stands for the file in messages, and where it is.
Result<LoadedConfig> load_text(std::string_view name, std::string_view text,
                               Purpose purpose = Purpose::daemon, PluginSource* plugins = nullptr);

}  // namespace eddy::config
