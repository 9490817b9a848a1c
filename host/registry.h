// The registry: every law of hosts by its kind and name; and which laws a NIC is made of.
//
// A law is host/<kind>/<name>.cpp, one line in host/<kind>.txt and
// tests/unit/host/<kind>/<name>_test.cpp; CMake generates the lists. File name = name in YAML.
// Owner: constants of the program. Thread: any. Control plane only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/entropy.h"
#include "host/pacing.h"
#include "host/rate_control.h"
#include "host/recovery.h"

namespace eddy::host {

std::span<const RateControlInfo> rate_controls();
std::span<const RecoveryInfo> recoveries();
std::span<const EntropyInfo> entropies();
std::span<const PacingInfo> pacings();

// Those of all kinds, in the order of the lists. Laws of one
// name are of different kinds, and a parameter that they share is declared alike.
std::vector<const LawInfo*> all_laws();
// Of HostConfig::law_parameters.
std::string parameter_key(std::string_view law, std::string_view parameter);

// nullptr when there is none of the name.
template <class Info>
const Info* find_law(std::span<const Info> laws, std::string_view name) {
  for (const Info& law : laws)
    if (law.name == name) return &law;
  return nullptr;
}

// One of a NIC's, with the parameters that the configuration gives it.
template <class Info>
struct ChosenLaw {
  const Info* law;
  ParameterValues parameters;
};
// Those of a NIC. A configuration that was checked names none that is unknown.
struct Laws {
  ChosenLaw<RateControlInfo> rate_control;
  ChosenLaw<RecoveryInfo> recovery;
  ChosenLaw<EntropyInfo> entropy;
  ChosenLaw<PacingInfo> pacing;
};
Laws laws_of(const config::HostConfig& config);

}  // namespace eddy::host
