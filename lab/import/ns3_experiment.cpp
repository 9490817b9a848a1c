#include "lab/import/ns3_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lab/fabric/word_lines.h"
#include "lab/import/ns3_flows.h"
#include "lab/import/ns3_topology.h"
#include "lab/import/ns3_translation.h"
#include "lab/import/settings.h"

namespace eddy::lab {
namespace {

// Each once: a wrong value may be asked for several times.
void append(Problems& to, const Problems& from) {
  for (const std::string& problem : from)
    if (std::ranges::find(to, problem) == to.end()) to.push_back(problem);
}

}  // namespace

Result<Imported> import_ns3(Ns3Sources sources, Ns3Dialect dialect, const std::string& id) {
  Problems problems;
  Imported out;
  WordLines config_lines(sources.config.name, std::move(sources.config.text));
  WordLines topology_lines(sources.topology.name, std::move(sources.topology.text));
  Ns3Config config(config_lines, sources.config.name, dialect, out.report);
  auto topology = read_ns3_topology(topology_lines, sources.topology.name, out.report);
  append(problems, topology_lines.problems());
  if (!topology) topology = Ns3Topology::unread(sources.topology.name);
  const auto flows = read_ns3_flows({sources.flows.name, sources.flows.text}, dialect, *topology,
                                    out.report, problems);
  out.report.add({Treatment::taken, sources.topology.name, 0,
                  fmt::format("{} hosts, {} switches, {} links", topology->plan.hosts.size(),
                              topology->switches.size(), topology->links.size()),
                  "topology.txt, topology.file"});
  Settings settings;
  settings.set("id", in_yaml(id));
  settings.set("title", in_yaml("As " + std::string(name_of(dialect)) + " has it"));
  settings.set("source", in_yaml(sources.config.name));
  const Ns3Flows none;
  if (config.entries().empty()) {
    append(problems, config_lines.problems());
    return problems;
  }
  Ns3Translation({config, *topology, flows ? *flows : none, dialect}, settings, out.report)
      .translate();
  append(problems, config_lines.problems());
  if (!problems.empty()) return problems;
  const std::string head = fmt::format(
      "Made by eddylab import from {},\n{} and {}.\nBehind a value stands its line of the first of "
      "them; {} says of every line what has become of it.",
      sources.config.name, sources.topology.name, sources.flows.name, kImportReport);
  out.files = {{kImportedExperiment, settings.yaml(head)},
               {"topology.txt", topology->text},
               {"flow.txt", flows->text},
               {kImportReport, out.report.text()}};
  return out;
}

}  // namespace eddy::lab
