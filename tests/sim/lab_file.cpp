#include "tests/sim/lab_file.h"

#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "config/experiment_load.h"
#include "lab/fabric/build_topology.h"
#include "lab/fabric/text_table.h"
#include "net/quantity.h"

namespace eddy::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader = "start,source,destination,size,source_port";
enum Column : size_t { kStart, kSource, kDestination, kSize, kSourcePort };

fs::path flows_of(const fs::path& yaml) {
  return fs::path(yaml).replace_extension(".csv");
}

// Reads the rows of a table of flows; what is wrong becomes a problem of its cell.
class FlowReader {
 public:
  FlowReader(lab::TextTable& table, size_t hosts) : table_(table), hosts_(hosts) {}

  std::vector<lab::Flow> read() {
    for (const lab::TableRow& row : table_.rows()) read_flow(row);
    return std::move(flows_);
  }

 private:
  void read_flow(const lab::TableRow& row) {
    const auto start = cell(row, kStart, &parse_duration);
    const auto source = number(row, kSource, static_cast<int64_t>(hosts_) - 1);
    const auto destination = number(row, kDestination, static_cast<int64_t>(hosts_) - 1);
    const auto size = cell(row, kSize, &parse_bytes);
    const auto port = number(row, kSourcePort, std::numeric_limits<uint16_t>::max());
    if (!start || !source || !destination || !size || !port) return;
    flows_.push_back({.source = static_cast<uint32_t>(*source),
                      .destination = static_cast<uint32_t>(*destination),
                      .size = *size,
                      .start = Instant::at(*start),
                      .source_port = static_cast<uint16_t>(*port)});
  }
  template <class T>
  std::optional<T> cell(const lab::TableRow& row, size_t at, Result<T> (*parse)(std::string_view)) {
    const Result<T> parsed = parse(row.cells[at]);
    if (parsed) return parsed.value();
    table_.problem(row, at, parsed.problems().front());
    return std::nullopt;
  }
  std::optional<int64_t> number(const lab::TableRow& row, size_t at, int64_t most) {
    const auto value = cell(row, at, &parse_integer);
    if (value && *value >= 0 && *value <= most) return value;
    if (value) table_.problem(row, at, "is not in 0.." + std::to_string(most));
    return std::nullopt;
  }

  lab::TextTable& table_;
  size_t hosts_;
  std::vector<lab::Flow> flows_;
};

Result<lab::NamedText> read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Result<lab::NamedText>::failure(path.string() + ": cannot be read");
  return lab::NamedText{path.string(), {std::istreambuf_iterator<char>(file), {}}};
}

}  // namespace

Result<Lab> read_lab(const fs::path& yaml) {
  const auto loaded = config::load_experiment(yaml);
  if (!loaded) return loaded.problems();
  Lab lab{.experiment = loaded.value().runs.front().experiment};
  lab.seed = lab.experiment.run.seeds.front();
  const auto topology = lab::build_topology(lab.experiment);
  if (!topology) return topology.problems();
  const auto flows = read_text(flows_of(yaml));
  if (!flows) return flows.problems();
  lab::TextTable table(flows.value(), kHeader);
  lab.flows = FlowReader(table, topology.value().hosts.size()).read();
  if (!table.ok()) return table.problems();
  return lab;
}

Problems write_lab(const Lab& lab, const fs::path& yaml, const std::string& comment) {
  config::Experiment experiment = lab.experiment;
  experiment.run.seeds = {lab.seed};
  std::ofstream file(yaml);
  file << "# " << comment << "\n" << config::print_experiment(experiment);
  std::ofstream table(flows_of(yaml));
  table << "# " << comment << "\n" << kHeader << "\n";
  for (const lab::Flow& flow : lab.flows)
    table << to_string(flow.start.since_zero()) << "," << flow.source << "," << flow.destination
          << "," << to_string(flow.size) << "," << flow.source_port << "\n";
  file.flush();
  table.flush();
  if (file && table) return {};
  return {yaml.string() + ": cannot be written"};
}

}  // namespace eddy::test
