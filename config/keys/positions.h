// Positions: where each key that a file gives stands, by its path: "ports.host1.speed",
// "routes.0.prefix".
//
// Owner: the caller; control plane only. Cost: logarithmic in the keys.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "config/keys/yaml_tree.h"

namespace eddy::config {

class Positions {
 public:
  void record(const std::string& path, Position at) { places_.insert_or_assign(path, at); }
  // Of the path, or of the nearest key above it that the file gives.
  Position find(std::string_view path) const;

 private:
  std::map<std::string, Position, std::less<>> places_;
};

}  // namespace eddy::config
