// The registry of path selection schemes as rows of `show schemes`.
#pragma once

#include <vector>

#include "switch/control/report/report.h"

namespace eddy::control {

std::vector<SchemeParameterRow> scheme_parameter_rows();

}  // namespace eddy::control
