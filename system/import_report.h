// ImportReport: what an import has made of each line of somebody else's files.
//
// Each line is taken (it means the same here), approximated (the nearest thing there is, and how it
// differs) or ignored (why). Nothing is left out of it: what is not taken is said. Findings are
// shown by file and line, those of no line last. Owner: one import; control plane only. Texts of
// others are made printable when they are shown. Cost: linear in the findings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eddy {

enum class Treatment : uint8_t { taken, approximated, ignored };
std::string_view name_of(Treatment treatment);

struct ImportFinding {
  Treatment treatment = Treatment::taken;
  std::string file;  // empty: of none
  int line = 0;      // from 1; 0: of the file as a whole
  std::string what;  // as it stands there
  std::string text;  // what has become of it
};

class ImportReport {
 public:
  void add(ImportFinding finding) { findings_.push_back(std::move(finding)); }

  const std::vector<ImportFinding>& findings() const { return findings_; }
  size_t count(Treatment treatment) const;
  // One line for each, and one with the counts.
  std::string text() const;
  std::string counts() const;  // "3 taken, 1 approximated, 2 ignored"

 private:
  std::vector<ImportFinding> findings_;
};

}  // namespace eddy
