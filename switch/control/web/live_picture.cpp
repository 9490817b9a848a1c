#include "switch/control/web/live_picture.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "switch/control/report/table.h"

namespace eddy::control {
namespace {

// What a link's values are, in this order; page.js has the same.
constexpr const char* kLinkValues[] = {"state",
                                       "forth_bps",
                                       "back_bps",
                                       "forth_queued_bytes",
                                       "back_queued_bytes",
                                       "forth_pfc_xoff",
                                       "back_pfc_xoff",
                                       "forth_cnm_packets",
                                       "back_cnm_packets",
                                       "dropped_packets",
                                       "ecn_marked_packets"};
// And a switch's, behind its state, uptime_ns, generation and why it does not answer: sums over its
// ports, and over RLB's rows.
constexpr const char* kPortSums[] = {"queued_bytes", "cnm_tx_packets", "pfc_tx_xoff",
                                     "ecn_marked_packets", "dropped_packets"};
constexpr const char* kRlbSums[] = {"pfc_predicted", "cnm_relayed_packets", "rlb_rerouted_packets",
                                    "rlb_waiting_packets"};

std::string event(const char* name, const Json& data) {
  return "event: " + std::string(name) + "\ndata: " + data.dump() + "\n\n";
}

Json sum_of(const Json& report, const char* key) {
  const auto rows = report.find("rows");
  if (rows == report.end()) return Json();
  uint64_t sum = 0;
  for (const Json& row : *rows) {
    const auto found = row.find(key);
    if (found != row.end() && found->is_number_integer()) sum += found->get<uint64_t>();
  }
  return sum;
}

Json member(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found == row.end() ? Json() : *found;
}

// Where a port is: the switch by its position, and the port's name.
Json end_of(const std::map<std::string, size_t>& positions, const Json& row, const char* owner,
            const char* port) {
  if (!row.contains(owner)) return Json();
  return Json::array({positions.at(row.at(owner)), row.at(port)});
}

Json shape_of(const Json& links, std::span<const SwitchReading> switches) {
  std::map<std::string, size_t> positions;
  Json names = Json::array();
  for (const SwitchReading& each : switches) {
    positions[each.name] = names.size();
    names.push_back(each.name);
  }
  Json shape{{"switches", std::move(names)}, {"links", Json::array()}};
  for (const Json& row : links.at("rows"))
    shape["links"].push_back({{"name", row.at("link")},
                              {"role", row.at("role")},
                              {"speed", row.at("speed_bps")},
                              {"near", end_of(positions, row, "switch", "port")},
                              {"far", end_of(positions, row, "peer_switch", "peer_port")}});
  return shape;
}

Json values_of(const SwitchReading& reading, const Json& row, const Json& rlb) {
  Json values{member(row, "state"), member(row, "uptime_ns"), member(row, "generation"),
              member(row, "why")};
  const bool answers = reading.presence == Presence::answers;
  for (const char* key : kPortSums) values.push_back(answers ? sum_of(reading.ports, key) : Json());
  for (const char* key : kRlbSums) values.push_back(answers ? sum_of(rlb, key) : Json());
  return values;
}

std::string trimmed(const std::string& cell) {
  const size_t first = cell.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : cell.substr(first, cell.find_last_not_of(' ') - first + 1);
}

}  // namespace

Picture LivePicture::draw(std::span<const SwitchReading> switches, std::span<const Json> rlb,
                          int64_t at_ms) {
  const Json links = links_report(title_, switches);
  const Json rows = switches_report(title_, switches);
  Json shape = shape_of(links, switches);
  shape["title"] = title_;
  shape["every_ms"] = every_ms_;
  std::string shape_event = event("shape", shape);
  if (shape_event != last_.shape_event) {
    last_.shape_event = std::move(shape_event);
    ++last_.shape;
  }
  Json values{{"at", at_ms},
              {"line", links.at("title")},
              {"switches", Json::array()},
              {"links", Json::array()}};
  for (size_t i = 0; i < switches.size(); ++i)
    values["switches"].push_back(
        values_of(switches[i], rows.at("rows").at(i), i < rlb.size() ? rlb[i] : Json::object()));
  for (const Json& row : links.at("rows")) {
    Json& of_link = values["links"].emplace_back(Json::array());
    for (const char* key : kLinkValues) of_link.push_back(member(row, key));
  }
  last_.values_event = event("values", values);
  return last_;
}

Json cells_of(const Json& report) {
  const TableCells table = table_cells(report);
  Json cells{{"report", report.value("report", "")},
             {"keys", table.keys},
             {"head", Json::array()},
             {"rows", Json::array()},
             {"below", table.below}};
  for (size_t line = 0; line < table.lines.size(); ++line) {
    Json texts = Json::array();
    for (const std::string& cell : table.lines[line]) texts.push_back(trimmed(cell));
    if (line == 0)
      cells["head"] = std::move(texts);
    else
      cells["rows"].push_back(std::move(texts));
  }
  return cells;
}

}  // namespace eddy::control
