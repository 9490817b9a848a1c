// JSON Schema from the table of keys.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "config/document.h"
#include "config/experiment_load.h"
#include "config/keys/experiment.h"
#include "config/keys/keys.h"
#include "lb/registry.h"
#include "net/quantity.h"

namespace eddy::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDurationPattern = R"(^[0-9]+(\.[0-9]+)? ?(ps|ns|us|ms|s|min|h)$)";
constexpr std::string_view kSizePattern = R"(^[0-9]+(\.[0-9]+)? ?(B|kB|KiB|MB|MiB|GB|GiB)$)";
constexpr std::string_view kRatePattern = R"(^[0-9]+(\.[0-9]+)? ?(bps|kbps|Mbps|Gbps|Tbps)$)";
constexpr std::string_view kMacPattern = R"(^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$)";
constexpr std::string_view kAddressPattern = R"(^[0-9A-Fa-f:.]+$)";
constexpr std::string_view kPrefixPattern = R"(^[0-9A-Fa-f:.]+/[0-9]{1,3}$)";
constexpr std::string_view kPathIdPattern = R"(^[0-9]{1,3}/[0-9]{1,3}$)";

class SchemaWriter {
 public:
  // `classes`: of keys, for a reload.
  SchemaWriter(bool classes, PluginSchemes plugins) : classes_(classes), plugins_(plugins) {}
  std::string write(const Section& document, std::string_view title);

 private:
  Json type_schema(const Type& type);
  Json shape_schema(const Type& type);
  Json scheme_schema();
  Json variant_schema(const lb::SchemeInfo& scheme);
  Json plugin_schema(const lb::SchemeInfo& scheme);
  Json section_reference(const Section& section);
  Json section_schema(const Section& section);
  Json key_schema(const Key& key, const Value& standard);

  bool classes_;
  PluginSchemes plugins_;
  Json definitions_ = Json::object();
};

Json text_matching(std::string_view pattern) {
  return {{"type", "string"}, {"pattern", pattern}};
}

Json integer_schema(int64_t min, int64_t max) {
  return {{"type", "integer"}, {"minimum", min}, {"maximum", max}};
}

Json text_schema(const Type& type) {
  Json schema = {{"type", "string"}, {"minLength", 1}, {"maxLength", type.max}};
  if (!type.text_pattern.empty()) schema["pattern"] = type.text_pattern;
  return schema;
}

Json parameter_schema(const lb::ParameterInfo& info) {
  Json schema;
  switch (info.kind) {
    case lb::ParameterKind::count:
      schema = integer_schema(info.min, info.max);
      if (info.automatic.empty()) schema["default"] = info.fallback;
      break;
    case lb::ParameterKind::duration:
      schema = text_matching(kDurationPattern);
      break;
    case lb::ParameterKind::size:
      schema = text_matching(kSizePattern);
      break;
    case lb::ParameterKind::flag:
      schema = {{"type", "boolean"}, {"default", info.fallback != 0}};
      break;
    case lb::ParameterKind::choice:
      schema = {{"enum", info.choices}};
      break;
    case lb::ParameterKind::rate:
      schema = text_matching(kRatePattern);
      break;
  }
  if (!info.automatic.empty())
    schema = {{"anyOf", {std::move(schema), {{"const", info.automatic}}}}};
  if (!schema.contains("default")) schema["default"] = lb::value_text(info, info.fallback);
  schema["description"] = info.help;
  return schema;
}

Json SchemaWriter::variant_schema(const lb::SchemeInfo& scheme) {
  const LoadBalancerConfig defaults;
  Json properties = {{"scheme", {{"const", scheme.name}, {"description", scheme.summary}}},
                     {std::string(control_key().info.name),
                      key_schema(control_key(), control_key().print(&defaults))}};
  for (const lb::ParameterInfo& info : scheme.parameters)
    properties[std::string(info.name)] = parameter_schema(info);
  return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

Json plugin_text() {
  return {{"type", "string"}, {"minLength", 1}, {"description", plugin_key().info.help}};
}

Json SchemaWriter::plugin_schema(const lb::SchemeInfo& scheme) {
  Json variant = variant_schema(scheme);
  variant["properties"]["plugin"] = plugin_text();
  variant["required"] = {"plugin"};
  if (plugins_.size() > 1) variant["required"].push_back("scheme");
  return variant;
}

// Of a plugin that is not at hand: its parameters are checked when it is loaded.
Json unknown_plugin() {
  return {{"type", "object"},
          {"properties", {{"plugin", plugin_text()}, {"scheme", {{"type", "string"}}}}},
          {"required", {"plugin"}},
          {"additionalProperties", {{"type", {"string", "number", "boolean"}}}}};
}

Json SchemaWriter::scheme_schema() {
  Json variants = Json::array();
  for (const lb::SchemeInfo& scheme : lb::schemes()) {
    Json variant = variant_schema(scheme);
    if (scheme.name != LoadBalancerConfig{}.scheme) variant["required"] = {"scheme"};
    variants.push_back(std::move(variant));
  }
  for (const LoadedScheme* plugin : plugins_) variants.push_back(plugin_schema(*plugin->info));
  if (plugins_.empty()) variants.push_back(unknown_plugin());
  return {{"anyOf", std::move(variants)}};
}

// A default as JSON would have it.
Json typed(const Type& type, const std::string& word) {
  if (word == type.absent) return word;
  if (type.shape == Type::Shape::boolean) return word == "true";
  if (type.shape == Type::Shape::integer) return std::stoll(word);
  if (type.shape == Type::Shape::real) return std::stod(word);
  return word;
}

Json SchemaWriter::shape_schema(const Type& type) {
  switch (type.shape) {
    case Type::Shape::boolean:
      return {{"type", "boolean"}};
    case Type::Shape::integer:
      return integer_schema(type.min, type.max);
    case Type::Shape::real:
      return {{"type", "number"}, {"minimum", type.min}, {"maximum", type.max}};
    case Type::Shape::text:
      return text_schema(type);
    case Type::Shape::choice:
      return {{"enum", type.choices}};
    case Type::Shape::duration:
      return text_matching(kDurationPattern);
    case Type::Shape::size:
      return text_matching(kSizePattern);
    case Type::Shape::rate:
      return text_matching(kRatePattern);
    case Type::Shape::mac:
      return text_matching(kMacPattern);
    case Type::Shape::address:
      return text_matching(kAddressPattern);
    case Type::Shape::prefix:
      return text_matching(kPrefixPattern);
    case Type::Shape::path_id:
      return text_matching(kPathIdPattern);
    case Type::Shape::list:
      return {{"type", {"array", "null"}}, {"items", type_schema(*type.element)}};
    case Type::Shape::mapping:
      return {{"type", {"object", "null"}},
              {"patternProperties", {{std::string(type.key_pattern), type_schema(*type.element)}}},
              {"additionalProperties", false}};
    case Type::Shape::section:
      return section_reference(*type.section);
    case Type::Shape::scheme:
      return scheme_schema();
    case Type::Shape::open:
      return Json::object();
  }
  return {};
}

Json SchemaWriter::type_schema(const Type& type) {
  Json schema = shape_schema(type);
  if (type.short_form) return {{"anyOf", {{{"type", "string"}}, std::move(schema)}}};
  if (type.absent.empty()) return schema;
  return {{"anyOf", {std::move(schema), {{"const", type.absent}}}}};
}

Json SchemaWriter::section_reference(const Section& section) {
  std::string name(section.name);
  std::ranges::replace(name, ' ', '_');
  if (!definitions_.contains(name)) {
    definitions_[name] = nullptr;  // keeps its place while its own sections are written
    definitions_[name] = section_schema(section);
  }
  return {{"$ref", "#/$defs/" + name}};
}

Json SchemaWriter::section_schema(const Section& section) {
  Json properties = Json::object();
  Json required = Json::array();
  for (size_t i = 0; i < section.keys.size(); ++i) {
    const Key& key = section.keys[i];
    properties[std::string(key.info.name)] = key_schema(key, section.defaults.members[i].value);
    if (key.info.required) required.push_back(key.info.name);
  }
  Json schema = {{"description", section.help},
                 {"type", {"object", "null"}},
                 {"properties", std::move(properties)},
                 {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json SchemaWriter::key_schema(const Key& key, const Value& standard) {
  Json schema = type_schema(key.type);
  schema["description"] = key.info.help;
  const bool is_word = standard.kind == Value::Kind::word && key.type.section == nullptr;
  if (is_word && !key.info.required && key.info.default_says.empty())
    schema["default"] = typed(key.type, standard.word);
  if (is_word && classes_) schema["x-class"] = key.info.class_text();
  return schema;
}

std::string SchemaWriter::write(const Section& document, std::string_view title) {
  Json root = section_schema(document);
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  schema.update(root);
  schema["$defs"] = std::move(definitions_);
  return schema.dump(2) + "\n";
}

}  // namespace

std::string json_schema(PluginSchemes plugins) {
  return SchemaWriter(true, plugins).write(document_section(), "eddyd configuration");
}

std::string experiment_schema(PluginSchemes plugins) {
  return SchemaWriter(false, plugins).write(experiment_section(), "eddylab experiment");
}

}  // namespace eddy::config
