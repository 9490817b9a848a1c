#include "lab/conformance/suite.h"

#include <array>
#include <exception>
#include <set>

namespace eddy::conformance {
namespace {

constexpr int64_t kLargestCount = 4'096;  // larger tables would make checks slow, not better

std::vector<lb::ParameterMap> parameters_of(const lb::SchemeInfo& scheme) {
  std::vector<lb::ParameterMap> all = {{}};
  for (const lb::ParameterInfo& parameter : scheme.parameters) {
    std::set<int64_t> values = {parameter.min, parameter.max};
    for (size_t i = 0; i < parameter.choices.size(); ++i) values.insert(static_cast<int64_t>(i));
    values.erase(parameter.fallback);
    for (const int64_t value : values)
      if (parameter.kind != lb::ParameterKind::count || value <= kLargestCount)
        all.push_back({{std::string(parameter.name), value_text(parameter, value)}});
  }
  return all;
}

// The ways in which a packet's path can be decided: by the guard or without, in the loop or not.
std::array<RlbCase, 5> make_rlb_cases() {
  using namespace config;
  std::array<RlbCase, 5> cases = {
      {{"strict", {}}, {"off", {}}, {"paced", {}}, {"paper", {}}, {"once", {}}}};
  for (RlbCase& each : cases) each.config = rlb_preset(RlbPreset::standard);
  cases[1].config.guard.mode = GuardMode::off;
  cases[2].config.guard.mode = GuardMode::paced;
  cases[2].config.guard.scope = GuardScope::moves;
  cases[2].config.granularity = Granularity::unit;
  cases[3].config = rlb_preset(RlbPreset::paper);
  RlbConfig& once = cases[4].config;
  once.guard.mode = GuardMode::follow;
  once.all_warned = AllWarned::wait_once;
  once.recirculation.rebase_on_return = true;
  once.recirculation.on_exceed = OnExceed::least_bad;
  once.reroute_credit = true;
  once.reaction = 0.5;
  return cases;
}

// A scheme may be a plugin's, which throws what it likes.
Problems problems_of(const Check& check, const lb::SchemeInfo& scheme, const Variant& variant) {
  try {
    return check.problems(scheme, variant);
  } catch (const std::exception& thrown) {
    return {std::string("throws: ") + thrown.what()};
  } catch (...) {
    return {"throws something that is no std::exception"};
  }
}

}  // namespace

std::span<const RlbCase> rlb_cases() {
  static const std::array<RlbCase, 5> kCases = make_rlb_cases();
  return kCases;
}

std::string Variant::name() const {
  std::string name = rlb == nullptr ? "" : "rlb " + std::string(rlb->name);
  for (const auto& [parameter, value] : parameters)
    name += (name.empty() ? "" : ", ") + parameter + " " + value;
  return name.empty() ? "default" : name;
}

// All parameters with RLB as it usually is, and all that RLB can be with the usual parameters.
std::vector<Variant> variants_for(const Check& check, const lb::SchemeInfo& scheme) {
  std::vector<Variant> all;
  if (check.probes && scheme.probes == nullptr) return all;
  if (check.ordered && !scheme.promises_order) return all;
  const std::vector<lb::ParameterMap> parameters = parameters_of(scheme);
  if (check.over != Check::Over::with_rlb)
    for (const lb::ParameterMap& some : parameters) all.push_back({some, nullptr});
  if (check.over == Check::Over::bare) return all;
  for (const lb::ParameterMap& some : parameters) all.push_back({some, &rlb_cases().front()});
  for (const RlbCase& other : rlb_cases().subspan(1)) all.push_back({{}, &other});
  return all;
}

CheckResult run_check(const Check& check, const lb::SchemeInfo& scheme) {
  CheckResult result{.name = check.name, .summary = check.summary};
  for (const Variant& variant : variants_for(check, scheme)) {
    ++result.variants;
    for (const std::string& problem : problems_of(check, scheme, variant))
      result.problems.push_back(variant.name() + ": " + problem);
  }
  return result;
}

std::vector<CheckResult> run_checks(const lb::SchemeInfo& scheme) {
  std::vector<CheckResult> results;
  bool goes_on = true;
  for (const Check& check : checks()) {
    results.push_back(goes_on ? run_check(check, scheme)
                              : CheckResult{.name = check.name, .summary = check.summary});
    goes_on = goes_on && (!check.essential || results.back().problems.empty());
  }
  return results;
}

}  // namespace eddy::conformance
