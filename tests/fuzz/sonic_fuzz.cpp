// One input, one config_db.json of SONiC. It is refused with the place of each problem, in it or in
// what it was made over to, or it becomes a configuration that eddyd takes, and a report of
// printable lines.
#include <string>
#include <string_view>

#include "config/load.h"
#include "net/assert.h"
#include "net/text/printable.h"
#include "switch/control/sonic/sonic_import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace eddy;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto made = control::import_sonic("f", text);
  if (!made.ok()) {
    ASSERT(!made.problems().empty());
    for (const std::string& problem : made.problems())
      ASSERT(problem.starts_with("f:") || problem.starts_with("f, made over:"));
    return 0;
  }
  const std::string report = made.value().report.text();
  ASSERT(printable_lines(report) == report);
  ASSERT(config::load_text("f.yaml", made.value().yaml, config::Purpose::daemon).ok());
  return 0;
}
