#include "lab/check/check_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "host/registry.h"
#include "lab/fabric/topology.h"
#include "lb/registry.h"

namespace eddy::lab {
namespace {

using config::FaultConfig;
using config::FaultType;

// Why the fault ends the promise that lossless groups lose nothing; empty if it does not.
std::string_view ends_lossless(const FaultConfig& fault) {
  switch (fault.type) {
    case FaultType::link_flap:
      return "a link that comes back has forgotten its pauses";
    case FaultType::pfc_loss:
    case FaultType::pfc_delay:
      return "pauses are lost or late";
    case FaultType::pause_storm:
      return "a spoofed pause cuts a true one short";
    case FaultType::switch_stall:
    case FaultType::pool_exhaustion:
      return "pauses cannot be sent in time";
    case FaultType::reconfigure: {
      // What may change while packets are held: thresholds, shares and the choice of paths.
      constexpr std::array<std::string_view, 8> kHarmless = {
          "load_balancer.", "rlb.",        ".weight", ".xoff",
          ".xon_offset",    ".dynamic_th", ".wred.",  "isolation."};
      for (const auto& [key, value] : fault.set)
        if (std::ranges::none_of(kHarmless, [&key = key](std::string_view part) {
              return key.find(part) != std::string::npos;
            }))
          return "the headroom may no longer fit";
      return {};
    }
    case FaultType::slow_link:
    case FaultType::black_hole:
    case FaultType::random_drop:
    case FaultType::corruption:
    case FaultType::pfc_duplicate:
    case FaultType::cnm_loss:
    case FaultType::cnm_duplicate:
    case FaultType::slow_receiver:
      return {};
  }
  return {};
}

// A class changes only behind what is before it, whenever isolation goes on or off.
bool isolates_alone(const FaultConfig& fault) {
  return !fault.set.empty() && std::ranges::all_of(fault.set, [](const auto& item) {
    return item.first.starts_with("isolation.");
  });
}

bool moves_flows(const FaultConfig& fault) {
  return fault.type == FaultType::link_flap ||
         (fault.type == FaultType::reconfigure && !isolates_alone(fault));
}

// A link between switches gets another rate, of which selectors are made.
bool changes_lines(const FaultConfig& fault) {
  return fault.type == FaultType::slow_link && (fault.hosts.empty() || !fault.links.empty());
}

bool changes_rlb(const FaultConfig& fault) {
  return fault.type == FaultType::reconfigure &&
         std::ranges::any_of(fault.set, [](const auto& item) {
           return item.first.find("rlb.") != std::string::npos;
         });
}

class Deduction {
 public:
  explicit Deduction(const config::Experiment& experiment) : experiment_(experiment) {}

  CheckRules run() {
    judge_switches();
    judge_hosts();
    judge_scheme();
    for (size_t i = 0; i < experiment_.faults.size(); ++i) judge_fault(i);
    judge_watchdog();
    judge_loop();
    return std::move(rules_);
  }

 private:
  void no_lossless(const std::string& why) {
    rules_.lossless = false;
    rules_.exempt.push_back("lossless: " + why);
  }
  void no_order(const std::string& why) {
    rules_.in_order = false;
    rules_.exempt.push_back("order: " + why);
  }

  void judge_switches() {
    const config::FabricSwitchConfig& switches = experiment_.switches;
    if (!switches.pfc || !switches.pfc_port.tx || switches.pfc_port.rx != config::PfcRx::honour)
      no_lossless("PFC is not sent and obeyed everywhere");
    if (switches.allow_overcommit) no_lossless("switches.allow_overcommit");
    for (const auto& [name, profile] : switches.buffer.profiles)
      if (profile.lossless && profile.headroom)
        no_lossless("switches.buffer.profiles." + name + ".headroom is not by formula");
    if (switches.watchdog.enabled && switches.watchdog.action == config::WatchdogAction::forward)
      no_lossless("switches.watchdog.action: forward sends against pauses");
    if (experiment_.run.poll_model != config::PollModel::busy_poll) return;
    rules_.pause_in_time = experiment_.run.poll_period + experiment_.run.poll_jitter;
    if (switches.poll_gap < *rules_.pause_in_time)
      no_lossless("switches.poll_gap is below run.poll_period and run.poll_jitter");
  }
  void judge_hosts() {
    if (!experiment_.host.pfc_honour) no_lossless("host.pfc_honour: false");
    const std::string& entropy = experiment_.host.entropy;
    const host::EntropyInfo& law = *host::laws_of(experiment_.host).entropy.law;
    if (!law.keeps_port && !law.drains)
      no_order("host.entropy: " + entropy + " sends a flow another way");
  }
  void judge_scheme() {
    if (experiment_.switches.resequence.enabled)
      return no_order("switches.resequence sorts by sequence number, also what is sent again");
    const config::RlbConfig& rlb = experiment_.switches.rlb;
    if (rlb.enabled()) {
      if (rlb.guard.mode != config::GuardMode::strict || !rlb.guard.guards_all())
        no_order("RLB's guard lets flows move before their old paths are drained");
      return;
    }
    const lb::SchemeInfo* scheme = lb::scheme_of(experiment_.load_balancer);
    if (scheme == nullptr || !scheme->promises_order)
      return no_order(experiment_.load_balancer.scheme + " does not promise it");
    if (std::ranges::any_of(scheme->parameters,
                            [](const lb::ParameterInfo& info) { return info.name == "gap"; }))
      no_order(experiment_.load_balancer.scheme + " moves flows in gaps");
  }
  // A scheme that chooses by hash alone says the same after a change, and RLB's guard keeps its
  // own.
  bool remembers_flows() const {
    const lb::SchemeInfo* scheme = lb::scheme_of(experiment_.load_balancer);
    return scheme != nullptr && scheme->speech.makes != 0 && !experiment_.switches.rlb.enabled();
  }
  void judge_fault(size_t index) {
    const FaultConfig& fault = experiment_.faults[index];
    const std::string name = "faults." + std::to_string(index);
    if (const std::string_view why = ends_lossless(fault); !why.empty())
      no_lossless(name + ": " + std::string(why));
    if (moves_flows(fault)) no_order(name + " moves flows");
    if (changes_lines(fault) && remembers_flows())
      no_order(name + " has the scheme begin anew, with another rate");
    stalls_ |= fault.type == FaultType::switch_stall || fault.type == FaultType::reconfigure;
  }
  void judge_watchdog() {
    const config::WatchdogConfig& watchdog = experiment_.switches.watchdog;
    if (!watchdog.enabled || watchdog.detect != config::WatchdogDetect::stalled) return;
    if (stalls_) {
      rules_.exempt.emplace_back("watchdog: a switch stalls or is reconfigured");
      return;
    }
    // It looks once an interval, and the first look may come an interval after the pause.
    rules_.watchdog = {.detection = watchdog.detection_time,
                       .late = watchdog.poll_interval * 2 + experiment_.run.poll_period +
                               experiment_.run.poll_jitter};
  }

  void judge_loop() {
    const config::RlbConfig& rlb = experiment_.switches.rlb;
    const config::RecirculationConfig& loop = rlb.recirculation;
    if (!rlb.enabled() || !loop.enabled)
      rules_.loop = CheckRules::Loop{};
    else
      rules_.loop = {.octets = loop.cap ? loop.cap->count() : 0,
                     .port_octets = loop.port_cap.count(),
                     .rounds = loop.most_rounds};
    for (size_t i = 0; i < experiment_.faults.size(); ++i)
      if (changes_rlb(experiment_.faults[i])) {
        rules_.loop.reset();
        rules_.exempt.push_back("loop: faults." + std::to_string(i) + " changes rlb");
      }
  }

  const config::Experiment& experiment_;
  CheckRules rules_;
  bool stalls_ = false;
};

}  // namespace

CheckRules CheckRules::of(const config::Experiment& experiment) {
  return Deduction(experiment).run();
}

CheckRules CheckRules::of(const config::Experiment& experiment, const Topology& topology) {
  CheckRules rules = of(experiment);
  if (!topology.may_wait_in_circles) return rules;
  rules.deadlock.reset();
  rules.exempt.push_back("deadlock: lossless frames may wait in a circle on these routes");
  return rules;
}

}  // namespace eddy::lab
