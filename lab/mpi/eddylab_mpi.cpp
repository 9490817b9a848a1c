// eddylab-mpi: one run on many machines. Exit codes as eddylab's: 0 done, 1 a run failed or was
// refused, 2 the command line or an experiment's file is wrong, 130 interrupted.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include "lab/mpi/mpi_exchange.h"
#include "lab/mpi/shared_sweep.h"
#include "lab/run/sweep.h"
#include "net/version.h"
#include "plugin/trial.h"
#include "system/command_line.h"
#include "system/say.h"
#include "system/usage.h"

namespace eddy::lab {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

void declare(CLI::App& app, SharedArguments& run) {
  app.require_subcommand(1);
  CLI::App* command =
      app.add_subcommand("run", "run an experiment, each run of it on all ranks together");
  command->add_option("experiment", run.experiment, "ID (eddylab list) or file")->required();
  command->add_option("--size", run.size, "ci, reduced or full")
      ->check(CLI::IsMember({"ci", "reduced", "full"}));
  command->add_option("--seed", run.seeds, "such as 1,2,5-8; default: the experiment's");
  command->add_option("--set", run.sets, "KEY=VALUE over the file, such as traffic.0.load=0.6")
      ->allow_extra_args(false);
  command->add_option("--variant", run.variants, "only this one; may be given again")
      ->allow_extra_args(false);
  command->add_option("--threads", run.threads, "of each rank; the results are the same")
      ->check(CLI::Range(1, 256))
      ->default_str("1");
  command->add_option("--out", run.out, "folder of results, of rank 0; default: results");
  command->add_flag("--resume,!--fresh", run.resume,
                    "leave out finished runs (the default); --fresh: run them again");
  command->add_flag("--stats", run.stats,
                    "say what ranks sent each other, and how long they waited");
  auto* progress = command->add_flag("--progress", run.progress,
                                     "say how far the runs are, also where there is no terminal");
  command->add_flag("--quiet", run.quiet, "only say what fails")->excludes(progress);
  command->add_option("--memory", run.memory_mib,
                      "MiB that a rank may take; default: its share of what is free");
  // What looks at the whole fabric at one instant.
  for (const char* name :
       {"--check", "--hpcc", "--conweave", "--flow-series", "--timeline", "--capture"})
    command
        ->add_flag_function(
            name,
            [name](int64_t) {
              throw CLI::ValidationError(std::string(name) +
                                         " looks at all of the fabric at one instant, which no "
                                         "rank can: eddylab run has it");
            })
        ->group("");
}

// Rank 0 says what is wrong with the command line, which is the same for all.
int usage(const CLI::App& app, const CLI::ParseError& error) {
  const Result<Rank> rank = rank_of([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
  const bool leads = !rank || rank.value().index == 0;
  const bool asked = error.get_exit_code() == 0;  // --help, --version
  const std::string unknown = asked ? unknown_words(app) : "";
  if (!leads) return asked && unknown.empty() ? kDone : kUsage;
  if (unknown.empty()) return say_usage(app, error) == 0 ? kDone : kUsage;
  say("eddylab-mpi: ", {unknown});
  return kUsage;
}

int run_program(const SharedArguments& parsed, MpiExchange& exchange) {
  SharedArguments arguments = parsed;
  arguments.neighbors = exchange.neighbors();
  try {
    return shared_sweep(arguments, exchange);
  } catch (const std::exception& error) {  // the others wait for this one's next message
    say("eddylab-mpi: ", {"rank " + std::to_string(exchange.rank()) + ": " + error.what()});
    MpiExchange::abort(kFailed);
  }
}

}  // namespace
}  // namespace eddy::lab

int main(int argc, char** argv) {
  if (eddy::plugin::is_trial(argc, argv)) return eddy::plugin::run_trial();
  CLI::App app("One run of an experiment on many machines, over MPI.", "eddylab-mpi");
  eddy::lab::SharedArguments arguments;
  app.set_version_flag("--version", eddy::version_line("eddylab-mpi"));
  eddy::lab::declare(app, arguments);
  eddy::spell_out_help(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return eddy::lab::usage(app, error);
  }
  eddy::lab::MpiExchange exchange;
  return eddy::lab::run_program(arguments, exchange);
}
