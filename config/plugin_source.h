// PluginSource: who finds the scheme of a plugin while a file is read. Programs have one
// (plugin/plugins.h); without one a file that names a plugin is refused.
//
// Control plane only. Source: docs/plugins.md.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "config/config.h"
#include "config/validate.h"
#include "net/result.h"

namespace eddy::config {

struct PluginWish {
  std::string plugin;            // as the file has it
  std::string scheme;            // empty: the only one
  std::filesystem::path folder;  // of the file, to which paths are relative
};

// All of one plugin.
using PluginSchemes = std::span<const LoadedScheme* const>;

class PluginSource {
 public:
  virtual ~PluginSource() = default;
  // A scheme that is loaded now, or one line that says what is wrong.
  virtual Result<const LoadedScheme*> find(const PluginWish& wish) = 0;
};

// Fills in what the plugin of the configuration says, if it names one; or says why it cannot.
std::optional<Finding> load_plugin(LoadBalancerConfig& chosen, PluginSource* source,
                                   const std::filesystem::path& folder);
// Whether the plugin's scheme lets itself be made: it may refuse, throw, or return nothing. For
// parameters that are good.
std::optional<Finding> try_plugin(const LoadBalancerConfig& chosen, const RlbConfig& rlb);

}  // namespace eddy::config
