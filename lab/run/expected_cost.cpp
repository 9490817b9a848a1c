#include "lab/run/expected_cost.h"

#include <algorithm>

#include "lab/fabric/fabric_paths.h"

namespace eddy::lab {

uint64_t expected_hops(const config::Experiment& experiment, const Topology& topology,
                       std::span<const Flow> flows) {
  const FabricPaths paths(topology);
  const int64_t mtu = experiment.host.mtu;
  const int64_t ack_every = std::max(1, experiment.host.ack_every);
  uint64_t hops = 0;
  for (const Flow& flow : flows) {
    const int64_t data = std::max<int64_t>(1, (flow.size.count() + mtu - 1) / mtu);
    const int64_t acks = (data + ack_every - 1) / ack_every;
    const int links = paths.path(flow.source, flow.destination).links;
    hops += static_cast<uint64_t>((data + acks) * links);
  }
  return hops;
}

bool cost_the_same(const config::Experiment& a, const config::Experiment& b) {
  return a.topology == b.topology && a.traffic == b.traffic && a.run == b.run &&
         a.host.mtu == b.host.mtu && a.host.ack_every == b.host.ack_every;
}

}  // namespace eddy::lab
