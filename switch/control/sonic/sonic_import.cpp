#include "switch/control/sonic/sonic_import.h"

#include <utility>

#include "config/document.h"
#include "config/load.h"
#include "switch/control/sonic/sonic_tables.h"

namespace eddy::control {
namespace {

// What a buffer that is too small is refused with.
bool is_of_buffer(const Problems& problems) {
  for (const std::string& problem : problems)
    if (problem.find("buffer") == std::string::npos) return false;
  return true;
}

}  // namespace

Result<SonicImported> import_sonic(const std::string& name, std::string_view text) {
  const auto db = ConfigDb::parse(name, text);
  if (!db) return db.problems();
  SonicTables tables(name, db.value());
  tables.translate();
  if (Problems problems = tables.problems(); !problems.empty()) return problems;
  SonicImported out;
  out.yaml = config::print_brief(tables.config());
  auto loaded = config::load_text(name + ", made over", out.yaml);
  if (!loaded && is_of_buffer(loaded.problems()) && !tables.config().buffer.overcommit) {
    tables.note(
        Treatment::approximated, "BUFFER_POOL",
        "buffer.overcommit: true, the lossless groups do not all fit; eddyd --check says by "
        "how much");
    tables.config().buffer.overcommit = true;
    out.yaml = config::print_brief(tables.config());
    loaded = config::load_text(name + ", made over", out.yaml);
  }
  if (!loaded) return loaded.problems();
  out.warnings = loaded.value().warnings;
  tables.report(out.report);
  return out;
}

}  // namespace eddy::control
