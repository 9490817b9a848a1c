// The conformance suite: what every path selection scheme must do, bare and with RLB, as named
// checks with results. Needs no test framework: tests run it over the registry, `eddylab
// conformance` over whatever is named.
//
// A check runs over the scheme's variants: its default parameters, and each choice, flag and limit
// that it declares; with RLB over ways to set RLB up, too. Checks that look from inside need the
// scheme compiled with probes (lb/schemes/probes.h). Owner: who calls. Cost: about a millisecond a
// check and variant. Source: architecture, section 5.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/rlb.h"
#include "lb/registry.h"
#include "net/result.h"

namespace eddy::lb {
// The registered schemes, compiled with probes.
std::span<const SchemeInfo> probed_schemes();
}  // namespace eddy::lb

namespace eddy::conformance {

// RLB as it is set up for a check.
struct RlbCase {
  std::string_view name;
  config::RlbConfig config;
};

// What a check is asked about.
struct Variant {
  lb::ParameterMap parameters;
  const RlbCase* rlb = nullptr;  // around the scheme; null: none

  std::string name() const;  // "default", or what is not
};

struct Check {
  // Which variants it runs over.
  enum class Over : uint8_t { bare, with_rlb, both };

  std::string_view name;
  std::string_view summary;
  Over over = Over::bare;
  bool probes = false;     // is left out for a scheme without
  bool ordered = false;    // is left out for a scheme that promises no order
  bool essential = false;  // what comes after it is left out for a scheme that fails
  Problems (*problems)(const lb::SchemeInfo& scheme, const Variant& variant) = nullptr;
};

struct CheckResult {
  std::string_view name;
  std::string_view summary;
  size_t variants = 0;  // 0: it was left out
  Problems problems;    // "<variant>: what is wrong"
};

std::span<const Check> checks();
std::span<const RlbCase> rlb_cases();
std::vector<Variant> variants_for(const Check& check, const lb::SchemeInfo& scheme);

CheckResult run_check(const Check& check, const lb::SchemeInfo& scheme);
// All in their order. RLB would look for ever for an alternative that lives where a scheme names
// dead ones: after an essential check has failed the others are left out.
std::vector<CheckResult> run_checks(const lb::SchemeInfo& scheme);

}  // namespace eddy::conformance
