// Flows from a file: our CSV, or the flow files of two simulators. Those begin with the number of
// flows; a line has `src dst pg dport size start` in HPCC's and `src dst pg size start` in
// ConWeave's: hosts by their numbers in the topology files, sizes in octets, start in seconds.
#include <algorithm>
#include <map>
#include <optional>

#include "lab/fabric/host_names.h"
#include "lab/traffic/traffic_item.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

constexpr std::string_view kTraceHeader = "start,source,destination,size";
constexpr std::string_view kConweaveLayout = "src dst pg size start";
constexpr std::string_view kHpccLayout = "src dst pg dport size start";
constexpr size_t kHpccColumns = 6;

// Which cell of a row says what, and how.
struct Columns {
  size_t start, source, destination, size;
  std::optional<size_t> group, port;       // priority group, destination port
  std::string_view start_unit, size_unit;  // that the cells leave out
  bool numbered;                           // hosts by their numbers in the topology file
};
constexpr Columns kOurOrder{0, 1, 2, 3, {}, {}, "", "", false};
constexpr Columns kHpccOrder{5, 0, 1, 4, 2, 3, "s", "B", true};
constexpr Columns kConweaveOrder{4, 0, 1, 3, 2, {}, "s", "B", true};

// Turns rows into flows; what is wrong becomes a problem of its cell.
class TraceReader {
 public:
  TraceReader(TrafficItem& item, TextTable& table, const Columns& columns)
      : item_(item), table_(table), columns_(columns), names_(item.topology()) {
    const auto& hosts = item.topology().hosts;
    for (uint32_t i = 0; i < hosts.size(); ++i) nodes_.emplace(hosts[i].node, i);
  }

  void read() {
    for (const TableRow& row : table_.rows()) read_flow(row);
  }
  // Gives the item the flows, or the problems.
  void finish() {
    std::ranges::stable_sort(flows_, {}, &Flow::start);
    item_.problems.insert(item_.problems.end(), table_.problems().begin(), table_.problems().end());
    if (!table_.ok()) return;
    take_origin();
    size_t outside = 0;
    for (const Flow& flow : flows_)
      if (!add(flow)) ++outside;
    const std::string of_all = " of " + std::to_string(flows_.size()) + " flows ";
    if (outside > 0)
      item_.warning(".file",
                    std::to_string(outside) + of_all + "start outside of the run and are left out");
    if (other_groups_ > 0)
      item_.warning(".file", std::to_string(other_groups_) + of_all +
                                 "name another priority group than host.priority, which they have");
  }

 private:
  void take_origin() {
    const Instant first = flows_.empty() ? Instant() : flows_.front().start;
    const auto& given = item_.config().start;  // is dilated, the file's times are not
    origin_ = given ? *given / item_.config().file_dilation : first.since_zero();
    item_.file_origin = origin_;
  }
  // False: the flow does not start within the run.
  bool add(Flow flow) {
    const int64_t dilation = item_.config().file_dilation;
    const Duration since = flow.start.since_zero() - origin_;
    if (since < Duration{} || since > item_.end().since_zero() / dilation) return false;
    flow.start = Instant::at(since * dilation);
    if (flow.start >= item_.end()) return false;
    item_.add(flow);
    return true;
  }
  void read_flow(const TableRow& row) {
    const auto start = quantity(row, columns_.start, columns_.start_unit, &parse_duration);
    const auto size = quantity(row, columns_.size, columns_.size_unit, &parse_bytes);
    const auto source = host_at(row, columns_.source);
    const auto destination = host_at(row, columns_.destination);
    const auto group = number(row, columns_.group, kPriorities - 1, "a priority group");
    const auto port = number(row, columns_.port, UINT16_MAX, "a port");
    if (!start || !size || !source || !destination || !group || !port) return;
    if (*source == *destination)
      return table_.problem(row, columns_.destination,
                            "a flow from " + names_.name_of(*source) + " to itself");
    if (*size < Bytes(1)) return table_.problem(row, columns_.size, "a flow has at least 1 octet");
    const auto carried = static_cast<int64_t>(item_.experiment().host.priority.index());
    if (columns_.group && *group != carried) ++other_groups_;
    flows_.push_back({.source = *source,
                      .destination = *destination,
                      .size = *size,
                      .start = Instant::at(*start),
                      .file_port = static_cast<uint16_t>(*port)});
  }
  // 0 where the file has no such column.
  std::optional<int64_t> number(const TableRow& row, std::optional<size_t> cell, int64_t most,
                                const std::string& what) {
    if (!cell) return 0;
    const auto parsed = parse_integer(row.cells[*cell]);
    if (parsed && parsed.value() >= 0 && parsed.value() <= most) return parsed.value();
    table_.problem(row, *cell,
                   in_quotes(row.cells[*cell]) + " is not " + what + ", they are 0 to " +
                       std::to_string(most));
    return std::nullopt;
  }
  template <class T>
  std::optional<T> quantity(const TableRow& row, size_t cell, std::string_view unit,
                            Result<T> (*parse)(std::string_view)) {
    const Result<T> parsed = parse(std::string(row.cells[cell]) + std::string(unit));
    if (parsed) return parsed.value();
    table_.problem(row, cell, parsed.problems().front());
    return std::nullopt;
  }
  std::optional<uint32_t> host_at(const TableRow& row, size_t cell) {
    return columns_.numbered ? host_numbered(row, cell) : host_named(row, cell);
  }
  std::optional<uint32_t> host_named(const TableRow& row, size_t cell) {
    const std::string_view name = row.cells[cell];
    const auto found = names_.find(name);
    if (found && found.value().size() == 1) return found.value().front();
    table_.problem(row, cell,
                   found ? in_quotes(name) + " is not one host" : found.problems().front());
    return std::nullopt;
  }
  std::optional<uint32_t> host_numbered(const TableRow& row, size_t cell) {
    const auto parsed = parse_integer(row.cells[cell]);
    const auto host = parsed ? nodes_.find(parsed.value()) : nodes_.end();
    if (host != nodes_.end()) return host->second;
    table_.problem(
        row, cell,
        in_quotes(row.cells[cell]) + " is not the number of a host, they are " + known_numbers());
    return std::nullopt;
  }
  // "0 to 7, 9": at most so many ranges are said.
  std::string known_numbers() const {
    constexpr int kRanges = 4;
    std::string out;
    int ranges = 0;
    for (auto at = nodes_.begin(); at != nodes_.end();) {
      const int64_t first = at->first;
      int64_t last = first;
      for (++at; at != nodes_.end() && at->first == last + 1; ++at) ++last;
      if (++ranges > kRanges) return out + " and others";
      out += (out.empty() ? "" : ", ") + std::to_string(first);
      if (last > first) out += " to " + std::to_string(last);
    }
    return out;
  }

  TrafficItem& item_;
  TextTable& table_;
  const Columns& columns_;
  HostNames names_;
  std::map<int64_t, uint32_t> nodes_;  // hosts by their HPCC numbers
  std::vector<Flow> flows_;            // start as in the file
  size_t other_groups_ = 0;
  Duration origin_{};
};

}  // namespace

void add_trace(TrafficItem& item, const ReadTrafficFile& read) {
  const auto file = read(item.config().file);
  if (!file) return item.problem(".file", file.problems().front());
  const bool ours = TextTable::first_line(file.value().text).find(',') != std::string_view::npos;
  TextTable table = ours ? TextTable(file.value(), kTraceHeader)
                         : TextTable(file.value(), {{kConweaveLayout, kHpccLayout}});
  const bool hpcc = table.columns() == kHpccColumns;
  TraceReader reader(item, table, ours ? kOurOrder : hpcc ? kHpccOrder : kConweaveOrder);
  reader.read();
  reader.finish();
}

}  // namespace eddy::lab
