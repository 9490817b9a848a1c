#include "lab/run/flow_results.h"

#include <algorithm>

#include "lab/run/request_results.h"
#include "lab/traffic/wire_cost.h"
#include "net/random.h"

namespace eddy::lab {
namespace {

constexpr uint32_t kSwitchSeedPurpose = 0x7377;

FlowResult result_of(const FlowAccount& account, size_t index) {
  FlowResult flow;
  flow.flow = account.book.flows()[index];
  const FlowRecord& record = account.book.records()[index];
  const auto age = [&](Instant done) {
    return ((done == Instant::never() ? account.now : done) - flow.flow.start) / account.dilation;
  };
  const FabricPaths::Packets packets{Bytes(account.experiment.host.mtu),
                                     header_octets(account.experiment, account.topology)};
  flow.measured = is_measured(account.experiment, flow.flow);
  flow.finished =
      record.sender_done != Instant::never() && record.receiver_done != Instant::never();
  flow.fct = age(record.sender_done);
  flow.receiver_fct = age(record.receiver_done);
  flow.ideal =
      account.paths.ideal_fct(flow.flow.source, flow.flow.destination, flow.flow.size, packets) /
      account.dilation;
  flow.slowdown =
      std::max(1.0, static_cast<double>(flow.fct.ps()) / static_cast<double>(flow.ideal.ps()));
  flow.sent = account.book.send_outcome(index);
  flow.received = account.book.receive_outcome(index);
  flow.flow.start = Instant() + flow.flow.start.since_zero() / account.dilation;
  return flow;
}

void add_ooo_ratio(RunResult& result) {
  uint64_t received = 0;
  uint64_t out_of_order = 0;
  for (const FlowResult& flow : result.flows) {
    result.ood_max = std::max<uint64_t>(result.ood_max, flow.received.max_ood);
    if (!flow.measured) continue;
    received += flow.received.received_packets;
    out_of_order += flow.received.out_of_order_packets;
  }
  if (received != 0)
    result.ooo_ratio = static_cast<double>(out_of_order) / static_cast<double>(received);
}

void add_order(const FlowAccount& account, RunResult& result) {
  const auto& histogram = account.nics.ood_histogram;
  result.ood_histogram.assign(histogram.begin(), histogram.end());
  uint64_t out_of_order = 0;
  for (size_t k = 1; k < histogram.size(); ++k) out_of_order += histogram[k];
  add_ooo_ratio(result);
  uint64_t seen = 0;
  for (size_t k = 1; k < result.ood_histogram.size() && out_of_order != 0; ++k) {
    seen += result.ood_histogram[k];
    if (seen * 100 < out_of_order * 99) continue;
    result.ood_p99 = static_cast<double>(k);
    break;
  }
}

void add_pauses(const FlowAccount& account, const PauseScope& scope, RunResult& result) {
  result.pfc_frames = result.counters["pfc_tx_xoff"];
  result.pfc_events = result.counters["pfc_tx_xon"] + scope.pausing;
  result.pfc_host_events = scope.of_hosts;
  Duration paused =
      Duration::picoseconds(static_cast<int64_t>(result.counters["pfc_rx_paused_ps"]));
  paused += scope.in_force + account.nics.paused;
  result.pfc_paused_us = static_cast<double>((paused / account.dilation).ps()) * 1e-6;
  const double seconds = static_cast<double>(std::max<int64_t>(1, result.simulated.ps())) * 1e-12;
  const auto switch_ports = static_cast<double>(scope.switch_ports);
  result.pfc_pause_rate =
      static_cast<double>(result.pfc_events) / seconds / std::max(1.0, switch_ports);
  result.pfc_paused_fraction = result.pfc_paused_us * 1e-6 / seconds /
                               static_cast<double>(scope.switch_ports + account.nics.nics);
}

}  // namespace

Bytes header_octets(const config::Experiment& experiment, const Topology& topology) {
  const bool ipv6 = !topology.hosts.empty() && !topology.hosts.front().address.is_v4();
  return Bytes(WireCost(experiment.host.mtu, topology.line_overhead, ipv6).a_packet);
}

void seed_switches(Topology& topology, uint64_t seed) {
  for (size_t i = 0; i < topology.switches.size(); ++i)
    topology.switches[i].seed =
        RandomStream(seed, static_cast<uint32_t>(i), kSwitchSeedPurpose).next64();
}

void add_flow_results(const FlowAccount& account, RunResult& result) {
  std::vector<double> fct;
  std::vector<double> slowdown;
  int64_t delivered = 0;
  for (size_t i = 0; i < account.book.flows().size(); ++i) {
    if (account.book.flows()[i].start > account.now) continue;  // it has not begun
    const FlowResult flow = result_of(account, i);
    delivered += static_cast<int64_t>(flow.received.delivered_bytes);
    if (flow.measured && !flow.finished) ++result.unfinished;
    if (flow.measured && flow.finished) {
      fct.push_back(static_cast<double>(flow.fct.ps()) * 1e-6);
      slowdown.push_back(flow.slowdown);
    }
    result.flows.push_back(flow);
  }
  const auto start = [](const FlowResult& flow) { return flow.flow.start; };
  std::ranges::stable_sort(result.flows, {}, start);  // some had waited
  result.requests = request_results(account);
  result.fct_us = statistics(fct);
  result.slowdown = statistics(slowdown);
  const double ns = static_cast<double>(std::max<int64_t>(1, result.simulated.ns()));
  result.goodput_gbps = static_cast<double>(delivered) * 8 / ns;
}

void add_nic_results(const FlowAccount& account, const PauseScope& scope, RunResult& result) {
  for (size_t k = 0; k < account.nics.counters.size() && account.nics.nics != 0; ++k)
    result.counters["nic_" + std::string(host::nic_counter_infos()[k].name)] +=
        account.nics.counters[k];
  result.lossless_drops = result.counters["lossless_dropped_packets"];
  result.prediction_lead =
      Duration::picoseconds(static_cast<int64_t>(result.counters["pfc_prediction_lead_ps"])) /
      account.dilation;
  add_pauses(account, scope, result);
  add_order(account, result);
}

}  // namespace eddy::lab
