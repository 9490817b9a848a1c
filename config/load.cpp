#include "config/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>
#include <tuple>

#include "config/keys/keys.h"
#include "config/load_parts.h"
#include "config/validate.h"

namespace eddy::config {
namespace {

constexpr size_t kMaxProblems = 100;  // more than anybody reads at once

}  // namespace

std::string located(const Sources& sources, Position at, std::string_view text) {
  if (at.source > 0)
    return fmt::format("--set {}: {}", sources.sets[static_cast<size_t>(at.source) - 1], text);
  return fmt::format("{}:{}:{}: {}", sources.file, at.line, at.column, text);
}

Problems printed(const Sources& sources, std::vector<Problem> problems) {
  std::ranges::stable_sort(problems, {}, [](const Problem& problem) {
    return std::tuple(problem.at.source, problem.at.line, problem.at.column);
  });
  const auto same = [](const Problem& a, const Problem& b) {
    return a.at == b.at && a.text == b.text;
  };
  problems.erase(std::unique(problems.begin(), problems.end(), same), problems.end());
  const size_t left_off = problems.size() - std::min(problems.size(), kMaxProblems);
  problems.resize(problems.size() - left_off);
  Problems lines;
  for (const Problem& problem : problems)
    lines.push_back(located(sources, problem.at, problem.text));
  if (left_off > 0) lines.push_back(fmt::format("{}: {} more problems", sources.file, left_off));
  return lines;
}

void add_findings(const std::vector<Finding>& findings, const Positions& positions,
                  std::vector<Problem>& problems, std::string_view prefix) {
  std::set<Position> judged;
  for (const Problem& problem : problems) judged.insert(problem.at);
  for (const Finding& finding : findings) {
    const Position at = positions.find(finding.path);
    if (!judged.contains(at)) problems.push_back({at, std::string(prefix) + finding.text});
  }
}

Position Positions::find(std::string_view path) const {
  while (!path.empty()) {
    if (const auto found = places_.find(path); found != places_.end()) return found->second;
    const size_t dot = path.rfind('.');
    path = path.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return {1, 1};
}

std::string LoadedConfig::message(std::string_view path, std::string_view text) const {
  return located({file, {}}, positions.find(path), text);
}

Result<LoadedConfig> load_text(std::string_view name, std::string_view text, Purpose purpose) {
  LoadedConfig loaded{.file = std::string(name)};
  const Sources sources{loaded.file, {}};
  std::vector<Problem> problems;
  const Node root = parse_yaml(text, problems);
  Document document = default_document();
  if (problems.empty() || root.kind == Node::Kind::map) {
    Reader reader(problems, loaded.positions);
    read_section(document_section(), reader, root, &document);
    add_findings(validate(document.config, purpose).problems, loaded.positions, problems);
  }
  if (problems.empty())
    add_findings(validate_buffer(document.config).problems, loaded.positions, problems);
  if (!problems.empty()) return printed(sources, std::move(problems));

  complete_parameters(document.config.load_balancer);
  std::vector<Problem> warnings;
  add_findings(validate(document.config, purpose).warnings, loaded.positions, warnings,
               "warning: ");
  add_findings(validate_buffer(document.config).warnings, loaded.positions, warnings, "warning: ");
  loaded.warnings = printed(sources, std::move(warnings));
  loaded.config = std::move(document.config);
  return loaded;
}

Result<std::string> read_text(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return Result<std::string>::failure(path.string() + ": this is a directory, name a file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return Result<std::string>::failure(path.string() + ": cannot be opened, name a readable file");
  std::string text(kMaxFileBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return Result<std::string>::failure(path.string() + ": reading failed");
  text.resize(static_cast<size_t>(stream.gcount()));
  return text;
}

Result<LoadedConfig> load_file(const std::filesystem::path& path, Purpose purpose) {
  const auto text = read_text(path);
  if (!text) return text.problems();
  return load_text(path.string(), text.value(), purpose);
}

}  // namespace eddy::config
