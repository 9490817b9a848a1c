#include "lab/program/model_command.h"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "lab/model/models.h"
#include "lab/program/run_command.h"
#include "lab/results/results.h"
#include "lab/results/sweep_folder.h"
#include "net/text/printable.h"

namespace eddy::lab {
namespace {

constexpr int kIndent = 1;

void print(const ModelTable& table) {
  TextRows rows = table.text;
  for (std::vector<std::string>& row : rows)
    for (std::string& cell : row) cell = printable(cell);
  std::cout << aligned(rows);
  for (const std::string& note : table.notes) std::cout << printable(note) << "\n";
}

int list_models(bool json) {
  Json rows = Json::array();
  std::string text;
  for (const Model& model : models()) {
    rows.push_back({{"figure", model.id}, {"source", model.source}, {"title", model.title}});
    text += fmt::format("{:<7}{} ({})\n", model.id, model.title, model.source);
  }
  std::cout << (json ? Json{{"figures", rows}}.dump(kIndent) + "\n" : text);
  return kDone;
}

std::vector<std::string> known_figures() {
  std::vector<std::string> known;
  for (const Model& model : models()) known.emplace_back(model.id);
  return known;
}

Json settings_json(const Model& model, const ModelSettings& settings) {
  Json out = Json::object();
  for (const ModelKey& key : model.keys) out[std::string(key.name)] = settings.text(key.name);
  return out;
}

void print_settings(const Model& model, const ModelSettings& settings) {
  std::cout << fmt::format("{} ({})\n", model.title, model.source);
  TextRows rows;
  for (const ModelKey& key : model.keys)
    rows.push_back({fmt::format("{}={}", key.name, settings.text(key.name))});
  for (size_t i = 0; i < rows.size(); ++i)
    std::cout << rows[i].front() << (i + 1 < rows.size() ? " " : "\n");
}

// Both before anything is said, so that a mistake is all that is said.
struct Computed {
  ModelFigure figure;
  ModelTable beside;  // without a head: nothing was asked for
};
Result<Computed> compute(const Model& model, const ModelSettings& settings,
                         const std::string& compare) {
  Result<ModelFigure> figure = model.compute(settings);
  if (!figure) return figure.problems();
  Computed out{.figure = std::move(*figure), .beside = {}};
  if (compare.empty()) return out;
  Result<ModelTable> beside = model.compare(settings, compare);
  if (!beside) return beside.problems();
  out.beside = std::move(*beside);
  return out;
}

int explain_keys(const Model& model) {
  for (const ModelKey& key : model.keys)
    std::cout << fmt::format("{}={}\n    {}\n", key.name, key.fallback, key.help);
  return kDone;
}

// What is wrong before anything is computed; its exit code with it.
int refuse(const ModelArguments& arguments, const Model& model) {
  if (!arguments.compare.empty() && model.compare == nullptr)
    return complain(kUsage, {fmt::format("--compare: no run shows what {} is of", model.id)});
  if (arguments.drawing.empty()) return kDone;
  const Problems problems = check_writable(arguments.drawing);
  return problems.empty() ? kDone : complain(kFailed, problems);
}

void print_json(const Model& model, const ModelSettings& settings, const Computed& computed) {
  Json out = {{"figure", model.id},
              {"title", model.title},
              {"source", model.source},
              {"settings", settings_json(model, settings)},
              {"rows", computed.figure.table.rows}};
  if (!computed.beside.text.empty()) out["runs"] = computed.beside.rows;
  std::cout << out.dump(kIndent, ' ', true) << "\n";
}

void print_text(const Model& model, const ModelSettings& settings, const Computed& computed) {
  print_settings(model, settings);
  print(computed.figure.table);
  if (computed.beside.text.empty()) return;
  std::cout << "\n";
  print(computed.beside);
}

int compute_and_print(const ModelArguments& arguments, const Model& model,
                      const ModelSettings& settings) {
  const Result<Computed> computed = compute(model, settings, arguments.compare);
  if (!computed) return complain(arguments.compare.empty() ? kUsage : kFailed, computed.problems());
  if (arguments.json)
    print_json(model, settings, computed.value());
  else
    print_text(model, settings, computed.value());
  if (arguments.drawing.empty()) return kDone;
  if (const Problems problems = write_text(arguments.drawing, draw(computed.value().figure.chart));
      !problems.empty())
    return complain(kFailed, problems);
  std::cerr << arguments.drawing << "\n";
  return kDone;
}

}  // namespace

void declare_model(CLI::App& app, ModelArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "model", "figures that papers compute: LetFlow's chain, the memory of flow tables");
  auto* figure = command->add_option("figure", arguments.figure, "default: a list of all")
                     ->check(CLI::IsMember(known_figures()));
  command
      ->add_option("--set", arguments.sets,
                   "KEY=VALUE of what it is computed for, such as gap=100us,200us")
      ->allow_extra_args(false)
      ->needs(figure);
  command->add_flag("--keys", arguments.keys, "what --set knows; computes nothing")->needs(figure);
  command
      ->add_option("--compare", arguments.compare,
                   "OUT/EXPERIMENT/SIZE of runs with --flow-series: their numbers beside it")
      ->needs(figure);
  command->add_option("--figure", arguments.drawing, "also as SVG, in this file")->needs(figure);
  command->add_flag("--json", arguments.json, "the rows as JSON");
}

int model_command(const ModelArguments& arguments) {
  if (arguments.figure.empty()) return list_models(arguments.json);
  const Model* const model = find_model(arguments.figure);  // the command line knows no other
  if (arguments.keys) return explain_keys(*model);
  const Result<ModelSettings> settings = ModelSettings::read(model->keys, arguments.sets);
  if (!settings) return complain(kUsage, settings.problems());
  if (const int code = refuse(arguments, *model); code != kDone) return code;
  return compute_and_print(arguments, *model, settings.value());
}

}  // namespace eddy::lab
