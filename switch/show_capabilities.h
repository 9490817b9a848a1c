// What `eddyd --capabilities` prints: the table of capabilities by kind of port, or what one
// configuration asks for, as text or as JSON. Pure; text is safe for a terminal. Source:
// config/capabilities.h.
#pragma once

#include <string>

#include "config/config.h"

namespace eddy {

std::string capability_table_text();
std::string capability_table_json();
std::string capability_demand_text(const config::SwitchConfig& config);
std::string capability_demand_json(const config::SwitchConfig& config);

}  // namespace eddy
