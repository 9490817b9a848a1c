#include "lab/fabric/fabric_advice.h"

#include <algorithm>

#include "lab/fabric/fabric_paths.h"
#include "lb/registry.h"
#include "lb/rlb/order_guard.h"
#include "pfc/headroom.h"

namespace eddy::lab {
namespace {

using pfc::Advice;
using pfc::AdviceSubject;

class Collector {
 public:
  Collector(const config::Experiment& experiment, const Topology& topology)
      : experiment_(experiment), topology_(topology) {}

  Result<FabricAdvice> collect() {
    look_at_paths();
    for (const config::SwitchConfig& each : topology_.switches)
      if (Problems problems = add_switch(each); !problems.empty()) return problems;
    const bool pauses_first = std::ranges::any_of(out_.advice, [](const Advice& each) {
      return each.subject == AdviceSubject::marking && each.warning;
    });
    add_window();
    add_rlb(pauses_first);
    add_order();
    add_guard();
    std::ranges::stable_sort(out_.advice, [](const Advice& a, const Advice& b) {
      return a.warning != b.warning ? a.warning : a.subject < b.subject;
    });
    return std::move(out_);
  }

 private:
  void look_at_paths() {
    const FabricPaths paths(topology_);
    const Bytes packet = pfc::longest_frame(experiment_.host.mtu);
    for (const uint32_t from : typical_hosts(topology_))
      for (const uint32_t to : typical_hosts(topology_))
        if (from != to)
          out_.facts.base_rtt = std::max(out_.facts.base_rtt, paths.base_rtt(from, to, packet));
    out_.facts.windows = experiment_.host.window;
    out_.window = paths.largest_bdp(packet);
    out_.facts.incast = largest_incast();
  }

  // What its senders may have on their way at once.
  Bytes largest_incast() const {
    Bytes largest{0};
    for (const config::TrafficConfig& each : experiment_.traffic) {
      if (each.type != config::TrafficType::incast) continue;
      const Bytes sent = experiment_.host.window ? out_.window * each.degree : each.size;
      largest = std::max(largest, std::min(sent, each.size));
    }
    return largest;
  }

  Problems add_switch(const config::SwitchConfig& each) {
    Result<std::vector<pfc::Recommended>> recommended = pfc::recommend(each, out_.facts);
    if (!recommended) return recommended.problems();
    for (pfc::Recommended& one : *recommended) add_recommended(each.name, std::move(one));
    Result<std::vector<Advice>> advice = pfc::advise(each, out_.facts);
    if (!advice) return advice.problems();
    for (const Advice& one : *advice) add(each.name, one);
    return {};
  }

  // Those of other ports and switches that are the same are one.
  void add_recommended(const std::string& name, pfc::Recommended one) {
    one.port = name + " " + one.port;
    const bool known = std::ranges::any_of(out_.recommended, [&](const pfc::Recommended& other) {
      pfc::Recommended same = one;
      same.port = other.port;
      same.pg = other.pg;
      return same == other;
    });
    if (!known) out_.recommended.push_back(std::move(one));
  }

  void add(const std::string& name, const Advice& one) {
    auto found = std::ranges::find_if(out_.advice, [&](const Advice& each) {
      return each.subject == one.subject && each.says == one.says;
    });
    if (found == out_.advice.end()) {
      out_.advice.push_back(one);
      found = out_.advice.end() - 1;
      found->where.clear();
    }
    if (std::ranges::find(found->where, name) == found->where.end()) found->where.push_back(name);
  }
  void say(AdviceSubject subject, bool warning, std::string says, std::string because) {
    out_.advice.push_back({subject, warning, std::move(says), std::move(because), {}});
  }

  void add_window() {
    if (experiment_.host.window) return;
    say(AdviceSubject::window, true,
        "hosts have no window: a sender has as much on its way as its rate brings until it hears "
        "of congestion",
        "with one of a BDP (" + pfc::readable(out_.window) +
            ") a flow alone is as fast, and each sender of an incast brings no more than that");
  }

  bool has_choice() const {
    return std::ranges::any_of(topology_.switches, [](const config::SwitchConfig& each) {
      return std::ranges::any_of(
          each.leaves, [](const config::LeafConfig& leaf) { return leaf.paths.size() > 1; });
    });
  }

  void add_rlb(bool pauses_first) {
    const bool on = topology_.switches.front().rlb.enabled();
    const bool paused = pauses_first && !experiment_.host.window;
    if (!has_choice()) return;
    if (on && !paused)
      say(AdviceSubject::rlb, false, "RLB will change little",
          "marks or windows slow most senders down before PFC stops them");
    if (!on && paused)
      say(AdviceSubject::rlb, false,
          "rlb: default would lead new flows round paths about to be paused",
          "PFC acts before DCQCN here, and a pause stops flows that go elsewhere, too");
  }

  // Whoever moves packets of a flow needs somebody who puts them in order.
  void add_order() {
    const config::SwitchConfig& first = topology_.switches.front();
    const bool unguarded = first.rlb.enabled() && first.rlb.guard.mode == config::GuardMode::off;
    const bool ordered = first.resequence.enabled || experiment_.host.reorder_buffer ||
                         experiment_.host.recovery != "go_back_n";
    if (unguarded && !ordered && has_choice())
      say(AdviceSubject::rlb, true,
          "RLB moves packets of a flow past earlier ones, and go-back-N sends a window again for "
          "each",
          "rlb.guard.mode: strict keeps the order; resequence or host.reorder_buffer restores it");
  }

  // What a strict guard of all changes of path costs schemes that live on them. Measured
  // (docs/rlb.md).
  void add_guard() {
    const config::SwitchConfig& first = topology_.switches.front();
    const lb::SchemeInfo* const scheme = lb::scheme_of(experiment_.load_balancer);
    if (!lb::OrderGuard::guards_slots(first.rlb) || scheme == nullptr || !has_choice()) return;
    const std::string name(scheme->name);
    if (!scheme->promises_order && first.resequence.enabled)
      say(AdviceSubject::rlb, true,
          "RLB's guard keeps each flow of " + name +
              " on one path, where the last leaf would put "
              "packets in order",
          "measured over drill with web search: the mean slowdown was 49 % higher, and as without "
          "RLB with rlb.guard.scope: moves");
    else if (scheme->promises_order && has_flowlets(*scheme) && has_unequal_uplinks() &&
             !first.rlb.guard.is_patient())
      say(AdviceSubject::rlb, true,
          "RLB's guard keeps flowlets of " + name +
              " on slow links, since a flow that never "
              "pauses proves no path empty",
          "measured over letflow with a fifth of the links at a quarter of their rate: p99 FCT was "
          "63 % longer, and as without RLB with rlb.guard.patience: 1ms, as rlb: default has it, "
          "or with rlb.guard.scope: moves, where packets come out of order as they do over "
          "letflow alone");
  }
  static bool has_flowlets(const lb::SchemeInfo& scheme) {
    return std::ranges::any_of(scheme.parameters,
                               [](const auto& parameter) { return parameter.name == "gap"; });
  }
  // Of a switch with hosts.
  bool has_unequal_uplinks() const {
    return std::ranges::any_of(topology_.switches, [](const config::SwitchConfig& each) {
      const auto is_uplink = [](const config::PortConfig& port) {
        return port.role == config::PortRole::fabric;
      };
      const auto uplink = std::ranges::find_if(each.ports, is_uplink);
      const bool has_hosts = !std::ranges::all_of(each.ports, is_uplink);
      return has_hosts && std::any_of(uplink, each.ports.end(), [&](const auto& port) {
               return is_uplink(port) && port.speed != uplink->speed;
             });
    });
  }

  const config::Experiment& experiment_;
  const Topology& topology_;
  FabricAdvice out_;
};

}  // namespace

Result<FabricAdvice> advise_fabric(const config::Experiment& experiment, const Topology& topology) {
  return Collector(experiment, topology).collect();
}

}  // namespace eddy::lab
