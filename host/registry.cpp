#include "host/registry.h"

#include "net/assert.h"

namespace eddy::host {
namespace {

std::string_view rate_control_of(const config::HostConfig& config) {
  switch (config.congestion_control) {
    case config::CongestionControl::none:
      return "none";
    case config::CongestionControl::dcqcn:
      return "dcqcn";
    case config::CongestionControl::dctcp:
      return "dctcp";
  }
  return {};
}

std::string_view recovery_of(const config::HostConfig& config) {
  if (config.recovery == config::Recovery::irn) return "irn";
  return config.reorder_buffer ? "reorder_buffer" : "go_back_n";
}

template <class Info>
ChosenLaw<Info> chosen(std::span<const Info> laws, std::string_view name) {
  const Info* law = find_law(laws, name);
  ASSERT(law != nullptr);
  return {law, {}};
}

}  // namespace

Laws laws_of(const config::HostConfig& config) {
  return {chosen(rate_controls(), rate_control_of(config)),
          chosen(recoveries(), recovery_of(config)), chosen(entropies(), "fixed"),
          chosen(pacings(), "by_rate")};
}

}  // namespace eddy::host
