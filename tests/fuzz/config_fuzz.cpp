// One input, one configuration file. It is refused with places and words, or it loads; then what is
// printed of it must load to the same configuration.
#include <string>
#include <string_view>

#include "config/diff.h"
#include "config/document.h"
#include "config/load.h"
#include "net/assert.h"

namespace eddy::config {
namespace {

void check_problems(const Problems& problems) {
  ASSERT(!problems.empty());
  for (const std::string& problem : problems) ASSERT(problem.starts_with("f:"));
}

void check_loaded(const LoadedConfig& loaded) {
  const auto again = load_text("f", print_config(loaded.config), Purpose::object);
  ASSERT(again.ok());
  ASSERT(again.value().config == loaded.config);
  ASSERT(diff(loaded.config, again.value().config).empty());
  ASSERT(!describe(loaded.config).empty());
}

}  // namespace
}  // namespace eddy::config

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace eddy::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto loaded = load_text("f", text, Purpose::object);
  if (loaded.ok())
    check_loaded(loaded.value());
  else
    check_problems(loaded.problems());
  return 0;
}
