#include "lab/program/page_command.h"

#include <filesystem>
#include <iostream>

#include "lab/figures/timeline_figure.h"
#include "lab/page/page.h"
#include "lab/page/pdf.h"
#include "lab/program/run_command.h"
#include "lab/results/compare.h"
#include "lab/results/results.h"
#include "lab/results/sweep_folder.h"
#include "lab/run/sweep.h"
#include "system/hostile_json.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

std::string command_of(const ReportArguments& arguments) {
  std::vector<std::string> words = {"eddylab", "report"};
  words.insert(words.end(), arguments.folders.begin(), arguments.folders.end());
  words.insert(words.end(), {"--out", arguments.out});
  if (!arguments.figures.empty()) words.insert(words.end(), {"--figures", arguments.figures});
  return command_line(words);
}

// NAME.svg and NAME.pdf.
Problems write_figure(const fs::path& name, const std::string& svg) {
  fs::path file = name;
  file += ".svg";
  if (Problems problems = write_text(file, svg); !problems.empty()) return problems;
  std::cerr << file.string() << "\n";
  fs::path pdf = name;
  pdf += ".pdf";
  if (Problems problems = write_pdf(file, pdf); !problems.empty()) return problems;
  std::cerr << pdf.string() << "\n";
  return {};
}

Problems write_figures_of(const PageSource& source, const std::vector<PageFigure>& figures,
                          const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  if (error) return {to.string() + ": " + error.message()};
  for (const PageFigure& figure : figures)
    if (Problems problems = write_figure(to / in_file_name(figure.id), draw_figure(figure, source));
        !problems.empty())
      return problems;
  if (const std::string claims = draw_claims(source); !claims.empty())
    if (Problems problems = write_figure(to / "claims", claims); !problems.empty()) return problems;
  for (const SourceTimeline& timeline : source.timelines) {
    const std::string name =
        shown(source.variants[timeline.variant].name) + ", seed " + std::to_string(timeline.seed);
    const fs::path file = to / in_file_name("timeline_" + name);
    if (Problems problems = write_figure(file, draw_timeline(timeline.data, name));
        !problems.empty())
      return problems;
  }
  return {};
}

// Of several results each has a folder of its own, numbered as on the command line.
Problems write_all_figures(const std::vector<PageSource>& sources, const Page& page,
                           const fs::path& to) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::string name =
        std::to_string(i + 1) + "-" + sources[i].result.value("experiment", "");
    const fs::path folder = sources.size() == 1 ? to : to / in_file_name(name);
    if (Problems problems = write_figures_of(sources[i], page.figures[i], folder);
        !problems.empty())
      return problems;
  }
  return {};
}

}  // namespace

void declare_report(CLI::App& app, ReportArguments& arguments) {
  CLI::App* command = app.add_subcommand("report", "results as one HTML page");
  command
      ->add_option("results", arguments.folders, "OUT/EXPERIMENT/SIZE; the first is compared with")
      ->required();
  command->add_option("--out", arguments.out, "the page; default: report.html")
      ->allow_extra_args(false);
  command->add_option("--figures", arguments.figures,
                      "also each figure as SVG and PDF, in a folder");
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
  Problems unwritable = check_writable(arguments.out);
  if (unwritable.empty() && !arguments.figures.empty()) unwritable = make_folder(arguments.figures);
  if (!unwritable.empty()) return complain(kFailed, unwritable);
  Result<std::vector<PageSource>> sources = read_sources(arguments.folders);
  if (!sources) return complain(kFailed, sources.problems());
  const Page page = make_page(sources.value(), command_of(arguments));
  Problems problems = write_text(arguments.out, page.html);
  if (problems.empty()) std::cerr << arguments.out << "\n";
  if (problems.empty() && !arguments.figures.empty())
    problems = write_all_figures(sources.value(), page, arguments.figures);
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
