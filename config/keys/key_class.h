// KeyClass: what it takes to apply a change of a key to a running switch.
#pragma once

#include <cstdint>
#include <string_view>

namespace eddy::config {

enum class KeyClass : uint8_t {
  hot,      // applied to the running switch, no packet is lost
  port,     // the port is stopped and started again
  restart,  // only a restart of the process applies it; a reload is refused
};
std::string_view to_string(KeyClass key_class);

}  // namespace eddy::config
