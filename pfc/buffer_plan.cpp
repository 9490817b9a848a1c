#include "pfc/buffer_plan.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "net/quantity.h"
#include "pfc/config_check.h"
#include "pfc/headroom.h"

namespace eddy::pfc {
namespace {

constexpr int64_t kEthernetHeader = 14;  // the shortest frame that is admitted
constexpr int64_t kFramesOfSway = 2;     // a dynamic threshold must leave this many above XON

// What the PGs need together, and how it is made up.
struct Demand {
  int64_t lossless = 0;  // number of PGs
  int64_t fixed = 0;     // lossless with a static threshold: number of PGs
  Bytes reserved;        // of all PGs
  Bytes headroom;
  Bytes xoff;              // of lossless PGs with a static threshold
  Bytes stages;            // that the configuration names
  std::string first_over;  // the PG that took the sum above the buffer
  bool by_idle = false;    // headroom for the long poll_gap that idle: adaptive stands for

  Bytes set_aside() const { return reserved + headroom; }
  Bytes groups() const { return set_aside() + xoff; }
  Bytes total() const { return groups() + stages; }
};

std::string place(const config::PortConfig& port, size_t pg) {
  return "port " + port.name + " PG " + std::to_string(pg);
}

void note_lossless(const config::PortConfig& port, size_t pg, PortBufferPlan& plan) {
  const auto add = [](uint8_t& mask, size_t i) { mask = static_cast<uint8_t>(mask | 1u << i); };
  add(plan.lossless_pgs, pg);
  add(plan.lossless_priorities, port.maps.pg_to_pfc[pg].index());
  for (size_t tc = 0; tc < kPriorities; ++tc)
    if (port.maps.tc_to_pg[tc].index() == pg)
      add(plan.lossless_queues, port.maps.tc_to_queue[tc].index());
}

PortBufferPlan plan_port(const config::SwitchConfig& config, const config::PortConfig& port,
                         Demand& demand) {
  PortBufferPlan plan;
  if (port.absent()) return plan;
  const Bytes automatic = auto_headroom(port, config.pause_gap(port), config.buffer.cell_bytes);
  for (size_t pg = 0; pg < kPriorities; ++pg) {
    const config::BufferProfile& profile = config.buffer.profiles.at(port.pg_profiles[pg]);
    plan.pgs[pg] = PgLimits::of(profile, profile.headroom.value_or(automatic));
    demand.reserved += profile.reserved;
    demand.headroom += Bytes(plan.pgs[pg].headroom);
    if (profile.lossless) {
      note_lossless(port, pg, plan);
      const bool fixed = profile.mode == config::BufferMode::fixed;
      demand.lossless += 1;
      demand.fixed += fixed ? 1 : 0;
      if (fixed) demand.xoff += profile.xoff;
    }
    if (demand.first_over.empty() && demand.total() > config.buffer.size)
      demand.first_over = place(port, pg);
  }
  return plan;
}

std::string octets(Bytes n) {
  return std::to_string(n.count()) + " octets";
}

// What of the demand must shrink, and to what, if nothing else does.
std::string what_would_fit(const Demand& demand, Bytes size) {
  std::string text = "would fit: buffer.size " + to_string(demand.total().rounded_up(1'024));
  const Bytes for_xoff = size - demand.set_aside();
  const Bytes for_headroom = size - demand.reserved - demand.xoff;
  if (demand.fixed > 0 && for_xoff.count() >= demand.fixed)
    text += ", or xoff " + to_string(for_xoff / demand.fixed) + " in every lossless PG";
  if (demand.lossless > 0 && for_headroom.count() >= demand.lossless)
    text += ", or headroom " + to_string(for_headroom / demand.lossless) +
            " in every lossless PG (auto: shorter poll_gap or cable, lower speed or MTU)";
  if (demand.by_idle)
    text += ", or switch.idle: busy, with which headroom is for a poll_gap of 10us and not of 1ms";
  return text + ", or fewer lossless PGs";
}

std::string what_does_not_fit(const Demand& demand, Bytes size) {
  return "buffer: " + std::to_string(demand.lossless) + " lossless PGs need " +
         octets(demand.total()) + " (reserved " + std::to_string(demand.reserved.count()) +
         " + xoff " + std::to_string(demand.xoff.count()) + " + headroom " +
         std::to_string(demand.headroom.count()) +
         (demand.stages > Bytes(0) ? " + stages " + std::to_string(demand.stages.count()) : "") +
         "), buffer.size is " + octets(size) + "; the first that does not fit is " +
         demand.first_over + "; " + what_would_fit(demand, size);
}

void share_out(const config::BufferConfig& buffer, const Demand& demand, BufferPlan& plan,
               Problems& problems) {
  plan.size = buffer.size;
  plan.needed = demand.groups();
  plan.reserved = demand.set_aside();
  plan.stages = demand.stages;
  plan.shared = plan.size - plan.reserved - plan.stages;
  plan.cell_bytes = buffer.cell_bytes;
  if (demand.total() <= buffer.size) return;
  plan.shortfall = what_does_not_fit(demand, buffer.size);
  const Bytes fixed = demand.reserved + demand.stages;
  if (!buffer.overcommit || fixed >= buffer.size) return problems.push_back(plan.shortfall);
  const Bytes half = (buffer.size - fixed) / 2;
  if (demand.headroom <= half) return;
  plan.shared = std::max(plan.shared, half);
  plan.headroom_pool = buffer.size - fixed - plan.shared;
  plan.reserved = buffer.size - plan.stages - plan.shared;
}

// Schemes that hold packets on their way to hosts; those of plugins are not known here.
bool scheme_holds(const config::LoadBalancerConfig& chosen) {
  constexpr std::array<std::string_view, 1> kHolding = {"conweave"};
  return chosen.plugin.empty() && std::ranges::find(kHolding, chosen.scheme) != kHolding.end();
}

bool holds_flows(const config::SwitchConfig& config) {
  return (config.resequence.enabled || scheme_holds(config.load_balancer)) &&
         std::ranges::any_of(config.ports, [](const config::PortConfig& port) {
           return !port.absent() && port.role == config::PortRole::host;
         });
}

// What the groups can spare: half of what they leave over, and never so much that a threshold that
// goes with the shared pool changes a lot.
Bytes stages_by_themselves(const config::SwitchConfig& config, const BufferPlan& plan) {
  constexpr int64_t kOfShared = 4;
  if (config.buffer.stages || !holds_flows(config) || !plan.shortfall.empty()) return {};
  return std::min((plan.size - plan.needed) / 2, plan.shared / kOfShared);
}

// A dynamic threshold must let a PG take some frames between XON and XOFF even though it shrinks
// as the pool fills.
void check_threshold(const config::SwitchConfig& config, const BufferPlan& plan, size_t port,
                     size_t pg, Problems& problems) {
  const PgLimits& limits = plan.ports[port].pgs[pg];
  if (!limits.lossless || limits.dynamic_mask == 0) return;
  const int64_t frame =
      round_to_cells(longest_frame(config.ports[port].mtu).count(), plan.cell_bytes);
  const int64_t least = limits.xon_offset + kFramesOfSway * frame;
  const int64_t highest = limits.alpha.times(plan.shared.count());
  if (highest >= least) return;
  problems.push_back(place(config.ports[port], pg) + ": with " + octets(plan.shared) +
                     " left to share, its threshold is at most " + octets(Bytes(highest)) +
                     "; it needs " + octets(Bytes(least)) +
                     " (xon_offset and two frames): raise buffer.size or dynamic_th");
}

void check_thresholds(const config::SwitchConfig& config, const BufferPlan& plan,
                      Problems& problems) {
  for (size_t port = 0; port < plan.ports.size(); ++port)
    for (size_t pg = 0; pg < kPriorities; ++pg) check_threshold(config, plan, port, pg, problems);
}

}  // namespace

Result<BufferPlan> plan_buffer(const config::SwitchConfig& config) {
  Problems problems;
  check_lossless_config(config, problems);
  if (!problems.empty()) return problems;
  BufferPlan plan;
  Demand demand;
  demand.by_idle = config.poll_gap == Duration{} && config.idle == config::IdlePolicy::adaptive;
  demand.stages = config.buffer.stages.value_or(Bytes(0));
  for (const config::PortConfig& port : config.ports)
    plan.ports.push_back(plan_port(config, port, demand));
  share_out(config.buffer, demand, plan, problems);
  if (problems.empty()) check_thresholds(config, plan, problems);
  if (!problems.empty()) return problems;
  BufferPlan sparing = plan;
  sparing.stages += stages_by_themselves(config, plan);
  sparing.shared = sparing.shared - (sparing.stages - plan.stages);
  check_thresholds(config, sparing, problems);
  return problems.empty() ? sparing : plan;
}

size_t BufferPlan::mbufs(size_t in_rings) const {
  const int64_t smallest_charge = round_to_cells(kEthernetHeader, cell_bytes);
  return static_cast<size_t>(size.count() / smallest_charge) + in_rings;
}

}  // namespace eddy::pfc
