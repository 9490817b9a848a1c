#include "config/keys/positions.h"

namespace eddy::config {

Position Positions::find(std::string_view path) const {
  while (!path.empty()) {
    if (const auto found = places_.find(path); found != places_.end()) return found->second;
    const size_t dot = path.rfind('.');
    path = path.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return {1, 1};
}

}  // namespace eddy::config
