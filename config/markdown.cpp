// docs/configuration.md from the table of keys.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/document.h"
#include "config/experiment_load.h"
#include "config/keys/experiment.h"
#include "config/keys/keys.h"
#include "lb/registry.h"

namespace eddy::config {
namespace {

constexpr std::string_view kIntroduction =
    R"(<!-- Made from the table of keys in config/keys/*.cpp: ninja config_docs -->
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

constexpr std::string_view kExperiments =
    R"(<!-- Made from the table of keys in config/keys/*.cpp: ninja config_docs -->
# Experiments

One YAML file describes one experiment: a fabric, its hosts, the traffic, what goes wrong and how long it
runs. Those that come with Eddy are in `config/experiments/`, or in `/usr/share/eddy/experiments` of a package
(`eddylab list`); the JSON Schema is what `eddylab schema experiment` prints. Values are
written as in [configuration.md](configuration.md): units are mandatory, unknown keys are errors, all problems
are reported at once as `file:line:column: what, what would be valid`.

## Sizes and variants

A file stands for several runs. What is put over it, in this order, the later on top:

* `sizes`: what the chosen size (`ci`, `reduced`, `full`) changes.
* `matrix`: axes of variants; every combination is one experiment. An axis is a key with its values, or any
  label with named changes; a list instead of a map is one axis of named changes.
* `--set key.path=value` of the command line. It wins; an axis of the same key is left out.

```yaml
sizes:
  ci: {topology: {leaves: 4, spines: 4}, run.duration: 2ms}
matrix:
  load_balancer.scheme: [ecmp, letflow]          # two variants: scheme=ecmp, scheme=letflow
  depth:                                         # times two: "shallow" and "deep"
    - {name: shallow, set: {buffer.size: 9MiB}}
    - {name: deep, set: {buffer.size: 24MiB, traffic.0.load: 0.8}}
```

Changes name keys as in the file or with dots; an entry of a list by its number from 0. Maps merge, words and
lists are replaced; a word that stands for a section (`rlb: default`) is its first key where others are put below it
(`--set rlb.guard.patience=0us`). Another `load_balancer.scheme` or `plugin` starts from that scheme's defaults.

## Files and names

A workload (`cdf: web_search`) is `web_search.csv` in the first of these that has it: the experiment's folder,
its `workloads`, the `workloads` beside it, or `workloads` of a data folder. A name with a `.` or `/` is a path
from the experiment's folder. Data folders are, in this order: `$EDDY_DATA`, `config` of the current folder,
`config` of the tree that the program was built in, `share/eddy` beside the program's `bin`, `/usr/share/eddy`. Results name the file, its FNV-1a digest (64 bits) and its mean.

Hosts are named `all`, `leaf2` (all of a leaf), `leaf1.host3`, `host12` (the twelfth of all), with ranges as in
`leaf1.host1-8` or `leaf1-3`.

A load is that of data on the line: payload, headers, preamble and gap. With `reference: core` it is a share of
what the leaves of the sources have towards other switches, every link healthy; flows that stay on a leaf do
not count.

In a `collective` the hosts of `ranks` wait for each other: a rank sends a chunk on when it has arrived, its chunks leave one after the
other, and each is a flow with a QP of its own, of one source port for each pair. An item `after` another begins when word of the
other's end has come, which takes the longest link's delay, and `start` later. Flows that start late run on behind the end of traffic,
as long as `run.drain` lasts.
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

// `classes`: with what a reload does with a changed key.
std::string section_text(const Section& section, bool classes) {
  std::string text = fmt::format("\n## {}\n\n{}\n\n", section.name, section.help);
  text += classes ? "| key | value | default | class | meaning |\n|---|---|---|---|---|\n"
                  : "| key | value | default | meaning |\n|---|---|---|---|\n";
  for (size_t i = 0; i < section.keys.size(); ++i) {
    const Key& key = section.keys[i];
    const bool holds_keys = section_below(key.type) || key.type.shape == Type::Shape::scheme;
    std::string help = with_source(key.info.help, key.info.source);
    if (key.info.applies != nullptr) help += fmt::format("; only with {}", key.info.applies_says);
    text += fmt::format("| `{}` | {} | {} |", key.info.name, cell(says(key.type)),
                        cell(default_text(key, section.defaults.members[i].value)));
    if (classes) text += fmt::format(" {} |", holds_keys ? "" : key.info.class_text());
    text += fmt::format(" {} |\n", cell(help));
  }
  return text;
}

std::string document_text(std::string_view introduction, const Section& document, bool classes) {
  std::vector<const Section*> sections;
  add_sections(document, sections);
  std::string text(introduction);
  for (const Section* section : sections) text += section_text(*section, classes);
  return text;
}

std::string control_text() {
  const LoadBalancerConfig defaults;
  std::string text = "| key | value | default | class | meaning |\n|---|---|---|---|---|\n";
  for (const Key* key : {&plugin_key(), &control_key()}) {
    const KeyInfo& info = key->info;
    const std::string standard =
        info.default_says.empty() ? as_word(key->print(&defaults)) : std::string(info.default_says);
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", info.name, cell(says(key->type)),
                        standard, info.class_text(), cell(with_source(info.help, info.source)));
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
  std::string text = document_text(kIntroduction, document_section(), true);
  text +=
      "\n## load_balancer\n\n`scheme` names one of these (default: ecmp); its parameters stand "
      "beside it, and so do keys that belong to no scheme:\n\n" +
      control_text();
  for (const lb::SchemeInfo& scheme : lb::schemes()) text += scheme_text(scheme);
  return text;
}

std::string experiment_markdown() {
  return document_text(kExperiments, experiment_section(), false) +
         "\n## load_balancer\n\n`scheme` and its parameters, as in "
         "[configuration.md](configuration.md#load_balancer).\n";
}

}  // namespace eddy::config
