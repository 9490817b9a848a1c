// One input, what another simulator is given: its first line says which, "hpcc", "conweave" or
// "htsim"; lines "====" stand between its files. It is refused with the place of each problem, or
// an experiment is made, whose text is YAML that is read whole, and a report of printable lines.
#include <string>
#include <string_view>
#include <vector>

#include "config/experiment_load.h"
#include "lab/import/htsim_experiment.h"
#include "lab/import/ns3_experiment.h"
#include "net/assert.h"
#include "net/text/printable.h"

namespace eddy::lab {
namespace {

constexpr std::string_view kBetween = "\n====\n";

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(kBetween);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + kBetween.size());
  }
}

Result<Imported> import_parts(const std::string& from, std::vector<std::string> parts) {
  parts.resize(3);
  if (from == "htsim")
    return import_htsim({"f.cm", std::move(parts[0])}, {"f.topo", std::move(parts[1])}, "made");
  return import_ns3({{"f.config", std::move(parts[0])},
                     {"f.topology", std::move(parts[1])},
                     {"f.flow", std::move(parts[2])}},
                    from == "hpcc" ? Ns3Dialect::hpcc : Ns3Dialect::conweave, "made");
}

void check_problems(const Problems& problems) {
  ASSERT(!problems.empty());
  for (const std::string& problem : problems) ASSERT(problem.starts_with("f."));
}

void check_made(const Imported& made) {
  const std::string report = made.report.text();
  ASSERT(printable_lines(report) == report);
  for (const OutFile& file : made.files) {
    if (file.path != kImportedExperiment) continue;
    const auto loaded = config::load_experiment_text("f.yaml", file.text);
    if (loaded.ok()) return;
    // Values may be out of our range, which eddylab says; the text is well-formed.
    for (const std::string& problem : loaded.problems())
      ASSERT(problem.find("YAML") == std::string::npos);
    return;
  }
  ASSERT(false);
}

}  // namespace
}  // namespace eddy::lab

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace eddy::lab;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  const auto made =
      import_parts(std::string(text.substr(0, line)), parts_of(text.substr(line + 1)));
  if (made.ok())
    check_made(made.value());
  else
    check_problems(made.problems());
  return 0;
}
