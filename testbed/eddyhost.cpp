// eddyhost: the hosts of an experiment on real ports. Exit codes: 0 done, 1 failed or refused, 2
// the command line or the experiment's file is wrong, 130 interrupted.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "lab/results/chosen_runs.h"
#include "lab/results/result_warnings.h"
#include "lab/results/results.h"
#include "lab/results/sweep_folder.h"
#include "lab/run/experiment_files.h"
#include "net/quantity.h"
#include "net/text/plain_name.h"
#include "net/version.h"
#include "plugin/plugins.h"
#include "plugin/trial.h"
#include "switch/control/report/words.h"
#include "switch/dpdk/eal.h"
#include "system/command_line.h"
#include "system/log_lines.h"
#include "system/say.h"
#include "system/usage.h"
#include "testbed/host_daemon.h"

namespace eddy::testbed {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string experiment;
  std::string size = "full";
  uint64_t seed = 1;
  std::vector<std::string> sets;
  std::string variant;
  std::vector<std::string> ports;
  std::vector<std::string> switches;
  std::string out = "results/real";
  std::string name = "eddyhost";
  std::string idle = "adaptive";
  std::string wait = "30s";
  std::string patience = "10s";
  int64_t time_dilation = 0;
  uint64_t memory_mib = 0;
  bool quiet = false;
  bool json_log = false;
  std::vector<std::string> eal;
};

int complain(int code, const Problems& problems) {
  say("eddyhost: ", problems);
  return code;
}

// NAME, or NAME=SOCKET; a name without a socket has its default one.
SwitchSocket socket_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, control::default_socket_path(text)};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// Of what becomes a part of a path.
Problems check_names(const Arguments& arguments) {
  Problems problems = check_file_prefix(arguments.eal);
  const auto add = [&](const char* option, const std::string& name) {
    const Problems found = check_plain_name(option, name);
    problems.insert(problems.end(), found.begin(), found.end());
  };
  add("--name", arguments.name);
  for (const std::string& text : arguments.switches) add("--switch", socket_of(text).name);
  return problems;
}

Result<Duration> duration_of(const char* option, const std::string& text) {
  Result<Duration> time = parse_duration(text);
  if (time) return time;
  return Result<Duration>::failure(fmt::format("{}: {}", option, time.problems().front()));
}

std::string replay_of(const Arguments& arguments) {
  std::string text = "eddyhost " + arguments.experiment + " --size " + arguments.size;
  for (const std::string& set : arguments.sets) text += fmt::format(" --set '{}'", set);
  if (!arguments.variant.empty()) text += fmt::format(" --variant '{}'", arguments.variant);
  text += fmt::format(" --seed {}", arguments.seed);
  for (const std::string& port : arguments.ports) text += fmt::format(" --port '{}'", port);
  return text;
}

int run(Arguments& arguments) {
  if (const Problems problems = check_names(arguments); !problems.empty())
    return complain(kUsage, problems);
  const Result<fs::path> file = lab::experiment_file(arguments.experiment);
  if (!file) return complain(kUsage, file.problems());
  if (arguments.time_dilation > 0)
    arguments.sets.push_back(fmt::format("run.time_dilation={}", arguments.time_dilation));
  const Result<config::LoadedExperiment> loaded = config::load_experiment(
      file.value(),
      {.size = arguments.size, .sets = arguments.sets, .plugins = &plugin::plugins_of_process()});
  if (!loaded) return complain(kUsage, loaded.problems());
  std::vector<std::string> variants;
  if (!arguments.variant.empty()) variants.push_back(arguments.variant);
  const auto chosen = lab::chosen_run(loaded.value(), variants);
  if (!chosen) return complain(kUsage, chosen.problems());
  const auto wait = duration_of("--wait", arguments.wait);
  if (!wait) return complain(kUsage, wait.problems());
  const auto patience = duration_of("--patience", arguments.patience);
  if (!patience) return complain(kUsage, patience.problems());
  const config::ExperimentRun& one = *chosen.value();
  const fs::path folder = fs::path(arguments.out) / one.experiment.id / arguments.size;
  HostDaemonOptions options{.name = arguments.name, .loaded = loaded.value(), .run = one};
  options.seed = arguments.seed;
  options.ports = arguments.ports;
  for (const std::string& text : arguments.switches) options.switches.push_back(socket_of(text));
  options.folder = lab::run_folder(folder, one.variant, arguments.seed);
  options.replay = replay_of(arguments);
  if (arguments.idle == "busy") options.idle = config::IdlePolicy::busy;
  options.wait = wait.value();
  options.patience = patience.value();
  options.memory_limit = arguments.memory_mib << 20;
  options.quiet = arguments.quiet;
  options.eal_arguments = arguments.eal;
  const auto claimed = lab::SweepFolder::claim(options.folder);
  if (!claimed) return complain(kFailed, claimed.problems());
  const int code = run_host_daemon(options);
  std::error_code error;
  if (!fs::exists(options.folder / "run.json", error)) return code;
  const auto merged = lab::write_merged(folder);
  if (!merged) return complain(kFailed, merged.problems());
  if (!arguments.quiet)
    say("eddyhost: warning: ", lab::result_warnings(merged.value()), LogLevel::warning);
  const auto found = lab::find_run(options.folder);
  if (code == kDone && found && found->measured == 0)
    return complain(kFailed, {"no flow was measured"});
  if (!arguments.quiet)
    std::printf("%s; eddylab show %s\n", (options.folder / "run.json").c_str(), folder.c_str());
  return code;
}

void declare(CLI::App& app, Arguments& arguments) {
  app.footer(
      "Arguments after -- go to DPDK's EAL. One process has one port a host, at most 32.\n"
      "Exit codes: 0 done, 1 failed or refused, 2 bad usage or experiment, 130 interrupted\n"
      "(with what there is, marked so).");
  app.add_option("experiment", arguments.experiment, "ID (eddylab list) or file")->required();
  app.add_option("--size", arguments.size, "ci, reduced or full")
      ->check(CLI::IsMember({"ci", "reduced", "full"}))
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "of traffic and of every random choice")
      ->check(CLI::Range(uint64_t{0}, config::kLargestSeed))
      ->capture_default_str();
  app.add_option("--set", arguments.sets, "KEY=VALUE over the file, such as traffic.0.load=0.6")
      ->allow_extra_args(false);
  app.add_option("--variant", arguments.variant, "which, where the experiment has several");
  app.add_option("--time-dilation", arguments.time_dilation,
                 "divides rates and multiplies times; default: the experiment's")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--port", arguments.ports,
                 "HOST=DEVICE as eddyd has it; HOST * for all others, {host} and {n} in DEVICE are "
                 "the host's name and number")
      ->allow_extra_args(false);
  app.add_option(
         "--switch", arguments.switches,
         "NAME or NAME=SOCKET of a running eddyd: its ports are waited for, its counters are "
         "in the results")
      ->allow_extra_args(false);
  app.add_option("--out", arguments.out, "folder of results")->capture_default_str();
  app.add_option("--name", arguments.name, "of this process, for DPDK's files")
      ->capture_default_str();
  app.add_option("--idle", arguments.idle, "busy or adaptive")
      ->check(CLI::IsMember({"busy", "adaptive"}))
      ->capture_default_str();
  app.add_option("--wait", arguments.wait, "how long ports and switches may take to come up")
      ->capture_default_str();
  app.add_option("--patience", arguments.patience,
                 "without any frame for so long while flows are running, the run ends")
      ->capture_default_str();
  app.add_option("--memory", arguments.memory_mib, "MiB that it may take; default: what is free");
  app.add_flag("--quiet", arguments.quiet, "only say what fails");
  app.add_flag("--json-log", arguments.json_log, "log one JSON object a line");
}

}  // namespace
}  // namespace eddy::testbed

int main(int argc, char** argv) {
  if (eddy::plugin::is_trial(argc, argv)) return eddy::plugin::run_trial();
  eddy::testbed::Arguments arguments;
  arguments.eal = eddy::split_off_eal(argc, argv);
  CLI::App app("The RoCEv2 hosts of an experiment on real ports.", "eddyhost");
  app.set_version_flag("--version", eddy::version_line("eddyhost"));
  eddy::testbed::declare(app, arguments);
  eddy::spell_out_help(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    const std::string unknown = eddy::unknown_words(app);
    return unknown.empty() ? app.exit(asked)
                           : eddy::testbed::complain(eddy::testbed::kUsage, {unknown});
  } catch (const CLI::ParseError& error) {
    return eddy::say_usage(app, error) == 0 ? eddy::testbed::kDone : eddy::testbed::kUsage;
  }
  if (arguments.json_log) eddy::log_as_json();
  try {
    return eddy::testbed::run(arguments);
  } catch (const std::exception& error) {  // a result.json of other types than ours
    eddy::say("eddyhost: ", {error.what()});
    return eddy::testbed::kFailed;
  }
}
