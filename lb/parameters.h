// Parameters of schemes: net/text/parameters.h by the names that a scheme's source uses.
#pragma once

#include "net/text/parameters.h"

namespace eddy::lb {

using eddy::check_parameters;
using eddy::choice;
using eddy::flag;
using eddy::kAutomatic;
using eddy::kParameterInfos;
using eddy::ParameterInfo;
using eddy::ParameterKind;
using eddy::ParameterMap;
using eddy::parse_parameters;
using eddy::parse_value;
using eddy::ranged;
using eddy::to_string;
using eddy::valid_text;
using eddy::value_text;

}  // namespace eddy::lb
