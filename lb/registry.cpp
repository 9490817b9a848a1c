#include "lb/registry.h"

#include <algorithm>
#include <string>

#include "config/config.h"

namespace eddy::lb {
namespace {

std::string unknown_scheme(std::string_view name) {
  std::string text = "'" + std::string(name) + "' is no scheme; valid:";
  for (const SchemeInfo& scheme : schemes()) text += " " + std::string(scheme.name);
  return text;
}

ShimNeed need_of(const SchemeInfo* info, bool rlb) {
  if (info == nullptr) return ShimNeed::none;
  return rlb ? info->needs_with_rlb : info->needs;
}

Result<std::unique_ptr<Selector>> make_known(const SchemeInfo* info, std::string_view name,
                                             const SelectorInit& init) {
  if (info == nullptr) return Problems{unknown_scheme(name)};
  return make_selector(*info, init);
}

}  // namespace

const SchemeInfo* find_scheme(std::string_view name) {
  const std::span<const SchemeInfo> all = schemes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const SchemeInfo& s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const SchemeInfo* scheme_of(const config::LoadBalancerConfig& chosen) {
  if (chosen.loaded != nullptr) return chosen.loaded->info;
  return chosen.plugin.empty() ? find_scheme(chosen.scheme) : nullptr;
}

Result<std::unique_ptr<Selector>> make_selector(const SchemeInfo& scheme,
                                                const SelectorInit& init) {
  if (scheme.hosted != nullptr) return scheme.hosted(scheme, init);
  return init.rlb == nullptr ? scheme.make(init) : scheme.make_with_rlb(init);
}

Result<std::unique_ptr<Selector>> make_selector(std::string_view scheme, const SelectorInit& init) {
  return make_known(find_scheme(scheme), scheme, init);
}

Result<std::unique_ptr<Selector>> make_selector(const config::LoadBalancerConfig& chosen,
                                                const SelectorInit& init) {
  return make_known(scheme_of(chosen), chosen.scheme, init);
}

ShimNeed shim_need(std::string_view scheme, bool rlb) {
  return need_of(find_scheme(scheme), rlb);
}

ShimNeed shim_need(const config::LoadBalancerConfig& chosen, bool rlb) {
  return need_of(scheme_of(chosen), rlb);
}

// RLB asks how long each path takes, used or not.
bool probes_idle(std::string_view scheme, bool rlb) {
  const SchemeInfo* info = find_scheme(scheme);
  return info != nullptr && (rlb || info->speech.probes_idle);
}

bool probes_idle(const config::LoadBalancerConfig& chosen, bool rlb) {
  const SchemeInfo* info = scheme_of(chosen);
  return info != nullptr && (rlb || info->speech.probes_idle);
}

Problems check_parameters(std::string_view scheme, const ParameterMap& parameters) {
  const SchemeInfo* info = find_scheme(scheme);
  if (info == nullptr) return {unknown_scheme(scheme)};
  return check_parameters(info->name, info->parameters, parameters);
}

}  // namespace eddy::lb
