// The JSON type of the control plane: keys keep the order in which they were written, so that rows
// read the same everywhere. Include <nlohmann/json.hpp> only in the sources that build values.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace eddy::control {
using Json = nlohmann::ordered_json;
}  // namespace eddy::control
