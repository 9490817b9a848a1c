#include "lab/program/advise_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "config/experiment_load.h"
#include "config/load.h"
#include "lab/fabric/fabric_advice.h"
#include "lab/program/run_command.h"
#include "lab/real/switch_config.h"
#include "lab/results/chosen_runs.h"
#include "lab/results/variants.h"
#include "lab/run/experiment_files.h"
#include "net/quantity.h"
#include "net/text/printable.h"
#include "plugin/plugins.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

// Of one variant, or of one switch.
struct Subject {
  std::string name;
  FabricAdvice advice;
  bool has_hosts = true;
};

// A switch's configuration has ports; an experiment's file makes them.
bool is_of_a_switch(const fs::path& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("ports:")) return true;
  return false;
}

Result<std::vector<Subject>> of_switch(const fs::path& file) {
  auto loaded = config::load_file(file, config::Purpose::daemon, &plugin::plugins_of_process());
  if (!loaded) return loaded.problems();
  const config::SwitchConfig& given = loaded->config;
  const pfc::FabricFacts facts = pfc::guessed_facts(given);
  Subject one{.name = "switch " + given.name, .advice = {.facts = facts}, .has_hosts = false};
  auto recommended = pfc::recommend(given, facts);
  if (!recommended) return recommended.problems();
  auto advice = pfc::advise(given, facts);
  if (!advice) return advice.problems();
  one.advice.recommended = std::move(*recommended);
  one.advice.advice = std::move(*advice);
  return std::vector<Subject>{std::move(one)};
}

Result<std::vector<Subject>> of_experiment(const AdviseArguments& arguments, const fs::path& file) {
  auto loaded = config::load_experiment(
      file,
      {.size = arguments.size, .sets = arguments.sets, .plugins = &plugin::plugins_of_process()});
  if (!loaded) return loaded.problems();
  auto chosen = chosen_variants(*loaded, arguments.variants);
  if (!chosen) return chosen.problems();
  std::vector<Subject> all;
  for (const config::ExperimentRun* run : *chosen) {
    Result<Topology> topology = unscaled_topology(run->experiment);
    Result<FabricAdvice> advice = topology ? advise_fabric(run->experiment, *topology)
                                           : Result<FabricAdvice>(topology.problems());
    if (!advice) {
      Problems problems;
      for (const std::string& problem : advice.problems())
        problems.push_back(loaded->locate(*run, problem));
      return problems;
    }
    all.push_back({run->experiment.id + (run->variant.empty() ? "" : " [" + run->variant + "]"),
                   std::move(*advice)});
  }
  return all;
}

// Variants that differ in nothing that matters here are one.
std::vector<Subject> without_repeats(std::vector<Subject> all) {
  std::vector<Subject> kept;
  for (Subject& each : all) {
    const auto same = std::ranges::find_if(kept, [&](const Subject& other) {
      return other.advice.advice == each.advice.advice &&
             other.advice.recommended == each.advice.recommended;
    });
    if (same == kept.end())
      kept.push_back(std::move(each));
    else
      same->name += ", " + each.name;
  }
  return kept;
}

std::string recommended_text(const pfc::Recommended& one) {
  return fmt::format(
      "  {} PG {}, {}: BDP {}, XOFF {}\n"
      "    marking   kmin {}, kmax {}, pmax {}: late enough for the line, a BDP before XOFF\n"
      "    headroom  {}\n"
      "    resume    at {} or above, so that the line does not idle after a pause\n"
      "    rlb       horizon {}: the control loop and a sample\n",
      one.port, one.pg, to_string(one.speed), pfc::readable(one.bdp), pfc::readable(one.xoff),
      pfc::readable(one.kmin), pfc::readable(one.kmax), one.pmax, pfc::readable(one.headroom),
      pfc::readable(one.resume), to_string(one.horizon));
}

// To four digits.
std::string microseconds(Duration time) {
  constexpr double kPicosecondsAMicrosecond = 1e6;
  return fmt::format("{:.4g}us", static_cast<double>(time.ps()) / kPicosecondsAMicrosecond);
}

std::string subject_text(const Subject& subject) {
  const FabricAdvice& found = subject.advice;
  std::string text =
      fmt::format("{}: base RTT {}{}\n", subject.name, microseconds(found.facts.base_rtt),
                  subject.has_hosts ? "" : " by its own cables");
  text += "should have\n";
  for (const pfc::Recommended& one : found.recommended) text += recommended_text(one);
  if (found.recommended.empty()) text += "  nothing: no priority group is lossless\n";
  if (subject.has_hosts)
    text += fmt::format("  hosts: a window of one BDP, {}\n", pfc::readable(found.window));
  text += "as it is set\n";
  for (const pfc::Advice& one : found.advice)
    text += fmt::format("  {}{}\n    {}\n", one.warning ? "warning: " : "", pfc::text_of(one),
                        one.because);
  return text;
}

nlohmann::ordered_json recommended_json(const pfc::Recommended& one) {
  return {{"port", one.port},
          {"pg", one.pg},
          {"speed_bps", one.speed.bps()},
          {"bdp_bytes", one.bdp.count()},
          {"xoff_bytes", one.xoff.count()},
          {"kmin_bytes", one.kmin.count()},
          {"kmax_bytes", one.kmax.count()},
          {"pmax", one.pmax},
          {"headroom_bytes", one.headroom.count()},
          {"resume_bytes", one.resume.count()},
          {"rlb_horizon_ns", one.horizon.ns()}};
}

nlohmann::ordered_json subject_json(const Subject& subject) {
  nlohmann::ordered_json out = {{"of", subject.name},
                                {"base_rtt_ns", subject.advice.facts.base_rtt.ns()}};
  if (subject.has_hosts) out["window_bytes"] = subject.advice.window.count();
  out["should_have"] = nlohmann::ordered_json::array();
  for (const pfc::Recommended& one : subject.advice.recommended)
    out["should_have"].push_back(recommended_json(one));
  out["as_set"] = nlohmann::ordered_json::array();
  for (const pfc::Advice& one : subject.advice.advice)
    out["as_set"].push_back({{"subject", pfc::name_of(one.subject)},
                             {"warning", one.warning},
                             {"says", one.says},
                             {"because", one.because},
                             {"where", one.where}});
  return out;
}

void print(const std::vector<Subject>& subjects, bool json) {
  constexpr int kIndent = 1;
  if (json) {
    auto all = nlohmann::ordered_json::array();
    for (const Subject& each : subjects) all.push_back(subject_json(each));
    std::cout << all.dump(kIndent, ' ', true) << "\n";
    return;
  }
  for (size_t i = 0; i < subjects.size(); ++i)
    std::cout << (i == 0 ? "" : "\n") << printable_lines(subject_text(subjects[i]));
}

}  // namespace

void declare_advise(CLI::App& app, AdviseArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "advise", "what a fabric or a switch should have, and what its settings will do");
  command->add_option("file", arguments.file, "ID or file of an experiment, or a file of eddyd")
      ->required();
  command->add_option("--size", arguments.size, "ci, reduced or full")
      ->check(CLI::IsMember({"ci", "reduced", "full"}));
  command
      ->add_option("--set", arguments.sets,
                   "KEY=VALUE over the experiment, such as traffic.0.load=0.6")
      ->allow_extra_args(false);
  command
      ->add_option("--variant", arguments.variants,
                   "only those of this name, or with these words; may be given again")
      ->allow_extra_args(false);
  command->add_flag("--json", arguments.json, "the same as JSON");
}

int advise_command(const AdviseArguments& arguments) {
  Result<fs::path> file = experiment_file(arguments.file);
  if (!file) return complain(kUsage, file.problems());
  const bool of_one = is_of_a_switch(*file);
  if (of_one && (!arguments.sets.empty() || !arguments.variants.empty()))
    return complain(kUsage,
                    {arguments.file + " is a switch's: --set and --variant are of experiments"});
  auto subjects = of_one ? of_switch(*file) : of_experiment(arguments, *file);
  if (!subjects) return complain(kUsage, subjects.problems());
  print(without_repeats(std::move(*subjects)), arguments.json);
  return kDone;
}

}  // namespace eddy::lab
