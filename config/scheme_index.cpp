#include "config/scheme_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "lb/registry.h"

namespace eddy::config {
namespace {

constexpr std::string_view kIntroduction =
    R"(<!-- Made from the registry of schemes: ninja config_docs -->
# Schemes

How a switch chooses one of several paths, `load_balancer.scheme`. One scheme is one file in `lb/schemes/`;
[CONTRIBUTING.md](../../CONTRIBUTING.md) says how to add one. Each has its parameters in
[configuration.md](../configuration.md#load_balancer), and all are described one beside the other in the
[reference](../reference/A_path_selection.md). A newer one has a sheet as well.

A sheet is one page about one scheme, or about one law of a host, and a picture beside it, `<name>.svg`. It
begins with the idea in a few sentences. Then come these headings, in this order:

* `What it keeps and reads`: state with its octets a flow, a path or a port, and every signal.
* `Parameters`: a link to the generated table, and what to think of when choosing.
* `Where the source is silent`: what we had to decide, and how.
* `How it is tested`: vectors by hand, and what each test would find.
* `When it helps`: and when it does not, with numbers and the command that they came from.

)";

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

std::string_view shim_of(lb::ShimNeed need) {
  switch (need) {
    case lb::ShimNeed::none:
      return "no";
    case lb::ShimNeed::sampled:
      return "some packets";
    case lb::ShimNeed::every:
      return "every packet";
  }
  return "";
}

std::string sheet_link(std::string_view name) {
  return fmt::format("[{0}]({0}.md)", name);
}

}  // namespace

std::string scheme_index(std::span<const std::string> sheets) {
  std::string text(kIntroduction);
  text +=
      "| scheme | what it does | keeps a flow in order | measures paths by a shim on | sheet |\n"
      "|---|---|---|---|---|\n";
  for (const lb::SchemeInfo& scheme : lb::schemes()) {
    const bool has_sheet = std::ranges::find(sheets, scheme.name) != sheets.end();
    text += fmt::format("| [{0}](../configuration.md#{0}) | {1} | {2} | {3} | {4} |\n", scheme.name,
                        cell(scheme.summary), scheme.promises_order ? "yes" : "no",
                        shim_of(scheme.needs), has_sheet ? sheet_link(scheme.name) : "");
  }
  std::string others;
  for (const std::string& sheet : sheets)
    if (lb::find_scheme(sheet) == nullptr)
      others += (others.empty() ? "" : ", ") + sheet_link(sheet);
  if (!others.empty()) text += "\nOther sheets: " + others + ".\n";
  return text;
}

}  // namespace eddy::config
