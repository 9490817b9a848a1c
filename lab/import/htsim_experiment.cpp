#include "lab/import/htsim_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lab/fabric/word_lines.h"
#include "lab/import/htsim_matrix.h"
#include "lab/import/htsim_topology.h"
#include "lab/import/settings.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

constexpr Bytes kBuffer = Bytes::mib(32);
constexpr int64_t kHostsUnknown = int64_t{1} << 24;  // the topology cannot be read

bool is_topology(const WordLines& file) {
  return std::ranges::any_of(file.lines(), [](const WordLines::Line& line) {
    return line[0].text == "Tiers" || line[0].text == "Podsize";
  });
}

void approximate(ImportReport& report, Settings& settings, const std::string& key,
                 const std::string& value, const std::string& what, const std::string& why) {
  settings.set(key, value, why);
  report.add({Treatment::approximated, {}, 0, what, fmt::format("{}: {}, {}", key, value, why)});
}

}  // namespace

Result<Imported> import_htsim(NamedText matrix, NamedText topology, const std::string& id) {
  Imported out;
  WordLines topology_lines(topology.name, std::move(topology.text));
  WordLines matrix_lines(matrix.name, std::move(matrix.text));
  if (is_topology(matrix_lines) && !is_topology(topology_lines))
    return Result<Imported>::failure(matrix.name +
                                     ": this is a topology; the connection matrix comes first");
  const auto fabric = read_htsim_topology(topology_lines, topology.name, out.report);
  const auto flows = read_htsim_matrix(matrix_lines, matrix.name,
                                       fabric ? fabric->hosts : kHostsUnknown, out.report);
  Problems problems = topology_lines.problems();
  const Problems& of_flows = matrix_lines.problems();
  problems.insert(problems.end(), of_flows.begin(), of_flows.end());
  if (!problems.empty()) return problems;
  out.report.add({Treatment::taken, topology.name, 0,
                  fmt::format("{} hosts, {} switches, {} links", fabric->hosts, fabric->switches,
                              fabric->links),
                  "topology.txt, topology.file"});
  Settings settings;
  settings.set("id", in_yaml(id));
  settings.set("title", in_yaml("As htsim has it"));
  settings.set("source", in_yaml(matrix.name));
  settings.set("topology.kind", "hpcc");
  settings.set("topology.file", "topology.txt");
  settings.set("topology.line_overhead", "0", "frames have no preamble and gap on htsim's lines");
  approximate(out.report, settings, "buffer.size", to_string(kBuffer), "queues",
              "one buffer a switch, where htsim has a queue of its command line's size a port");
  settings.set("buffer.profiles.lossless.mode", "dynamic");
  settings.set("buffer.profiles.lossless.dynamic_th", "-3");
  if (fabric->headroom > kBuffer / 2)
    approximate(out.report, settings, "switches.allow_overcommit", "true", "long links",
                "headroom of lossless groups for such links does not fit the buffer");
  out.report.add({Treatment::approximated,
                  {},
                  0,
                  "transport, path selection, ECN",
                  "this lab's own (dcqcn, ecmp): htsim has them on its command line; --set "
                  "host.congestion_control=... and load_balancer.scheme=... choose others"});
  settings.set("traffic", "[{type: trace, file: flow.txt, start: 0s}]");
  settings.set("run.seeds", "[1]");
  settings.set("run.warmup", "0s");
  settings.set(
      "run.duration",
      to_string(std::max(flows->last + Duration::nanoseconds(1), Duration::microseconds(1))),
      "the last flow starts within");
  settings.set("run.drain", "1s");
  const std::string head =
      fmt::format("Made by eddylab import from {} and {};\n{} says what has become of their lines.",
                  matrix.name, topology.name, kImportReport);
  out.files = {{kImportedExperiment, settings.yaml(head)},
               {"topology.txt", fabric->text},
               {"flow.txt", flows->text},
               {kImportReport, out.report.text()}};
  return out;
}

}  // namespace eddy::lab
