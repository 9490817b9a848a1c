#include "config/load_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>
#include <tuple>

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

}  // namespace eddy::config
