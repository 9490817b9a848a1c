// Tenants: what a run did for each item of its traffic: flows, requests and collectives, fairness.
//
// A tenant is an item of Experiment::traffic, called by its name, by its type if it has none, and
// by its number, too, if that is not enough. Flows and requests are the measured ones. Its flow
// sizes are put into tens of a hundred: the smallest tenth of its flows first, as papers draw the
// slowdown of a workload. Made from one list of keys, as results are (result_keys.h). Immutable;
// any thread. Cost: linear in the flows, and sorting them. Source: reference D.5, D.6.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/results/json_type.h"
#include "lab/run/run_record.h"

namespace eddy::lab {

// Flows below it are short: a flow that fits a few round trips feels each pause and each queue.
inline constexpr int64_t kShortFlow = 100'000;  // octets

// One measured item of the traffic in a run.
struct Tenant {
  std::string name;
  const TrafficSummary* item = nullptr;
  const RunResult* run = nullptr;
  std::vector<const FlowResult*> flows;        // measured, by size
  std::vector<const RequestResult*> requests;  // measured
  Statistics fct_us, slowdown;                 // of flows that finished
  Statistics short_slowdown;                   // of those below kShortFlow
  Statistics request_us, request_slowdown;     // of those that finished
};

struct TenantKey {
  std::string_view name;
  JsonType type;
  std::string_view unit;
  std::string_view help;
  Json (*value)(const Tenant& tenant);
  bool nullable = false;
};
std::span<const TenantKey> tenant_keys();
// A key of a bin of a tenant.
std::span<const BinKey> tenant_bin_keys();

// By item; the value of key `tenants` of a run.
Json tenants_of(const RunRecord& run);

// Jain's index of the shares: 1 where all are alike, 1 / n where one has all. None has 0.
double jain_index(std::span<const double> shares);

}  // namespace eddy::lab
