#include "tests/sim/second_draws.h"

#include <algorithm>
#include <span>

#include "host/registry.h"
#include "lab/fabric/build_topology.h"
#include "lb/registry.h"
#include "tests/sim/lab_draws.h"

namespace eddy::test {
namespace {

using namespace eddy::literals;

enum class Group : uint32_t {
  bursts,
  tables,
  scheme,
  paths,
  rlb,
  hosts,
  switches,
  traffic,
  sites,
  nics,
  newcomers,
  laws,
  groups,
  heed
};

class Drawer : public LabDraws {
 public:
  Drawer(const Lab& lab, Group group)
      : LabDraws(lab.seed, static_cast<uint32_t>(group), 0x6d6f7265) {}  // "more"
};

// One of all the schemes that there are, in every fourth lab: those that the first generator does
// not know come from here alone.
void draw_newcomers(Lab& lab) {
  Drawer draw(lab, Group::newcomers);
  const auto schemes = lb::schemes();
  if (draw.chance(4))
    take_scheme(
        lab,
        schemes[static_cast<size_t>(draw.between(0, static_cast<int>(schemes.size()) - 1))].name);
}

// In every other dragonfly a scheme that is for such.
void draw_groups(Lab& lab) {
  Drawer draw(lab, Group::groups);
  std::vector<std::string_view> schemes;
  for (const lb::SchemeInfo& scheme : lb::schemes())
    if (scheme.grouped.channels != 0) schemes.push_back(scheme.name);
  if (lab.experiment.topology.kind == config::TopologyKind::dragonfly && draw.chance(2))
    take_scheme(
        lab, schemes[static_cast<size_t>(draw.between(0, static_cast<int>(schemes.size()) - 1))]);
}

// A switch that reads few frames a port and poll: what is unread counts towards XOFF.
void draw_bursts(Lab& lab) {
  Drawer draw(lab, Group::bursts);
  config::RunConfig& run = lab.experiment.run;
  if (!draw.chance(2)) return;
  if (run.poll_model == config::PollModel::exact) {
    run.poll_model = config::PollModel::busy_poll;
    run.poll_period = 1_ns * draw.between(100, 2'000);
    run.poll_jitter = draw.chance(2) ? run.poll_period / 4 : 0_ns;
  }
  run.poll_burst = draw.between(1, 4);
  lab.experiment.switches.poll_gap = (run.poll_period + run.poll_jitter) * 2;
}

// More queue pairs than a table has places for: newcomers get none, or others are forgotten.
void draw_tables(Lab& lab) {
  Drawer draw(lab, Group::tables);
  if (!draw.chance(2)) return;
  constexpr int kPairs[] = {4, 16, 64};
  config::FabricSwitchConfig& switches = lab.experiment.switches;
  lab.experiment.host.queue_pairs = draw.one_of(kPairs);
  if (draw.chance(2)) switches.rlb.guard.flows = draw.between(1, 16) * 4;
  if (draw.chance(2)) switches.resequence.flows = draw.between(1, 64);
  for (const lb::ParameterInfo& info : parameters_of(lab))
    if (info.name == "flows" || info.name == "entries")
      lab.experiment.load_balancer.parameters[std::string(info.name)] =
          lb::value_text(info, info.min);
}

// The scheme's own parameters: one of four is near an end of its range, or any choice.
void draw_scheme(Lab& lab) {
  Drawer draw(lab, Group::scheme);
  for (const lb::ParameterInfo& info : parameters_of(lab)) {
    if (!draw.chance(4)) continue;
    const bool named = info.kind == lb::ParameterKind::choice;
    const int64_t most = info.max - info.min;
    const int64_t span =
        info.fallback == lb::kAutomatic ? most : std::min(most, info.fallback - info.min);
    const int64_t value = named ? draw.between(0, static_cast<int>(info.choices.size()) - 1)
                                : info.min + span / draw.between(1, 100);
    lab.experiment.load_balancer.parameters[std::string(info.name)] = lb::value_text(info, value);
  }
}

// Fabrics whose links differ, and what leaves measure of them.
void draw_paths(Lab& lab) {
  Drawer draw(lab, Group::paths);
  config::TopologyConfig& topology = lab.experiment.topology;
  constexpr BitRate kSlow[] = {5_Gbps, 10_Gbps};
  constexpr double kFractions[] = {0.25, 0.5};
  if (draw.chance(3))
    topology.degraded = {{.fraction = draw.one_of(kFractions), .rate = draw.one_of(kSlow)}};
  if (draw.chance(3))
    topology.weighted = {{.fraction = draw.one_of(kFractions), .weight = draw.between(2, 5)}};
  if (topology.kind == config::TopologyKind::fat_tree && draw.chance(3))
    topology.oversubscription = 2;
  config::PathServiceConfig& service = lab.experiment.switches.path_service;
  if (draw.chance(3)) service.shim = config::ShimUse::every;
  if (draw.chance(3)) service.delay = config::DelayMetric::round_trip;
  if (draw.chance(4)) service.common_clock = false;
  if (draw.chance(3)) service.probe = draw.chance(2) ? 0_us : 1_us * draw.between(10, 200);
  if (draw.chance(4)) service.smoothing = draw.between(1, 16);
  if (draw.chance(4)) service.shim = config::ShimUse::free;
  if (draw.chance(4)) lab.experiment.load_balancer.control = config::ControlBy::scheme;
}

void draw_rlb(Lab& lab) {
  Drawer draw(lab, Group::rlb);
  config::RlbConfig& rlb = lab.experiment.switches.rlb;
  if (!rlb.enabled()) return;
  constexpr config::PredictorMode kModes[] = {config::PredictorMode::fixed,
                                              config::PredictorMode::derivative,
                                              config::PredictorMode::combined};
  constexpr config::RoundLimit kLimits[] = {config::RoundLimit::most, config::RoundLimit::rounds,
                                            config::RoundLimit::packets};
  if (draw.chance(2)) rlb.predictor.mode = draw.one_of(kModes);
  if (draw.chance(2)) rlb.predictor.threshold = Bytes::kib(draw.between(2, 60));
  if (draw.chance(3)) rlb.warning.life = 1_us * draw.between(10, 200);
  config::RecirculationConfig& loop = rlb.recirculation;
  if (draw.chance(3)) loop.limit = draw.one_of(kLimits);
  if (draw.chance(3)) loop.most_rounds = draw.between(1, 16);
  if (draw.chance(3)) loop.cap = Bytes::kib(draw.between(16, 128));
  if (draw.chance(3)) loop.port_cap = Bytes::kib(draw.between(5, 64));
  if (draw.chance(3)) loop.followers = draw.between(1, 8);
  if (draw.chance(4)) loop.latency = 1_ns * draw.between(200, 5'000);
  if (draw.chance(4)) rlb.reaction = 0.5;
}

// Which warnings count, and for whom.
void draw_heed(Lab& lab) {
  Drawer draw(lab, Group::heed);
  config::RlbConfig& rlb = lab.experiment.switches.rlb;
  if (!rlb.enabled()) return;
  constexpr config::Heed kHeeds[] = {config::Heed::local, config::Heed::relayed,
                                     config::Heed::predicted};
  rlb.heed = draw.one_of(kHeeds);
  if (draw.chance(2)) rlb.placement = config::Placement::least_delay;
  rlb.culprits = draw.chance(2);
}

ParameterValues quick_irn() {
  return {
      {"irn.rto_low", (50_us).ps()}, {"irn.rto_high", (150_us).ps()}, {"irn.rto_low_packets", 1}};
}

void draw_hosts(Lab& lab) {
  Drawer draw(lab, Group::hosts);
  config::HostConfig& host = lab.experiment.host;
  constexpr int kMtus[] = {256, 512, 1'024, 2'048, 4'096};
  if (draw.chance(3)) host.mtu = draw.one_of(kMtus);
  if (draw.chance(4)) host.nak_cuts_rate = true;
  if (draw.chance(4)) host.variable_window = true;
  if (draw.chance(4)) host.reorder_timeout = draw.chance(2) ? 0_us : 50_us;
  if (draw.chance(4)) host.law_parameters.merge(quick_irn());
  if (draw.chance(4)) host.dcqcn = config::dcqcn_preset(config::DcqcnPreset::vendor);
}

void draw_switches(Lab& lab) {
  Drawer draw(lab, Group::switches);
  config::FabricSwitchConfig& switches = lab.experiment.switches;
  if (draw.chance(4)) switches.lossless = {Priority(3), Priority(4)};
  if (draw.chance(4)) switches.pfc_port.quanta = static_cast<uint16_t>(draw.between(200, 65'535));
  if (draw.chance(4)) switches.buffer.profiles["lossless"].xon_offset = Bytes::kib(0);
  if (draw.chance(4)) switches.dre = {.period = 1_us * draw.between(5, 50), .alpha = 0.5, .q = 6};
}

// A crowd that begins at one instant, as an incast does: requests of one to three packets.
void draw_traffic(Lab& lab) {
  Drawer draw(lab, Group::traffic);
  if (!draw.chance(3) || lab.flows.empty()) return;
  const Instant start = lab.flows[lab.flows.size() / 2].start;
  std::vector<lab::Flow> crowd;
  for (const lab::Flow& flow : lab.flows)
    for (int i = draw.between(0, 4); i > 0; --i) {
      crowd.push_back(flow);
      crowd.back().start = start;
      crowd.back().size = Bytes(draw.between(1, lab.experiment.host.mtu * 3));
      crowd.back().source_port = static_cast<uint16_t>(draw.between(49'152, 65'535));
    }
  lab.flows.insert(lab.flows.end(), crowd.begin(), crowd.end());
  std::ranges::stable_sort(lab.flows, {}, &lab::Flow::start);
}

// In every other lab. Clocks wrap where 32 bits of nanoseconds do, and where flowlets' stamps of 48
// bits of picoseconds do, once or twice a run.
void draw_sites(Lab& lab) {
  Drawer draw(lab, Group::sites);
  if (!draw.chance(2)) return;
  lab.sites = FaultSites::draw(lab.seed);
  const auto on = [&](FaultSite site) -> uint16_t& { return lab.sites[static_cast<size_t>(site)]; };
  if (on(FaultSite::clock_wraps) != 0) {
    constexpr int64_t kEnds[] = {(int64_t{1} << 32) * 1'000, (int64_t{1} << 31) * 1'000,
                                 int64_t{1} << 48};
    on(FaultSite::clock_wraps) = FaultSites::kAlways;
    const Duration before = 1_ns * draw.between(0, 1'000'000);  // first: draws have an order
    lab.clock_ahead = Duration::picoseconds(draw.one_of(kEnds)) - before;
  }
  if (on(FaultSite::poll_late) == 0 && on(FaultSite::timers_together) == 0) return;
  config::RunConfig& run = lab.experiment.run;
  lab.latest = 1_ns * draw.between(100, 3'000);
  const Duration period =
      run.poll_model == config::PollModel::busy_poll ? run.poll_period + run.poll_jitter : 0_ns;
  lab.experiment.switches.poll_gap = (period + lab.latest) * 2;
}

// Simulators' packets and lines, NICs' DCQCN, and marks at dequeue.
void draw_nics(Lab& lab) {
  Drawer draw(lab, Group::nics);
  config::HostConfig& host = lab.experiment.host;
  if (draw.chance(4)) host.mtu = draw.chance(2) ? 1'000 : draw.between(256, 4'096);
  if (draw.chance(4)) host.dcqcn = config::dcqcn_preset(config::DcqcnPreset::vendor);
  if (draw.chance(4)) lab.experiment.topology.line_overhead = draw.between(0, 64);
  if (draw.chance(4))
    for (auto& [name, wred] : lab.experiment.switches.buffer.wred)
      wred.mark = config::WredMark::dequeue;
}

template <class Info>
std::string some_law(Drawer& draw, std::span<const Info> laws) {
  return std::string(
      laws[static_cast<size_t>(draw.between(0, static_cast<int>(laws.size()) - 1))].name);
}

// Any laws of hosts that go together, in every so many labs; their timeouts are those of the lab.
void draw_laws(Lab& lab, uint32_t every) {
  Drawer draw(lab, Group::laws);
  config::HostConfig& host = lab.experiment.host;
  if (!draw.chance(every)) return;
  host.congestion_control = some_law(draw, host::rate_controls());
  host.recovery = some_law(draw, host::recoveries());
  host.entropy = some_law(draw, host::entropies());
  host.pacing = some_law(draw, host::pacings());
  const host::Laws laws = host::laws_of(host);
  if (laws.entropy.law->spreads && laws.recovery.law->drops_ahead) host.recovery = "selective_ack";
  if (laws.entropy.law->drains) host.ack_every = 1;
  for (const host::LawInfo* law : host::all_laws())
    for (const ParameterInfo& parameter : law->parameters)
      if (parameter.name == "rto")
        host.law_parameters[host::parameter_key(law->name, "rto")] = host.rto.ps();
}

}  // namespace

std::span<const lb::ParameterInfo> parameters_of(const Lab& lab) {
  for (const config::FaultConfig& fault : lab.experiment.faults)
    if (fault.set.contains("load_balancer.scheme")) return {};
  return lb::find_scheme(lab.experiment.load_balancer.scheme)->parameters;
}

void take_scheme(Lab& lab, std::string_view scheme) {
  config::Experiment other = lab.experiment;
  other.load_balancer = {.scheme = std::string(scheme), .control = other.load_balancer.control};
  if (scheme == lab.experiment.load_balancer.scheme) return;
  const lb::Grouped& grouped = lb::find_scheme(scheme)->grouped;
  if (grouped.detours) other.switches.rlb = {};
  if (grouped.channels != 0)
    std::erase_if(other.faults, [](const config::FaultConfig& fault) {
      return fault.type == config::FaultType::reconfigure;
    });
  for (const bool pinned : {lab.experiment.topology.pinned, true}) {
    other.topology.pinned = pinned;
    if (!lab::check_scheme(other).empty()) continue;
    lab.experiment = other;
    return;
  }
}

void draw_more(Lab& lab) {
  draw_newcomers(lab);  // before all that is drawn for its scheme
  draw_groups(lab);     // too
  draw_beside_scheme(lab, 4);
}

void draw_beside_scheme(Lab& lab, uint32_t laws_in) {
  draw_bursts(lab);
  draw_tables(lab);
  draw_scheme(lab);
  draw_paths(lab);
  draw_rlb(lab);
  draw_heed(lab);
  draw_hosts(lab);
  draw_switches(lab);
  draw_traffic(lab);
  draw_sites(lab);
  draw_nics(lab);
  draw_laws(lab, laws_in);
}

}  // namespace eddy::test
