#include "lab/program/conformance_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "lab/conformance/suite.h"
#include "lab/program/run_command.h"
#include "lab/results/variants.h"
#include "net/text/printable.h"
#include "plugin/plugins.h"

namespace eddy::lab {
namespace {

using conformance::Check;
using conformance::CheckResult;
using Json = nlohmann::ordered_json;

// As with experiments: with a dot or a slash it is a file.
bool is_plugin(const std::string& name) {
  return name.find_first_of("./") != std::string::npos;
}

// A plugin's schemes as it has them, without the guard that a switch puts before them: what they
// throw is to be seen.
Problems add_plugin(const std::string& name, std::vector<lb::SchemeInfo>& found) {
  const auto path = std::filesystem::absolute(name).string();
  const auto loaded = plugin::plugins_of_process().load(path, {});
  if (!loaded) return loaded.problems();
  for (const config::LoadedScheme* scheme : loaded.value()) {
    found.push_back(*scheme->info);
    found.back().hosted = nullptr;
  }
  return {};
}

Result<std::vector<lb::SchemeInfo>> schemes_named(const std::vector<std::string>& names) {
  const auto registered = lb::probed_schemes();
  std::vector<lb::SchemeInfo> found;
  Problems problems;
  for (const std::string& name : names) {
    if (is_plugin(name)) {
      for (const std::string& problem : add_plugin(name, found)) problems.push_back(problem);
      continue;
    }
    const auto at = std::find_if(registered.begin(), registered.end(),
                                 [&](const lb::SchemeInfo& each) { return each.name == name; });
    if (at != registered.end())
      found.push_back(*at);
    else
      problems.push_back(lb::check_parameters(name, {}).front());
  }
  if (!problems.empty()) return problems;
  if (names.empty()) found.assign(registered.begin(), registered.end());
  return found;
}

int list_checks(bool json) {
  Json rows = Json::array();
  std::vector<std::vector<std::string>> table = {{"CHECK", "what must hold"}};
  for (const Check& check : conformance::checks()) {
    rows.push_back({{"check", check.name}, {"summary", check.summary}});
    table.push_back({std::string(check.name), std::string(check.summary)});
  }
  std::cout << (json ? Json{{"checks", rows}}.dump(2) + "\n" : aligned(table));
  return kDone;
}

std::string verdict(const CheckResult& result) {
  if (!result.problems.empty()) return "fails";
  return result.variants == 0 ? "left out" : "holds";
}

void print(const lb::SchemeInfo& scheme, const std::vector<CheckResult>& results) {
  std::vector<std::vector<std::string>> table = {{"SCHEME", "check", "variants", "verdict"}};
  for (const CheckResult& result : results)
    table.push_back({std::string(scheme.name), std::string(result.name),
                     std::to_string(result.variants), verdict(result)});
  std::cout << aligned(table);
  for (const CheckResult& result : results)
    for (const std::string& problem : result.problems)
      std::cout << fmt::format("{}: {}: {}\n", scheme.name, result.name, printable(problem));
  std::cout.flush();
}

Json as_json(const lb::SchemeInfo& scheme, const std::vector<CheckResult>& results) {
  Json checks = Json::array();
  bool holds = true;
  for (const CheckResult& result : results) {
    holds = holds && result.problems.empty();
    checks.push_back({{"check", result.name},
                      {"variants", result.variants},
                      {"verdict", verdict(result)},
                      {"problems", result.problems}});
  }
  return {{"scheme", scheme.name}, {"holds", holds}, {"checks", checks}};
}

}  // namespace

void declare_conformance(CLI::App& app, ConformanceArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "conformance", "check that path selection schemes keep the rules that all of them must keep");
  command->add_option("schemes", arguments.schemes,
                      "names, or files of plugins; default: all that the program has");
  command->add_flag("--list", arguments.list, "what is checked; checks nothing");
  command->add_flag("--json", arguments.json, "the results as JSON");
}

int conformance_command(const ConformanceArguments& arguments) {
  const auto schemes = schemes_named(arguments.schemes);
  if (!schemes) return complain(kUsage, schemes.problems());
  if (arguments.list) return list_checks(arguments.json);
  Json all = Json::array();
  bool holds = true;
  for (const lb::SchemeInfo& scheme : schemes.value()) {
    const std::vector<CheckResult> results = conformance::run_checks(scheme);
    all.push_back(as_json(scheme, results));
    holds = holds && all.back()["holds"];
    if (!arguments.json) print(scheme, results);
  }
  if (arguments.json)
    std::cout << Json{{"holds", holds}, {"schemes", all}}.dump(2) << "\n";
  else
    std::cout << fmt::format("{} schemes, {} checks: {}\n", all.size(),
                             conformance::checks().size(), holds ? "all hold" : "some fail");
  return holds ? kDone : kFailed;
}

}  // namespace eddy::lab
