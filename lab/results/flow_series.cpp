#include "lab/results/flow_series.h"

#include <fmt/format.h>

#include "lab/fabric/text_table.h"
#include "lab/fabric/word_lines.h"
#include "net/quantity.h"
#include "switch/dataplane/object/flow_tables.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLinkHeader = "at_ns,link,sender,flows";
constexpr std::string_view kTableHeader = "at_ns,switch,flows";

bool is_data(const Packet& packet) {
  return packet.has(kPacketRoce) && !packet.has(kPacketRoceControl) && packet.payload_len > 0;
}

// `columns` before the last one are at_ns, maybe a link, and a switch.
Result<std::vector<FlowCount>> read_counts(const fs::path& file, std::string_view header) {
  std::error_code error;
  if (!fs::exists(file, error))
    return Result<std::vector<FlowCount>>::failure(
        file.string() + ": not there; eddylab run --flow-series writes it");
  Result<std::string> text = read_text_file(file.string());
  if (!text) return text.problems();
  const NamedText named{file.string(), std::move(*text)};
  TextTable table(named, header);
  std::vector<FlowCount> counts;
  for (const TableRow& row : table.rows()) {
    const size_t last = row.cells.size() - 1;
    const Result<int64_t> at = parse_integer(row.cells.front());
    const Result<int64_t> flows = parse_integer(row.cells[last]);
    if (!at) table.problem(row, 0, at.problems().front());
    if (!flows) table.problem(row, last, flows.problems().front());
    if (!at || !flows) continue;
    counts.push_back({.at_ns = at.value(),
                      .link = last > 2 ? std::string(row.cells[1]) : "",
                      .at = std::string(row.cells[last - 1]),
                      .flows = static_cast<double>(flows.value())});
  }
  if (!table.ok()) return table.problems();
  return counts;
}

}  // namespace

Problems FlowSeries::open(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  Problems problems;
  for (const auto& [file, name, header] :
       {std::tuple(&link_file_, kLinkFlowsFile, kLinkHeader),
        std::tuple(&table_file_, kFlowTablesFile, kTableHeader)}) {
    file->path = folder / name;
    file->stream.open(file->path, std::ios::binary | std::ios::trunc);
    file->stream << header << "\n";
    if (!file->stream) problems.push_back(file->path.string() + ": cannot be written");
  }
  return problems;
}

void FlowSeries::attach(const BuiltRun& run) {
  world_ = &run.world;
  end_of_.assign(world_->lines().size(), kNoEnd);
  for (const config::SwitchConfig& config : run.topology.switches) switches_.push_back(config.name);
  for (const Topology::Link& link : run.topology.links)
    for (const Topology::End& end : {link.a, link.b}) {
      end_of_[world_->line_of(end.switch_index, end.port)] = static_cast<uint32_t>(ends_.size());
      ends_.push_back({.text = link.name + "," + switches_[end.switch_index]});
    }
}

void FlowSeries::on_frame(uint32_t line, Step step, const Packet& packet) {
  if (step != Step::entered || end_of_[line] == kNoEnd || !is_data(packet)) return;
  went_[packet.order_hash + world_->lines()[line].from] = end_of_[line];
}

void FlowSeries::sample(RunOptions::Sample which, Instant at) {
  if (which == RunOptions::Sample::last) return;
  const int64_t at_ns = (at.since_zero() / time_dilation_).ns();
  write_links(at_ns);
  write_tables(at_ns);
}

void FlowSeries::write_links(int64_t at_ns) {
  for (const auto& [flow, end] : went_) ++ends_[end].flows;
  went_.clear();
  for (End& end : ends_) {
    if (end.flows > 0) link_file_.stream << fmt::format("{},{},{}\n", at_ns, end.text, end.flows);
    end.flows = 0;
  }
}

void FlowSeries::write_tables(int64_t at_ns) {
  for (size_t i = 0; i < switches_.size(); ++i) {
    Switch& object = world_->switch_at(i);
    lb::FlowTableUse use;
    for (size_t shard = 0; shard < object.shard_count(); ++shard) {
      const lb::FlowTableUse part = flow_table_of(object.shard(ShardId(shard)), world_->now());
      use.places += part.places;
      use.used += part.used;
    }
    if (use.places > 0)
      table_file_.stream << fmt::format("{},{},{}\n", at_ns, switches_[i], use.used);
  }
}

Problems FlowSeries::close() {
  Problems problems;
  for (File* file : {&link_file_, &table_file_}) {
    file->stream.close();
    if (!file->stream) problems.push_back(file->path.string() + ": cannot be written");
  }
  return problems;
}

Result<std::vector<FlowCount>> read_link_flows(const fs::path& folder) {
  return read_counts(folder / kLinkFlowsFile, kLinkHeader);
}

Result<std::vector<FlowCount>> read_flow_tables(const fs::path& folder) {
  return read_counts(folder / kFlowTablesFile, kTableHeader);
}

}  // namespace eddy::lab
