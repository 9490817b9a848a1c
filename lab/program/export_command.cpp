#include "lab/program/export_command.h"

#include <iostream>

#include "config/experiment_load.h"
#include "lab/export/clab_file.h"
#include "lab/export/compose_file.h"
#include "lab/export/fabric_export.h"
#include "lab/export/kube_file.h"
#include "lab/export/write_files.h"
#include "lab/program/run_command.h"
#include "lab/run/experiment_files.h"
#include "net/text/printable.h"
#include "plugin/plugins.h"

namespace eddy::lab {
namespace {

constexpr const char* kNoVethBetweenPods =
    "--hosts linux --to k8s: a Pod gets its interfaces from the cluster's network, and nothing but "
    "a "
    "privileged container on the node could join two of them by a veth pair; --hosts eddyhost "
    "would "
    "be valid, or --to compose";

Result<std::vector<OutFile>> folder_for(const std::string& target, const FabricExport& fabric) {
  if (target == "clab") return clab_folder(fabric);
  if (target == "k8s") return kube_folder(fabric);
  return compose_folder(fabric);
}

}  // namespace

void declare_export(CLI::App& app, ExportArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("export", "write an experiment's fabric as files for containers");
  command->add_option("experiment", arguments.experiment, "ID or file")->required();
  command->add_option("--to", arguments.to, "compose, clab or k8s")
      ->check(CLI::IsMember({"compose", "clab", "k8s"}))
      ->required();
  command->add_option("--out", arguments.out, "folder that is made")->required();
  command
      ->add_option("--hosts", arguments.hosts,
                   "eddyhost: the experiment's traffic; linux: a container on a veth for each")
      ->check(CLI::IsMember({"eddyhost", "linux"}));
  command->add_option("--size", arguments.size, "ci, reduced or full")
      ->check(CLI::IsMember({"ci", "reduced", "full"}));
  command->add_option("--seed", arguments.seed, "of traffic and of every random choice")
      ->check(CLI::Range(uint64_t{0}, config::kLargestSeed));
  command
      ->add_option("--set", arguments.sets, "KEY=VALUE over the file, such as traffic.0.load=0.6")
      ->allow_extra_args(false);
  command
      ->add_option("--variant", arguments.variants,
                   "which, by name or words of it, where there are several")
      ->allow_extra_args(false);
  command
      ->add_option("--time-dilation", arguments.time_dilation,
                   "rates are divided by it, times multiplied; default: the experiment's, or what "
                   "a machine of two cores needs")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--name", arguments.name, "of the fabric; default: the experiment's ID");
}

int export_command(const ExportArguments& arguments) {
  const bool on_links = arguments.hosts == "linux";
  if (on_links && arguments.to == "k8s") return complain(kUsage, {kNoVethBetweenPods});
  const auto file = experiment_file(arguments.experiment);
  if (!file) return complain(kUsage, file.problems());
  const auto loaded = config::load_experiment(
      file.value(),
      {.size = arguments.size, .sets = arguments.sets, .plugins = &plugin::plugins_of_process()});
  if (!loaded) return complain(kUsage, loaded.problems());
  const auto fabric = export_fabric(
      loaded.value(), {.variants = arguments.variants,
                       .seed = arguments.seed,
                       .name = arguments.name,
                       .time_dilation = arguments.time_dilation,
                       .hosts = on_links ? ExportedHosts::linux : ExportedHosts::eddyhost,
                       .numbered_devices = arguments.to == "clab"});
  if (!fabric) return complain(kUsage, fabric.problems());
  const auto files = folder_for(arguments.to, fabric.value());
  if (!files) return complain(kUsage, files.problems());
  if (const Problems problems = write_folder(arguments.out, files.value()); !problems.empty())
    return complain(kFailed, problems);
  std::cout << printable(arguments.out) << ": " << files.value().size()
            << " files; its README.md says how to start them\n";
  return kDone;
}

}  // namespace eddy::lab
