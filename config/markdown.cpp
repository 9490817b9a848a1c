// docs/configuration.md from the table of keys.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/document.h"
#include "config/keys.h"
#include "lb/registry.h"

namespace eddy::config {
namespace {

constexpr std::string_view kIntroduction =
    R"(<!-- Made from the table of keys in config/keys_*.cpp: ninja config_docs -->
# Configuration

One YAML file describes one switch. `eddyd --config FILE --check` says what it means or what is
wrong with it; `--print-config` prints every key in force; `--schema` prints the JSON Schema that is
also in `config/eddyd.schema.json`. Annotated examples are in `config/examples/`.

* Every value with a dimension carries its unit: `50us`, `64KiB`, `100Gbps`. Durations: ps ns us ms s
  min h. Sizes: B kB MB GB (powers of 1,000), KiB MiB GiB (powers of 1,024). Rates: bps kbps Mbps
  Gbps Tbps.
* `qos` and `port_defaults` are what every port starts from; a port's own keys come on top.
* Maps by number (`pgs`, `queues`, the maps under `qos`) are sparse: what is not named keeps its
  default. A priority group is lossless only where a profile with `lossless: true` is named.
* Unknown and duplicate keys, anchors, aliases and tags are errors. A file has at most 1 MiB and 32
  levels. All problems are reported at once, as `file:line:column: what, what would be valid`.
* The class says what a reload does with a changed key: `hot` is applied without losing a packet,
  `port` restarts the port, `restart` is refused until eddyd itself is restarted.
)";

std::string cell(std::string text) {
  for (size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) text.insert(i, "\\");
  return text;
}

std::string with_source(std::string_view help, std::string_view source) {
  return source.empty() ? std::string(help) : fmt::format("{} ({})", help, source);
}

std::string default_text(const Key& key, const Value& standard) {
  if (key.info.required) return "required";
  if (!key.info.default_says.empty()) return std::string(key.info.default_says);
  if (key.type.section != nullptr || key.type.shape == Type::Shape::scheme) return "below";
  if (standard.empty()) return "empty";
  return key.type.shape == Type::Shape::mapping ? "below" : as_word(standard);
}

const Section* section_below(const Type& type) {
  if (type.section != nullptr) return type.section;
  return type.element ? section_below(*type.element) : nullptr;
}

void add_sections(const Section& section, std::vector<const Section*>& all) {
  if (std::ranges::find(all, &section) != all.end()) return;
  all.push_back(&section);
  for (const Key& key : section.keys)
    if (const Section* below = section_below(key.type)) add_sections(*below, all);
}

std::string section_text(const Section& section) {
  std::string text = fmt::format(
      "\n## {}\n\n{}\n\n| key | value | default | class | meaning |\n|---|---|---|---|---|\n",
      section.name, section.help);
  for (size_t i = 0; i < section.keys.size(); ++i) {
    const Key& key = section.keys[i];
    const bool holds_keys = section_below(key.type) || key.type.shape == Type::Shape::scheme;
    std::string help = with_source(key.info.help, key.info.source);
    if (key.info.applies != nullptr) help += fmt::format("; only with {}", key.info.applies_says);
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.info.name, cell(says(key.type)),
                        cell(default_text(key, section.defaults.members[i].value)),
                        holds_keys ? "" : to_string(key.info.key_class), cell(help));
  }
  return text;
}

std::string scheme_text(const lb::SchemeInfo& scheme) {
  std::string text = fmt::format("\n### {}\n\n{}\n", scheme.name, scheme.summary);
  if (scheme.parameters.empty()) return text + "\nIt has no parameters.\n";
  text += "\n| parameter | value | default | class | meaning |\n|---|---|---|---|---|\n";
  for (const lb::ParameterInfo& info : scheme.parameters)
    text += fmt::format("| `{}` | {}, {} | {} | hot | {} |\n", info.name, to_string(info.kind),
                        cell(lb::valid_text(info)), lb::value_text(info, info.fallback),
                        cell(with_source(info.help, info.source)));
  return text;
}

}  // namespace

std::string keys_as_markdown() {
  std::vector<const Section*> sections;
  add_sections(document_section(), sections);
  std::string text(kIntroduction);
  for (const Section* section : sections) text += section_text(*section);
  text +=
      "\n## load_balancer\n\n`scheme` names one of these (default: ecmp); its parameters stand "
      "beside it.\n";
  for (const lb::SchemeInfo& scheme : lb::schemes()) text += scheme_text(scheme);
  return text;
}

}  // namespace eddy::config
