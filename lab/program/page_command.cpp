#include "lab/program/page_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "lab/page/figure_files.h"
#include "lab/page/page.h"
#include "lab/program/run_command.h"
#include "lab/results/compare.h"
#include "lab/results/results.h"
#include "lab/results/sweep_folder.h"
#include "lab/run/sweep.h"
#include "system/hostile_json.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

struct FigureChoice {
  FigureStyle style;
  VariantChoice variants;
};

std::string command_of(const ReportArguments& arguments) {
  std::vector<std::string> words = {"eddylab", "report"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  words.insert(words.end(), arguments.folders.begin(), arguments.folders.end());
  add("--out", arguments.out);
  add("--figures", arguments.figures);
  const StyleOptions& style = arguments.style;
  add("--template", style.figure_template);
  add("--width", style.width);
  add("--font", style.font);
  add("--text-size", style.text);
  if (style.title) words.emplace_back(*style.title ? "--title" : "--no-title");
  for (const std::string& variant : arguments.variants) add("--variant", variant);
  for (const std::string& legend : arguments.legends) add("--legend", legend);
  return command_line(words);
}

// The problems of all figures of a result.
Problems write_figures_of(const PageSource& source, const std::vector<PageFigure>& figures,
                          const FigureChoice& choice, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  if (error) return {to.string() + ": " + error.message()};
  FigureFiles files(choice.style);
  for (const PageFigure& figure : figures)
    files.add(to / in_file_name(figure.id), paper_chart(figure, source, choice.variants));
  if (const Chart claims = claims_chart(source, choice.variants); !claims.series.empty())
    files.add(to / "claims", claims);
  for (const SourceTimeline& timeline : source.timelines) {
    const std::string variant = source.variants[timeline.variant].name;
    const std::string seed = ", seed " + std::to_string(timeline.seed);
    files.add(to / in_file_name("timeline_" + shown(variant) + seed), timeline.data,
              choice.variants.shown(shown(variant)) + seed);
  }
  for (const std::string& line : files.lines()) std::cerr << line << "\n";
  return files.problems();
}

// Of several results each has a folder of its own, numbered as on the command line.
Problems write_all_figures(const std::vector<PageSource>& sources, const Page& page,
                           const FigureChoice& choice, const fs::path& to) {
  Problems problems;
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::string name =
        std::to_string(i + 1) + "-" + sources[i].result.value("experiment", "");
    const fs::path folder = sources.size() == 1 ? to : to / in_file_name(name);
    Problems more;
    if (choice.variants.takes_all()) {
      more = write_figures_of(sources[i], page.figures[i], choice, folder);
    } else {
      PageSource chosen = with_chosen(sources[i], choice.variants);
      const std::vector<PageFigure> figures = page_figures(chosen);
      more = write_figures_of(chosen, figures, choice, folder);
    }
    for (std::string& problem : more)
      if (std::ranges::find(problems, problem) == problems.end())
        problems.push_back(std::move(problem));
  }
  return problems;
}

// What --variant and --legend mean for these results.
Result<VariantChoice> choose_variants(const ReportArguments& arguments,
                                      const std::vector<PageSource>& sources) {
  std::vector<std::string> names;
  for (const PageSource& source : sources)
    for (const VariantRuns& variant : source.variants) names.push_back(variant.name);
  Result<VariantChoice> choice =
      VariantChoice::create(arguments.variants, arguments.legends, names);
  if (!choice) return choice;
  for (const PageSource& source : sources)
    if (std::ranges::none_of(source.variants, [&](const VariantRuns& variant) {
          return choice->takes(variant.name);
        }))
      return Result<VariantChoice>::failure("--variant: takes no run of " + source.folder.string());
  return choice;
}

}  // namespace

namespace {

void declare_style(CLI::App& command, StyleOptions& style, CLI::Option* figures) {
  command
      .add_option("--template", style.figure_template, "figures as a column of a paper has them")
      ->check(CLI::IsMember(figure_templates()))
      ->needs(figures);
  command.add_option("--width", style.width, "of figures, such as 3.33in or 84mm")->needs(figures);
  command.add_option("--font", style.font, "of figures, such as \"Linux Libertine O\"")
      ->needs(figures);
  command.add_option("--text-size", style.text, "of figures, such as 8pt")->needs(figures);
  auto* title = command.add_flag_callback(
      "--title", [&style] { style.title = true; },
      "figures have a title, as they have without a template");
  auto* none = command.add_flag_callback(
      "--no-title", [&style] { style.title = false; },
      "figures have no title, as they have with a template");
  title->needs(figures)->excludes(none);
  none->needs(figures);
}

}  // namespace

void declare_report(CLI::App& app, ReportArguments& arguments) {
  CLI::App* command = app.add_subcommand("report", "results as one HTML page");
  command
      ->add_option("results", arguments.folders, "OUT/EXPERIMENT/SIZE; the first is compared with")
      ->required();
  command->add_option("--out", arguments.out, "the page; default: report.html")
      ->allow_extra_args(false);
  auto* figures = command->add_option(
      "--figures", arguments.figures,
      "also each figure as SVG and PDF, with its data and sources that draw it, in a folder");
  declare_style(*command, arguments.style, figures);
  command
      ->add_option("--variant", arguments.variants,
                   "in figures only runs with this, such as scheme=drill; may be given again")
      ->allow_extra_args(false)
      ->needs(figures);
  command
      ->add_option(
          "--legend", arguments.legends,
          "what runs are called in figures, such as scheme=drill:DRILL; may be given again")
      ->allow_extra_args(false)
      ->needs(figures);
}

void declare_compare(CLI::App& app, CompareArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "compare", "what changed from one result to another, and whether it is chance");
  command->add_option("before", arguments.before, "OUT/EXPERIMENT/SIZE, or a result.json")
      ->required();
  auto* after = command->add_option("after", arguments.after, "another one; not with --base");
  command
      ->add_option("--base", arguments.base,
                   "a part of variants' names, such as rlb=off: compare the others with those")
      ->excludes(after);
  command->add_option("--item", arguments.item,
                      "a traffic item: what happens to its flows, pauses by kind, drops");
  auto* json = command->add_flag("--json", arguments.json, "the rows as JSON");
  auto* wide = command->add_flag("--wide", arguments.wide, "a row a variant, a column a number");
  command->add_flag("--markdown", arguments.markdown, "the same as a table of Markdown")
      ->excludes(json);
  wide->excludes(json);
}

int report_command(const ReportArguments& arguments) {
  Result<FigureStyle> style = figure_style(arguments.style);
  if (!style) return complain(kUsage, style.problems());
  if (const Problems unwritable = check_writable(arguments.out); !unwritable.empty())
    return complain(kFailed, unwritable);
  Result<std::vector<PageSource>> sources = read_sources(arguments.folders);
  if (!sources) return complain(kFailed, sources.problems());
  Result<VariantChoice> variants = choose_variants(arguments, *sources);
  if (!variants) return complain(kUsage, variants.problems());
  if (!arguments.figures.empty())
    if (const Problems unwritable = make_folder(arguments.figures); !unwritable.empty())
      return complain(kFailed, unwritable);
  const Page page = make_page(sources.value(), command_of(arguments));
  Problems problems = write_text(arguments.out, page.html);
  if (problems.empty()) std::cerr << arguments.out << "\n";
  if (problems.empty() && !arguments.figures.empty())
    problems = write_all_figures(*sources, page, {*style, *variants}, arguments.figures);
  problems.insert(problems.begin(), page.problems.begin(), page.problems.end());
  return problems.empty() ? kDone : complain(kFailed, problems);
}

namespace {

// Of the results as they are, or as a terminal may see them.
Result<Comparison> comparison_of(const CompareArguments& arguments) {
  const auto shown_as = [&](const Json& result) {
    return arguments.json ? result : with_printable_texts(result);
  };
  const CompareWhat what{.item = arguments.item};
  Result<Json> before = read_result(arguments.before);
  if (arguments.after.empty()) {
    if (!before) return before.problems();
    return compare_within(shown_as(*before), arguments.base, what);
  }
  Result<Json> after = read_result(arguments.after);
  Problems problems;
  for (const auto* each : {&before, &after})
    if (!*each) problems.insert(problems.end(), each->problems().begin(), each->problems().end());
  if (!problems.empty()) return problems;
  return compare(shown_as(*before), shown_as(*after), what);
}

std::string text_of(const Comparison& found, const CompareArguments& arguments) {
  constexpr int kIndent = 1;
  if (arguments.json)
    return comparison_json(found, arguments.before, arguments.after).dump(kIndent, ' ', true) +
           "\n";
  if (arguments.wide || arguments.markdown) return wide_text(found, arguments.markdown);
  return compared_text(found);
}

}  // namespace

int compare_command(const CompareArguments& arguments) {
  if (arguments.after.empty() && arguments.base.empty())
    return complain(kUsage,
                    {"give a second result, or --base for variants of " + arguments.before});
  Result<Comparison> found = comparison_of(arguments);
  if (!found) return complain(kFailed, found.problems());
  if (found->rows.empty()) {
    Problems problems = {"no run of " + arguments.before + " can be paired with one of " +
                         (arguments.after.empty() ? "its base" : arguments.after) +
                         ": pairs have the same seed" +
                         (arguments.after.empty() ? "" : " and variant")};
    problems.insert(problems.end(), found->remarks.begin(), found->remarks.end());
    return complain(kFailed, problems);
  }
  std::cout << text_of(*found, arguments);
  return kDone;
}

}  // namespace eddy::lab
