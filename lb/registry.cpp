#include "lb/registry.h"

#include <algorithm>
#include <string>

namespace eddy::lb {
namespace {

std::string unknown_scheme(std::string_view name) {
  std::string text = "'" + std::string(name) + "' is no scheme; valid:";
  for (const SchemeInfo& scheme : schemes()) text += " " + std::string(scheme.name);
  return text;
}

}  // namespace

const SchemeInfo* find_scheme(std::string_view name) {
  const std::span<const SchemeInfo> all = schemes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const SchemeInfo& s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Result<std::unique_ptr<Selector>> make_selector(std::string_view scheme, const SelectorInit& init) {
  const SchemeInfo* info = find_scheme(scheme);
  if (info == nullptr) return Problems{unknown_scheme(scheme)};
  return init.rlb == nullptr ? info->make(init) : info->make_with_rlb(init);
}

ShimNeed shim_need(std::string_view scheme, bool rlb) {
  const SchemeInfo* info = find_scheme(scheme);
  if (info == nullptr) return ShimNeed::none;
  return rlb ? info->needs_with_rlb : info->needs;
}

// RLB asks how long each path takes, used or not.
bool probes_idle(std::string_view scheme, bool rlb) {
  const SchemeInfo* info = find_scheme(scheme);
  return info != nullptr && (rlb || info->speech.probes_idle);
}

Problems check_parameters(std::string_view scheme, const ParameterMap& parameters) {
  const SchemeInfo* info = find_scheme(scheme);
  if (info == nullptr) return {unknown_scheme(scheme)};
  return check_parameters(info->name, info->parameters, parameters);
}

}  // namespace eddy::lb
