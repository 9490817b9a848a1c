// What a configuration means, in words.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "config/document.h"
#include "config/keys/codec.h"
#include "config/keys/keys.h"
#include "net/quantity.h"
#include "pfc/buffer_plan.h"

namespace eddy::config {
namespace {

std::string describe_switch(const SwitchConfig& config) {
  const std::string leaf =
      config.leaf.is_none() ? "no leaf" : fmt::format("leaf {}", config.leaf.index());
  std::string text = fmt::format("switch {}: id {}, {}, MAC {}\n", config.name, config.id.index(),
                                 leaf, to_string(config.mac));
  if (config.spare_ports > 0)
    text += fmt::format("  room for {} ports to come by a reload\n", config.spare_ports);
  text +=
      fmt::format("  workers {}, idle {}, poll gap {}{}\n", config.workers,
                  Codec<IdlePolicy>::format(config.idle), to_string(config.effective_poll_gap()),
                  config.poll_gap > Duration{} ? "" : " (auto)");
  if (config.time_dilation > 1)
    text +=
        fmt::format("  time dilation {}: what follows is as it will run\n", config.time_dilation);
  return text;
}

std::string describe_scheme(const LoadBalancerConfig& chosen) {
  std::vector<std::string> parameters;
  for (const auto& [name, value] : chosen.parameters)
    parameters.push_back(fmt::format("{} {}", name, value));
  if (chosen.control != ControlBy::ecmp)
    parameters.push_back("control by " + Codec<ControlBy>::format(chosen.control));
  const std::string plugin =
      chosen.loaded == nullptr
          ? ""
          : fmt::format("  of plugin {}, built for Eddy {}, sha256 {}\n", chosen.loaded->file,
                        chosen.loaded->version, chosen.loaded->sha256);
  return fmt::format("load balancer: {}{}{}\n{}", chosen.scheme, parameters.empty() ? "" : ", ",
                     fmt::join(parameters, ", "), plugin);
}

std::string describe_buffer(const pfc::BufferPlan& plan) {
  constexpr size_t kNoRings = 0;
  return fmt::format(
      "buffer: {} in cells of {} octets: {} set aside (reserved, headroom), {}{} shared\n"
      "  holds at most {} packets: as many mbufs are needed, and those that rings hold\n",
      to_string(plan.size), plan.cell_bytes, to_string(plan.reserved),
      plan.stages == Bytes(0) ? "" : to_string(plan.stages) + " for flow stages, ",
      to_string(plan.shared), plan.mbufs(kNoRings));
}

std::string describe_threshold(const BufferProfile& profile, const pfc::PgLimits& limits,
                               const pfc::BufferPlan& plan) {
  if (profile.mode == BufferMode::fixed) return to_string(profile.xoff);
  return fmt::format("2^{} of the free shared buffer (at most {})", profile.dynamic_th,
                     to_string(Bytes(limits.threshold(plan.shared.count()))));
}

std::string describe_group(const SwitchConfig& config, size_t port, size_t pg,
                           const pfc::BufferPlan& plan) {
  const PortConfig& owner = config.ports[port];
  const std::string& name = owner.pg_profiles[pg];
  const BufferProfile& profile = config.buffer.profiles.at(name);
  const pfc::PgLimits& limits = plan.ports[port].pgs[pg];
  return fmt::format(
      "    PG {}: lossless ({}): pauses priority {} above {}, resumes {} below, headroom {}{}\n",
      pg, name, owner.maps.pg_to_pfc[pg].index(), describe_threshold(profile, limits, plan),
      to_string(profile.xon_offset), to_string(Bytes(limits.headroom)),
      profile.headroom ? "" : " (auto)");
}

std::string describe_port(const SwitchConfig& config, size_t index, const pfc::BufferPlan& plan) {
  const PortConfig& port = config.ports[index];
  const BitRate sends = port.shaper > BitRate{} ? port.shaper : port.speed;
  std::string text = fmt::format(
      "  {}: {}, {}{}, MTU {}, worker {}{}{}\n", port.name, Codec<PortRole>::format(port.role),
      to_string(port.speed),
      sends == port.speed ? "" : fmt::format(" (shaped to {})", to_string(sends)), port.mtu,
      port.worker, port.admin_up ? "" : ", down", port.device.empty() ? "" : ", " + port.device);
  if (port.vlan)
    text +=
        fmt::format("    VLAN {}, {}\n", *port.vlan, Codec<TaggingMode>::format(port.tagging_mode));
  for (const IpPrefix& address : port.addresses)
    text += fmt::format("    address {}\n", to_string(address));
  text += fmt::format("    PFC: tx {}, rx {}{}\n", port.pfc.tx ? "on" : "off",
                      Codec<PfcRx>::format(port.pfc.rx), port.pfc.asymmetric ? ", asymmetric" : "");
  const uint8_t lossless = plan.ports[index].lossless_pgs;
  for (size_t pg = 0; pg < kPriorities; ++pg)
    if ((lossless >> pg & 1) != 0) text += describe_group(config, index, pg, plan);
  text += fmt::format("    every {}priority group is lossy\n", lossless == 0 ? "" : "other ");
  return text;
}

std::string describe_leaves(const SwitchConfig& config) {
  std::string text;
  for (const LeafConfig& leaf : config.leaves) {
    std::vector<std::string> paths;
    for (const PathConfig& path : leaf.paths)
      paths.push_back(path.port + (path.weight == 1 ? "" : fmt::format(" x {}", path.weight)));
    text += fmt::format("leaf {}: by {}\n", leaf.id.index(), fmt::join(paths, ", "));
  }
  return text;
}

}  // namespace

std::string describe(const SwitchConfig& given) {
  const SwitchConfig config = scaled(given);
  std::string text = describe_switch(given) + describe_scheme(config.load_balancer);
  const Result<pfc::BufferPlan> plan = pfc::plan_buffer(config);
  if (!plan) return fmt::format("{}{}\n", text, fmt::join(plan.problems(), "\n"));
  text += describe_buffer(plan.value());
  text += fmt::format("ports: {}\n", config.ports.size());
  for (size_t i = 0; i < config.ports.size(); ++i) text += describe_port(config, i, plan.value());
  text += describe_leaves(config);
  return text + fmt::format("routes: {}, static neighbors: {}\n", config.routes.size(),
                            config.neighbors.size());
}

}  // namespace eddy::config
