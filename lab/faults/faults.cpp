#include "lab/faults/faults.h"

#include <algorithm>
#include <utility>

#include "lab/faults/spoof.h"
#include "net/protocols.h"
#include "switch/dataplane/object/switch.h"

namespace eddy::lab {

using config::FaultConfig;
using config::FaultType;

namespace {

Problems set_keys(config::SwitchConfig& config, const FaultConfig& change, const SetKey& set_key) {
  Problems problems;
  for (const auto& [key, value] : change.set)
    for (const std::string& problem : set_key(config, key, value)) problems.push_back(problem);
  return problems;
}

// As far as can be known beforehand: a new switch would take it.
Problems reconfiguration_problems(const FaultPlan& plan, const Topology& topology,
                                  const SetKey& set_key) {
  if (plan.config.type != FaultType::reconfigure) return {};
  const std::string place = "faults." + std::to_string(plan.index) + ".set";
  if (!set_key) return {place + ": this program cannot reconfigure switches"};
  for (const uint32_t index : plan.switches) {
    config::SwitchConfig config = topology.switches[index];
    Problems found = set_keys(config, plan.config, set_key);
    if (found.empty()) {
      const auto made = Switch::create(config, {.shards = 1, .shared_routes = topology.routes});
      if (!made) found = made.problems();
    }
    for (std::string& problem : found)
      problem.insert(0, std::string(place).append(": ").append(config.name).append(": "));
    if (!found.empty()) return found;  // the others would say the same
  }
  return {};
}

}  // namespace

Problems fault_problems(const config::Experiment& experiment, const Topology& topology,
                        uint64_t seed, const SetKey& set_key) {
  const LineNumbers any{[](size_t, PortId) { return 0; }, [](size_t) { return 0; },
                        [](uint32_t) { return 0; }};
  const auto plans = plan_faults(experiment, topology, any, seed);
  if (!plans) return plans.problems();
  Problems problems;
  for (const FaultPlan& plan : plans.value())
    for (const std::string& problem : reconfiguration_problems(plan, topology, set_key))
      problems.push_back(problem);
  return problems;
}

void Faults::Layers::add(World& world, uint32_t line, LineFault* fault) {
  faults_[line].push_back(fault);
  world.set_filter(line, this);
}

void Faults::Layers::remove(World& world, uint32_t line, LineFault* fault) {
  std::erase(faults_[line], fault);
  if (faults_[line].empty()) world.set_filter(line, nullptr);
}

LineFilter::Verdict Faults::Layers::judge(uint32_t line, Packet& packet, Instant /*now*/) {
  Verdict all;
  for (LineFault* fault : faults_[line]) {
    const Verdict verdict = fault->judge(line, packet);
    if (verdict.lose) return {.lose = true};
    all.duplicate |= verdict.duplicate;
    all.extra_delay += verdict.extra_delay;
  }
  return all;
}

Faults::Faults(const config::Experiment& experiment, const Topology& topology, World& world,
               const SetKey& set_key)
    : topology_(topology),
      world_(world),
      host_(experiment.host),
      set_key_(set_key),
      layers_(world.lines().size()) {}

Faults::~Faults() {
  for (const auto& [host, receiver] : receivers_) world_.set_intake(host, nullptr);
}

Result<std::unique_ptr<Faults>> Faults::install(const config::Experiment& experiment,
                                                const Topology& topology, World& world,
                                                uint64_t seed, const SetKey& set_key) {
  auto plans = plan_faults(experiment, topology, world, seed);
  if (!plans) return plans.problems();
  std::unique_ptr<Faults> faults(new Faults(experiment, topology, world, set_key));
  for (FaultPlan& plan : *plans) faults->prepare(std::move(plan), seed);
  if (!faults->problems_.empty()) return faults->problems_;
  for (const auto& fault : faults->faults_)
    faults->plan_begin(*fault, std::max(world.now(), Instant() + fault->plan.config.start));
  return faults;
}

void Faults::prepare(FaultPlan&& plan, uint64_t seed) {
  auto fault = std::make_unique<Fault>();
  fault->plan = std::move(plan);
  const FaultConfig& config = fault->plan.config;
  if (config.probability > 0)
    fault->frames = std::make_unique<LineFault>(fault->plan, topology_, seed, host_.icrc_check);
  if (config.type == FaultType::pool_exhaustion && fault->plan.switches.empty()) {
    if (world_.ranks() != nullptr)
      problems_.push_back("faults." + std::to_string(fault->plan.index) +
                          ".switches: the pool of the whole fabric is known to one process alone");
    else
      world_.keep_whole();
  }
  if (config.type == FaultType::slow_receiver) {
    for (const uint32_t host : fault->plan.hosts) {
      const Topology::Host& at = topology_.hosts[host];
      const int mtu = topology_.switches[at.switch_index].ports[at.port.index()].mtu;
      receivers_.emplace(
          host,
          std::make_unique<SlowReceiver>(
              world_, SlowReceiver::Setup{.host = host,
                                          .line_rate = at.rate,
                                          .line_delay = at.delay,
                                          .largest_frame = mtu + static_cast<int>(kEthernetHeader),
                                          .mac = at.mac,
                                          .config = host_}));
    }
  }
  for (const std::string& problem : reconfiguration_problems(fault->plan, topology_, set_key_))
    problems_.push_back(problem);
  faults_.push_back(std::move(fault));
}

void Faults::plan_begin(Fault& fault, Instant at) {
  const FaultConfig& config = fault.plan.config;
  world_.at(at, [this, &fault](World&) { begin(fault); });
  if (config.duration > Duration{})
    world_.at(at + config.duration, [this, &fault](World&) { end(fault); });
}

void Faults::begin(Fault& fault) {
  const FaultConfig& config = fault.plan.config;
  fault.on = true;
  ++fault.begun;
  turn(fault);
  if (config.period > Duration{} && config.type != FaultType::pause_storm)
    plan_begin(fault, world_.now() + config.period);
}

void Faults::end(Fault& fault) {
  fault.on = false;
  turn(fault);
}

// The fault has been turned on or off.
void Faults::turn(Fault& fault) {
  switch (fault.plan.config.type) {
    case FaultType::link_flap:
      return cut_links(fault);
    case FaultType::slow_link:
      return slow_links(fault);
    case FaultType::black_hole:
    case FaultType::random_drop:
    case FaultType::corruption:
    case FaultType::pfc_loss:
    case FaultType::pfc_duplicate:
    case FaultType::pfc_delay:
    case FaultType::cnm_loss:
    case FaultType::cnm_duplicate:
      return set_layers(fault);
    case FaultType::pause_storm:
      return storm(fault);
    case FaultType::slow_receiver:
      return slow_receivers(fault);
    case FaultType::switch_stall:
      return stall(fault);
    case FaultType::pool_exhaustion:
      return starve(fault);
    case FaultType::reconfigure:
      for (const uint32_t index : fault.plan.switches) reconfigure(index);
      return;
  }
}

void Faults::cut_links(const Fault& fault) {
  for (const uint32_t line : fault.plan.lines) {
    int& faults = down_[std::min(line, world_.reverse(line))];
    faults += fault.on ? 1 : -1;
    const bool up = faults == 0;
    if (up != world_.lines()[line].up) world_.set_link(line, up);
  }
}

void Faults::slow_links(const Fault& fault) {
  std::vector<uint32_t> switches;
  for (const uint32_t index : fault.plan.lines) {
    const uint32_t from = world_.lines()[index].from;
    if (from < world_.switch_count()) {
      if (std::ranges::find(switches, from) == switches.end()) switches.push_back(from);
    } else {
      const auto host = static_cast<uint32_t>(from - world_.switch_count());
      world_.set_host_rate(host, host_rate(host));
    }
  }
  for (const uint32_t each : switches) reconfigure(each);
}

BitRate Faults::host_rate(uint32_t host) const {
  BitRate rate = topology_.hosts[host].rate;
  for (const auto& fault : faults_)
    if (fault->on && fault->plan.config.type == FaultType::slow_link &&
        std::ranges::binary_search(fault->plan.lines, world_.line_of_host(host)))
      rate = std::min(rate, *fault->plan.config.rate);
  return rate;
}

// The slowest of those that are on; 0 when none is.
BitRate Faults::drain_of(uint32_t host) const {
  BitRate slowest;
  for (const auto& fault : faults_) {
    const FaultConfig& config = fault->plan.config;
    if (!fault->on || config.type != FaultType::slow_receiver ||
        !std::ranges::binary_search(fault->plan.hosts, host))
      continue;
    slowest = slowest == BitRate{} ? *config.rate : std::min(slowest, *config.rate);
  }
  return slowest;
}

void Faults::slow_receivers(const Fault& fault) {
  for (const uint32_t host : fault.plan.hosts) {
    const BitRate drain = drain_of(host);
    drain == BitRate{} ? receivers_.at(host)->end() : receivers_.at(host)->begin(drain);
  }
}

void Faults::set_layers(Fault& fault) {
  for (const uint32_t line : fault.plan.lines) {
    if (fault.on)
      layers_.add(world_, line, fault.frames.get());
    else
      layers_.remove(world_, line, fault.frames.get());
  }
}

void Faults::storm(Fault& fault) {
  if (!fault.on) return;
  for (const uint32_t host : fault.plan.hosts)
    if (world_.is_here(static_cast<uint32_t>(world_.switch_count() + host)) &&
        inject_pause(world_, world_.line_of_host(host), topology_.hosts[host].mac,
                     {host_.priority, kLongestPause}))
      ++fault.spoofed;
  world_.at(world_.now() + fault.plan.config.period, [this, &fault](World&) { storm(fault); });
}

void Faults::stall(const Fault& fault) {
  if (!fault.on) return;
  const Instant until = world_.now() + fault.plan.config.duration;
  for (const uint32_t index : fault.plan.switches) {
    Instant& stalled = world_.switch_node(index).stalled_until;
    stalled = std::max(stalled, until);
  }
}

void Faults::starve(const Fault& fault) {
  const FaultType type = FaultType::pool_exhaustion;
  if (fault.plan.switches.empty()) {
    const bool any = std::ranges::any_of(faults_, [&](const auto& each) {
      return each->on && each->plan.config.type == type && each->plan.switches.empty();
    });
    world_.pool().withhold(any);
  }
  for (const uint32_t index : fault.plan.switches)
    if (world_.is_here(index)) world_.switch_node(index).io->starve(is_on(type, index));
}

bool Faults::is_on(FaultType type, uint32_t switch_index) const {
  return std::ranges::any_of(faults_, [&](const auto& fault) {
    return fault->on && fault->plan.config.type == type &&
           std::ranges::binary_search(fault->plan.switches, switch_index);
  });
}

// The switch's own configuration with what all faults that are on make of it, in their order.
void Faults::reconfigure(uint32_t index) {
  if (!world_.is_here(index)) return;
  config::SwitchConfig config = topology_.switches[index];
  Problems found;
  for (const auto& fault : faults_) {
    if (!fault->on) continue;
    const Problems more = edit(index, *fault, config);
    found.insert(found.end(), more.begin(), more.end());
  }
  Switch& object = world_.switch_at(index);
  object.reclaim();
  if (const auto done = object.reconfigure(config); !done.ok())
    found.insert(found.end(), done.problems().begin(), done.problems().end());
  world_.nudge(index);
  if (found.empty()) return;
  for (const std::string& problem : found) problems_.push_back(config.name + ": " + problem);
  world_.stop();
}

Problems Faults::edit(uint32_t index, const Fault& fault, config::SwitchConfig& config) const {
  Problems problems;
  const FaultConfig& change = fault.plan.config;
  if (change.type == FaultType::slow_link) {
    for (const uint32_t line : fault.plan.lines) {
      if (world_.lines()[line].from != index) continue;
      BitRate& shaper = config.ports[world_.lines()[line].from_port.index()].shaper;
      shaper = shaper > BitRate{} ? std::min(shaper, *change.rate) : *change.rate;
    }
  } else if (change.type == FaultType::reconfigure &&
             std::ranges::binary_search(fault.plan.switches, index)) {
    problems = set_keys(config, change, set_key_);
  }
  return problems;
}

std::vector<FaultReport> Faults::report() const {
  std::vector<FaultReport> reports;
  for (const auto& fault : faults_) {
    FaultReport& report = reports.emplace_back(FaultReport{
        .type = fault->plan.config.type, .begun = fault->begun, .frames = fault->spoofed});
    if (fault->frames != nullptr) report.frames += fault->frames->hits();
    if (report.type != FaultType::slow_receiver) continue;
    for (const uint32_t host : fault->plan.hosts) {
      report.frames += receivers_.at(host)->pauses();
      report.lost += receivers_.at(host)->lost();
    }
  }
  return reports;
}

}  // namespace eddy::lab
