#include "host/registry.h"

#include "net/assert.h"

namespace eddy::host {
namespace {

// The old spelling of the recovery reorder_buffer.
std::string_view recovery_of(const config::HostConfig& config) {
  const bool keeps = config.recovery == "go_back_n" && config.reorder_buffer;
  return keeps ? std::string_view("reorder_buffer") : std::string_view(config.recovery);
}

template <class Info>
ChosenLaw<Info> chosen(std::span<const Info> laws, std::string_view name,
                       const config::HostConfig& config) {
  const Info* law = find_law(laws, name);
  ASSERT(law != nullptr);
  ChosenLaw<Info> out{law, {}};
  for (const ParameterInfo& info : law->parameters) {
    const auto found = config.law_parameters.find(parameter_key(law->name, info.name));
    if (found != config.law_parameters.end()) out.parameters.emplace(info.name, found->second);
  }
  return out;
}

template <class Info>
void add_all(std::vector<const LawInfo*>& all, std::span<const Info> laws) {
  for (const Info& law : laws) all.push_back(&law);
}

}  // namespace

std::string parameter_key(std::string_view law, std::string_view parameter) {
  return std::string(law) + "." + std::string(parameter);
}

std::vector<const LawInfo*> all_laws() {
  std::vector<const LawInfo*> all;
  add_all(all, rate_controls());
  add_all(all, recoveries());
  add_all(all, entropies());
  add_all(all, pacings());
  return all;
}

Laws laws_of(const config::HostConfig& config) {
  return {chosen(rate_controls(), config.congestion_control, config),
          chosen(recoveries(), recovery_of(config), config),
          chosen(entropies(), config.entropy, config), chosen(pacings(), config.pacing, config)};
}

}  // namespace eddy::host
