#include "lab/program/import_command.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "lab/export/write_files.h"
#include "lab/fabric/word_lines.h"
#include "lab/import/htsim_experiment.h"
#include "lab/import/ns3_experiment.h"
#include "lab/import/source_files.h"
#include "lab/program/resolve.h"
#include "lab/program/run_command.h"
#include "lab/traffic/traffic_files.h"
#include "net/text/printable.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostConfig = size_t{1} << 20;

// What an experiment may be called, from the folder that is made.
std::string id_of(const std::string& folder) {
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::string id;
  constexpr size_t kLongest = 64;
  for (const char c : path.filename().string().substr(0, kLongest)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    id += plain || (c == '.' && !id.empty()) ? c : '_';
  }
  while (!id.empty() && (id.front() == '-' || id.front() == '.')) id.erase(0, 1);
  return id.empty() ? "imported" : id;
}

// The configuration that stands in a folder, or is the argument itself.
Result<NamedText> config_of(const ImportArguments& arguments) {
  std::error_code error;
  const fs::path source = arguments.source;
  if (!arguments.config.empty()) return read_source_file(arguments.config, kMostConfig);
  if (!fs::is_directory(source, error)) return read_source_file(source, kMostConfig);
  if (fs::is_regular_file(source / "config.txt", error))
    return read_source_file(source / "config.txt", kMostConfig);
  std::string others;
  for (const auto& entry : fs::directory_iterator(source, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("config") && name.ends_with(".txt"))
      others += (others.empty() ? "" : ", ") + printable(name);
  }
  return Result<NamedText>::failure(
      fmt::format("{}: there is no config.txt; --config FILE names another{}",
                  printable(source.string()), others.empty() ? "" : ", there are " + others));
}

Result<Imported> import_simulator(const ImportArguments& arguments) {
  const Ns3Dialect dialect = arguments.from == "hpcc" ? Ns3Dialect::hpcc : Ns3Dialect::conweave;
  Result<NamedText> config = config_of(arguments);
  if (!config) return config.problems();
  std::error_code error;
  const fs::path source = arguments.source;
  const fs::path beside = fs::is_directory(source, error) ? source : source.parent_path();
  ImportReport unread;
  WordLines lines(config->name, config->text);
  const Ns3Config keys(lines, config->name, dialect, unread);
  if (keys.entries().empty()) return lines.problems();
  const auto named = [&](const char* key) { return keys.text(key).value_or(""); };
  Result<NamedText> topology =
      read_source({arguments.topology, beside, named("TOPOLOGY_FILE"), "topology.txt",
                   "the topology file", "TOPOLOGY_FILE", "--topology", WordLines::kMaxBytes});
  Result<NamedText> flows = read_source({arguments.flows, beside, named("FLOW_FILE"), "flow.txt",
                                         "the flow file", "FLOW_FILE", "--flows", kMaxTrafficFile});
  Problems problems;
  if (!topology) problems = topology.problems();
  if (!flows) problems.insert(problems.end(), flows.problems().begin(), flows.problems().end());
  if (!problems.empty()) return problems;
  return import_ns3({std::move(*config), std::move(*topology), std::move(*flows)}, dialect,
                    id_of(arguments.out));
}

Result<Imported> import_matrix(const ImportArguments& arguments) {
  if (arguments.second.empty())
    return Result<Imported>::failure("htsim: two files are needed, FILE.cm FILE.topo");
  if (!arguments.config.empty() || !arguments.topology.empty() || !arguments.flows.empty())
    return Result<Imported>::failure(
        "--config, --topology and --flows are for hpcc and conweave; htsim has FILE.cm FILE.topo");
  Result<NamedText> matrix = read_source_file(arguments.source, WordLines::kMaxBytes);
  Result<NamedText> topology = read_source_file(arguments.second, kMostConfig);
  Problems problems;
  if (!matrix) problems = matrix.problems();
  if (!topology)
    problems.insert(problems.end(), topology.problems().begin(), topology.problems().end());
  if (!problems.empty()) return problems;
  return import_htsim(std::move(*matrix), std::move(*topology), id_of(arguments.out));
}

Result<Imported> import_from(const ImportArguments& arguments) {
  if (arguments.from == "htsim") return import_matrix(arguments);
  if (!arguments.second.empty())
    return Result<Imported>::failure(arguments.second + ": a second file is for htsim");
  return import_simulator(arguments);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The line of the other simulator's file that a line of the experiment is made from, as its comment
// says: "; it is from line 53: MIN_RATE 0b/s". `problem` begins with the experiment's name.
std::string origin_of(const std::string& problem, const std::string& experiment,
                      const std::string& text) {
  if (!problem.starts_with(experiment + ":")) return {};
  const size_t line = std::strtoul(problem.c_str() + experiment.size() + 1, nullptr, 10);
  size_t begin = 0;
  for (size_t i = 1; i < line && begin != std::string::npos; ++i)
    if ((begin = text.find('\n', begin)) != std::string::npos) ++begin;
  if (line == 0 || begin == std::string::npos) return {};
  const std::string of_line = text.substr(begin, text.find('\n', begin) - begin);
  const size_t comment = of_line.find("  # line ");
  return comment == std::string::npos ? "" : "; it is from " + of_line.substr(comment + 4);
}

// What eddylab itself would refuse of what was made.
Problems check_made(const fs::path& staged, const Imported& made, const std::string& out) {
  const fs::path experiment = staged / kImportedExperiment;
  std::string text;
  for (const OutFile& file : made.files)
    if (file.path == kImportedExperiment) text = file.text;
  Problems problems;
  for (const std::string& problem : resolve_experiment(experiment).problems)
    problems.push_back("made, but refused: " + replaced(problem, staged.string(), out) +
                       origin_of(problem, experiment.string(), text));
  return problems;
}

}  // namespace

void declare_import(CLI::App& app, ImportArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("import", "make an experiment of another simulator's files");
  command->add_option("from", arguments.from, "which: hpcc, conweave or htsim")
      ->check(CLI::IsMember({"hpcc", "conweave", "htsim"}))
      ->required();
  command
      ->add_option("source", arguments.source,
                   "folder with config.txt, or such a file; htsim: a connection matrix (.cm)")
      ->required();
  command->add_option("topo", arguments.second, "htsim: the topology file (.topo)");
  command->add_option("--config", arguments.config, "in the place of config.txt");
  command->add_option("--topology", arguments.topology, "in the place of what TOPOLOGY_FILE names");
  command->add_option("--flows", arguments.flows, "in the place of what FLOW_FILE names");
  command->add_option("--out", arguments.out, "folder that is made")->required();
}

int import_command(const ImportArguments& arguments) {
  const Result<Imported> made = import_from(arguments);
  if (!made) return complain(kUsage, made.problems());
  const auto check = [&](const fs::path& staged) {
    return check_made(staged, made.value(), arguments.out);
  };
  if (const Problems problems = write_folder(arguments.out, made.value().files, check);
      !problems.empty())
    return complain(kFailed, problems);
  std::cout << made.value().report.text()
            << fmt::format("{}: {} files; eddylab run {} runs it\n", printable(arguments.out),
                           made.value().files.size(),
                           printable((fs::path(arguments.out) / kImportedExperiment).string()));
  return kDone;
}

}  // namespace eddy::lab
