// Flows from a file: our CSV, or the flow files of the HPCC simulator, which begin with the number
// of flows and have `source destination priority-group port size start` in lines, start in seconds,
// hosts by their numbers in its topology files.
#include <algorithm>
#include <map>
#include <optional>

#include "lab/host_names.h"
#include "lab/traffic_item.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

constexpr std::string_view kHeader = "start,source,destination,size";
constexpr size_t kHpccColumns = 6;

// Turns the words of rows into flows; what is wrong becomes a problem of its line.
class TraceReader {
 public:
  TraceReader(TrafficItem& item, TextTable& table)
      : item_(item), table_(table), names_(item.topology()) {
    const auto& hosts = item.topology().hosts;
    for (uint32_t i = 0; i < hosts.size(); ++i) nodes_.emplace(hosts[i].node, i);
  }

  void read_rows() {
    for (const TableRow& row : table_.rows())
      read_flow(row.line, {host_named(row.line, row.cells[1]), host_named(row.line, row.cells[2]),
                           parse_bytes(row.cells[3]), parse_duration(row.cells[0])});
  }
  void read_hpcc_rows() {
    for (const TableRow& row : table_.rows())
      read_flow(row.line,
                {host_numbered(row.line, row.cells[0]), host_numbered(row.line, row.cells[1]),
                 parse_bytes(std::string(row.cells[4]) + "B"),
                 parse_duration(std::string(row.cells[5]) + "s")});
  }
  // Gives the item the flows, or the problems.
  void finish() {
    std::ranges::stable_sort(flows_, {}, &Flow::start);
    item_.problems.insert(item_.problems.end(), table_.problems().begin(), table_.problems().end());
    if (!table_.ok()) return;
    size_t outside = 0;
    for (const Flow& flow : flows_)
      if (flow.start >= item_.begin() && flow.start < item_.end())
        item_.add(flow);
      else
        ++outside;
    if (outside > 0)
      item_.warning(".file", std::to_string(outside) + " of " + std::to_string(flows_.size()) +
                                 " flows start outside of the run and are left out");
  }

 private:
  struct Words {
    std::optional<uint32_t> source;
    std::optional<uint32_t> destination;
    Result<Bytes> size;
    Result<Duration> start;
  };

  void read_flow(size_t line, const Words& words) {
    if (!words.start) table_.problem(line, words.start.problems().front());
    if (!words.size) table_.problem(line, words.size.problems().front());
    if (!words.start || !words.source || !words.destination || !words.size) return;
    if (*words.source == *words.destination)
      return table_.problem(line, "a flow from " + names_.name_of(*words.source) + " to itself");
    if (words.size.value() < Bytes(1)) return table_.problem(line, "a flow has at least 1 octet");
    flows_.push_back({.source = *words.source,
                      .destination = *words.destination,
                      .size = words.size.value(),
                      .start = Instant::at(words.start.value())});
  }
  std::optional<uint32_t> host_named(size_t line, std::string_view name) {
    const auto found = names_.find(name);
    if (found && found.value().size() == 1) return found.value().front();
    table_.problem(line, found ? in_quotes(name) + " is not one host" : found.problems().front());
    return std::nullopt;
  }
  std::optional<uint32_t> host_numbered(size_t line, std::string_view number) {
    const auto parsed = parse_integer(number);
    const auto host = parsed ? nodes_.find(parsed.value()) : nodes_.end();
    if (host != nodes_.end()) return host->second;
    table_.problem(line, in_quotes(number) + " is not the number of a host");
    return std::nullopt;
  }

  TrafficItem& item_;
  TextTable& table_;
  HostNames names_;
  std::map<int64_t, uint32_t> nodes_;  // hosts by their HPCC numbers
  std::vector<Flow> flows_;
};

}  // namespace

void add_trace(TrafficItem& item, const ReadTrafficFile& read) {
  const auto file = read(item.config().file);
  if (!file) return item.problem(".file", file.problems().front());
  const bool hpcc = TextTable::first_line(file.value().text).find(',') == std::string_view::npos;
  TextTable table = hpcc ? TextTable(file.value(), TextTable::Blank{kHpccColumns})
                         : TextTable(file.value(), kHeader);
  TraceReader reader(item, table);
  hpcc ? reader.read_hpcc_rows() : reader.read_rows();
  reader.finish();
}

}  // namespace eddy::lab
