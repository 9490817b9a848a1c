#include "switch/control/sonic/sonic_show.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "net/ids.h"
#include "net/text/printable.h"
#include "switch/control/report/table.h"

namespace eddy::control {
namespace {

struct Line {
  std::string_view words;
  SonicTable table;
};
constexpr auto kLines = std::to_array<Line>({
    {"show pfc counters", {Report::pfc, std::nullopt, false}},
    {"show pfcwd stats", {Report::pfcwd, std::nullopt, false}},
    {"pfcwd show stats", {Report::pfcwd, std::nullopt, false}},
    {"show queue counters", {Report::queues, std::nullopt, false}},
    {"show queue watermark", {Report::watermarks, WatermarkOf::queue, false}},
    {"show queue watermark unicast", {Report::watermarks, WatermarkOf::queue, false}},
    {"show priority-group watermark shared", {Report::watermarks, WatermarkOf::pg_shared, false}},
    {"show priority-group watermark headroom",
     {Report::watermarks, WatermarkOf::pg_headroom, false}},
    {"show buffer_pool watermark", {Report::watermarks, WatermarkOf::pool, false}},
    {"show headroom-pool watermark", {Report::watermarks, WatermarkOf::headroom_pool, false}},
    {"show queue persistent-watermark", {Report::watermarks, WatermarkOf::queue, true}},
    {"show queue persistent-watermark unicast", {Report::watermarks, WatermarkOf::queue, true}},
    {"show priority-group persistent-watermark shared",
     {Report::watermarks, WatermarkOf::pg_shared, true}},
    {"show priority-group persistent-watermark headroom",
     {Report::watermarks, WatermarkOf::pg_headroom, true}},
    {"show buffer_pool persistent-watermark", {Report::watermarks, WatermarkOf::pool, true}},
    {"show headroom-pool persistent-watermark",
     {Report::watermarks, WatermarkOf::headroom_pool, true}},
    {"show priority-group drop counters", {Report::pgs, std::nullopt, false}},
});

constexpr const char* kNone = "N/A";

using Cells = std::vector<std::string>;

// As the tables of SONiC's tools are laid out: all to the right, columns two wider than their
// heads.
std::string laid_out(const Cells& heads, const std::vector<Cells>& rows) {
  constexpr size_t kWider = 2;
  std::vector<size_t> widths;
  for (size_t i = 0; i < heads.size(); ++i) {
    size_t width = heads[i].size() + kWider;
    for (const Cells& row : rows) width = std::max(width, row[i].size());
    widths.push_back(width);
  }
  std::string out;
  const auto add = [&](const Cells& cells) {
    for (size_t i = 0; i < cells.size(); ++i)
      out += std::string(i == 0 ? 0 : 2, ' ') + std::string(widths[i] - cells[i].size(), ' ') +
             cells[i];
    out += "\n";
  };
  add(heads);
  Cells dashes;
  for (const size_t width : widths) dashes.emplace_back(width, '-');
  add(dashes);
  for (const Cells& row : rows) add(row);
  return out;
}

std::string name_at(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? printable(found->get<std::string>()) : kNone;
}

std::optional<uint64_t> number_at(const Json& row, const std::string& key) {
  const auto found = row.find(key);
  if (found == row.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<uint64_t>();
}

std::string plain_at(const Json& row, const std::string& key) {
  const auto number = number_at(row, key);
  return number ? std::to_string(*number) : kNone;
}

// A row a port, a column a number 0 to 7, in the report's order of ports.
template <class Value>
std::string by_port(const Json& rows, const std::string& corner, const std::string& column,
                    const char* index, Value value) {
  Cells heads = {corner};
  for (size_t i = 0; i < kPriorities; ++i) heads.push_back(column + std::to_string(i));
  std::vector<Cells> lines;
  std::map<std::string, size_t> at;
  for (const Json& row : rows) {
    const auto i = number_at(row, index);
    if (!i || *i >= kPriorities) continue;
    const std::string port = name_at(row, "port");
    const auto [found, fresh] = at.emplace(port, lines.size());
    if (fresh) {
      lines.emplace_back(kPriorities + 1, kNone);
      lines.back()[0] = port;
    }
    lines[found->second][*i + 1] = value(row);
  }
  return laid_out(heads, lines);
}

std::string pfc_counters(const Json& rows) {
  const auto sum = [&](const std::string& what) {
    return [what](const Json& row) -> std::string {
      const auto xoff = number_at(row, what + "_xoff");
      const auto xon = number_at(row, what + "_xon");
      return xoff && xon ? grouped(*xoff + *xon) : kNone;
    };
  };
  return by_port(rows, "Port Rx", "PFC", "prio", sum("pfc_rx")) + "\n" +
         by_port(rows, "Port Tx", "PFC", "prio", sum("pfc_tx"));
}

std::string pfcwd_stats(const Json& rows) {
  const Cells heads = {"QUEUE",      "STATUS",          "STORM DETECTED/RESTORED", "TX OK/DROP",
                       "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP"};
  std::vector<Cells> lines;
  for (const Json& row : rows) {
    const auto pair = [&](const std::string& a, const std::string& b) {
      return plain_at(row, a) + "/" + plain_at(row, b);
    };
    Cells line = {name_at(row, "port") + ":" + plain_at(row, "queue"),
                  name_at(row, "status"),
                  pair("pfcwd_deadlock_detected", "pfcwd_deadlock_restored"),
                  pair("pfcwd_tx_packets", "pfcwd_tx_dropped_packets"),
                  pair("pfcwd_rx_packets", "pfcwd_rx_dropped_packets"),
                  pair("pfcwd_tx_packets_last", "pfcwd_tx_dropped_packets_last"),
                  pair("pfcwd_rx_packets_last", "pfcwd_rx_dropped_packets_last")};
    // As there: queues without a storm have no line.
    if (std::any_of(line.begin() + 2, line.end(), [](const auto& cell) { return cell != "0/0"; }))
      lines.push_back(std::move(line));
  }
  return laid_out(heads, lines);
}

std::string queue_counters(const Json& rows) {
  const Cells heads = {"Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"};
  std::string out;
  std::vector<Cells> lines;
  for (const Json& row : rows) {
    Cells line = {name_at(row, "port"),
                  "UC" + plain_at(row, "queue"),
                  plain_at(row, "queue_tx_packets"),
                  plain_at(row, "queue_tx_bytes"),
                  plain_at(row, "queue_dropped_packets"),
                  kNone};  // octets of drops are not counted
    if (!lines.empty() && lines.front()[0] != line[0]) {
      out += laid_out(heads, lines) + "\n";
      lines.clear();
    }
    lines.push_back(std::move(line));
  }
  return out + laid_out(heads, lines);
}

Json of_kind(const Json& rows, WatermarkOf kind) {
  const std::string name(watermark_words()[static_cast<size_t>(kind)].name);
  Json out = Json::array();
  for (const Json& row : rows)
    if (row.value("kind", "") == name) out.push_back(row);
  return out;
}

std::string watermarks(const Json& rows, WatermarkOf kind, bool persistent) {
  const std::string key = std::string(persistent ? "persistent" : "user") + "_watermark_bytes";
  const auto value = [&](const Json& row) { return plain_at(row, key); };
  const Json chosen = of_kind(rows, kind);
  if (kind == WatermarkOf::queue) return by_port(chosen, "Port", "UC", "queue", value);
  if (kind == WatermarkOf::pg_shared || kind == WatermarkOf::pg_headroom)
    return by_port(chosen, "Port", "PG", "pg", value);
  std::vector<Cells> lines;
  for (const Json& row : chosen)
    lines.push_back({kind == WatermarkOf::pool ? "shared" : "headroom", value(row)});
  return laid_out({"Pool", "Bytes"}, lines);
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace

Result<SonicTable> parse_sonic_table(const std::vector<std::string>& words) {
  const std::string said = joined(words);
  std::string valid;
  for (const Line& line : kLines) {
    if (line.words == said) return line.table;
    valid += (valid.empty() ? "" : "; ") + std::string(line.words);
  }
  return Result<SonicTable>::failure("\"" + said +
                                     "\" is no table of --style sonic; they are: " + valid);
}

std::string render_sonic(const SonicTable& table, const Json& report) {
  const Json rows = report.value("rows", Json::array());
  if (table.kind) return watermarks(rows, *table.kind, table.persistent);
  if (table.report == Report::pfc) return pfc_counters(rows);
  if (table.report == Report::pfcwd) return pfcwd_stats(rows);
  if (table.report == Report::queues) return queue_counters(rows);
  return by_port(rows, "Port", "PG", "pg",
                 [](const Json& row) { return plain_at(row, "pg_dropped_packets"); });
}

}  // namespace eddy::control
