#include "lab/results/tenants.h"

#include <algorithm>
#include <array>
#include <set>

namespace eddy::lab {
namespace {

constexpr double kPicosecondsAMicrosecond = 1e6;
constexpr size_t kTenths = 10;

// A percentile of nothing is no number.
Json of(const Statistics& statistics, double value) {
  return statistics.count == 0 ? Json() : Json(value);
}
double microseconds(Duration duration) {
  return static_cast<double>(duration.ps()) / kPicosecondsAMicrosecond;
}

template <class Each>
size_t unfinished(const std::vector<const Each*>& all) {
  return static_cast<size_t>(std::ranges::count(all, false, &Each::finished));
}

Json goodput(const Tenant& tenant) {
  double octets = 0;
  for (const FlowResult& flow : tenant.run->flows)
    if (&tenant.run->traffic[flow.flow.traffic] == tenant.item)
      octets += static_cast<double>(flow.received.delivered_bytes);
  return octets * 8 / static_cast<double>(std::max<int64_t>(1, tenant.run->simulated.ns()));
}

Json out_of_order(const Tenant& tenant) {
  uint64_t received = 0, late = 0;
  for (const FlowResult* flow : tenant.flows) {
    received += flow->received.received_packets;
    late += flow->received.out_of_order_packets;
  }
  return received == 0 ? 0.0 : static_cast<double>(late) / static_cast<double>(received);
}

// How alike flows are in the share of their line's rate that they got.
Json fairness(const Tenant& tenant) {
  std::vector<double> shares;
  for (const FlowResult* flow : tenant.flows)
    if (flow->finished) shares.push_back(1 / std::max(1.0, flow->slowdown));
  return shares.empty() ? Json() : Json(jain_index(shares));
}

Json tenths(const Tenant& tenant) {
  Json bins = Json::array();
  const size_t flows = tenant.flows.size();
  for (size_t i = 0; i < kTenths && flows >= kTenths; ++i) {
    const size_t begin = flows * i / kTenths, end = flows * (i + 1) / kTenths;
    std::vector<double> slowdowns;
    for (size_t at = begin; at < end; ++at)
      if (tenant.flows[at]->finished) slowdowns.push_back(tenant.flows[at]->slowdown);
    const Statistics slowdown = statistics(slowdowns);
    const std::string name =
        std::to_string(i * kTenths) + " to " + std::to_string((i + 1) * kTenths) + " %";
    bins.push_back({{"name", name},
                    {"from_bytes", tenant.flows[begin]->flow.size.count()},
                    {"to_bytes", tenant.flows[end - 1]->flow.size.count()},
                    {"flows", end - begin},
                    {"slowdown_mean", of(slowdown, slowdown.mean)},
                    {"slowdown_p50", of(slowdown, slowdown.p50)},
                    {"slowdown_p95", of(slowdown, slowdown.p95)},
                    {"slowdown_p99", of(slowdown, slowdown.p99)}});
  }
  return bins;
}

using T = JsonType;
using A = const Tenant&;
// clang-format off
constexpr auto kKeys = std::to_array<TenantKey>({
  {"name", T::string, "", "of the traffic item; its type, if it has none; and its number, if others are called so", [](A t) { return Json(t.name); }},
  {"type", T::string, "", "of the traffic item", [](A t) { return Json(t.item->type); }},
  {"flows", T::integer, "", "measured flows", [](A t) { return Json(t.flows.size()); }},
  {"unfinished", T::integer, "", "of those, not ended when the run did", [](A t) { return Json(unfinished(t.flows)); }},
  {"goodput_gbps", T::number, "Gb/s", "payload of all of its flows that was delivered, over simulated_us", goodput},
  {"fct_mean_us", T::number, "us", "as of the run; null: no flow finished", [](A t) { return of(t.fct_us, t.fct_us.mean); }, true},
  {"fct_p99_us", T::number, "us", "its 99th percentile", [](A t) { return of(t.fct_us, t.fct_us.p99); }, true},
  {"slowdown_mean", T::number, "", "as of the run", [](A t) { return of(t.slowdown, t.slowdown.mean); }, true},
  {"slowdown_p50", T::number, "", "its median", [](A t) { return of(t.slowdown, t.slowdown.p50); }, true},
  {"slowdown_p95", T::number, "", "its 95th percentile", [](A t) { return of(t.slowdown, t.slowdown.p95); }, true},
  {"slowdown_p99", T::number, "", "its 99th percentile", [](A t) { return of(t.slowdown, t.slowdown.p99); }, true},
  {"short_slowdown_mean", T::number, "", "of its flows below 100 kB; null: none of them finished", [](A t) { return of(t.short_slowdown, t.short_slowdown.mean); }, true},
  {"short_slowdown_p99", T::number, "", "its 99th percentile", [](A t) { return of(t.short_slowdown, t.short_slowdown.p99); }, true},
  {"ooo_ratio", T::number, "", "as of the run", out_of_order},
  {"fairness", T::number, "", "Jain's index of 1 / slowdown over its flows that finished: 1 where all are alike; null: none finished", fairness, true},
  {"requests", T::integer, "", "incasts: measured requests; collectives: measured repetitions", [](A t) { return Json(t.requests.size()); }},
  {"requests_unfinished", T::integer, "", "of those, with a flow that had not arrived when the run ended", [](A t) { return Json(unfinished(t.requests)); }},
  {"request_mean_us", T::number, "us", "completion time: from the start of the first flow to the last octet of the last one; of requests that finished; null: there is none", [](A t) { return of(t.request_us, t.request_us.mean); }, true},
  {"request_p50_us", T::number, "us", "its median", [](A t) { return of(t.request_us, t.request_us.p50); }, true},
  {"request_p99_us", T::number, "us", "its 99th percentile", [](A t) { return of(t.request_us, t.request_us.p99); }, true},
  {"request_max_us", T::number, "us", "the longest", [](A t) { return of(t.request_us, t.request_us.max); }, true},
  {"request_slowdown_mean", T::number, "", "max(1, completion time / ideal), the ideal being what the hosts' lines allow, without ACKs", [](A t) { return of(t.request_slowdown, t.request_slowdown.mean); }, true},
  {"request_slowdown_p99", T::number, "", "its 99th percentile", [](A t) { return of(t.request_slowdown, t.request_slowdown.p99); }, true},
  {"bins", T::array, "", "its flows by size, a tenth of them each, the smallest first; empty: fewer than ten flows", tenths},
});

constexpr auto kBinKeys = std::to_array<BinKey>({
  {"name", T::string, "", "which part of the tenant's flows"},
  {"from_bytes", T::integer, "octets", "smallest size"},
  {"to_bytes", T::integer, "octets", "largest size"},
  {"flows", T::integer, "", "measured flows"},
  {"slowdown_mean", T::number, "", "of those that finished; null: there is none"},
  {"slowdown_p50", T::number, "", "its median"},
  {"slowdown_p95", T::number, "", "its 95th percentile"},
  {"slowdown_p99", T::number, "", "its 99th percentile"},
});
// clang-format on

void sum_up(Tenant& tenant) {
  std::ranges::stable_sort(tenant.flows, {},
                           [](const FlowResult* flow) { return flow->flow.size; });
  std::vector<double> fct, slowdown, of_short, request, request_slowdown;
  for (const FlowResult* flow : tenant.flows) {
    if (!flow->finished) continue;
    fct.push_back(microseconds(flow->fct));
    slowdown.push_back(flow->slowdown);
    if (flow->flow.size.count() < kShortFlow) of_short.push_back(flow->slowdown);
  }
  for (const RequestResult* each : tenant.requests) {
    if (!each->finished) continue;
    request.push_back(microseconds(each->time));
    request_slowdown.push_back(each->slowdown);
  }
  tenant.fct_us = statistics(fct);
  tenant.slowdown = statistics(slowdown);
  tenant.short_slowdown = statistics(of_short);
  tenant.request_us = statistics(request);
  tenant.request_slowdown = statistics(request_slowdown);
}

std::vector<Tenant> tenants(const RunResult& run) {
  std::vector<Tenant> all;
  std::set<std::string> names;
  for (const TrafficSummary& item : run.traffic) {
    std::string name = item.name.empty() ? std::string(item.type) : item.name;
    if (!names.insert(name).second) name += " (" + std::to_string(all.size() + 1) + ")";
    names.insert(name);
    all.push_back({.name = std::move(name), .item = &item, .run = &run});
  }
  for (const FlowResult& flow : run.flows)
    if (flow.measured && flow.flow.traffic < all.size())
      all[flow.flow.traffic].flows.push_back(&flow);
  for (const RequestResult& request : run.requests)
    if (request.measured && request.traffic < all.size())
      all[request.traffic].requests.push_back(&request);
  for (Tenant& tenant : all) sum_up(tenant);
  return all;
}

}  // namespace

std::span<const TenantKey> tenant_keys() {
  return kKeys;
}

std::span<const BinKey> tenant_bin_keys() {
  return kBinKeys;
}

Json tenants_of(const RunRecord& run) {
  Json all = Json::array();
  for (const Tenant& tenant : tenants(run.result)) {
    if (!tenant.item->measured) continue;
    Json values = Json::object();
    for (const TenantKey& key : kKeys) values[std::string(key.name)] = key.value(tenant);
    all.push_back(std::move(values));
  }
  return all;
}

double jain_index(std::span<const double> shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

}  // namespace eddy::lab
