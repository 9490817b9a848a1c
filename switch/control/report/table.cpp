#include "switch/control/report/table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "switch/control/report/words.h"

namespace eddy::control {
namespace {

enum class Kind : uint8_t { text, number, count, bytes, rate, picoseconds, nanoseconds, percent };

struct Column {
  const char* key;
  const char* title;
  Kind kind = Kind::text;
  bool rare = false;  // left out where no row has it
};

constexpr Column kPorts[] = {{"port", "Port"},
                             {"role", "Role"},
                             {"admin", "Admin"},
                             {"oper", "Oper"},
                             {"tx", "Tx"},
                             {"speed_bps", "Speed", Kind::rate},
                             {"rx_bps", "Rx rate", Kind::rate},
                             {"tx_bps", "Tx rate", Kind::rate},
                             {"rx_packets", "Rx packets", Kind::count},
                             {"tx_packets", "Tx packets", Kind::count},
                             {"queued_bytes", "Queued", Kind::bytes},
                             {"dropped_packets", "Dropped", Kind::count},
                             {"ecn_marked_packets", "ECN", Kind::count},
                             {"pfc_tx_xoff", "PFC sent", Kind::count},
                             {"pfc_rx_xoff", "PFC rcvd", Kind::count}};
constexpr Column kQueues[] = {{"port", "Port"},
                              {"queue", "Queue", Kind::number},
                              {"scheduler", "Sched"},
                              {"weight", "Weight", Kind::number},
                              {"used_bytes", "Used", Kind::bytes},
                              {"user_watermark_bytes", "Watermark", Kind::bytes},
                              {"paused", "Paused"},
                              {"storm", "Storm"},
                              {"tx_bps", "Tx rate", Kind::rate},
                              {"queue_tx_packets", "Tx packets", Kind::count},
                              {"queue_dropped_packets", "Dropped", Kind::count},
                              {"ecn_marked_packets", "ECN", Kind::count}};
constexpr Column kPgs[] = {{"port", "Port"},
                           {"pg", "PG", Kind::number},
                           {"profile", "Profile"},
                           {"lossless", "Lossless"},
                           {"used_bytes", "Used", Kind::bytes},
                           {"headroom_bytes", "Headroom", Kind::bytes},
                           {"xoff_bytes", "Xoff", Kind::bytes},
                           {"user_watermark_bytes", "Watermark", Kind::bytes},
                           {"headroom_user_watermark_bytes", "In headroom", Kind::bytes},
                           {"pausing", "Pausing"},
                           {"rx_bps", "Rx rate", Kind::rate},
                           {"pg_rx_packets", "Rx packets", Kind::count},
                           {"pg_dropped_packets", "Dropped", Kind::count}};
constexpr Column kPfc[] = {{"port", "Port"},
                           {"prio", "Prio", Kind::number},
                           {"enabled", "Enabled"},
                           {"pfc_tx", "Tx"},
                           {"pfc_rx", "Rx"},
                           {"paused", "Paused"},
                           {"pfc_tx_xoff", "Xoff sent", Kind::count},
                           {"pfc_tx_xon", "Xon sent", Kind::count},
                           {"pfc_rx_xoff", "Xoff rcvd", Kind::count},
                           {"pfc_rx_xon", "Xon rcvd", Kind::count},
                           {"pfc_rx_paused_ps", "Paused for", Kind::picoseconds},
                           {"pfcwd_storms", "Storms", Kind::count},
                           {"pfcwd_restored", "Restored", Kind::count},
                           {"pfcwd_dropped_packets", "Wd dropped", Kind::count}};
constexpr Column kPfcwd[] = {{"port", "Port"},
                             {"queue", "Queue", Kind::number},
                             {"status", "Status"},
                             {"action", "Action"},
                             {"pfcwd_deadlock_detected", "Detected", Kind::count},
                             {"pfcwd_deadlock_restored", "Restored", Kind::count},
                             {"pfcwd_tx_packets", "Tx ok", Kind::count},
                             {"pfcwd_tx_dropped_packets", "Tx drop", Kind::count},
                             {"pfcwd_rx_packets", "Rx ok", Kind::count},
                             {"pfcwd_rx_dropped_packets", "Rx drop", Kind::count},
                             {"pfcwd_tx_packets_last", "Tx last ok", Kind::count},
                             {"pfcwd_tx_dropped_packets_last", "Tx last drop", Kind::count},
                             {"pfcwd_rx_packets_last", "Rx last ok", Kind::count},
                             {"pfcwd_rx_dropped_packets_last", "Rx last drop", Kind::count}};
constexpr Column kRlb[] = {{"port", "Port"},
                           {"pfc_predicted", "Predicted", Kind::count},
                           {"pfc_predictions_right", "Right", Kind::count},
                           {"cnm_tx_packets", "CNM tx", Kind::count},
                           {"cnm_rx_packets", "CNM rx", Kind::count},
                           {"cnm_relayed_packets", "Relayed", Kind::count},
                           {"path_warnings_begun", "Warned", Kind::count},
                           {"path_warnings_cleared", "Cleared", Kind::count},
                           {"path_warnings_expired", "Expired", Kind::count},
                           {"rlb_rerouted_packets", "Rerouted", Kind::count},
                           {"rlb_placed_flows", "Placed", Kind::count},
                           {"rlb_culprit_packets", "Culprits", Kind::count},
                           {"rlb_waiting_packets", "Waited", Kind::count},
                           {"rlb_followed_packets", "Followed", Kind::count},
                           {"rlb_forced_packets", "Forced", Kind::count},
                           {"rlb_all_warned_packets", "All warned", Kind::count},
                           {"rlb_suspended_packets", "Suspended", Kind::count},
                           {"guard_stayed_packets", "Stayed", Kind::count},
                           {"guard_moved_flows", "Moved", Kind::count},
                           {"guard_drained_flows", "Drained", Kind::count}};
constexpr Column kIsolation[] = {{"port", "Port"},
                                 {"isolation_hot_hosts", "Hot", Kind::count},
                                 {"isolation_crowded_hosts", "Crowded", Kind::count},
                                 {"isolation_long_flows", "Long", Kind::count},
                                 {"isolation_tx_packets", "CIM tx", Kind::count},
                                 {"isolation_rx_packets", "CIM rx", Kind::count},
                                 {"isolation_relayed_packets", "Relayed", Kind::count},
                                 {"isolation_stale_packets", "Stale", Kind::count},
                                 {"isolation_begun_packets", "Isolated", Kind::count},
                                 {"isolation_kept_packets", "Kept", Kind::count},
                                 {"isolation_ended_packets", "Put back", Kind::count},
                                 {"isolation_placeless_packets", "Placeless", Kind::count},
                                 {"isolation_untrusted_packets", "Untrusted", Kind::count}};
constexpr Column kIsolated[] = {{"destination", "Destination"},
                                {"tag", "Tag"},
                                {"leaf", "Leaf", Kind::number},
                                {"port", "Port"},
                                {"state", "State"},
                                {"hot_ns", "Hot for", Kind::nanoseconds},
                                {"queued_bytes", "Queued", Kind::bytes},
                                {"named", "Named"},
                                {"named_flows", "Flows named", Kind::count},
                                {"isolated_flows", "Flows isolated", Kind::count},
                                {"isolated_packets", "Packets", Kind::count},
                                {"said_by", "Said by"}};
constexpr Column kBuffers[] = {{"pool", "Pool"},
                               {"cell_bytes", "Cell", Kind::bytes},
                               {"size_bytes", "Size", Kind::bytes},
                               {"reserved_bytes", "Reserved", Kind::bytes},
                               {"shared_size_bytes", "Shared", Kind::bytes},
                               {"shared_used_bytes", "Shared used", Kind::bytes},
                               {"shared_user_watermark_bytes", "Watermark", Kind::bytes},
                               {"headroom_used_bytes", "Headroom used", Kind::bytes},
                               {"headroom_user_watermark_bytes", "Watermark", Kind::bytes},
                               {"stages_size_bytes", "Stages", Kind::bytes},
                               {"stages_used_bytes", "Stages used", Kind::bytes},
                               {"stages_user_watermark_bytes", "Watermark", Kind::bytes}};
constexpr Column kWatermarks[] = {{"kind", "Kind"},
                                  {"port", "Port"},
                                  {"pg", "PG", Kind::number},
                                  {"queue", "Queue", Kind::number},
                                  {"used_bytes", "Used", Kind::bytes},
                                  {"user_watermark_bytes", "User", Kind::bytes},
                                  {"persistent_watermark_bytes", "Persistent", Kind::bytes}};
constexpr Column kDrops[] = {{"port", "Port"},
                             {"reason", "Reason"},
                             {"dropped_packets", "Packets", Kind::count},
                             {"dropped_pps", "A second", Kind::count},
                             {"help", "Meaning"}};
constexpr Column kPaths[] = {{"leaf", "Leaf", Kind::number},
                             {"member", "Member", Kind::number},
                             {"port", "Port"},
                             {"path", "Path"},
                             {"weight", "Weight", Kind::number},
                             {"live", "Live"},
                             {"delay_ns", "Delay", Kind::nanoseconds},
                             {"least_delay_ns", "Least", Kind::nanoseconds},
                             {"age_ns", "Age", Kind::nanoseconds},
                             {"ecn_percent", "ECN", Kind::percent},
                             {"utilisation_percent", "Load", Kind::percent},
                             {"warned", "Warned"},
                             {"paused", "Paused"},
                             {"failed", "Failed"},
                             {"queued_bytes", "Queued", Kind::bytes},
                             {"dre_bytes", "DRE", Kind::bytes},
                             {"tx_bps", "Tx rate", Kind::rate},
                             {"tx_packets", "Tx packets", Kind::count},
                             {"best", "Best", Kind::text, /*rare=*/true},
                             {"told_percent", "Told", Kind::percent, /*rare=*/true},
                             {"told_age_ns", "Ago", Kind::nanoseconds, /*rare=*/true},
                             {"busy_ns", "Busy for", Kind::nanoseconds, /*rare=*/true},
                             {"why", "Why"}};
constexpr Column kFlows[] = {{"flow", "Flow"},
                             {"worker", "Worker", Kind::number},
                             {"leaf", "Leaf", Kind::number},
                             {"member", "Member", Kind::number},
                             {"port", "Port"},
                             {"path", "Path"},
                             {"wanted_member", "Wanted", Kind::number},
                             {"wanted_port", "Wanted port"},
                             {"moved", "Moved"},
                             {"proven", "Proven"},
                             {"idle_ns", "Idle", Kind::nanoseconds}};
constexpr Column kSchemes[] = {
    {"scheme", "Scheme"},   {"active", "Active"}, {"parameter", "Parameter"}, {"value", "Value"},
    {"default", "Default"}, {"range", "Valid"},   {"help", "Meaning"}};
constexpr Column kWorkers[] = {{"worker", "Worker", Kind::number},
                               {"lcore", "Lcore", Kind::number},
                               {"cpu", "CPU", Kind::number},
                               {"ports", "Ports"},
                               {"busy_percent", "Busy", Kind::percent},
                               {"packets", "Packets", Kind::count},
                               {"polls", "Polls", Kind::count},
                               {"empty_polls", "Empty", Kind::count},
                               {"poll_gap_p999_ns", "Gap p99.9", Kind::nanoseconds},
                               {"poll_gap_max_ns", "Gap max", Kind::nanoseconds},
                               {"poll_gap_limit_ns", "Limit", Kind::nanoseconds}};
constexpr Column kNeighbors[] = {{"address", "Address"}, {"mac", "MAC"},
                                 {"port", "Port"},       {"type", "Type"},
                                 {"state", "State"},     {"age_ns", "Age", Kind::nanoseconds}};
constexpr Column kRoutes[] = {{"prefix", "Prefix"},
                              {"type", "Type"},
                              {"port", "Port"},
                              {"leaf", "Leaf", Kind::number},
                              {"live_paths", "Live paths", Kind::number},
                              {"live", "Live"}};
constexpr Column kEvents[] = {{"number", "No", Kind::number},
                              {"time", "Time"},
                              {"event", "Event"},
                              {"port", "Port"},
                              {"prio", "Prio", Kind::number},
                              {"path", "Path"},
                              {"value", "Value", Kind::count},
                              {"suppressed", "Suppressed", Kind::count},
                              {"help", "Meaning"}};

// Of eddyctl's own making, from what several switches say (top/links.h).
constexpr Column kLinks[] = {{"link", "Link"},
                             {"role", "Role"},
                             {"state", "State"},
                             {"speed_bps", "Speed", Kind::rate},
                             {"forth_bps", "Rate >", Kind::rate},
                             {"back_bps", "Rate <", Kind::rate},
                             {"forth_queued_bytes", "Queued >", Kind::bytes},
                             {"back_queued_bytes", "Queued <", Kind::bytes},
                             {"forth_pfc_xoff", "PFC >", Kind::count},
                             {"back_pfc_xoff", "PFC <", Kind::count},
                             {"forth_cnm_packets", "CNM >", Kind::count},
                             {"back_cnm_packets", "CNM <", Kind::count},
                             {"dropped_packets", "Dropped", Kind::count},
                             {"dropped_pps", "A second", Kind::count},
                             {"ecn_marked_packets", "ECN", Kind::count}};
constexpr Column kSwitches[] = {{"switch", "Switch"},
                                {"state", "State"},
                                {"uptime_ns", "Up for", Kind::nanoseconds},
                                {"generation", "Generation", Kind::number},
                                {"fabric_ports", "Fabric up"},
                                {"host_ports", "Hosts up"},
                                {"rx_bps", "Rx rate", Kind::rate},
                                {"tx_bps", "Tx rate", Kind::rate},
                                {"queued_bytes", "Queued", Kind::bytes},
                                {"pfc_tx_xoff", "PFC sent", Kind::count},
                                {"pfc_rx_xoff", "PFC rcvd", Kind::count},
                                {"cnm_tx_packets", "CNM sent", Kind::count},
                                {"dropped_packets", "Dropped", Kind::count},
                                {"answered_ns_ago", "Silent for", Kind::nanoseconds},
                                {"why", "Why"}};

std::span<const Column> columns_of(Report report) {
  switch (report) {
    case Report::ports:
      return kPorts;
    case Report::queues:
      return kQueues;
    case Report::pgs:
      return kPgs;
    case Report::pfc:
      return kPfc;
    case Report::pfcwd:
      return kPfcwd;
    case Report::buffers:
      return kBuffers;
    case Report::watermarks:
      return kWatermarks;
    case Report::drops:
      return kDrops;
    case Report::rlb:
      return kRlb;
    case Report::isolation:
      return kIsolation;
    case Report::isolated:
      return kIsolated;
    case Report::paths:
      return kPaths;
    case Report::flows:
      return kFlows;
    case Report::schemes:
      return kSchemes;
    case Report::workers:
      return kWorkers;
    case Report::neighbors:
      return kNeighbors;
    case Report::routes:
      return kRoutes;
    case Report::events:
      return kEvents;
  }
  return {};
}

// Of the table that a report is, with the switch first where its rows are of several; empty: it is
// none.
std::vector<Column> columns_of(const Json& report) {
  const std::string name = report.value("report", "");
  if (name == "links") return {std::begin(kLinks), std::end(kLinks)};
  if (name == "switches") return {std::begin(kSwitches), std::end(kSwitches)};
  const auto known = parse_report(name);
  if (!known) return {};
  const std::span<const Column> own = columns_of(*known);
  std::vector<Column> columns(own.begin(), own.end());
  const Json& rows = report.at("rows");
  std::erase_if(columns, [&](const Column& column) {
    return column.rare &&
           std::ranges::none_of(rows, [&](const Json& row) { return row.contains(column.key); });
  });
  if (!rows.empty() && rows[0].contains("switch"))
    columns.insert(columns.begin(), {"switch", "Switch"});
  return columns;
}

std::string number_text(Kind kind, uint64_t n) {
  switch (kind) {
    case Kind::text:
    case Kind::number:
      return std::to_string(n);
    case Kind::count:
      return grouped(n);
    case Kind::bytes:
      return bytes_text(n);
    case Kind::rate:
      return rate_text(n);
    case Kind::picoseconds:
      return duration_text(n);
    case Kind::nanoseconds:
      return duration_text(n * kPicosecondsANanosecond);
    case Kind::percent:
      return std::to_string(n) + " %";
  }
  return "";
}

// As long as any that a switch shows: each line of a table is as wide as its widest cell.
std::string cell_of(const std::string& text) {
  constexpr size_t kLongest = 256;
  return text.size() <= kLongest ? text : text.substr(0, kLongest - 3) + "...";
}

std::string cell_text(const Column& column, const Json& row) {
  const auto found = row.find(column.key);
  if (found == row.end()) return "-";
  if (found->is_string()) return cell_of(found->get_ref<const std::string&>());
  if (found->is_number_integer()) return number_text(column.kind, found->get<uint64_t>());
  return found->dump();
}

using Cells = std::vector<std::string>;

void pad(std::span<const Column> columns, std::vector<Cells>& lines) {
  for (size_t i = 0; i < columns.size(); ++i) {
    size_t width = 0;
    for (const Cells& cells : lines) width = std::max(width, cells[i].size());
    for (Cells& cells : lines) {
      const std::string space(width - cells[i].size(), ' ');
      cells[i] = columns[i].kind == Kind::text ? cells[i] + space : space + cells[i];
    }
  }
}

// value * 10 / unit, rounded, as "N.N"
std::string one_decimal(uint64_t value, uint64_t unit) {
  const auto tenths =
      static_cast<uint64_t>((static_cast<unsigned __int128>(value) * 10 + unit / 2) / unit);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

struct Unit {
  uint64_t size;
  const char* name;
};

// The largest unit not above the value; whole numbers of the smallest.
std::string with_unit(uint64_t value, std::span<const Unit> units) {
  for (size_t i = units.size(); i-- > 1;)
    if (value >= units[i].size) return one_decimal(value, units[i].size) + " " + units[i].name;
  return std::to_string(value / units[0].size) + " " + units[0].name;
}

uint64_t number_of(const Json& report, const char* key) {
  return report.value(key, uint64_t{0});
}

std::string scheme_text(const Json& report) {
  if (number_of(report, "scheme_places") == 0) return "";
  const auto of = [&](const char* key) { return grouped(number_of(report, key)); };
  std::string text = report.value("scheme", "") + ": " + of("scheme_flows") + " of " +
                     of("scheme_places") + " entries in use";
  if (report.contains("scheme_asking"))
    text += "; " + of("scheme_asking") + " wait for an answer, " + of("scheme_moved") +
            " have moved and their tail is out";
  return text + "\n";
}

std::string flows_text(const Json& report) {
  const auto of = [&](const char* key) { return grouped(number_of(report, key)); };
  if (number_of(report, "watched_places") == 0)
    return "no flow is watched: RLB is off, or there is no path to choose\n" + scheme_text(report);
  return "guard " + report.value("guard", "") + ": " + std::to_string(report.at("rows").size()) +
         " of " + of("matching_flows") + " flows shown; " + of("watched_flows") + " of " +
         of("watched_places") + " places taken, " + of("guard_replaced_flows") +
         " flows replaced, " + of("guard_placeless_packets") + " packets without a place\n" +
         scheme_text(report);
}

std::string plugin_text(const Json& report) {
  if (!report.contains("plugin")) return "";
  const auto of = [&](const char* key) { return report.value(key, ""); };
  std::string text = "of plugin " + of("plugin") + ", built for Eddy " + of("plugin_version") +
                     ", sha256 " + of("plugin_sha256") + "\n";
  if (report.contains("failed"))
    text += "it has failed, packets go by ecmp: " + of("failed") + "\n";
  return text;
}

// "1: 6,042, 2: 18, 8+: 4"
std::string rounds_text(const Json& rows) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t rounds = 1; rounds <= kMost; ++rounds) {
    uint64_t packets = 0;
    for (const Json& row : rows)
      packets += number_of(row, ("rlb_rounds_" + std::to_string(rounds)).c_str());
    if (packets != 0)
      text += (text.empty() ? "" : ", ") + std::to_string(rounds) + (rounds == kMost ? "+" : "") +
              ": " + grouped(packets);
  }
  return text;
}

// Below the rows: what is of the whole switch.
std::string whole_of(Report report, const Json& value) {
  if (report == Report::flows) return flows_text(value);
  if (report == Report::schemes) return plugin_text(value);
  if (report != Report::rlb || !value.contains("rlb_wait_p50_ns")) return "";
  const auto time = [&](const char* key) {
    return duration_text(number_of(value, key) * kPicosecondsANanosecond);
  };
  return "waited in the loop: p50 " + time("rlb_wait_p50_ns") + ", p99 " + time("rlb_wait_p99_ns") +
         "; by rounds: " + rounds_text(value.at("rows")) + "\n";
}

std::string nothing_of(std::optional<Report> report) {
  if (!report) return "nothing to show\n";
  if (report == Report::isolated) return "nobody is isolated, and no port here is congested\n";
  return report == Report::flows ? "" : "nothing to show (--all shows every row)\n";
}

}  // namespace

std::string render_table(const Json& report) {
  const TableCells table = table_cells(report);
  if (table.lines.empty()) return report.dump(2) + "\n";
  std::string text;
  for (const Cells& cells : table.lines) {
    if (table.lines.size() == 1) break;
    std::string line;
    for (const std::string& cell : cells) line += (line.empty() ? "" : "  ") + cell;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text + table.below;
}

TableCells table_cells(const Json& report) {
  TableCells table;
  const std::vector<Column> columns = columns_of(report);
  if (columns.empty()) return table;
  table.lines.emplace_back();
  for (const Column& column : columns) {
    table.keys.emplace_back(column.key);
    table.lines[0].emplace_back(column.title);
  }
  for (const Json& row : report.at("rows")) {
    Cells& cells = table.lines.emplace_back();
    for (const Column& column : columns) cells.push_back(cell_text(column, row));
  }
  pad(columns, table.lines);
  const std::optional<Report> name = parse_report(report.value("report", ""));
  if (table.lines.size() == 1)
    table.below = nothing_of(report.contains("title") ? std::nullopt : name);
  if (name) table.below += whole_of(*name, report);
  return table;
}

std::string grouped(uint64_t n) {
  std::string text = std::to_string(n);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string bytes_text(uint64_t octets) {
  static constexpr Unit kUnits[] = {
      {1, "B"}, {1ull << 10, "KiB"}, {1ull << 20, "MiB"}, {1ull << 30, "GiB"}, {1ull << 40, "TiB"}};
  return with_unit(octets, kUnits);
}

std::string rate_text(uint64_t bits_per_second) {
  static constexpr Unit kUnits[] = {
      {1, "b/s"}, {1'000, "kb/s"}, {1'000'000, "Mb/s"}, {1'000'000'000, "Gb/s"}};
  return with_unit(bits_per_second, kUnits);
}

std::string duration_text(uint64_t picoseconds) {
  static constexpr Unit kUnits[] = {
      {1, "ps"}, {1'000, "ns"}, {1'000'000, "us"}, {1'000'000'000, "ms"}, {1'000'000'000'000, "s"}};
  static constexpr uint64_t kSecond = 1'000'000'000'000, kMinute = 60, kHour = 3'600, kDay = 86'400;
  const uint64_t seconds = picoseconds / kSecond;
  const auto pair = [&](uint64_t big, const char* big_name, uint64_t small,
                        const char* small_name) {
    return std::to_string(seconds / big) + big_name + " " + std::to_string(seconds % big / small) +
           small_name;
  };
  if (picoseconds == 0) return "0 s";
  if (seconds < 2 * kMinute) return with_unit(picoseconds, kUnits);
  if (seconds < kHour) return pair(kMinute, "m", 1, "s");
  if (seconds < kDay) return pair(kHour, "h", kMinute, "m");
  return pair(kDay, "d", kHour, "h");
}

}  // namespace eddy::control
