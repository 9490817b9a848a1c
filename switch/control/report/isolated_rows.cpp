// The report of who is isolated, or congests a port of this switch, by host.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "net/congestion/destination_tag.h"
#include "switch/control/report/report_rows.h"

namespace eddy::control {
namespace {

using Named = IsolatedRow::Named;

// What is known of one host, by all workers, ports and flows.
struct HostFacts {
  IsolatedRow worst;  // hot rather than crowded, crowded rather than cold; then hot the longest
  IpAddress destination;
  bool whole = false;              // the host itself is named
  std::set<uint32_t> named_flows;  // tags
  uint64_t flows = 0;              // bits
  uint64_t packets = 0;
};

std::string hex(uint32_t value) {
  std::string text(8, '0');
  for (size_t i = text.size(); i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 0xF];
  return text;
}

// Of so many flows as set so many bits of 64 by chance: exact for a few. All bits: that many, or
// more.
uint64_t flows_of(uint64_t bits) {
  constexpr double kBits = 64;
  const int clear = std::max(std::popcount(~bits), 1);
  return static_cast<uint64_t>(std::lround(kBits * std::log(kBits / clear)));
}

bool is_worse(const IsolatedRow& row, const IsolatedRow& than) {
  if (row.state != than.state) return row.state < than.state;
  return row.hot_for > than.hot_for;
}

void add(const IsolatedRow& row, HostFacts& host) {
  if (host.worst.tag == 0 || is_worse(row, host.worst)) host.worst = row;
  if (row.destination != IpAddress{}) host.destination = row.destination;
  host.whole |= row.named == Named::host;
  if (row.named == Named::flow) host.named_flows.insert(row.tag);
  host.flows |= row.flows;
  host.packets += row.packets;
}

const char* text_of(IsolatedRow::State state) {
  switch (state) {
    case IsolatedRow::State::hot:
      return "hot";
    case IsolatedRow::State::crowded:
      return "crowded";
    case IsolatedRow::State::cold:
      return "cold";
  }
  return "";
}

std::string said_by(const ReportInput& input, const IsolatedRow& row) {
  if (row.origin.is_none()) return "its packets";
  if (row.origin == input.config.id) return "this switch";
  return "switch " + std::to_string(row.origin.index());
}

std::string named(const HostFacts& host) {
  if (host.whole) return "host";
  return host.named_flows.empty() ? "unknown" : "flows";
}

Json row_of(const ReportInput& input, uint32_t tag, const HostFacts& host) {
  const IsolatedRow& worst = host.worst;
  Json row;
  if (host.destination != IpAddress{}) row["destination"] = to_string(host.destination);
  row["tag"] = hex(tag);
  if (!worst.leaf.is_none()) row["leaf"] = worst.leaf.index();
  if (worst.port.index() < input.config.ports.size())
    row["port"] = input.config.ports[worst.port.index()].name;
  row["state"] = text_of(worst.state);
  if (worst.was_hot)
    row["hot_ns"] = static_cast<uint64_t>(std::max<int64_t>(worst.hot_for.ns(), 0));
  row["queued_bytes"] = worst.queue_bytes;
  row["named"] = named(host);
  row["named_flows"] = host.named_flows.size();
  row["isolated_flows"] = flows_of(host.flows);
  row["isolated_packets"] = host.packets;
  row["said_by"] = said_by(input, worst);
  return row;
}

}  // namespace

// What is hot first.
Json isolated_rows(const ReportInput& input, const ReportOptions& options) {
  std::map<uint32_t, HostFacts> hosts;
  for (const IsolatedRow& row : input.isolated) add(row, hosts[row.host]);
  for (const NeighborRow& neighbor : input.neighbors)
    if (const auto known = hosts.find(destination_tag(neighbor.address)); known != hosts.end())
      known->second.destination = neighbor.address;
  std::vector<std::pair<uint32_t, const HostFacts*>> order;
  for (const auto& [tag, host] : hosts) order.emplace_back(tag, &host);
  std::ranges::stable_sort(order, is_worse, [](const auto& of) { return of.second->worst; });
  Json rows = Json::array();
  for (const auto& [tag, host] : order) {
    Json row = row_of(input, tag, *host);
    if (!options.port || row.value("port", "") == *options.port) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace eddy::control
