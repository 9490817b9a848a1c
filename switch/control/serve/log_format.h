// LogFormat: how the daemon writes its log.
#pragma once

#include <cstdint>

namespace eddy::control {

enum class LogFormat : uint8_t { console, json };  // lines for people; JSON lines

}  // namespace eddy::control
