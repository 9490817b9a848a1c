#include "lab/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lab/figures/svg.h"
#include "lab/page/page_assets.h"
#include "lab/page/rounded.h"
#include "lab/page/timeline_page.h"
#include "lab/page/words.h"
#include "lab/results/claims.h"
#include "lab/results/compare.h"
#include "lab/results/result_warnings.h"
#include "lab/results/student.h"
#include "lab/results/tenant_tables.h"
#include "lab/run/sweep.h"
#include "net/fnv.h"

namespace eddy::lab {
namespace {

std::string replay_of(const Json& run) {
  return run.value("replay", "");
}

// What is the same of the commands of all runs, with their seeds: the sweep. Each of them, where
// they differ.
Json sweeps(const PageSource& source) {
  std::vector<std::pair<std::string, std::set<uint64_t>>> found;  // in the order of the runs
  for (const Json& run : source.result.at("runs")) {
    std::string command = replay_of(run);
    const size_t variant = command.rfind(" --variant ");
    const size_t seed = command.rfind(" --seed ");
    command = command.substr(0, std::min(variant, seed));
    if (command.empty()) continue;
    auto same = std::ranges::find(found, command, [](const auto& each) { return each.first; });
    if (same == found.end()) same = found.insert(found.end(), {command, {}});
    same->second.insert(run.at("seed").get<uint64_t>());
  }
  Json out = Json::array();
  for (const auto& [command, seeds] : found)
    out.push_back(fmt::format("{} --seed {}", command, fmt::join(seeds, ",")));
  return out;
}

// What a run is marked with, beside its numbers.
std::vector<std::string> marks_of(const Json& run) {
  std::vector<std::string> marks;
  if (run.value("interrupted", false)) marks.emplace_back("interrupted");
  if (run.value("censored", false)) marks.emplace_back("censored");
  if (!run.value("violations", Json::array()).empty())
    marks.emplace_back("an invariant did not hold");
  return marks;
}

Json runs_of(const VariantRuns& variant) {
  Json runs = Json::array();
  for (const Json* run : variant.runs)
    runs.push_back({{"seed", std::to_string(run->at("seed").get<uint64_t>())},
                    {"marks", marks_of(*run)},
                    {"digest", run->value("digest", "")},
                    {"replay", replay_of(*run)}});
  return runs;
}

Json variants_of(const PageSource& source) {
  Json variants = Json::array();
  for (const VariantRuns& variant : source.variants) {
    const Json rlb = variant.runs.front()->value("rlb", Json());
    variants.push_back({{"name", shown(variant.name)},
                        {"scheme", variant.runs.front()->value("scheme", "")},
                        {"rlb", rlb.is_string() ? rlb : Json("")},
                        {"runs", runs_of(variant)}});
  }
  return variants;
}

// Rows of one seed of a result, or of all of them.
std::vector<VariantRuns> of_seed(const PageSource& source, std::optional<uint64_t> seed) {
  std::vector<VariantRuns> out;
  for (const VariantRuns& variant : source.variants) {
    VariantRuns kept{variant.name, {}};
    for (const Json* run : variant.runs)
      if (!seed || run->at("seed").get<uint64_t>() == *seed) kept.runs.push_back(run);
    if (!kept.runs.empty()) out.push_back(std::move(kept));
  }
  return out;
}

// -1: of none. The first column of the tables is the variant's name.
int variant_number(const PageSource& source, const std::string& name) {
  for (size_t i = 0; i < source.variants.size(); ++i)
    if (shown(source.variants[i].name) == name) return static_cast<int>(i);
  return -1;
}

struct Table {
  std::string id;
  std::string title;
  std::string note;
  CellTable (*of)(const std::vector<VariantRuns>& variants);
};

std::string_view name_of(CellKind kind) {
  switch (kind) {
    case CellKind::label:
      return "label";
    case CellKind::count:
      return "count";
    case CellKind::mean:
      return "mean";
    case CellKind::estimate:
      return "estimate";
  }
  return "";
}

std::string scope_name(std::optional<uint64_t> seed) {
  return seed ? std::to_string(*seed) : "all";
}

std::vector<std::optional<uint64_t>> scopes_of(const PageSource& source) {
  std::vector<std::optional<uint64_t>> scopes = {std::nullopt};
  if (source.seeds.size() > 1)
    scopes.insert(scopes.end(), source.seeds.begin(), source.seeds.end());
  return scopes;
}

// A row has its variant's number, the seeds it is of, its texts and, of one seed, its numbers.
void add_rows(Json& rows, const PageSource& source, const CellTable& table,
              std::optional<uint64_t> seed) {
  for (const std::vector<Cell>& cells : table.rows) {
    Json row = {{"v", variant_number(source, cells.front().text)}, {"s", scope_name(seed)}};
    for (const Cell& cell : cells) {
      row["t"].push_back(cell.text);
      if (seed) row["n"].push_back(cell.values.empty() ? Json() : Json(cell.values.front()));
    }
    rows.push_back(std::move(row));
  }
}

// The summary, with what had no end beside the flows: it is the last column elsewhere, and a page
// that is narrower than the table would hide it.
CellTable page_summary(const std::vector<VariantRuns>& variants) {
  CellTable table = main_table(variants);
  const auto move = [&](auto& row) {
    const auto from = std::ranges::find(table.head, "unfinished") - table.head.begin();
    const auto to = std::ranges::find(table.head, "flows") - table.head.begin() + 1;
    std::rotate(row.begin() + to, row.begin() + from, row.begin() + from + 1);
  };
  for (std::vector<Cell>& row : table.rows) move(row);
  move(table.head);
  return table;
}

Json table_of(const PageSource& source, const Table& table) {
  Json rows = Json::array();
  for (const auto& seed : scopes_of(source))
    add_rows(rows, source, table.of(of_seed(source, seed)), seed);
  const CellTable all = table.of(source.variants);
  Json kinds = Json::array();
  if (!all.rows.empty())
    for (const Cell& cell : all.rows.front()) kinds.push_back(name_of(cell.kind));
  return {{"id", table.id},   {"title", table.title},      {"note", table.note},
          {"head", all.head}, {"kinds", std::move(kinds)}, {"rows", std::move(rows)}};
}

Json claims_of(const PageSource& source) {
  const Json expect = source.result.value("expect", Json::array());
  Json rows = Json::array();
  const TextRows found = claims_rows(expect, source.variants);
  for (size_t i = 1; i < found.size(); ++i)
    rows.push_back({{"v", variant_number(source, found[i][1])}, {"s", ""}, {"t", found[i]}});
  Json words = Json::array();
  Json pairs = Json::array();
  for (const Json& text : expect)
    if (!parse_claim(text.get<std::string>())) words.push_back(text);
  for (const FoundClaim& claim : found_claims(source))
    pairs.push_back({{"name", claim.of + " against " + claim.against},
                     {"claimed", claim.claimed},
                     {"found", rounded(claim.found.mean)},
                     {"error", rounded(claim.found.half_width)}});
  return {{"table",
           {{"id", "claims"},
            {"title", "Claimed and found"},
            {"note",
             "the change within a seed, mean over seeds with its 95 % interval; "
             "claimed by the experiment's source"},
            {"head", found.front()},
            {"rows", rows}}},
          {"pairs", pairs},
          {"words", words}};
}

Json tables_of(const PageSource& source) {
  const std::string note = "means over seeds with half of their 95 % confidence interval";
  Json tables = {table_of(source, {"summary", "Summary", note, page_summary}),
                 table_of(source, {"bins", "Slowdown by flow size", note, bin_table})};
  if (tenant_names(source.variants).size() > 1)
    tables.push_back(table_of(source, {"tenants", "By traffic item", note, tenant_table}));
  Json requests = table_of(
      source, {"requests", "Requests and collectives: completion time", note, request_table});
  if (!requests.at("rows").empty()) tables.push_back(std::move(requests));
  Json tenths = table_of(
      source, {"tenths", "Slowdown by tenths of a traffic item's flows", note, tenant_bin_table});
  if (!tenths.at("rows").empty()) tables.push_back(std::move(tenths));
  Json rlb = table_of(source, {"rlb", "RLB: what it foresaw and did", note, rlb_table});
  if (!rlb.at("rows").empty()) tables.push_back(std::move(rlb));
  return tables;
}

Json curve_of(const PageFigure::Curve& curve) {
  Json x = Json::array();
  Json y = Json::array();
  Json error = Json::array();
  bool has_error = false;
  for (const Series::Point& point : curve.series.points) {
    x.push_back(rounded(point.x));
    y.push_back(rounded(point.y));
    error.push_back(rounded(point.error));
    has_error |= point.error > 0;
  }
  Json out = {{"v", curve.variant}, {"m", curve.members}, {"s", scope_name(curve.seed)},
              {"x", std::move(x)},  {"y", std::move(y)},  {"dots", curve.series.dots}};
  if (curve.series.kind == SeriesKind::steps) out["steps"] = "after";
  if (curve.series.kind == SeriesKind::steps_before) out["steps"] = "before";
  if (curve.series.thin) out["part"] = "median";
  if (has_error) out["e"] = std::move(error);
  if (!curve.names.empty()) out["n"] = curve.names;
  if (curve.members.size() > 1) out["name"] = curve.series.name;
  return out;
}

Json figure_of(const PageFigure& figure) {
  Json curves = Json::array();
  for (const PageFigure::Curve& curve : figure.curves) curves.push_back(curve_of(curve));
  const auto axis = [](const Axis& from) {
    return Json{
        {"label", from.label}, {"log", from.logarithmic}, {"zero", from.begin == AxisBegin::zero}};
  };
  return {{"id", figure.id},
          {"kind", figure.kind == FigureKind::dots ? "dots" : "lines"},
          {"title", figure.frame.title},
          {"note", figure.frame.note},
          {"x", axis(figure.frame.x)},
          {"y", axis(figure.frame.y)},
          {"curves", std::move(curves)}};
}

Json timelines_of(const PageSource& source) {
  Json out = Json::array();
  for (const SourceTimeline& timeline : source.timelines) {
    Json page = timeline_page(timeline.data);
    const VariantRuns& variant = source.variants[timeline.variant];
    page["variant"] = shown(variant.name);
    page["seed"] = std::to_string(timeline.seed);
    for (const Json* run : variant.runs)
      if (run->at("seed").get<uint64_t>() == timeline.seed)
        page["command"] = replay_of(*run) + " " + timeline_option(timeline.data);
    out.push_back(std::move(page));
  }
  return out;
}

// What the heads of the summary mean, by the list of keys.
Json glossary() {
  Json out = Json::array();
  for (const MainKey& column : main_keys())
    for (const ResultKey& known : result_keys())
      if (known.name == column.key) out.push_back({column.head, known.help});
  return out;
}

// The factors of a confidence interval, of two values and more.
Json student_factors(const std::vector<PageSource>& sources) {
  size_t most = 0;
  for (const PageSource& source : sources) most = std::max(most, source.seeds.size());
  Json out = Json::array();
  for (size_t degrees = 1; degrees < most; ++degrees) out.push_back(student_t_975(degrees));
  return out;
}

Json source_page(PageSource& source, std::vector<PageFigure>& figures) {
  figures = page_figures(source);
  Json drawn = Json::array();
  for (const PageFigure& figure : figures) drawn.push_back(figure_of(figure));
  Json seeds = Json::array();
  for (const uint64_t seed : source.seeds) seeds.push_back(std::to_string(seed));
  return {{"folder", source.folder.string()},
          {"experiment", source.result.value("experiment", "")},
          {"title", source.result.value("title", "")},
          {"size", source.result.value("size", "")},
          {"commit", source.result.value("commit", "")},
          {"words", summary_words(source)},
          {"warnings", result_warnings(source.result)},
          {"variants", variants_of(source)},
          {"seeds", std::move(seeds)},
          {"sweeps", sweeps(source)},
          {"tables", tables_of(source)},
          {"claims", claims_of(source)},
          {"figures", std::move(drawn)},
          {"timelines", timelines_of(source)},
          {"figures_command",
           "eddylab report " + shell_quoted(source.folder.string()) + " --figures figures"},
          {"problems", source.problems}};
}

std::string title_of(const std::vector<PageSource>& sources) {
  std::string title;
  for (const PageSource& source : sources) {
    const std::string one =
        source.result.value("experiment", "") + " (" + source.result.value("size", "") + ")";
    if (title.find(one) == std::string::npos) title += (title.empty() ? "" : ", ") + one;
  }
  return title;
}

void replace(std::string& in, std::string_view mark, std::string_view by) {
  for (size_t at = in.find(mark); at != std::string::npos; at = in.find(mark, at + by.size()))
    in.replace(at, mark.size(), by);
}

std::string html_of(const std::string& title, const Json& data) {
  const std::string text = script_json(data);
  Fnv64 hash;
  hash.add(text);
  const std::string nonce = fmt::format("{:016x}", hash.value());
  constexpr std::string_view kDataMark = "{{data}}";
  const size_t at = kPageHtml.find(kDataMark);
  std::string head(kPageHtml.substr(0, at));
  std::string tail(kPageHtml.substr(at + kDataMark.size()));
  replace(head, "{{nonce}}", nonce);
  replace(tail, "{{nonce}}", nonce);
  replace(head, "{{style}}", std::string(kLookStyle) + std::string(kPageStyle));
  replace(tail, "{{script}}",
          std::string(kLookScript) + std::string(kPageCharts) + std::string(kPageScript));
  replace(head, "{{title}}", svg_escaped(title));  // last: what a title holds is no mark
  return head + text + tail;
}

}  // namespace

std::string script_json(const Json& value) {
  const std::string plain = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string out;
  out.reserve(plain.size());
  for (const char c : plain) {
    if (c == '<' || c == '>' || c == '&')  // only ever within strings
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

Page make_page(std::vector<PageSource>& sources, const std::string& command) {
  Page page;
  Json results = Json::array();
  for (PageSource& source : sources) {
    results.push_back(source_page(source, page.figures.emplace_back()));
    page.problems.insert(page.problems.end(), source.problems.begin(), source.problems.end());
  }
  Json comparisons = Json::array();
  for (size_t i = 1; i < sources.size(); ++i)
    comparisons.push_back(comparison_json(compare(sources[0].result, sources[i].result),
                                          sources[0].folder.string(), sources[i].folder.string()));
  const std::string title = title_of(sources);
  page.html = html_of(title, {{"title", title},
                              {"command", command},
                              {"glossary", glossary()},
                              {"student", student_factors(sources)},
                              {"results", std::move(results)},
                              {"comparisons", std::move(comparisons)}});
  return page;
}

}  // namespace eddy::lab
