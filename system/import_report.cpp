#include "system/import_report.h"

#include <algorithm>
#include <tuple>

#include "net/text/printable.h"

namespace eddy {
namespace {

constexpr size_t kWidestPlace = 40;
constexpr size_t kWidestTreatment = 12;
constexpr size_t kLongestWhat = 60;

std::string place_of(const ImportFinding& finding) {
  if (finding.file.empty()) return "-";
  const std::string file = printable(finding.file);
  return finding.line == 0 ? file : file + ":" + std::to_string(finding.line);
}

std::string shortened(const std::string& text) {
  const std::string shown = printable(text.substr(0, kLongestWhat));
  return text.size() > kLongestWhat ? shown + "..." : shown;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text + "  ";
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
  return static_cast<size_t>(std::ranges::count(findings_, treatment, &ImportFinding::treatment));
}

std::string ImportReport::counts() const {
  std::string out;
  for (const Treatment each : {Treatment::taken, Treatment::approximated, Treatment::ignored})
    out +=
        (out.empty() ? "" : ", ") + std::to_string(count(each)) + " " + std::string(name_of(each));
  return out;
}

std::string ImportReport::text() const {
  std::vector<const ImportFinding*> sorted;
  for (const ImportFinding& finding : findings_) sorted.push_back(&finding);
  std::ranges::stable_sort(sorted, {}, [](const ImportFinding* finding) {
    return std::tuple(finding->file.empty(), std::string_view(finding->file), finding->line == 0,
                      finding->line);
  });
  size_t width = 0;
  for (const ImportFinding* finding : sorted)
    width = std::max(width, std::min(place_of(*finding).size(), kWidestPlace));
  std::string out;
  for (const ImportFinding* finding : sorted)
    out += padded(std::string(name_of(finding->treatment)), kWidestTreatment) +
           padded(place_of(*finding), width) + shortened(finding->what) + ": " +
           printable(finding->text) + "\n";
  return out + counts() + "\n";
}

}  // namespace eddy
