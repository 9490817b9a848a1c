// The JSON type of stories: keys keep the order in which they were written.
#pragma once

#include <nlohmann/json.hpp>

namespace eddy::explain {
using Json = nlohmann::ordered_json;
}  // namespace eddy::explain
