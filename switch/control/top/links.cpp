#include "switch/control/top/links.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace eddy::control {
namespace {

const Json& rows_of(const Json& report) {
  static const Json kNone = Json::array();
  const auto rows = report.find("rows");
  return rows == report.end() ? kNone : *rows;
}

uint64_t number(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number_integer() ? found->get<uint64_t>() : 0;
}

struct End {
  const SwitchReading* owner = nullptr;
  const Json* row = nullptr;

  bool fresh() const { return owner->presence == Presence::answers; }
  std::string port() const { return row->value("port", ""); }
  std::string mac() const { return row->value("mac", ""); }
  std::string peer_mac() const { return row->value("peer_mac", ""); }
};

struct Link {
  End near;
  std::optional<End> far;
};

std::vector<End> ends_of(std::span<const SwitchReading> switches) {
  std::vector<End> ends;
  for (const SwitchReading& each : switches)
    for (const Json& row : rows_of(each.ports)) ends.push_back({&each, &row});
  return ends;
}

// A port with a peer, from the one side and from the other.
std::string own_key(const End& end) {
  return end.mac() + ">" + end.peer_mac();
}
std::string mirrored_key(const End& end) {
  return end.peer_mac() + ">" + end.mac();
}

// Positions of the ends with a key.
std::map<std::string, std::vector<size_t>> by_key(const std::vector<End>& ends) {
  std::map<std::string, std::vector<size_t>> found;
  for (size_t i = 0; i < ends.size(); ++i)
    if (!ends[i].mac().empty() && !ends[i].peer_mac().empty()) found[own_key(ends[i])].push_back(i);
  return found;
}

std::vector<Link> join(const std::vector<End>& ends) {
  const auto found = by_key(ends);
  const auto partner_of = [&](size_t i) -> std::optional<size_t> {
    const auto self = found.find(own_key(ends[i]));
    const auto far = found.find(mirrored_key(ends[i]));
    if (self == found.end() || far == found.end()) return {};
    // The two ends may have one MAC: that of switches for which nobody has set one.
    if (self == far && far->second.size() == 2) return far->second[far->second[0] == i ? 1 : 0];
    return self != far && self->second.size() == 1 && far->second.size() == 1
               ? std::optional(far->second[0])
               : std::nullopt;
  };
  std::vector<Link> links;
  for (size_t i = 0; i < ends.size(); ++i) {
    const std::optional<size_t> partner = partner_of(i);
    if (!partner)
      links.push_back({ends[i], {}});
    else if (i < *partner)
      links.push_back({ends[i], ends[*partner]});
  }
  return links;
}

std::string pair_name(const Link& link) {
  return link.near.owner->name + "-" + link.far->owner->name;
}

// "leaf1-spine2"; with ports where two switches have several links; "leaf1:h1" of one end.
std::string name_of(const Link& link, const std::map<std::string, size_t>& links_of_pair) {
  const std::string near = link.near.owner->name + ":" + link.near.port();
  if (!link.far) return near;
  if (links_of_pair.at(pair_name(link)) == 1) return pair_name(link);
  return near + "-" + link.far->owner->name + ":" + link.far->port();
}

std::string state_of(const End& end) {
  if (end.owner->presence != Presence::answers)
    return end.owner->name + (end.owner->presence == Presence::gone ? " gone" : " silent");
  return end.row->value("admin", "") == "down" ? "off" : end.row->value("oper", "");
}

// What the ends say of the link: the worse of the two, and a switch that says nothing before all.
std::string state_of(const Link& link) {
  if (!link.far) return state_of(link.near);
  const std::string near = state_of(link.near);
  const std::string far = state_of(*link.far);
  if (!link.near.fresh()) return near;
  return !link.far->fresh() || near == "up" ? far : near;
}

// A number of one direction: as `from` has sent it, or, where `from` says nothing, as `to` has
// received it. Absent where nobody knows.
void put_direction(Json& row, const std::string& key, const End* from, const char* sent,
                   const End* to, const char* received) {
  const bool by_sender = from != nullptr && from->fresh();
  const End* known = by_sender ? from : to != nullptr && to->fresh() ? to : nullptr;
  const char* member = by_sender ? sent : received;
  if (known != nullptr && known->row->contains(member)) row[key] = number(*known->row, member);
}

void put_directions(Json& row, const End& near, const End* far) {
  struct Pair {
    const char* key;
    const char* sent;
    const char* received;
  };
  constexpr Pair kPairs[] = {{"bps", "tx_bps", "rx_bps"},
                             {"pfc_xoff", "pfc_tx_xoff", "pfc_rx_xoff"},
                             {"cnm_packets", "cnm_tx_packets", "cnm_rx_packets"}};
  for (const Pair& pair : kPairs) {
    put_direction(row, std::string("forth_") + pair.key, &near, pair.sent, far, pair.received);
    put_direction(row, std::string("back_") + pair.key, far, pair.sent, &near, pair.received);
  }
  if (near.fresh()) row["forth_queued_bytes"] = number(*near.row, "queued_bytes");
  if (far != nullptr && far->fresh()) row["back_queued_bytes"] = number(*far->row, "queued_bytes");
}

Json link_row(const Link& link, const std::string& name) {
  const End* far = link.far ? &*link.far : nullptr;
  Json row{{"link", name},
           {"role", link.near.row->value("role", "")},
           {"state", state_of(link)},
           {"speed_bps", number(*link.near.row, "speed_bps")}};
  put_directions(row, link.near, far);
  for (const char* key : {"ecn_marked_packets", "dropped_packets", "dropped_pps"}) {
    uint64_t sum = 0;
    bool known = false;
    for (const End* end : {&link.near, far})
      if (end != nullptr && end->fresh() && end->row->contains(key)) {
        sum += number(*end->row, key);
        known = true;
      }
    if (known) row[key] = sum;
  }
  row["switch"] = link.near.owner->name;
  row["port"] = link.near.port();
  if (far != nullptr) {
    row["peer_switch"] = far->owner->name;
    row["peer_port"] = far->port();
  }
  return row;
}

Json report_of(const std::string& title, const std::string& report,
               std::span<const SwitchReading> switches) {
  return {{"report", report},
          {"title", fabric_line(title, switches)},
          {"note", trouble_line(switches)},
          {"rows", Json::array()}};
}

const char* word_of(Presence presence) {
  switch (presence) {
    case Presence::answers:
      return "answers";
    case Presence::silent:
      return "silent";
    case Presence::gone:
      return "gone";
  }
  return "";
}

// "3/4": ports of a role that are up, of those that should be.
std::string up_text(const SwitchReading& each, const char* role) {
  size_t up = 0;
  size_t all = 0;
  for (const Json& row : rows_of(each.ports)) {
    if (row.value("role", "") != role || row.value("admin", "") == "down") continue;
    ++all;
    if (row.value("oper", "") == "up") ++up;
  }
  return std::to_string(up) + "/" + std::to_string(all);
}

Json switch_row(const SwitchReading& each) {
  Json row{{"switch", each.name}, {"state", word_of(each.presence)}};
  if (each.presence != Presence::answers) {
    if (each.ports.contains("rows")) row["answered_ns_ago"] = each.answered_ns_ago;
    row["why"] = each.problem;
    return row;
  }
  row["uptime_ns"] = number(each.ports, "uptime_ns");
  row["generation"] = number(each.ports, "generation");
  row["fabric_ports"] = up_text(each, "fabric");
  row["host_ports"] = up_text(each, "host");
  for (const char* key : {"rx_bps", "tx_bps", "queued_bytes", "pfc_tx_xoff", "pfc_rx_xoff",
                          "cnm_tx_packets", "dropped_packets"}) {
    uint64_t sum = 0;
    for (const Json& port : rows_of(each.ports)) sum += number(port, key);
    row[key] = sum;
  }
  return row;
}

}  // namespace

void remember_peers(const Json& before, Json& now) {
  std::map<std::string, std::string> known;
  for (const Json& row : rows_of(before))
    if (row.contains("peer_mac")) known[row.value("port", "")] = row.value("peer_mac", "");
  if (!now.contains("rows")) return;
  for (Json& row : now["rows"]) {
    const auto found = known.find(row.value("port", ""));
    if (!row.contains("peer_mac") && found != known.end()) row["peer_mac"] = found->second;
  }
}

Json links_report(const std::string& title, std::span<const SwitchReading> switches) {
  const std::vector<Link> links = join(ends_of(switches));
  std::map<std::string, size_t> links_of_pair;
  for (const Link& link : links)
    if (link.far) ++links_of_pair[pair_name(link)];
  Json report = report_of(title, "links", switches);
  std::vector<Json> rows;
  for (const Link& link : links) rows.push_back(link_row(link, name_of(link, links_of_pair)));
  // What joins switches comes first.
  std::stable_partition(rows.begin(), rows.end(),
                        [](const Json& row) { return row.at("role") != "host"; });
  for (Json& row : rows) report["rows"].push_back(std::move(row));
  return report;
}

Json switches_report(const std::string& title, std::span<const SwitchReading> switches) {
  Json report = report_of(title, "switches", switches);
  for (const SwitchReading& each : switches) report["rows"].push_back(switch_row(each));
  return report;
}

Json merged_report(const std::string& title, const std::string& report,
                   std::span<const SwitchReading> switches, std::span<const Json> reports) {
  Json merged = report_of(title, report, switches);
  for (size_t i = 0; i < switches.size() && i < reports.size(); ++i) {
    if (switches[i].presence != Presence::answers) continue;
    for (const Json& row : rows_of(reports[i])) {
      Json named{{"switch", switches[i].name}};
      named.update(row);
      merged["rows"].push_back(std::move(named));
    }
  }
  return merged;
}

std::string fabric_line(const std::string& title, std::span<const SwitchReading> switches) {
  const auto silent = std::ranges::count_if(
      switches, [](const SwitchReading& each) { return each.presence != Presence::answers; });
  std::string line = title + ": " + std::to_string(switches.size()) +
                     (switches.size() == 1 ? " switch" : " switches");
  if (silent != 0)
    line += ", " + std::to_string(silent) + (silent == 1 ? " does" : " do") + " not answer";
  return line;
}

std::string trouble_line(std::span<const SwitchReading> switches) {
  std::string line;
  for (const SwitchReading& each : switches)
    if (each.presence != Presence::answers)
      line += (line.empty() ? "" : "; ") + each.name + ": " + each.problem;
  return line;
}

}  // namespace eddy::control
