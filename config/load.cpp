#include "config/load.h"

#include <utility>

#include "config/keys/keys.h"
#include "config/load_parts.h"
#include "config/validate.h"

namespace eddy::config {

std::string LoadedConfig::message(std::string_view path, std::string_view text) const {
  return located({file, {}}, positions.find(path), text);
}

Result<LoadedConfig> load_text(std::string_view name, std::string_view text, Purpose purpose) {
  LoadedConfig loaded{.file = std::string(name)};
  const Sources sources{loaded.file, {}};
  std::vector<Problem> problems;
  const Node root = parse_yaml(text, problems);
  Document document = default_document();
  if (problems.empty() || root.kind == Node::Kind::map) {
    Reader reader(problems, loaded.positions);
    read_section(document_section(), reader, root, &document);
    add_findings(validate(document.config, purpose).problems, loaded.positions, problems);
  }
  if (problems.empty())
    add_findings(validate_buffer(document.config).problems, loaded.positions, problems);
  if (!problems.empty()) return printed(sources, std::move(problems));

  complete_parameters(document.config.load_balancer);
  std::vector<Problem> warnings;
  add_findings(validate(document.config, purpose).warnings, loaded.positions, warnings,
               "warning: ");
  add_findings(validate_buffer(document.config).warnings, loaded.positions, warnings, "warning: ");
  loaded.warnings = printed(sources, std::move(warnings));
  loaded.config = std::move(document.config);
  return loaded;
}

Result<LoadedConfig> load_file(const std::filesystem::path& path, Purpose purpose) {
  const auto text = read_text(path);
  if (!text) return text.problems();
  return load_text(path.string(), text.value(), purpose);
}

}  // namespace eddy::config
