#include "lab/results/hpcc_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "net/protocols.h"

namespace eddy::lab {
namespace {

// 11.0.0.1 and on: how those simulators number their hosts.
uint32_t address_of(uint32_t node) {
  constexpr uint32_t kFirst = 0x0b000001;
  constexpr uint32_t kStep = 256;
  return kFirst + node * kStep;
}

}  // namespace

std::string fct_text(const RunRecord& run) {
  std::vector<const FlowResult*> ended;
  for (const FlowResult& flow : run.result.flows)
    if (flow.finished) ended.push_back(&flow);
  std::ranges::stable_sort(ended, {},
                           [](const FlowResult* flow) { return flow->flow.start + flow->fct; });
  const auto& hosts = run.topology.hosts;
  std::string out;
  for (const FlowResult* flow : ended)
    out += fmt::format("{:08x} {:08x} {} {} {} {} {} {}\n",
                       address_of(hosts.at(flow->flow.source).node),
                       address_of(hosts.at(flow->flow.destination).node), flow->flow.source_port,
                       kRocePort, flow->flow.size.count(), flow->flow.start.since_zero().ns(),
                       flow->fct.ns(), flow->ideal.ns());
  return out;
}

}  // namespace eddy::lab
