#include "lab/traffic/traffic.h"

#include <algorithm>
#include <numeric>

#include "lab/fabric/host_names.h"
#include "lab/traffic/exponential.h"
#include "lab/traffic/traffic_item.h"
#include "net/fnv.h"

namespace eddy::lab {
namespace {

constexpr uint16_t kFirstPort = 49'152;

using config::TrafficType;

// A list of selectors as hosts; none: all of them.
std::vector<uint32_t> resolve(TrafficItem& item, const HostNames& names, const char* key,
                              const std::vector<std::string>& selectors) {
  std::vector<uint32_t> all;
  if (selectors.empty()) return names.find("all").value();
  for (size_t i = 0; i < selectors.size(); ++i) {
    auto found = names.find(selectors[i]);
    if (!found) {
      item.problem("." + std::string(key) + "." + std::to_string(i), found.problems().front());
      continue;
    }
    for (const uint32_t host : found.value())
      if (std::ranges::find(all, host) == all.end()) all.push_back(host);
  }
  return all;
}

void add_flows(TrafficItem& item, const ReadTrafficFile& read) {
  switch (item.config().type) {
    case TrafficType::poisson:
      return add_poisson(item, read);
    case TrafficType::burst:
      return add_burst(item);
    case TrafficType::incast:
      return add_incast(item);
    case TrafficType::permutation:
      return add_permutation(item);
    case TrafficType::all_to_all:
      return add_all_to_all(item);
    case TrafficType::long_flow:
      return add_long_flows(item);
    case TrafficType::trace:
      return add_trace(item, read);
    case TrafficType::collective:
      return add_collective(item);
  }
}

// In the order in which they are named; nobody twice.
void resolve_ranks(TrafficItem& item, const HostNames& names) {
  std::vector<std::string> selectors = item.config().ranks;
  if (selectors.empty()) selectors.emplace_back("all");
  for (size_t i = 0; i < selectors.size(); ++i) {
    const std::string key = ".ranks." + std::to_string(i);
    const auto found = names.find(selectors[i]);
    if (!found) {
      item.problem(key, found.problems().front());
      continue;
    }
    for (const uint32_t host : found.value()) {
      if (std::ranges::find(item.ranks, host) != item.ranks.end())
        return item.problem(key, names.name_of(host) + " is named twice");
      item.ranks.push_back(host);
    }
  }
}

void make_item(TrafficItem& item, const HostNames& names, const ReadTrafficFile& read) {
  item.sources = resolve(item, names, "sources", item.config().sources);
  item.destinations = resolve(item, names, "destinations", item.config().destinations);
  if (item.config().type == TrafficType::collective) resolve_ranks(item, names);
  if (!item.problems.empty()) return;
  add_flows(item, read);
  if (item.problems.empty() && item.flows.empty()) item.warning("", "no flow starts");
  item.summary.flows = item.flows.size();
  for (const Flow& flow : item.flows) item.summary.bytes += flow.size;
}

// Keeps the first `most` flows; the summaries say what is left. Others may wait for each flow of a
// collective.
Problems limit_flows(Trace& trace, const config::Experiment& experiment) {
  const uint64_t most = experiment.run.max_flows;
  if (most == 0 || trace.flows.size() <= most) return {};
  for (size_t i = most; i < trace.flows.size(); ++i) {
    if (experiment.traffic[trace.flows[i].traffic].type == TrafficType::collective)
      return {"run.max_flows: cuts off flows of traffic." + std::to_string(trace.flows[i].traffic) +
              ", a collective, which needs all of its own; " + std::to_string(trace.flows.size()) +
              " would be enough"};
    TrafficSummary& item = trace.items[trace.flows[i].traffic];
    --item.flows;
    item.bytes -= trace.flows[i].size;
  }
  trace.flows.resize(most);
  return {};
}

// By start; those that wait are found again by their new numbers.
void sort_by_start(Trace& trace) {
  if (trace.waits.flows.empty())
    return static_cast<void>(std::ranges::stable_sort(trace.flows, {}, &Flow::start));
  std::vector<uint32_t> order(trace.flows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t flow) { return trace.flows[flow].start; });
  std::vector<uint32_t> place(order.size());
  std::vector<Flow> sorted;
  sorted.reserve(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    sorted.push_back(trace.flows[order[i]]);
    place[order[i]] = i;
  }
  trace.flows = std::move(sorted);
  for (FlowWait& wait : trace.waits.flows)
    wait = {.flow = place[wait.flow], .on = place[wait.on], .what = wait.what};
}

// What the item has made becomes the trace's.
void add_item(Trace& trace, TrafficItem& item) {
  const auto first = static_cast<uint32_t>(trace.flows.size());
  for (const FlowWait& wait : item.waits)
    trace.waits.flows.push_back(
        {.flow = wait.flow + first, .on = wait.on + first, .what = wait.what});
  trace.flows.insert(trace.flows.end(), item.flows.begin(), item.flows.end());
  trace.warnings.insert(trace.warnings.end(), item.warnings.begin(), item.warnings.end());
  if (!trace.file_origin) trace.file_origin = item.file_origin;
  trace.items.push_back(std::move(item.summary));
}

std::vector<ItemWait> item_waits(const std::vector<config::TrafficConfig>& traffic) {
  std::vector<ItemWait> waits;
  const std::vector<size_t> before = config::predecessors(traffic);
  for (size_t i = 0; i < traffic.size(); ++i)
    if (before[i] != config::kNoItem)
      waits.push_back({.item = static_cast<uint16_t>(i),
                       .after = static_cast<uint16_t>(before[i]),
                       .pause = traffic[i].start.value_or(Duration{})});
  return waits;
}

// Flows before the window run without being measured. A trace should have none; of other traffic it
// is worth a word when nothing is left.
void warn_of_unmeasured(Trace& trace, const config::Experiment& experiment) {
  const Instant window = Instant::at(experiment.run.warmup);
  std::vector<size_t> before(experiment.traffic.size());
  for (const Flow& flow : trace.flows) before[flow.traffic] += flow.start < window ? 1 : 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const size_t flows = trace.items[i].flows;
    const bool is_trace = experiment.traffic[i].type == TrafficType::trace;
    if (!experiment.traffic[i].measured || before[i] == 0 || (!is_trace && before[i] < flows))
      continue;
    trace.warnings.push_back("traffic." + std::to_string(i) + ": " + std::to_string(before[i]) +
                             " of " + std::to_string(flows) +
                             " flows start before run.warmup is over and are not measured");
  }
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

TrafficItem::TrafficItem(const Run& run, uint16_t index)
    : run_(run),
      config_(run.experiment.traffic[index]),
      index_(index),
      limit_(run.max_flows > 0 ? std::min(run.max_flows, kMaxFlows) : kMaxFlows),
      ports_(stream(TrafficDraw::port)) {
  const config::RunConfig& times = run.experiment.run;
  const Instant last = Instant::at(times.warmup + times.duration);
  const bool stops = config_.stop > Duration{};
  end_ = stops ? std::min(last, Instant::at(config_.stop)) : last;
  summary.name = config_.name;
  summary.type = config::name_of(config_.type);
  summary.measured = config_.measured;
}

WireCost TrafficItem::wire_cost() const {
  const bool ipv6 = !run_.topology.hosts.empty() && !run_.topology.hosts.front().address.is_v4();
  return {run_.experiment.host.mtu, run_.topology.line_overhead, ipv6};
}

void TrafficItem::add(const Flow& flow) {
  if (full()) return;
  flows.push_back(flow);
  Flow& added = flows.back();
  added.traffic = index_;
  if (added.source_port == 0) added.source_port = draw_port();
}

uint16_t TrafficItem::draw_port() {
  return static_cast<uint16_t>(kFirstPort + ports_.below(65'536 - kFirstPort));
}

bool TrafficItem::fits_whole(__int128 flows) {
  if (flows <= static_cast<__int128>(limit_)) return true;
  problem("", "more than " + std::to_string(limit_) +
                  " flows, of which all are needed: fewer ranks, chunks or repetitions would fit" +
                  (run_.max_flows > 0 ? ", or another run.max_flows" : ""));
  return false;
}

bool TrafficItem::fits(__int128 flows) {
  const bool fit = run_.max_flows > 0 || flows <= kMaxFlows;
  if (!fit)
    problem("", "more than " + std::to_string(kMaxFlows) +
                    " flows, lower the load or run.duration, or set run.max_flows");
  return fit;
}

int64_t TrafficItem::periods() const {
  if (begin() >= end_) return 0;
  if (config_.period <= Duration{}) return 1;
  const int64_t until_end = (end_ - begin() - Duration::picoseconds(1)) / config_.period + 1;
  return config_.repeat > 0 ? std::min<int64_t>(config_.repeat, until_end) : until_end;
}

int64_t mean_gap_q16(int64_t mean_wire_q16, BitRate rate) {
  constexpr __int128 kBitPicoseconds = __int128{8} * 1'000'000'000'000;  // of an octet at 1 b/s
  const __int128 gap = kBitPicoseconds * mean_wire_q16 / rate.bps();
  return static_cast<int64_t>(std::clamp<__int128>(gap, 1, INT64_MAX));
}

Instant PoissonClock::next() {
  constexpr int kExponentialBits = 32;
  const __int128 gap = static_cast<__int128>(exponential_q32(stream_.next64())) * mean_gap_;
  now_q16_ += gap >> kExponentialBits;
  const __int128 ps = std::min<__int128>(now_q16_ >> 16, INT64_MAX);
  return Instant::at(Duration::picoseconds(static_cast<int64_t>(ps)));
}

uint64_t Trace::digest() const {
  Fnv64 digest;
  for (const Flow& flow : flows) {
    digest.add(uint64_t{flow.source} << 32 | flow.destination);
    digest.add(static_cast<uint64_t>(flow.size.count()));
    digest.add(static_cast<uint64_t>(flow.start.ps()));
    digest.add(uint64_t{flow.request} << 32 | uint64_t{flow.traffic} << 16 | flow.source_port);
  }
  for (const FlowWait& wait : waits.flows) {
    digest.add(uint64_t{wait.flow} << 32 | wait.on);
    digest.add(static_cast<uint64_t>(wait.what));
  }
  for (const ItemWait& wait : waits.items) {
    digest.add(uint64_t{wait.item} << 32 | wait.after);
    digest.add(static_cast<uint64_t>(wait.pause.ps()));
  }
  return digest.value();
}

Result<Trace> make_traffic(const config::Experiment& experiment, const Topology& topology,
                           uint64_t seed, const ReadTrafficFile& read) {
  Trace trace;
  Problems problems = config::traffic_problems(experiment);
  append(problems, after_problems(experiment));
  const Problems without_keys = problems;  // an item that lacks one does not hide the others' names
  const HostNames names(topology);
  const TrafficItem::Run run{experiment, topology, seed, experiment.run.max_flows};
  for (size_t i = 0; i < experiment.traffic.size(); ++i) {
    const std::string place = "traffic." + std::to_string(i);
    if (std::ranges::any_of(without_keys, [&](const std::string& problem) {
          return problem.starts_with(place + ".") || problem.starts_with(place + ":");
        }))
      continue;
    TrafficItem item(run, static_cast<uint16_t>(i));
    make_item(item, names, read);
    append(problems, item.problems);
    add_item(trace, item);
  }
  if (!problems.empty()) return problems;
  if (trace.flows.size() > kMaxFlows)
    return Result<Trace>::failure("traffic: " + std::to_string(trace.flows.size()) +
                                  " flows, at most " + std::to_string(kMaxFlows));
  if (experiment.traffic.empty()) trace.warnings.push_back("traffic: there is none");
  trace.waits.items = item_waits(experiment.traffic);
  sort_by_start(trace);
  if (problems = limit_flows(trace, experiment); !problems.empty()) return problems;
  warn_of_unmeasured(trace, experiment);
  return trace;
}

}  // namespace eddy::lab
