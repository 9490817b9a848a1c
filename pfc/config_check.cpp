#include "pfc/config_check.h"

#include <algorithm>
#include <string>

#include "net/quantity.h"
#include "pfc/buffer_pool.h"

namespace eddy::pfc {
namespace {

void check_profile(const std::string& name, const config::BufferProfile& profile,
                   Problems& problems) {
  const auto refuse = [&](const std::string& what) {
    problems.push_back("buffer profile " + name + ": " + what);
  };
  const bool fixed = profile.mode == config::BufferMode::fixed;
  if (std::min({profile.reserved, profile.xoff, profile.xon_offset,
                profile.headroom.value_or(Bytes{})}) < Bytes{})
    refuse("a size is negative; at least 0B would be valid");
  if (fixed && profile.xoff < profile.reserved)
    refuse("xoff " + to_string(profile.xoff) + " is below reserved " + to_string(profile.reserved) +
           ", which it includes");
  if (fixed && profile.lossless && profile.xon_offset >= profile.xoff)
    refuse("xon_offset " + to_string(profile.xon_offset) + " must be below xoff " +
           to_string(profile.xoff));
  if (!fixed && (profile.dynamic_th < -kMaxDynamicTh || profile.dynamic_th > kMaxDynamicTh))
    refuse("dynamic_th " + std::to_string(profile.dynamic_th) + " is not within -10..10");
  if (!profile.lossless && profile.headroom.value_or(Bytes{}) > Bytes{})
    refuse("headroom is for lossless profiles only");
}

void check_wred(const std::string& name, const config::WredProfile& wred, Problems& problems) {
  if (wred.kmin < Bytes{} || wred.kmax < wred.kmin)
    problems.push_back("wred " + name + ": kmin " + to_string(wred.kmin) + " must be within 0B.." +
                       to_string(wred.kmax) + " (kmax)");
  if (!(wred.pmax >= 0 && wred.pmax <= 1))
    problems.push_back("wred " + name + ": pmax must be within 0..1");
}

std::string names_of(const config::BufferConfig& buffer) {
  std::string names;
  for (const auto& [name, profile] : buffer.profiles) names += (names.empty() ? "" : ", ") + name;
  return names;
}

void check_groups(const config::SwitchConfig& config, const config::PortConfig& port,
                  Problems& problems) {
  for (size_t pg = 0; pg < kPriorities; ++pg)
    if (!config.buffer.profiles.contains(port.pg_profiles[pg]))
      problems.push_back("port " + port.name + " PG " + std::to_string(pg) +
                         ": no buffer profile \"" + port.pg_profiles[pg] +
                         "\"; there are: " + names_of(config.buffer));
}

void check_port(const config::PortConfig& port, Problems& problems) {
  const auto refuse = [&](const std::string& what) {
    problems.push_back("port " + port.name + ": " + what);
  };
  if (port.speed < BitRate::mbps(1)) refuse("speed must be at least 1Mbps");
  if (port.pfc.quanta == 0) refuse("pfc.quanta must be at least 1; 0 would resume");
  if (port.pfc.rx == config::PfcRx::clamp && port.pfc.budget_window <= Duration{})
    refuse("pfc.budget_window must be above 0");
  if (port.watchdog.enabled &&
      std::min({port.watchdog.detection_time, port.watchdog.restoration_time,
                port.watchdog.poll_interval}) <= Duration{})
    refuse("watchdog times must be above 0");
  for (size_t q = 0; q < kPriorities; ++q) {
    const config::QueueConfig& queue = port.queues[q];
    const std::string name = "queue " + std::to_string(q) + ": ";
    if (queue.weight < 1) refuse(name + "weight must be at least 1");
    if (queue.max_rate && *queue.max_rate < BitRate::mbps(1))
      refuse(name + "max_rate must be at least 1Mbps");
    if (std::max(queue.dynamic_th, -queue.dynamic_th) > kMaxDynamicTh)
      refuse(name + "dynamic_th " + std::to_string(queue.dynamic_th) + " is not within -10..10");
  }
}

}  // namespace

void check_lossless_config(const config::SwitchConfig& config, Problems& problems) {
  if (config.buffer.cell_bytes < 1) problems.push_back("buffer.cell_bytes must be at least 1B");
  for (const auto& [name, profile] : config.buffer.profiles) check_profile(name, profile, problems);
  for (const auto& [name, wred] : config.buffer.wred) check_wred(name, wred, problems);
  for (const config::PortConfig& port : config.ports) {
    if (port.absent()) continue;
    check_port(port, problems);
    check_groups(config, port, problems);
  }
}

}  // namespace eddy::pfc
