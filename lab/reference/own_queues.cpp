#include "lab/reference/own_queues.h"

#include <algorithm>

namespace eddy::lab {
namespace {

bool marks_late(const config::SwitchConfig& config) {
  return std::ranges::any_of(config.buffer.wred, [](const auto& profile) {
    return profile.second.mark == config::WredMark::dequeue;
  });
}

}  // namespace

OwnQueues::OwnQueues(const config::Experiment& experiment, const Topology& topology)
    : experiment_(experiment), topology_(topology) {
  for (const config::SwitchConfig& each : topology.switches) lines_.emplace_back(each.ports.size());
  for (const Topology::Link& link : topology.links)
    for (const Topology::End& end : {link.a, link.b})
      lines_[end.switch_index][end.port.index()].delay = link.delay;
  for (const Topology::Host& host : topology.hosts)
    lines_[host.switch_index][host.port.index()] = {host.delay, host.mac};
}

Problems OwnQueues::problems(const config::Experiment& experiment, const Topology& topology) {
  Problems problems;
  const auto refuse = [&](bool has, const char* key, const char* what) {
    if (has) problems.push_back(std::string(key) + ": with run.flow_queues " + what);
  };
  const auto any = [&](auto has) { return std::ranges::any_of(topology.switches, has); };
  using Config = config::SwitchConfig;
  refuse(any([](const Config& each) { return each.load_balancer.scheme != "ecmp"; }),
         "load_balancer.scheme", "paths are ecmp's; give ecmp");
  refuse(any([](const Config& each) { return each.rlb.enabled(); }), "rlb",
         "there is no RLB; give off");
  refuse(any([](const Config& each) { return each.isolation.enabled; }), "isolation.enabled",
         "there is no class to isolate in; give false");
  refuse(any([](const Config& each) { return each.resequence.enabled; }), "resequence.enabled",
         "all comes in order; give false");
  refuse(any(marks_late), "wred", "ECN marks as packets come; give mark: enqueue");
  refuse(topology.routes == nullptr, "topology", "all switches share one table of routes");
  refuse(std::ranges::any_of(
             experiment.faults,
             [](const auto& fault) { return fault.type != config::FaultType::slow_receiver; }),
         "faults", "hosts may be slow (slow_receiver), and nothing else may break");
  return problems;
}

std::unique_ptr<Shard> OwnQueues::make(size_t switch_index, Switch& object) {
  auto made = std::make_unique<OwnQueueSwitch>(OwnQueueSwitch::Setup{
      topology_.switches[switch_index], object, *topology_.routes, lines_[switch_index],
      experiment_.host.priority, experiment_.run.flow_queues});
  made_.push_back(made.get());
  return made;
}

OwnQueueSwitch::Use OwnQueues::use() const {
  OwnQueueSwitch::Use all;
  for (const OwnQueueSwitch* each : made_) {
    const OwnQueueSwitch::Use& use = each->use();
    all.stops += use.stops;
    all.most_octets = std::max(all.most_octets, use.most_octets);
    all.most_of_flow = std::max(all.most_of_flow, use.most_of_flow);
    all.most_flows = std::max(all.most_flows, use.most_flows);
  }
  return all;
}

std::string OwnQueues::report() const {
  const OwnQueueSwitch::Use all = use();
  return "run.flow_queues: a reference ran in the place of the switches, with a queue and a pause "
         "for each flow: at most " +
         std::to_string(all.most_flows) + " queues in a port, " + std::to_string(all.most_octets) +
         " octets in a switch, " + std::to_string(all.most_of_flow) + " in a queue; " +
         std::to_string(all.stops) + " flows stopped";
}

}  // namespace eddy::lab
