#include "lab/import/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "net/text/printable.h"

namespace eddy::lab {
namespace {

constexpr size_t kWidestPlace = 40;
constexpr size_t kLongestWhat = 60;

std::string place_of(const Finding& finding) {
  if (finding.file.empty()) return "-";
  const std::string file = printable(finding.file);
  return finding.line == 0 ? file : fmt::format("{}:{}", file, finding.line);
}

std::string shortened(const std::string& text) {
  const std::string shown = printable(text.substr(0, kLongestWhat));
  return text.size() > kLongestWhat ? shown + "..." : shown;
}

}  // namespace

std::string_view name_of(Treatment treatment) {
  switch (treatment) {
    case Treatment::taken:
      return "taken";
    case Treatment::approximated:
      return "approximated";
    case Treatment::ignored:
      break;
  }
  return "ignored";
}

size_t ImportReport::count(Treatment treatment) const {
  return static_cast<size_t>(std::ranges::count(findings_, treatment, &Finding::treatment));
}

std::string ImportReport::text() const {
  std::vector<const Finding*> sorted;
  for (const Finding& finding : findings_) sorted.push_back(&finding);
  std::ranges::stable_sort(sorted, {}, [](const Finding* finding) {
    return std::tuple(finding->file.empty(), std::string_view(finding->file), finding->line == 0,
                      finding->line);
  });
  size_t width = 0;
  for (const Finding* finding : sorted)
    width = std::max(width, std::min(place_of(*finding).size(), kWidestPlace));
  std::string out;
  for (const Finding* finding : sorted)
    out += fmt::format("{:<12}  {:<{}}  {}: {}\n", name_of(finding->treatment), place_of(*finding),
                       width, shortened(finding->what), printable(finding->text));
  return out + fmt::format("{} taken, {} approximated, {} ignored\n", count(Treatment::taken),
                           count(Treatment::approximated), count(Treatment::ignored));
}

}  // namespace eddy::lab
