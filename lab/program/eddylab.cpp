// eddylab: experiments in virtual time. Exit codes: 0 done, 1 a run failed or was refused, 2 the
// command line or an experiment's file is wrong, 130 interrupted.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "config/document.h"
#include "config/experiment_load.h"
#include "lab/fabric/fabric_paths.h"
#include "lab/fabric/topology.h"
#include "lab/figures/figures.h"
#include "lab/program/advise_command.h"
#include "lab/program/claims_command.h"
#include "lab/program/conformance_command.h"
#include "lab/program/explain_command.h"
#include "lab/program/export_command.h"
#include "lab/program/export_results_command.h"
#include "lab/program/import_command.h"
#include "lab/program/model_command.h"
#include "lab/program/page_command.h"
#include "lab/program/real_command.h"
#include "lab/program/resolve.h"
#include "lab/program/run_command.h"
#include "lab/program/trace_command.h"
#include "lab/real/host_devices.h"
#include "lab/real/needs.h"
#include "lab/real/switch_config.h"
#include "lab/results/chosen_runs.h"
#include "lab/results/result_tables.h"
#include "lab/results/result_warnings.h"
#include "lab/results/results.h"
#include "lab/results/sweep_folder.h"
#include "lab/run/experiment_files.h"
#include "lab/run/flow_results.h"
#include "net/text/printable.h"
#include "net/version.h"
#include "plugin/plugins.h"
#include "plugin/trial.h"
#include "system/command_line.h"
#include "system/hostile_json.h"
#include "system/say.h"
#include "system/usage.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  RunArguments run;
  bool really = false;  // run
  RealArguments real;   // run --real, up
  std::vector<std::string> down;
  std::vector<std::string> files;  // validate
  std::string experiment;          // list, topology, config
  std::string size = "full";
  std::vector<std::string> sets;
  std::string switch_name;  // config: one switch of the fabric, for eddyd
  std::string sockets = "/run/eddy";
  std::vector<std::string> ports;
  uint64_t seed = 1;
  std::string shown;  // show
  std::vector<std::string> variants;
  bool figures = false;
  std::string figures_to;
  bool json = false;
  bool names = false;  // list
  std::string schema = "experiment";
  std::string plugin;  // schema
  ReportArguments report;
  CompareArguments compare;
  AdviseArguments advise;
  ExplainArguments explained;
  TraceArguments traced;
  ClaimsArguments claims;
  ExportArguments exported;
  ExportResultsArguments tables;
  ImportArguments imported;
  ConformanceArguments conformance;
  ModelArguments model;
};

constexpr const char* kInContainers =
    "in containers of docker or podman, default: what there is, instead of network namespaces";
const CLI::IsMember kSizes({"ci", "reduced", "full"});

Result<config::LoadedExperiment> load(const Arguments& arguments) {
  const Result<fs::path> file = experiment_file(arguments.experiment);
  if (!file) return file.problems();
  return config::load_experiment(
      file.value(),
      {.size = arguments.size, .sets = arguments.sets, .plugins = &plugin::plugins_of_process()});
}

// The sizes that a file has: those it loads with.
std::string sizes_of(const fs::path& file) {
  std::string out;
  for (const char* size : {"ci", "reduced", "full"})
    if (config::load_experiment(
            file, {.size = size, .sets = {}, .plugins = &plugin::plugins_of_process()})
            .ok())
      out += (out.empty() ? "" : ", ") + std::string(size);
  return out;
}

// For completion of command lines: one name a line, of what is asked for.
int list_names(const Arguments& arguments) {
  if (arguments.experiment.empty()) {
    for (const fs::path& file : all_experiments())
      std::cout << printable(file.stem().string()) << "\n";
    return kDone;
  }
  const auto loaded = load(arguments);
  if (!loaded) return complain(kUsage, loaded.problems());
  for (const config::ExperimentRun& run : loaded.value().runs)
    if (!run.variant.empty()) std::cout << printable(run.variant) << "\n";
  return kDone;
}

int list_command(const Arguments& arguments) {
  if (arguments.names || !arguments.experiment.empty()) return list_names(arguments);
  std::vector<std::vector<std::string>> rows = {{"ID", "sizes", "variants", "seeds", "title"}};
  int code = kDone;
  for (const fs::path& file : all_experiments()) {
    const auto loaded = config::load_experiment(file, {.plugins = &plugin::plugins_of_process()});
    if (!loaded) {
      code = complain(kFailed, loaded.problems());
      continue;
    }
    const config::Experiment& first = loaded.value().runs.front().experiment;
    rows.push_back({printable(file.stem().string()), sizes_of(file),
                    std::to_string(loaded.value().runs.size()),
                    std::to_string(first.run.seeds.size()), printable(first.title)});
  }
  std::cout << aligned(rows);
  return code;
}

int validate_command(const Arguments& arguments) {
  int code = kDone;
  for (const std::string& name : arguments.files) {
    const Result<fs::path> file = experiment_file(name);
    if (!file) {
      code = complain(kUsage, file.problems());
      continue;
    }
    const Resolved found = resolve_experiment(file.value());
    for (const std::string& warning : found.warnings) std::cout << printable(warning) << "\n";
    if (!found.problems.empty()) {
      code = complain(kUsage, found.problems);
      continue;
    }
    std::cout << fmt::format("{}: good; sizes {}, {} variants\n", printable(file.value().string()),
                             fmt::join(found.sizes, ", "), found.variants);
  }
  return code;
}

int topology_command(const Arguments& arguments) {
  const auto loaded = load(arguments);
  if (!loaded) return complain(kUsage, loaded.problems());
  std::vector<config::TopologyConfig> shown;
  for (const config::ExperimentRun& run : loaded.value().runs) {
    const auto& topology = run.experiment.topology;
    if (std::find(shown.begin(), shown.end(), topology) != shown.end()) continue;
    shown.push_back(topology);
    const Result<Topology> built = unscaled_topology(run.experiment);
    if (!built) {
      Problems problems;
      for (const std::string& problem : built.problems())
        problems.push_back(loaded.value().locate(run, problem));
      return complain(kUsage, problems);
    }
    if (shown.size() > 1) std::cout << "\n" << printable(run.variant) << "\n";
    std::cout << describe_topology(run.experiment, built.value());
  }
  return kDone;
}

// The lab polls without delay and counts octets; eddyd cannot, and takes what comes nearest.
config::Experiment for_eddyd(config::Experiment experiment) {
  if (experiment.switches.poll_gap < kShortestPollGap) {
    std::cerr << fmt::format(
        "eddylab: switches.poll_gap: {}ns is the lab's alone, eddyd gets {}us\n",
        experiment.switches.poll_gap.ns(), kShortestPollGap.ns() / 1'000);
    experiment.switches.poll_gap = kShortestPollGap;
  }
  int& cell = experiment.switches.buffer.cell_bytes;
  if (cell < kSmallestCell) {
    std::cerr << fmt::format("eddylab: buffer.cell: {} is the lab's alone, eddyd gets {}\n", cell,
                             config::BufferConfig{}.cell_bytes);
    cell = config::BufferConfig{}.cell_bytes;
  }
  return experiment;
}

// One switch of the fabric, as eddyd takes it.
int switch_config_command(const Arguments& arguments, const config::LoadedExperiment& loaded) {
  const auto run = chosen_run(loaded, arguments.variants);
  if (!run) return complain(kUsage, run.problems());
  const config::Experiment experiment = for_eddyd(run.value()->experiment);
  Result<Topology> topology = unscaled_topology(experiment);
  if (!topology) return complain(kUsage, topology.problems());
  if (const Problems problems = check_real(experiment, *topology); !problems.empty())
    return complain(kUsage, problems);
  seed_switches(*topology, arguments.seed);
  const auto found =
      std::ranges::find(topology->switches, arguments.switch_name, &config::SwitchConfig::name);
  if (found == topology->switches.end())
    return complain(kUsage,
                    {"no switch " + arguments.switch_name + "; they are " +
                     topology->switches.front().name + " to " + topology->switches.back().name});
  const auto index = static_cast<size_t>(found - topology->switches.begin());
  Result<HostDevices> devices = host_devices(*topology, arguments.ports);
  if (!devices) return complain(kUsage, devices.problems());
  std::cout << config::print_config(
      real_switch(experiment, *topology, index,
                  {.sockets = arguments.sockets, .host_devices = std::move(devices->by_host)}));
  return kDone;
}

int config_command(const Arguments& arguments) {
  const auto loaded = load(arguments);
  if (!loaded) return complain(kUsage, loaded.problems());
  if (!arguments.switch_name.empty()) return switch_config_command(arguments, loaded.value());
  const auto chosen = chosen_variants(loaded.value(), arguments.variants);
  if (!chosen) return complain(kUsage, chosen.problems());
  for (const config::ExperimentRun* run : chosen.value()) {
    if (chosen.value().size() > 1) std::cout << "--- # " << printable(run->variant) << "\n";
    std::cout << config::print_experiment(run->experiment);
  }
  return kDone;
}

int show_command(const Arguments& arguments) {
  const fs::path path = arguments.shown;
  if (arguments.figures && !arguments.figures_to.empty())
    if (const Problems problems = make_folder(arguments.figures_to); !problems.empty())
      return complain(kFailed, problems);
  const Result<Json> all = read_result(path);
  if (!all) return complain(kFailed, all.problems());
  const Result<Json> result = only_variants(all.value(), arguments.variants);
  if (!result) return complain(kUsage, result.problems());
  const int code = measured_nothing(result.value()) ? kFailed : kDone;
  constexpr int kIndent = 1;
  if (arguments.json) eddy::say("eddylab: warning: ", result_warnings(result.value()));
  std::cout << (arguments.json ? result.value().dump(kIndent, ' ', true) + "\n"
                               : text_of_result(with_printable_texts(result.value())));
  if (!arguments.figures) return code;
  const fs::path folder = fs::is_directory(path) ? path : path.parent_path();
  const fs::path to = arguments.figures_to.empty() ? folder : fs::path(arguments.figures_to);
  const auto written = write_figures(folder, result.value(), to);
  if (!written) return complain(kFailed, written.problems());
  for (const fs::path& file : written.value()) std::cerr << file.string() << "\n";
  return code;
}

int schema_command(const Arguments& arguments) {
  std::vector<const config::LoadedScheme*> schemes;
  if (!arguments.plugin.empty()) {
    auto loaded = plugin::plugins_of_process().load(fs::absolute(arguments.plugin).string(), {});
    if (!loaded) return complain(kUsage, loaded.problems());
    schemes = std::move(*loaded);
  }
  if (arguments.schema == "experiment") std::cout << config::experiment_schema(schemes);
  if (arguments.schema == "result") std::cout << result_schema();
  if (arguments.schema == "tables") std::cout << result_markdown();
  return kDone;
}

void add_sets(CLI::App* command, std::vector<std::string>& sets) {
  command->add_option("--set", sets, "KEY=VALUE over the file, such as traffic.0.load=0.6")
      ->allow_extra_args(false);
}

void add_variants(CLI::App* command, std::vector<std::string>& variants) {
  command
      ->add_option("--variant", variants,
                   "only those of this name, or with these words; may be given again")
      ->allow_extra_args(false);
}

void add_dilation(CLI::App* command, RealArguments& real) {
  command
      ->add_option("--time-dilation", real.time_dilation,
                   "rates are divided by it, times multiplied; default: the experiment's, or what "
                   "this machine needs")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--name", real.name, "of the fabric; default: the experiment's ID");
}

// Its word may be left out, so CLI11 takes what follows for it.
std::string check_engine(const std::string& word) {
  if (word.empty() || word == "docker" || word == "podman") return {};
  return word + " is neither docker nor podman; where no word is meant, the experiment comes first";
}

void add_containers(CLI::App* command, RealArguments& real, CLI::Option* needed, const char* help) {
  auto* option = command->add_option("--containers", real.engine, help)->expected(0, 1);
  option->check(CLI::Validator([](std::string& word) { return check_engine(word); },
                               "{docker,podman}", "engine"));
  command->callback([option, &real] { real.in_containers = option->count() > 0; });
  if (needed != nullptr) option->needs(needed);
}

void declare_real(CLI::App& app, Arguments& arguments) {
  RealArguments& real = arguments.real;
  CLI::App* up = app.add_subcommand("up", "bring an experiment's switches up as eddyd processes");
  up->add_option("experiment", real.experiment, "ID or file")->required();
  up->add_option("--size", real.size, "ci, reduced or full")->check(kSizes);
  up->add_option("--seed", real.seeds, "of the switches' random choices");
  add_sets(up, real.sets);
  add_variants(up, real.variants);
  add_dilation(up, real);
  add_containers(up, real, nullptr, kInContainers);
  CLI::App* down = app.add_subcommand("down", "take down what up or run --real has left");
  down->add_option("names", arguments.down, "of fabrics; default: all");
  add_containers(down, real, nullptr, "also what is left in docker or podman without a folder");
}

// 0: auto.
size_t threads_of(const std::string& word) {
  size_t threads = 0;
  std::from_chars(word.data(), word.data() + word.size(), threads);
  return threads;
}

std::string check_threads(const std::string& word) {
  constexpr size_t kMost = 256;
  size_t threads = 0;
  const char* end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, threads);
  const bool number = read.ec == std::errc() && read.ptr == end && threads > 0 && threads <= kMost;
  return number || word == "auto" ? "" : word + " is neither auto nor a number from 1 to 256";
}

void declare_run(CLI::App& app, Arguments& arguments) {
  RunArguments& run = arguments.run;
  CLI::App* command = app.add_subcommand("run", "run an experiment: every variant, every seed");
  command->add_option("experiment", run.experiment, "ID (eddylab list) or file")->required();
  command->add_option("--size", run.size, "ci, reduced or full")->check(kSizes);
  command->add_option("--seed", run.seeds, "such as 1,2,5-8; default: the experiment's");
  add_sets(command, run.sets);
  add_variants(command, run.variants);
  command->add_option("--jobs", run.jobs, "processes at a time")->check(CLI::Range(1, 1024));
  command
      ->add_option_function<std::string>(
          "--threads", [&run](const std::string& word) { run.threads = threads_of(word); },
          "N or auto: threads of each run; the results are the same")
      ->check(CLI::Validator([](std::string& word) { return check_threads(word); }, "", "threads"))
      ->default_str("1");
  command->add_option("--out", run.out, "folder of results; default: results");
  command->add_flag("--resume,!--fresh", run.resume,
                    "leave out finished runs (the default); --fresh: run them again");
  command->add_flag("--check", run.check, "check invariants all the time: slow");
  command->add_flag("--hpcc", run.hpcc, "also write fct.txt and pfc.txt, as HPCC's simulator does");
  command->add_flag("--conweave", run.conweave,
                    "also write out_fct.txt, out_pfc.txt and, each run.sample_period, "
                    "out_uplink.txt, out_conn.txt and out_cnp.txt, as ConWeave's simulator does");
  command->add_flag("--flow-series", run.flow_series,
                    "also write link_flows.csv and flow_tables.csv: each run.sample_period, how "
                    "many flows links carry and schemes remember");
  command->add_option("--timeline", run.timeline,
                      "also write timeline.json, .csv and .svg of a path, such as "
                      "leaf1:spine2:leaf3@1.5ms-1800us");
  command->add_option("--capture", run.capture,
                      "also write capture.pcapng, packets of a link or of SWITCH:PORT, such as "
                      "leaf1-spine2@1.5ms-1800us");
  auto* progress = command->add_flag("--progress", run.progress,
                                     "say how far the runs are, also where there is no terminal");
  command->add_flag("--quiet", run.quiet, "only say what fails")->excludes(progress);
  auto* real = command->add_flag("--real", arguments.really,
                                 "as eddyd and eddyhost processes instead of in virtual time");
  for (const char* virtual_only : {"--check", "--hpcc", "--conweave", "--flow-series", "--timeline",
                                   "--capture", "--jobs", "--threads"})
    real->excludes(command->get_option(virtual_only));
  add_dilation(command, arguments.real);
  command->get_option("--time-dilation")->needs(real);
  command->get_option("--name")->needs(real);
  add_containers(command, arguments.real, real, kInContainers);
  command->add_option("--memory", run.memory_mib, "MiB that a run may take; default: what is free");
  command->add_option("--report-fd", run.report_fd)->group("");
}

void declare_switch(CLI::App* command, Arguments& arguments) {
  auto* name =
      command->add_option("switch", arguments.switch_name,
                          "print this switch of the fabric alone, as a configuration of eddyd");
  add_variants(command, arguments.variants);
  command->add_option("--seed", arguments.seed, "of the switch's random choices")
      ->check(CLI::Range(uint64_t{0}, config::kLargestSeed))
      ->needs(name);
  command->add_option("--sockets", arguments.sockets, "folder of memif sockets; default: /run/eddy")
      ->needs(name);
  command
      ->add_option("--port", arguments.ports,
                   "HOST=DEVICE for a port to a host, as for eddyhost; default: memif")
      ->allow_extra_args(false)
      ->needs(name);
}

void declare(CLI::App& app, Arguments& arguments) {
  app.require_subcommand(1);
  declare_run(app, arguments);
  declare_real(app, arguments);
  CLI::App* list = app.add_subcommand("list", "the experiments there are");
  list->add_option("experiment", arguments.experiment, "ID or file: its variants instead");
  list->add_flag("--names", arguments.names, "only the IDs");
  app.add_subcommand("validate", "check files of experiments: all that is wrong")
      ->add_option("files", arguments.files, "IDs or files")
      ->required();
  for (const auto& [name, help] :
       {std::pair<const char*, const char*>{"topology", "describe an experiment's fabric"},
        {"config", "print what is in force, of every variant"}}) {
    CLI::App* command = app.add_subcommand(name, help);
    command->add_option("experiment", arguments.experiment, "ID or file")->required();
    command->add_option("--size", arguments.size, "ci, reduced or full")->check(kSizes);
    add_sets(command, arguments.sets);
    if (std::string_view(name) == "config") declare_switch(command, arguments);
  }
  CLI::App* show = app.add_subcommand("show", "results as tables, by variant over seeds");
  show->add_option("result", arguments.shown, "OUT/EXPERIMENT/SIZE, or a result.json")->required();
  add_variants(show, arguments.variants);
  show->add_flag("--json", arguments.json, "the merged result as JSON");
  auto* to = show->add_option("--figures", arguments.figures_to,
                              "also write figures as SVG; default: beside the results")
                 ->expected(0, 1);
  show->callback([to, &arguments] { arguments.figures = to->count() > 0; });
  declare_export(app, arguments.exported);
  declare_export_results(app, arguments.tables);
  declare_import(app, arguments.imported);
  declare_report(app, arguments.report);
  declare_compare(app, arguments.compare);
  declare_advise(app, arguments.advise);
  declare_explain(app, arguments.explained);
  declare_trace(app, arguments.traced);
  declare_claims(app, arguments.claims);
  declare_model(app, arguments.model);
  declare_conformance(app, arguments.conformance);
  CLI::App* schema = app.add_subcommand("schema", "JSON Schemas, and the tables of docs/lab.md");
  schema->add_option("of", arguments.schema, "experiment, result or tables")
      ->check(CLI::IsMember({"experiment", "result", "tables"}));
  schema->add_option("--plugin", arguments.plugin,
                     "of experiments: know this plugin's parameters, too");
}

// `run --real` has the words of `run`.
RealArguments real_of(const Arguments& arguments) {
  const RunArguments& run = arguments.run;
  RealArguments real = arguments.real;
  real.experiment = run.experiment;
  real.size = run.size;
  real.seeds = run.seeds;
  real.sets = run.sets;
  real.variants = run.variants;
  if (run.out != RunArguments{}.out) real.out = run.out;
  real.resume = run.resume;
  real.quiet = run.quiet;
  return real;
}

int dispatch(const CLI::App& app, const Arguments& arguments) {
  const std::string command = app.get_subcommands().front()->get_name();
  if (command == "run")
    return arguments.really ? run_real_command(real_of(arguments)) : run_command(arguments.run);
  if (command == "up") return up_command(arguments.real);
  if (command == "down") return down_command(arguments.down, arguments.real);
  if (command == "list") return list_command(arguments);
  if (command == "validate") return validate_command(arguments);
  if (command == "topology") return topology_command(arguments);
  if (command == "config") return config_command(arguments);
  if (command == "export") return export_command(arguments.exported);
  if (command == "export-results") return export_results_command(arguments.tables);
  if (command == "import") return import_command(arguments.imported);
  if (command == "show") return show_command(arguments);
  if (command == "report") return report_command(arguments.report);
  if (command == "compare") return compare_command(arguments.compare);
  if (command == "advise") return advise_command(arguments.advise);
  if (command == "explain") return explain_command(arguments.explained);
  if (command == "trace") return trace_command(arguments.traced);
  if (command == "claims") return claims_command(arguments.claims);
  if (command == "model") return model_command(arguments.model);
  if (command == "conformance") return conformance_command(arguments.conformance);
  return schema_command(arguments);
}

// CLI11 would say that a command is missing. Empty: there is one of this name, or none is named.
std::string no_such_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || *argv[1] == '-') return {};
  std::string known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == argv[1]) return {};
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  return "no command \"" + std::string(argv[1]) + "\"; they are " + known;
}

}  // namespace
}  // namespace eddy::lab

int main(int argc, char** argv) {
  if (eddy::plugin::is_trial(argc, argv)) return eddy::plugin::run_trial();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a problem like a full disk
  CLI::App app("Experiments with the Eddy switch in virtual time.", "eddylab");
  eddy::lab::Arguments arguments;
  app.set_version_flag("--version", eddy::version_line("eddylab"));
  eddy::lab::declare(app, arguments);
  eddy::spell_out_help(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::string said = eddy::lab::no_such_command(app, argc, argv);
    const bool asked = error.get_exit_code() == 0;  // --help, --version
    if (said.empty() && asked) said = eddy::unknown_words(app);
    if (!said.empty()) return eddy::lab::complain(eddy::lab::kUsage, {said});
    return eddy::say_usage(app, error) == 0 ? eddy::lab::kDone : eddy::lab::kUsage;
  }
  try {
    return eddy::end_of_output("eddylab: ", eddy::lab::dispatch(app, arguments));
  } catch (const std::exception& error) {  // a result.json of other types than ours
    eddy::say("eddylab: ", {error.what()});
    return eddy::lab::kFailed;
  }
}
