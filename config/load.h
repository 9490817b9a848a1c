// From a YAML text to a SwitchConfig: every problem at once, or a configuration that holds
// together.
//
// A problem reads "file:line:column: what, what would be valid". Units are mandatory in the text.
// Owner: the caller; control plane only, no state is kept. Cost: linear in the text (1 MiB at
// most), plus one comparison of every pair of subnets. Source: architecture, section 8.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/yaml_tree.h"
#include "net/result.h"

namespace eddy::config {

// Where each key that the file gives stands, by path: "ports.host1.speed", "routes.0.prefix".
class Positions {
 public:
  void record(const std::string& path, Position at) { places_.insert_or_assign(path, at); }
  // Of the path, or of the nearest key above it that the file gives.
  Position find(std::string_view path) const;

 private:
  std::map<std::string, Position, std::less<>> places_;
};

struct LoadedConfig {
  SwitchConfig config;
  std::vector<std::string> warnings;  // "file:line:column: warning: text"; usable all the same
  std::string file;
  Positions positions;

  // "file:line:column: text" at a key's place, for what is found out later.
  std::string message(std::string_view path, std::string_view text) const;
};

// What the configuration is for decides what it must have.
enum class Purpose : uint8_t {
  daemon,  // a real eddyd: every port has a device, at most kDaemonPorts ports
  object,  // a switch object in one process
};
inline constexpr size_t kDaemonPorts = 32;  // RTE_MAX_ETHPORTS of Debian's DPDK

Result<LoadedConfig> load_file(const std::filesystem::path& path,
                               Purpose purpose = Purpose::daemon);
// `name` stands for the file in messages.
Result<LoadedConfig> load_text(std::string_view name, std::string_view text,
                               Purpose purpose = Purpose::daemon);

}  // namespace eddy::config
