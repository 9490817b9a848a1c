#include "switch/control/report/scheme_rows.h"

#include "lb/registry.h"

namespace eddy::control {

std::vector<SchemeParameterRow> scheme_parameter_rows() {
  std::vector<SchemeParameterRow> rows;
  for (const lb::SchemeInfo& scheme : lb::schemes()) {
    const std::string name(scheme.name);
    if (scheme.parameters.empty())
      rows.push_back({name, "", "", "", "", std::string(scheme.summary)});
    for (const lb::ParameterInfo& parameter : scheme.parameters)
      rows.push_back({name, std::string(parameter.name), std::string(to_string(parameter.kind)),
                      value_text(parameter, parameter.fallback), valid_text(parameter),
                      std::string(parameter.help)});
  }
  return rows;
}

}  // namespace eddy::control
