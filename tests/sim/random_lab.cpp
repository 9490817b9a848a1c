#include "tests/sim/random_lab.h"

#include <algorithm>

#include "config/config.h"
#include "lab/fabric/build_topology.h"
#include "lb/members.h"
#include "lb/registry.h"
#include "net/assert.h"
#include "net/random.h"
#include "tests/sim/fourth_draws.h"
#include "tests/sim/second_draws.h"
#include "tests/sim/third_draws.h"

namespace eddy::test {
namespace {

static_assert(static_cast<int>(config::DetectorMode::guarded) == 2 &&
              static_cast<int>(config::OnExceed::least_bad) == 2 &&
              static_cast<int>(config::FollowRelease::loop) == 1 &&
              static_cast<int>(config::AllWarned::score) == 3);  // choose_escapes() takes any

using namespace eddy::literals;
using config::FaultConfig;
using config::FaultType;

constexpr uint32_t kEntity = 0, kPurpose = 0x6c616273;  // "labs"

// All that there were when its labs came to be: with another one they would be other labs. What
// has come since is drawn by the second generator.
constexpr const char* kFirstSchemes[] = {"ecmp",    "wcmp",  "spray", "presto",
                                         "letflow", "drill", "conga", "hermes"};

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed, kEntity, kPurpose) { lab_.seed = seed; }

  Lab run() {
    draw_topology();
    draw_switches();
    draw_hosts();
    draw_run();
    topology_ = std::move(*lab::build_topology(lab_.experiment));
    draw_flows();
    for (uint32_t i = random_.below(4); i > 0; --i) draw_fault();
    return std::move(lab_);
  }

 private:
  bool chance(uint32_t of) { return random_.below(of) == 0; }
  int between(int low, int high) {
    return low + static_cast<int>(random_.below(static_cast<uint32_t>(high - low + 1)));
  }

  template <class T, size_t kCount>
  T one_of(const T (&values)[kCount]) {
    return values[random_.below(kCount)];
  }

  void draw_topology() {
    config::TopologyConfig& topology = lab_.experiment.topology;
    constexpr BitRate kRates[] = {10_Gbps, 25_Gbps, 40_Gbps, 100_Gbps};
    constexpr config::TopologyKind kKinds[] = {
        config::TopologyKind::leaf_spine, config::TopologyKind::leaf_spine,
        config::TopologyKind::fat_tree, config::TopologyKind::dragonfly};
    topology.kind = one_of(kKinds);
    topology.leaves = between(1, 4);
    topology.spines = between(1, 4);
    topology.hosts_per_leaf = between(topology.leaves == 1 ? 2 : 1, 4);
    topology.parallel_links = between(1, 2);
    topology.k = chance(3) ? 4 : 2;
    topology.groups = between(2, 3);
    topology.routers = between(1, 2);
    topology.hosts_per_router = between(1, 2);
    topology.global_links = 1;
    topology.host_rate = one_of(kRates);
    topology.fabric_rate = one_of(kRates);
    topology.host_delay = 1_ns * between(100, 3'000);
    topology.fabric_delay = 1_ns * between(100, 3'000);
    topology.seed = lab_.seed;
  }

  void draw_switches() {
    config::FabricSwitchConfig& switches = lab_.experiment.switches;
    constexpr config::WatchdogAction kActions[] = {config::WatchdogAction::drop,
                                                   config::WatchdogAction::forward,
                                                   config::WatchdogAction::alert};
    switches.buffer = config::default_switch("").buffer;
    switches.buffer.size = 32_MiB;
    switches.buffer.cell_bytes = chance(2) ? 1 : 256;
    config::BufferProfile& lossless = switches.buffer.profiles["lossless"];
    lossless.mode = chance(2) ? config::BufferMode::fixed : config::BufferMode::dynamic;
    lossless.xoff = Bytes::kib(between(10, 100));
    lossless.dynamic_th = -between(4, 8);
    lossless.reserved = Bytes(between(0, 4'096));
    switches.buffer.wred["default"] = {true, Bytes(between(1, 20'000)),
                                       Bytes(between(20'000, 70'000)), 0.3};
    switches.watchdog = {true,
                         2_ms,
                         2_ms,
                         1_ms,
                         config::WatchdogDetect::stalled,
                         chance(3) ? one_of(kActions) : config::WatchdogAction::drop};
    lab_.experiment.load_balancer.scheme = some_scheme();
    draw_rlb();
    choose_order();
    choose_escapes();
  }

  // In every third lab; no draw, so that the others stay as they were.
  void choose_order() {
    config::ResequenceConfig& resequence = lab_.experiment.switches.resequence;
    const uint64_t choice = lb::mix64(lab_.seed);
    resequence.enabled = choice % 3 == 0;
    if ((choice >> 8 & 3) == 0) resequence.wait = 50_us;
    if ((choice >> 16 & 3) == 0) resequence.packets = 5;
    if ((choice >> 24 & 3) == 0) resequence.cap = 20_KiB;
  }

  // What RLB does where nothing is simple; no draw, either. In every other lab as the preset says.
  void choose_escapes() {
    config::RlbConfig& rlb = lab_.experiment.switches.rlb;
    const uint64_t choice = lb::mix64(~lab_.seed);
    const auto pick = [&](int at, uint64_t of) { return (choice >> at & 0xff) % of; };
    if (!rlb.enabled() || pick(0, 2) == 0) return;
    rlb.failure_detector.mode = static_cast<config::DetectorMode>(pick(8, 3));
    if (pick(16, 2) == 0) rlb.failure_detector.silence = 200_us;
    rlb.failure_detector.exclusion = 100_us * static_cast<int64_t>(1 + pick(16, 20));
    rlb.recirculation.on_exceed = static_cast<config::OnExceed>(pick(24, 3));
    rlb.recirculation.follow_release = static_cast<config::FollowRelease>(pick(32, 2));
    rlb.recirculation.rebase_on_return = pick(32, 3) == 0;
    rlb.all_warned = static_cast<config::AllWarned>(pick(40, 4));
    rlb.reroute_credit = pick(48, 2) == 0;
    if (pick(56, 3) == 0) rlb.guard.scope = config::GuardScope::moves;
    if (pick(56, 4) == 1) rlb.guard.flows = 64;
  }

  std::string some_scheme() { return one_of(kFirstSchemes); }

  // Off in every third lab.
  void draw_rlb() {
    config::RlbConfig& rlb = lab_.experiment.switches.rlb;
    constexpr config::RlbPreset kPresets[] = {
        config::RlbPreset::paper, config::RlbPreset::paper_star, config::RlbPreset::standard};
    constexpr config::GuardMode kModes[] = {config::GuardMode::off, config::GuardMode::follow,
                                            config::GuardMode::paced, config::GuardMode::strict};
    if (chance(3)) return;
    rlb = config::rlb_preset(one_of(kPresets));
    rlb.warning.relays = between(0, 2);
    rlb.warning.clear = !chance(4);
    if (chance(2)) rlb.guard.mode = one_of(kModes);
    if (chance(3)) rlb.granularity = config::Granularity::unit;
  }

  void draw_hosts() {
    config::HostConfig& host = lab_.experiment.host;
    constexpr std::string_view kControls[] = {"none", "dcqcn", "dctcp"};
    constexpr int kMtus[] = {256, 1'024, 4'096};
    host.recovery = chance(2) ? "irn" : "go_back_n";
    host.reorder_buffer = host.recovery == "go_back_n" && chance(2);
    host.congestion_control = one_of(kControls);
    host.mtu = one_of(kMtus);
    host.rto = 400_us;
    host.nak_timer = chance(2) ? 100_us : 0_us;
    host.window = host.recovery == "irn" || chance(2);
    host.ack_every = chance(3) ? 4 : 1;
    host.queue_pairs = chance(4) ? 2 : 1;
    host.icrc_check = chance(2);
  }

  void draw_run() {
    config::RunConfig& run = lab_.experiment.run;
    if (!chance(3)) return;
    run.poll_model = config::PollModel::busy_poll;
    run.poll_period = 1_ns * between(100, 2'000);
    run.poll_jitter = chance(2) ? run.poll_period / 4 : 0_ns;
    run.poll_burst = between(1, 32);
    lab_.experiment.switches.poll_gap = (run.poll_period + run.poll_jitter) * 2;
  }

  // Most go to the first host, to crowd it.
  void draw_flows() {
    const auto hosts = static_cast<uint32_t>(topology_.hosts.size());
    for (int i = between(3, 20); i > 0; --i) {
      const uint32_t source = random_.below(hosts);
      const uint32_t destination = chance(2) ? 0 : random_.below(hosts);
      if (source == destination) continue;
      const Bytes size = chance(4) ? Bytes::kib(between(64, 400)) : Bytes(between(1, 60'000));
      lab_.flows.push_back({.source = source,
                            .destination = destination,
                            .size = size,
                            .start = Instant() + 1_ns * between(0, 200'000),
                            .source_port = static_cast<uint16_t>(49'152 + random_.below(16'384))});
    }
    std::ranges::stable_sort(lab_.flows, {}, &lab::Flow::start);
  }

  std::string some_switch() {
    return topology_.switches[random_.below(static_cast<uint32_t>(topology_.switches.size()))].name;
  }
  std::string some_host() {
    return topology_.hosts[random_.below(static_cast<uint32_t>(topology_.hosts.size()))].name;
  }

  void draw_fault() {
    constexpr uint32_t kTypes = static_cast<uint32_t>(FaultType::reconfigure) + 1;
    FaultConfig fault{.type = static_cast<FaultType>(random_.below(kTypes)),
                      .start = 1_ns * between(0, 200'000),
                      .duration = 1_ns * between(1'000, 200'000)};
    aim(fault);
    constexpr double kProbabilities[] = {0.01, 0.1, 0.5, 1.0};
    fault.probability = one_of(kProbabilities);
    constexpr BitRate kSlowRates[] = {1_Gbps, 5_Gbps};
    fault.rate = one_of(kSlowRates);
    fault.delay = 1_ns * between(100, 50'000);
    if (fault.type == FaultType::pause_storm) {
      fault.duration = 1_us * between(10, 5'000);
      fault.period = 1_us * between(5, 200);
    } else if (chance(4)) {
      fault.period = fault.duration * 3;
    }
    if (fault.type == FaultType::reconfigure) fault.set = {some_change()};
    lab_.experiment.faults.push_back(std::move(fault));
  }

  void aim(FaultConfig& fault) {
    switch (fault.type) {
      case FaultType::pause_storm:
      case FaultType::slow_receiver:
        fault.hosts = {some_host()};
        return;
      case FaultType::switch_stall:
      case FaultType::reconfigure:
        fault.switches = {some_switch()};
        return;
      case FaultType::pool_exhaustion:
        if (chance(2)) fault.switches = {some_switch()};
        return;
      case FaultType::black_hole:
        fault.fraction = 0.5;
        return;
      case FaultType::random_drop:
      case FaultType::corruption:
      case FaultType::pfc_loss:
      case FaultType::pfc_duplicate:
      case FaultType::pfc_delay:
      case FaultType::cnm_loss:
      case FaultType::cnm_duplicate:
        if (chance(2)) return void(fault.switches = {some_switch()});
        [[fallthrough]];
      case FaultType::link_flap:
      case FaultType::slow_link:
        if (chance(2) || topology_.links.empty())
          fault.hosts = {some_host()};
        else
          fault.links = {
              topology_.links[random_.below(static_cast<uint32_t>(topology_.links.size()))].name};
        return;
    }
  }

  std::pair<const std::string, std::string> some_change() {
    switch (random_.below(7)) {
      case 0:
        return {"load_balancer.scheme", some_scheme()};
      case 5:
        return {
            "rlb.preset",
            std::string(config::kRlbPresetNames[random_.below(config::kRlbPresetNames.size())])};
      case 6:
        return {"rlb.guard.mode", chance(2) ? "off" : "strict"};
      case 1:
        return {"buffer.profiles.lossless.xon_offset", std::to_string(between(0, 8)) + "KiB"};
      case 2:
        return {"port_defaults.queues.3.weight", std::to_string(between(1, 30))};
      case 3:
        return {"port_defaults.queues.3.max_rate", std::to_string(between(1, 9)) + "Gbps"};
      default:
        return {"port_defaults.pfc.refresh_limit", std::to_string(between(20, 200)) + "us"};
    }
  }

  RandomStream random_;
  Lab lab_;
  lab::Topology topology_;
};

}  // namespace

Lab make_random_lab(uint64_t seed, Generator generator) {
  const auto first = [](uint64_t from) { return Maker(from).run(); };
  if (generator == Generator::third) return make_third_lab(seed, first);
  if (generator == Generator::fourth) return make_fourth_lab(seed, first);
  Lab lab = first(seed);
  if (generator == Generator::second) draw_more(lab);
  return lab;
}

Lab varied_lab(uint64_t seed) {
  Lab lab = make_random_lab(seed, seed % 2 == 0 ? Generator::first : Generator::second);
  const auto schemes = lb::schemes();
  take_scheme(lab, schemes[seed / 4 % schemes.size()].name);
  config::RunConfig& run = lab.experiment.run;
  if (seed / 2 % 2 == 0) {
    run.poll_model = config::PollModel::exact;
  } else if (run.poll_model == config::PollModel::exact) {
    run.poll_model = config::PollModel::busy_poll;
    run.poll_period = 500_ns;
    run.poll_jitter = 100_ns;
    lab.experiment.switches.poll_gap = 1'200_ns;
  }
  return lab;
}

Lab with_collectives(Lab lab) {
  config::TrafficConfig first{.type = config::TrafficType::collective, .size = 60_KiB};
  first.name = "first";
  first.chunks = 1 + static_cast<int>(lab.seed % 3);
  first.repeat = 2;
  config::TrafficConfig second = first;
  second.name = "second";
  second.op = config::CollectiveOp::all_reduce_tree;
  second.after = "first";
  second.start = 1_us;
  config::TrafficConfig beside = first;
  beside.name = "beside";
  beside.op = config::CollectiveOp::all_to_all;
  config::Experiment experiment = lab.experiment;
  experiment.traffic = {second, first, beside};
  experiment.run.warmup = Duration{};
  experiment.run.duration = 1_ms;
  experiment.run.max_flows = 0;
  const auto topology = lab::build_topology(experiment);
  auto trace = lab::make_traffic(experiment, topology.value(), lab.seed, nullptr);
  ASSERT(trace.ok());
  lab.flows = std::move(trace.value().flows);
  lab.waits = std::move(trace.value().waits);
  return lab;
}

LabResult run_random_lab(uint64_t seed, Generator generator, uint64_t rebase_every) {
  const std::string rebases =
      rebase_every != 0 ? "--rebase " + std::to_string(rebase_every) + " " : "";
  const std::string option =
      generator == Generator::first
          ? ""
          : "--generator " + std::to_string(static_cast<int>(generator)) + " ";
  return run_lab(make_random_lab(seed, generator),
                 {.replay = "build/dev/bin/lab_sim " + rebases + option + std::to_string(seed),
                  .rebase_every = rebase_every});
}

LabResult run_preset_lab(uint64_t seed, config::RlbPreset preset) {
  Lab lab = make_random_lab(seed);
  lab.experiment.switches.rlb = config::rlb_preset(preset);
  std::erase_if(lab.experiment.faults, [](const config::FaultConfig& fault) {
    return fault.type == config::FaultType::reconfigure;
  });
  const std::string_view name = config::kRlbPresetNames[static_cast<size_t>(preset)];
  return run_lab(lab, {.replay = "build/dev/bin/lab_sim --rlb " + std::string(name) + " " +
                                 std::to_string(seed)});
}

}  // namespace eddy::test
