// Path selection schemes as rows of `show schemes`: those of the program, and of the plugin in use.
#pragma once

#include <vector>

#include "switch/control/report/report.h"

namespace eddy::control {

std::vector<SchemeParameterRow> scheme_parameter_rows(const config::LoadBalancerConfig& chosen);

}  // namespace eddy::control
