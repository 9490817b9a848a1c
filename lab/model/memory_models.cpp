#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "lab/fabric/build_topology.h"
#include "lab/model/flow_memory.h"
#include "lab/model/models.h"
#include "lab/model/run_source.h"
#include "lab/results/cells.h"
#include "lab/results/student.h"

namespace eddy::lab {
namespace {

constexpr double kGiga = 1e9;
constexpr double kKibi = 1'024;

// The three parts of figure 4 differ in what they sweep; every key takes a list all the same.
constexpr ModelKey rtt_key(std::string_view fallback) {
  return {"rtt",
          ModelUnit::time,
          true,
          1e-9,
          1,
          fallback,
          "for so long a packet is in flight, until it is acknowledged"};
}
constexpr ModelKey rate_key(std::string_view fallback) {
  return {"rate", ModelUnit::rate, true, 1e6, 1e15, fallback, "of a host"};
}
constexpr ModelKey hosts_key(std::string_view fallback) {
  return {"hosts", ModelUnit::number, true, 1, 1e9, fallback, "of the fabric"};
}
constexpr ModelKey kMtuKey{"mtu",
                           ModelUnit::size,
                           false,
                           1,
                           65'536,
                           "2KiB",
                           "of every packet; the paper does not give it"};
constexpr ModelKey kFlowsKey{"flows",
                             ModelUnit::number,
                             true,
                             1,
                             1e9,
                             "1,2,5,10,20,50,100,200,500,1000,2000,5000,10000",
                             "that a host sends, for the chart"};
constexpr ModelKey kLeafKey{"hosts_per_leaf",
                            ModelUnit::number,
                            false,
                            1,
                            1e6,
                            "auto",
                            "auto: those of a fat tree of so many hosts"};

constexpr std::string_view kRtts = "1us,2us,5us,10us,20us,50us";
constexpr std::string_view kRates = "200Gbps,400Gbps,800Gbps,1600Gbps";
constexpr std::string_view kHosts = "1024,4096,16384,32768,65536";
constexpr std::array kByRtt = {
    hosts_key("1024"), rate_key("200Gbps"), rtt_key(kRtts), kMtuKey, kLeafKey, kFlowsKey};
constexpr std::array kByRate = {hosts_key("1024"), rate_key(kRates), rtt_key("5us"),
                                kMtuKey,           kLeafKey,         kFlowsKey};
constexpr std::array kByHosts = {
    hosts_key(kHosts), rate_key("800Gbps"), rtt_key("5us"), kMtuKey, kLeafKey, kFlowsKey};

constexpr std::span<const FlowTableKind> kAllKinds = kFlowTableKinds;
constexpr size_t kFlowcuts = 3;  // the first of them are Flowcut's

std::string size_text(double octets) {
  if (octets >= kKibi * kKibi) return fmt::format("{:.1f} MiB", octets / kKibi / kKibi);
  return fmt::format("{:.1f} KiB", octets / kKibi);
}

MemorySetting memory_setting(const ModelSettings& settings, double hosts, double rate, double rtt) {
  return {.hosts = hosts,
          .rate = rate,
          .rtt = rtt,
          .mtu = settings.one("mtu"),
          .hosts_per_leaf = settings.has("hosts_per_leaf") ? settings.one("hosts_per_leaf")
                                                           : fat_tree_hosts_per_leaf(hosts)};
}

std::vector<MemorySetting> all_settings(const ModelSettings& settings) {
  std::vector<MemorySetting> out;
  for (const double hosts : settings.all("hosts"))
    for (const double rate : settings.all("rate"))
      for (const double rtt : settings.all("rtt"))
        out.push_back(memory_setting(settings, hosts, rate, rtt));
  return out;
}

// What tells it from the others.
std::string name_of(const ModelSettings& settings, const MemorySetting& setting) {
  std::string name;
  if (settings.all("hosts").size() > 1) name += fmt::format("{:.0f} hosts, ", setting.hosts);
  if (settings.all("rate").size() > 1) name += model_text(ModelUnit::rate, setting.rate) + ", ";
  if (settings.all("rtt").size() > 1) name += model_text(ModelUnit::time, setting.rtt) + ", ";
  return name;
}

// A row: what tables take where hosts send as many flows as they can have in flight.
void add_row(const MemorySetting& setting, std::span<const FlowTableKind> kinds,
             ModelTable& table) {
  const double in_flight = packets_in_flight(setting);
  std::vector<std::string> row = {
      fmt::format("{:.0f}", setting.hosts), model_text(ModelUnit::rate, setting.rate),
      model_text(ModelUnit::time, setting.rtt), fmt::format("{:.1f}", in_flight)};
  Json values = {{"hosts", setting.hosts},
                 {"rate_gbps", setting.rate / kGiga},
                 {"rtt_us", microseconds(setting.rtt)},
                 {"hosts_per_leaf", setting.hosts_per_leaf},
                 {"flows_in_flight_a_host", in_flight}};
  for (const FlowTableKind& kind : kinds) {
    const double octets = table_octets(setting, kind, in_flight);
    row.push_back(size_text(octets));
    values["octets"][std::string(kind.name)] = octets;
  }
  table.text.push_back(std::move(row));
  table.rows.push_back(std::move(values));
}

// A series of each kind over the flows that a host sends.
void add_series(const ModelSettings& settings, const MemorySetting& setting,
                std::span<const FlowTableKind> kinds, bool by_kind, Chart& chart) {
  const size_t number = chart.series.size() / kinds.size();
  for (size_t i = 0; i < kinds.size(); ++i) {
    const bool is_first = i == 0;
    Series series{.name = name_of(settings, setting) + std::string(kinds[i].name),
                  .points = {},
                  .colour = by_kind ? i : number,
                  .thin = by_kind ? number > 0 : !is_first};
    for (const double flows : settings.all("flows"))
      series.points.push_back({flows, table_octets(setting, kinds[i], flows) / kKibi});
    std::ranges::sort(series.points, {}, &Series::Point::x);
    chart.series.push_back(std::move(series));
  }
}

Result<ModelFigure> compute_memory(const ModelSettings& settings,
                                   std::span<const FlowTableKind> kinds, bool by_kind) {
  constexpr size_t kMostDrawn = 24;
  ModelFigure figure;
  figure.table.text = {{"HOSTS", "rate", "RTT", "flows a host"}};
  for (const FlowTableKind& kind : kinds)
    figure.table.text.front().emplace_back(fmt::format("{} ({:.0f} B)", kind.name, kind.octets));
  figure.table.notes = {
      fmt::format("flows a host: as many as packets of {} in flight, however many it sends",
                  settings.text("mtu"))};
  figure.chart = {.title = "Memory of flow tables",
                  .x = {"flows that a host sends", true},
                  .y = {"memory (KiB)", true},
                  .series = {},
                  .note = fmt::format("packets of {}", settings.text("mtu"))};
  for (const MemorySetting& setting : all_settings(settings)) {
    add_row(setting, kinds, figure.table);
    if (figure.chart.series.size() + kinds.size() <= kMostDrawn)
      add_series(settings, setting, kinds, by_kind, figure.chart);
  }
  return figure;
}

Result<ModelFigure> compute_flowcut(const ModelSettings& settings) {
  return compute_memory(settings, kAllKinds.first(kFlowcuts), false);
}

Result<ModelFigure> compute_all_kinds(const ModelSettings& settings) {
  return compute_memory(settings, kAllKinds, true);
}

// What a run shows of it: the fullest table of any switch. The run's hosts, packets and base RTT
// give the model's bound for the hosts of a leaf.

struct LeafUse {
  size_t hosts = 0;          // of the largest leaf
  double in_flight = 0;      // packets of a host, by the model
  double flows = 0;          // most in flight, of a leaf
  std::vector<double> most;  // by seed: in the fullest table at any time
  std::vector<double> mean;  // the same, over the samples of the switch with most
};

Result<size_t> hosts_of_a_leaf(const ModelRun& run) {
  const Result<Topology> topology = build_topology(config::scaled(run.experiment));
  if (!topology) return topology.problems();
  std::map<size_t, size_t> hosts;
  for (const Topology::Host& host : topology.value().hosts) ++hosts[host.switch_index];
  size_t most = 0;
  for (const auto& [leaf, count] : hosts) most = std::max(most, count);
  return most;
}

Problems add_use(const ModelRun& run, LeafUse& use) {
  std::map<std::string, std::vector<double>> by_switch;
  for (const FlowCount& count : run.counts) by_switch[count.at].push_back(count.flows);
  if (by_switch.empty())
    return {fmt::format("{}: no switch of {} remembers flows", shown(run.variant),
                        run.experiment.load_balancer.scheme)};
  double most = 0, mean = 0;
  for (const auto& [name, counts] : by_switch) {
    most = std::max(most, std::ranges::max(counts));
    mean = std::max(mean, estimate(counts).mean);
  }
  use.most.push_back(most);
  use.mean.push_back(mean);
  return {};
}

Result<LeafUse> bound_of(const ModelRun& run) {
  const Result<size_t> hosts = hosts_of_a_leaf(run);
  if (!hosts) return hosts.problems();
  const double octets = run.values.value("bdp_bytes", 0.0);
  LeafUse use{.hosts = hosts.value(), .in_flight = octets / run.experiment.host.mtu};
  use.flows = static_cast<double>(use.hosts) * use.in_flight;
  return use;
}

Result<ModelTable> compare_memory(const ModelSettings& /*settings*/,
                                  const std::filesystem::path& from) {
  const Result<std::vector<ModelRun>> runs = read_model_runs(from, read_flow_tables);
  if (!runs) return runs.problems();
  std::vector<std::pair<std::string, LeafUse>> variants;
  for (const ModelRun& run : runs.value()) {
    if (variants.empty() || variants.back().first != run.variant) {
      Result<LeafUse> bound = bound_of(run);
      if (!bound) return bound.problems();
      variants.push_back({run.variant, std::move(*bound)});
    }
    if (Problems problems = add_use(run, variants.back().second); !problems.empty())
      return problems;
  }
  constexpr double kIngressOctets = kFlowTableKinds[1].octets;
  ModelTable table;
  table.text = {
      {"VARIANT", "hosts a leaf", "flows a host", "model", "run, most", "run, mean", "memory"}};
  for (const auto& [variant, use] : variants) {
    const double most = estimate(use.most).mean;
    table.text.push_back({shown(variant), std::to_string(use.hosts),
                          fmt::format("{:.1f}", use.in_flight), fmt::format("{:.0f}", use.flows),
                          estimate_cell(use.most).text, estimate_cell(use.mean).text,
                          size_text(most * kIngressOctets)});
    table.rows.push_back({{"variant", variant},
                          {"hosts_per_leaf", use.hosts},
                          {"flows_in_flight_a_host", use.in_flight},
                          {"model", use.flows},
                          {"run_most", most},
                          {"run_mean", estimate(use.mean).mean}});
  }
  table.notes = {
      "model: of a leaf, by the run's MTU and its base RTT; run: in the fullest table of a switch",
      fmt::format("memory: of the run's most, at the paper's {:.0f} octets", kIngressOctets)};
  return table;
}

constexpr std::array kModels = {
    Model{"fc-4a", "Memory of Flowcut's tables by round trip time", "Flowcut paper, figure 4(a)",
          kByRtt, compute_flowcut, compare_memory},
    Model{"fc-4b", "Memory of Flowcut's tables by the rate of hosts", "Flowcut paper, figure 4(b)",
          kByRate, compute_flowcut, compare_memory},
    Model{"fc-4c", "Memory of Flowcut's tables by the number of hosts",
          "Flowcut paper, figure 4(c)", kByHosts, compute_flowcut, compare_memory},
    Model{"fc-5", "Memory of flowlets' and flowcells' tables beside Flowcut's",
          "Flowcut paper, figure 5", kByHosts, compute_all_kinds, nullptr},
};

}  // namespace

std::span<const Model> memory_models() {
  return kModels;
}

}  // namespace eddy::lab
