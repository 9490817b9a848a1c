#include "switch/control/report/scheme_rows.h"

#include "lb/registry.h"

namespace eddy::control {
namespace {

void add_rows(const lb::SchemeInfo& scheme, std::vector<SchemeParameterRow>& rows) {
  const std::string name(scheme.name);
  if (scheme.parameters.empty())
    rows.push_back({name, "", "", "", "", std::string(scheme.summary)});
  for (const lb::ParameterInfo& parameter : scheme.parameters)
    rows.push_back({name, std::string(parameter.name), std::string(to_string(parameter.kind)),
                    value_text(parameter, parameter.fallback), valid_text(parameter),
                    std::string(parameter.help)});
}

}  // namespace

std::vector<SchemeParameterRow> scheme_parameter_rows(const config::LoadBalancerConfig& chosen) {
  std::vector<SchemeParameterRow> rows;
  for (const lb::SchemeInfo& scheme : lb::schemes()) add_rows(scheme, rows);
  if (chosen.loaded != nullptr) add_rows(*chosen.loaded->info, rows);
  return rows;
}

}  // namespace eddy::control
