#include "lab/fabric/channels.h"

#include <array>
#include <set>
#include <string>

namespace eddy::lab {

Result<ChannelPlan> plan_channels(const config::Experiment& experiment, int channels) {
  const std::set<Priority> lossless(experiment.switches.lossless.begin(),
                                    experiment.switches.lossless.end());
  if (channels <= 1 || lossless.empty()) return ChannelPlan{};
  const size_t each = static_cast<size_t>(channels);
  const size_t needed = lossless.size() * each;
  if (needed >= kPriorities)
    return Problems{"switches.lossless: " + std::to_string(lossless.size()) + " priorities of " +
                    std::to_string(channels) + " virtual channels each (" +
                    experiment.load_balancer.scheme + ") take " + std::to_string(needed) +
                    " priorities, at most " + std::to_string(kPriorities - 1) +
                    " of the 8 would be valid, as one has to be lossy"};
  std::array<bool, kPriorities> taken{};
  taken[kPriorities - 1] = true;
  taken[experiment.host.control_priority.index()] = true;
  for (const Priority priority : lossless) taken[priority.index()] = true;
  ChannelPlan plan;
  for (const Priority first : lossless) {
    std::vector<Priority>& own = plan.emplace_back(1, first);
    for (size_t i = 1; i < kPriorities && own.size() < each; ++i) {
      const size_t next = (first.index() + i) % kPriorities;
      if (taken[next]) continue;
      taken[next] = true;
      own.emplace_back(next);
    }
  }
  return plan;
}

void give_channels(config::PortConfig& port, const ChannelPlan& plan) {
  for (const std::vector<Priority>& channels : plan)
    for (size_t i = 0; i < channels.size(); ++i) {
      const size_t own = channels[i].index();
      port.maps.tc_to_pg[own] = PriorityGroupId(own);
      port.pg_profiles[own] = port.pg_profiles[channels[0].index()];
      port.queues[own] = config::QueueConfig(port.queues[channels[0].index()]);
      if (i + 1 < channels.size())
        port.maps.tc_to_next[own] = TrafficClass(channels[i + 1].index());
    }
}

}  // namespace eddy::lab
