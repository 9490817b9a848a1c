#include "lab/export/fabric_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <limits>
#include <set>

#include "config/capabilities.h"
#include "config/document.h"
#include "lab/fabric/text_table.h"
#include "lab/real/needs.h"
#include "lab/real/switch_config.h"
#include "lab/results/chosen_runs.h"
#include "lab/run/flow_results.h"
#include "lab/traffic/traffic_files.h"
#include "net/version.h"
#include "plugin/plugins.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestFabricName = 20;  // as eddylab up has them
constexpr size_t kLongestLabel = 63;       // of DNS
constexpr size_t kLongestInterface = 15;   // IFNAMSIZ
constexpr size_t kBestEffortQueue = 1;     // of packets without a DSCP
constexpr size_t kLosslessQueue = 3;       // marked by what the port's rate has
constexpr size_t kGatewaysANet = 254;
// What the files are made for. The one who makes them and the one who runs them may be two.
constexpr RealMachine kLaptop{.cores = 2, .free_memory = std::numeric_limits<uint64_t>::max()};

// In lower case, with '-' for what DNS labels cannot have; empty: there is nothing left.
std::string label_of(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto octet = static_cast<unsigned char>(c);
    out += std::isalnum(octet) != 0 && octet < 0x80 ? static_cast<char>(std::tolower(octet)) : '-';
  }
  const size_t first = out.find_first_not_of('-');
  if (first == std::string::npos) return {};
  return out.substr(first, out.find_last_not_of('-') - first + 1);
}

Problems check_label(const std::string& what, const std::string& label, size_t longest) {
  if (!label.empty() && label.size() <= longest && label == label_of(label)) return {};
  return {
      fmt::format("{} \"{}\": valid are 1 to {} of a to z, 0 to 9 and -, - neither first nor last",
                  what, label, longest)};
}

class Exporter {
 public:
  Exporter(const config::LoadedExperiment& loaded, const ExportWishes& wishes)
      : given_(loaded), loaded_(loaded), wishes_(wishes) {}

  Result<FabricExport> make() {
    if (Problems problems = choose_run(); !problems.empty()) return problems;
    if (Problems problems = name_all(); !problems.empty()) return problems;
    plan_hosts();
    for (size_t i = 0; i < topology_.switches.size(); ++i) add_switch(i);
    if (wishes_.hosts == ExportedHosts::eddyhost) add_eddyhost();
    if (Problems problems = add_files(); !problems.empty()) return problems;
    return std::move(out_);
  }

 private:
  const config::ExperimentRun& run() const { return loaded_.runs[run_]; }
  const config::Experiment& experiment() const { return run().experiment; }
  Problems located(const Problems& problems) const {
    Problems out;
    for (const std::string& problem : problems) out.push_back(loaded_.locate(run(), problem));
    return out;
  }

  Problems choose_run();
  Problems choose_dilation();
  Problems load_with(int64_t dilation);
  Problems name_all();
  void plan_hosts();
  void add_switch(size_t index);
  void put_on_links(config::SwitchConfig& config, size_t index) const;
  void add_eddyhost();
  Problems add_files();
  Problems add_file(const fs::path& to, const NamedText& file);

  const config::LoadedExperiment& given_;
  config::LoadedExperiment loaded_;  // with what real switches need
  const ExportWishes& wishes_;
  size_t run_ = 0;
  Topology topology_;
  std::vector<std::string> devices_;  // linux: DPDK's, by host
  std::set<fs::path> written_;
  FabricExport out_;
};

Problems Exporter::load_with(int64_t dilation) {
  auto again = config::load_experiment(
      given_.file, {.size = given_.size,
                    .sets = real_sets(given_.sets, given_.runs[run_].experiment, dilation),
                    .plugins = &plugin::plugins_of_process()});
  if (!again) return again.problems();
  loaded_ = std::move(*again);
  return {};
}

Problems Exporter::choose_run() {
  const auto chosen = chosen_run(given_, wishes_.variants);
  if (!chosen) return chosen.problems();
  run_ = static_cast<size_t>(chosen.value() - given_.runs.data());
  if (Problems problems = check_containers(chosen.value()->experiment); !problems.empty())
    return {given_.locate(*chosen.value(), problems.front())};
  const int64_t own = experiment().run.time_dilation;
  const int64_t asked = wishes_.time_dilation > 0 ? wishes_.time_dilation : own;
  if (Problems problems = load_with(asked); !problems.empty()) return problems;
  if (asked == 1 && wishes_.time_dilation == 0)
    if (Problems problems = choose_dilation(); !problems.empty()) return problems;
  auto topology = unscaled_topology(experiment());
  if (!topology) return located(topology.problems());
  topology_ = std::move(*topology);
  if (Problems problems = check_real(experiment(), topology_); !problems.empty())
    return located(problems);
  seed_switches(topology_, wishes_.seed);
  return {};
}

Problems Exporter::choose_dilation() {
  config::Experiment shape = experiment();
  shape.switches.allow_overcommit = true;  // whether it fits is a matter of dilation
  const auto topology = unscaled_topology(shape);
  if (!topology) return located(topology.problems());
  // Before what else would be wrong with a fabric that is too large.
  if (Problems problems = check_real(shape, topology.value()); !problems.empty())
    return located(problems);
  Result<Trace> trace = Trace{};  // what Linux hosts send is not known
  if (wishes_.hosts == ExportedHosts::eddyhost)
    trace =
        make_traffic(experiment(), topology.value(), wishes_.seed, TrafficFiles(loaded_.folder));
  if (!trace) return located(trace.problems());
  const auto needs = real_needs(experiment(), trace.value(), kLaptop);
  if (!needs) return located(needs.problems());
  return load_with(needs.value().dilation());
}

// Names of containers are those of switches and hosts, as far as DNS has them.
Problems Exporter::name_all() {
  out_.kind = wishes_.hosts;
  out_.version = build_version();
  out_.title = experiment().title;
  out_.name = wishes_.name;
  if (out_.name.empty()) {
    out_.name = label_of(experiment().id).substr(0, kLongestFabricName);
    while (out_.name.ends_with('-')) out_.name.pop_back();
  }
  Problems problems = check_label("--name", out_.name, kLongestFabricName);
  std::set<std::string> taken = {"wire", "hosts"};
  const auto take = [&](const std::string& name) {
    std::string label = label_of(name);
    const Problems found = check_label("container of " + name, label, kLongestLabel);
    problems.insert(problems.end(), found.begin(), found.end());
    if (found.empty() && !taken.insert(label).second)
      problems.push_back(fmt::format("container of {}: \"{}\" is taken already", name, label));
    return label;
  };
  for (const config::SwitchConfig& each : topology_.switches)
    out_.switches.push_back({.name = each.name, .node = take(each.name), .yaml = {}});
  if (wishes_.hosts == ExportedHosts::linux)
    for (const Topology::Host& host : topology_.hosts)
      out_.hosts.push_back({.node = take(host.name)});
  return problems;
}

// The shortest prefix that all have in common.
IpPrefix common_prefix(const std::vector<Topology::Host>& hosts) {
  const uint32_t first = hosts.front().address.v4().value;
  int bits = 32;
  for (const Topology::Host& host : hosts)
    bits = std::min(bits, std::countl_zero(first ^ host.address.v4().value));
  return IpPrefix{hosts.front().address, static_cast<uint8_t>(bits)}.network();
}

void Exporter::plan_hosts() {
  out_.network = to_string(common_prefix(topology_.hosts));
  const bool all_short = std::ranges::all_of(
      out_.hosts, [](const auto& host) { return host.node.size() <= kLongestInterface; });
  std::vector<int> links(topology_.switches.size(), 0);
  for (size_t i = 0; i < out_.hosts.size(); ++i) {
    FabricExport::Host& host = out_.hosts[i];
    const Topology::Host& from = topology_.hosts[i];
    host.at = out_.switches[from.switch_index].node;
    const int number = ++links[from.switch_index];
    if (wishes_.numbered_devices)
      host.device = fmt::format("eth{}", number);
    else
      host.device = all_short ? host.node : fmt::format("h{}", i + 1);
    host.address = to_string(from.address);
    host.gateway = fmt::format("169.254.{}.{}", i / kGatewaysANet, i % kGatewaysANet + 1);
    host.mac = to_string(from.mac);
    host.mtu = topology_.switches[from.switch_index].ports[from.port.index()].mtu;
    devices_.push_back(fmt::format("net_af_packet{},iface={}", from.port.index(), host.device));
  }
}

void Exporter::add_switch(size_t index) {
  FabricExport::Switch& out = out_.switches[index];
  config::SwitchConfig config =
      real_switch(experiment(), topology_, index, {.sockets = kShared, .host_devices = devices_});
  if (wishes_.hosts == ExportedHosts::linux) put_on_links(config, index);
  for (const Topology::Host& host : topology_.hosts)
    out.has_links = out.has_links || (!devices_.empty() && host.switch_index == index);
  out.yaml = config::print_brief(config);
  const config::CapabilityDemand demand = config::capability_demand(config);
  for (const config::Capability each : (demand.needs | demand.comfort).list())
    out.capabilities.emplace_back(config::to_string(each));
}

// Linux does not obey PFC: what a host sends too much of is dropped, and pauses nobody. Its TCP is
// best effort, and marked before it is dropped.
void Exporter::put_on_links(config::SwitchConfig& config, size_t index) const {
  for (size_t i = 0; i < topology_.hosts.size(); ++i) {
    const Topology::Host& host = topology_.hosts[i];
    if (host.switch_index != index) continue;
    config::PortConfig& port = config.ports[host.port.index()];
    port.pg_profiles.fill("lossy");
    constexpr uint8_t kAlone = 32;
    port.addresses.push_back({*parse_ip(out_.hosts[i].gateway), kAlone});
  }
  if (!config.buffer.wred.contains("default")) return;
  for (config::PortConfig& port : config.ports)
    if (!port.queues[kBestEffortQueue].wred)
      port.queues[kBestEffortQueue].wred = port.queues[kLosslessQueue].wred;
}

void Exporter::add_eddyhost() {
  const std::string shared = kShared;
  std::vector<std::string>& words = out_.eddyhost;
  words = {fmt::format("{}/experiment/{}", kConfigured, fs::path(loaded_.file).filename().string()),
           "--size", loaded_.size, "--seed", std::to_string(wishes_.seed)};
  for (const std::string& set : loaded_.sets) words.insert(words.end(), {"--set", set});
  if (!run().variant.empty()) words.insert(words.end(), {"--variant", run().variant});
  words.insert(words.end(), {"--port", "*=net_memif{n},socket=" + shared + "/{host}.memif"});
  for (const FabricExport::Switch& each : out_.switches)
    words.insert(words.end(),
                 {"--switch", fmt::format("{}={}/{}.sock", each.name, shared, each.name)});
  words.insert(words.end(), {"--out", shared + "/results", "--wait", "60s"});
}

// The experiment and what it names, so that the folder needs no other.
Problems Exporter::add_files() {
  const TrafficFiles read("");  // of paths as they are
  const fs::path file = loaded_.file;
  const auto own = read((fs::path(".") / file).string());
  if (!own) return own.problems();
  Problems problems = add_file(file.filename(), own.value());
  const auto add = [&](const fs::path& to, const NamedText& text) {
    const Problems found = add_file(to, text);
    problems.insert(problems.end(), found.begin(), found.end());
  };
  if (const fs::path& shape = experiment().topology.file; !shape.empty())
    if (const auto text = read((fs::path(".") / shape).string()); text)
      add(shape.lexically_relative(loaded_.folder.lexically_normal()), text.value());
  for (const config::TrafficConfig& item : experiment().traffic)
    for (const std::string& name : {item.cdf, item.file})
      if (!name.empty()) {
        const auto text = TrafficFiles(loaded_.folder)(name);
        if (!text) return located(text.problems());
        const bool is_path = name.find_first_of("./") != std::string::npos;
        add(is_path ? fs::path(name) : fs::path("workloads") / (name + ".csv"), text.value());
      }
  return problems;
}

Problems Exporter::add_file(const fs::path& to, const NamedText& file) {
  const fs::path below = to.lexically_normal();
  if (below.empty() || below.is_absolute() || *below.begin() == "..")
    return {fmt::format(
        "{}: the experiment names it as {}; only files beside or below it can be exported",
        file.name, to.string())};
  if (written_.insert(below).second)
    out_.experiment_files.push_back({fs::path("experiment") / below, file.text});
  return {};
}

}  // namespace

Result<FabricExport> export_fabric(const config::LoadedExperiment& loaded,
                                   const ExportWishes& wishes) {
  return Exporter(loaded, wishes).make();
}

std::vector<OutFile> config_files(const FabricExport& fabric) {
  std::vector<OutFile> out;
  for (const FabricExport::Switch& each : fabric.switches)
    out.push_back({fs::path("config") / (each.name + ".yaml"), each.yaml});
  return out;
}

}  // namespace eddy::lab
