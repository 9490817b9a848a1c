#include "switch/show_capabilities.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "config/capabilities.h"
#include "net/text/printable.h"

namespace eddy {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

constexpr const char* kNone = "-";

std::string cell(std::string_view text) {
  return text.empty() ? kNone : std::string(text);
}

std::string cell(config::CapabilitySet set) {
  return cell(set.words("", " "));
}

// Columns as wide as their widest cell; the last one as it is.
std::string aligned(const std::vector<Cells>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Cells& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const Cells& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i)
      out += row[i] + std::string(widths[i] + 2 - row[i].size(), ' ');
    out += row.back() + '\n';
  }
  return out;
}

Cells cells_of(std::string_view kind, const config::CapabilityRow& row) {
  return {cell(kind),
          cell(row.needs),
          cell(row.comfort),
          row.own_user ? "eddy" : "root",
          cell(row.files),
          cell(row.when),
          std::string(row.why) + (row.measured ? "" : " (not measured)")};
}

Json words_of(config::CapabilitySet set) {
  Json out = Json::array();
  for (const config::Capability capability : set.list()) out.push_back(to_string(capability));
  return out;
}

Json row_as_json(const config::CapabilityRow& row) {
  return {{"when", row.when},
          {"needs", words_of(row.needs)},
          {"comfort", words_of(row.comfort)},
          {"own_user", row.own_user},
          {"files", row.files},
          {"measured", row.measured},
          {"why", row.why}};
}

std::string printed(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string capability_table_text() {
  std::vector<Cells> rows{{"kind", "needs", "comfort", "user", "files", "when", "why"}};
  for (const config::CapabilityRow& row : config::capability_table())
    rows.push_back(cells_of(to_string(row.kind), row));
  rows.push_back(cells_of("hugepages", config::hugepage_row()));
  return aligned(rows);
}

std::string capability_table_json() {
  Json kinds = Json::array();
  for (const config::CapabilityRow& row : config::capability_table()) {
    Json each{{"kind", to_string(row.kind)}};
    each.update(row_as_json(row));
    kinds.push_back(std::move(each));
  }
  return printed({{"kinds", kinds}, {"hugepages", row_as_json(config::hugepage_row())}});
}

std::string capability_demand_text(const config::SwitchConfig& config) {
  std::vector<Cells> rows{{"port", "needs", "comfort", "user", "files", "device"}};
  for (const config::PortConfig& port : config.ports) {
    const config::CapabilityRow& row = config::capability_row(port.device);
    rows.push_back({port.name, cell(row.needs), cell(row.comfort), row.own_user ? "eddy" : "root",
                    cell(row.files), port.device});
  }
  const config::CapabilityDemand all = config::capability_demand(config);
  rows.push_back({"(all)", cell(all.needs), cell(all.comfort - all.needs),
                  all.own_user ? "eddy" : "root", kNone, kNone});
  return printable_lines(aligned(rows));
}

std::string capability_demand_json(const config::SwitchConfig& config) {
  Json ports = Json::array();
  for (const config::PortConfig& port : config.ports) {
    const config::CapabilityRow& row = config::capability_row(port.device);
    ports.push_back({{"port", port.name},
                     {"device", port.device},
                     {"kind", to_string(row.kind)},
                     {"needs", words_of(row.needs)},
                     {"comfort", words_of(row.comfort)},
                     {"files", row.files}});
  }
  const config::CapabilityDemand all = config::capability_demand(config);
  return printed({{"switch", config.name},
                  {"needs", words_of(all.needs)},
                  {"comfort", words_of(all.comfort - all.needs)},
                  {"own_user", all.own_user},
                  {"ports", ports}});
}

}  // namespace eddy
