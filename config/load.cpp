#include "config/load.h"

#include <utility>

#include "config/keys/keys.h"
#include "config/load_parts.h"
#include "config/validate.h"

namespace eddy::config {

std::string LoadedConfig::message(std::string_view path, std::string_view text) const {
  return located({file, {}}, positions.find(path), text);
}

Result<LoadedConfig> load_text(std::string_view name, std::string_view text, Purpose purpose,
                               PluginSource* plugins) {
  LoadedConfig loaded{.file = std::string(name)};
  const Sources sources{loaded.file, {}};
  std::vector<Problem> problems;
  const Node root = parse_yaml(text, problems);
  Document document = default_document();
  if (problems.empty() || root.kind == Node::Kind::map) {
    Reader reader(problems, loaded.positions);
    read_section(document_section(), reader, root, &document);
    const auto folder = std::filesystem::path(name).parent_path();
    if (const auto found = load_plugin(document.config.load_balancer, plugins, folder))
      add_findings({*found}, loaded.positions, problems);
    add_findings(validate(document.config, purpose).problems, loaded.positions, problems);
  }
  if (problems.empty())
    add_findings(validate_buffer(document.config).problems, loaded.positions, problems);
  if (problems.empty())
    if (const auto found = try_plugin(document.config.load_balancer, document.config.rlb))
      add_findings({*found}, loaded.positions, problems);
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

Result<LoadedConfig> load_file(const std::filesystem::path& path, Purpose purpose,
                               PluginSource* plugins) {
  const auto text = read_text(path);
  if (!text) return text.problems();
  return load_text(path.string(), text.value(), purpose, plugins);
}

}  // namespace eddy::config
