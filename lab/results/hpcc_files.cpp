#include "lab/results/hpcc_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace eddy::lab {
namespace {

// 11.0.0.1 and on: how those simulators number their hosts.
std::string address_of(uint32_t node) {
  constexpr uint32_t kFirst = 0x0b000001;
  constexpr uint32_t kStep = 256;
  return fmt::format("{:08x}", kFirst + node * kStep);
}

uint16_t kind_of(const Flow& flow) {
  constexpr uint16_t kIncast = 200;
  constexpr uint16_t kOther = 100;
  if (flow.file_port != 0) return flow.file_port;
  return flow.request != kNoRequest ? kIncast : kOther;
}

}  // namespace

std::string fct_text(const RunRecord& run, FctFormat format) {
  std::vector<const FlowResult*> ended;
  for (const FlowResult& flow : run.result.flows)
    if (flow.finished) ended.push_back(&flow);
  std::ranges::stable_sort(ended, {},
                           [](const FlowResult* flow) { return flow->flow.start + flow->fct; });
  const auto name_of = [&](uint32_t host) {
    const uint32_t node = run.topology.hosts.at(host).node;
    return format == FctFormat::hpcc ? address_of(node) : std::to_string(node);
  };
  std::string out;
  for (const FlowResult* flow : ended) {
    const Duration start = run.result.file_origin + flow->flow.start.since_zero();
    out += fmt::format("{} {} {} {} {} {} {} {}\n", name_of(flow->flow.source),
                       name_of(flow->flow.destination), flow->flow.source_port, kind_of(flow->flow),
                       flow->flow.size.count(), start.ns(), flow->fct.ns(), flow->ideal.ns());
  }
  return out;
}

}  // namespace eddy::lab
