// What the list of result keys says to programs and to readers.
#include <fmt/format.h>

#include <array>

#include "lab/results/result_keys.h"
#include "lab/results/tenants.h"

namespace eddy::lab {
namespace {

struct Named {
  JsonType type;
  std::string_view name;
};
constexpr std::array<Named, 6> kTypes = {{{JsonType::boolean, "boolean"},
                                          {JsonType::integer, "integer"},
                                          {JsonType::number, "number"},
                                          {JsonType::string, "string"},
                                          {JsonType::array, "array"},
                                          {JsonType::object, "object"}}};

std::string name_of(JsonType type) {
  return std::string(kTypes[static_cast<size_t>(type)].name);
}

Json described(JsonType type, bool nullable, std::string_view unit, std::string_view help) {
  Json schema;
  schema["type"] = nullable ? Json{name_of(type), "null"} : Json(name_of(type));
  schema["description"] = std::string(help) + (unit.empty() ? "" : fmt::format(" [{}]", unit));
  return schema;
}

bool bin_nullable(const BinKey& key) {
  return key.type == JsonType::number || key.name == "to_bytes";
}

// The schema of an object that has all of these properties and no others.
Json object_of(Json properties) {
  Json required = Json::array();
  for (const auto& [name, ignored] : properties.items()) required.push_back(name);
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json bin_schema() {
  Json properties = Json::object();
  for (const BinKey& key : bin_keys())
    properties[std::string(key.name)] = described(key.type, bin_nullable(key), key.unit, key.help);
  return object_of(std::move(properties));
}

Json tenant_schema() {
  Json bin = Json::object();
  for (const BinKey& key : tenant_bin_keys())
    bin[std::string(key.name)] =
        described(key.type, key.type == JsonType::number, key.unit, key.help);
  Json properties = Json::object();
  for (const TenantKey& key : tenant_keys()) {
    Json schema = described(key.type, key.nullable, key.unit, key.help);
    if (key.name == "bins") schema["items"] = object_of(bin);
    properties[std::string(key.name)] = std::move(schema);
  }
  return object_of(std::move(properties));
}

Json fault_schema() {
  const Json count = {{"type", "integer"}};
  return object_of({{"type", {{"enum", config::kFaultTypeNames}}},
                    {"begun", count},
                    {"frames", count},
                    {"lost", count}});
}

Json run_schema() {
  Json properties = Json::object();
  for (const ResultKey& key : result_keys()) {
    Json schema = described(key.type, key.nullable, key.unit, key.help);
    if (key.name == "bins") schema["items"] = bin_schema();
    if (key.name == "tenants") schema["items"] = tenant_schema();
    if (key.name == "faults") schema["items"] = fault_schema();
    if (key.name == "ood_histogram") schema["items"] = {{"type", "integer"}};
    if (key.name == "warnings" || key.name == "violations" || key.name == "exempt" ||
        key.name == "with")
      schema["items"] = {{"type", "string"}};
    if (key.name == "counters") schema["additionalProperties"] = {{"type", "integer"}};
    properties[std::string(key.name)] = std::move(schema);
  }
  return object_of(std::move(properties));
}

std::string row(std::string_view name, std::string_view type, std::string_view unit,
                std::string_view help) {
  return fmt::format("| `{}` | {} | {} | {} |\n", name, type, unit, help);
}

std::string head_of(std::string_view first) {
  return fmt::format("| {} | type | unit | meaning |\n|---|---|---|---|\n", first);
}

}  // namespace

std::string result_schema() {
  const Json text = {{"type", "string"}};
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "result.json of eddylab"}};
  schema.update(object_of({
      {"schema_version", {{"const", kResultSchemaVersion}}},
      {"experiment", text},
      {"title", text},
      {"size", text},
      {"expect",
       {{"type", "array"},
        {"description", "what the experiment claims, in words"},
        {"items", text}}},
      {"commit", {{"type", "string"}, {"description", "of all runs; \"mixed\": they differ"}}},
      {"config_hashes",
       {{"type", "object"},
        {"description", "of each variant; \"mixed\": its seeds differ"},
        {"additionalProperties", text}}},
      {"units",
       {{"type", "object"},
        {"description", "of the runs' keys that have one"},
        {"additionalProperties", text}}},
      {"runs", {{"type", "array"}, {"items", run_schema()}}},
  }));
  constexpr int kIndent = 1;
  return schema.dump(kIndent) + "\n";
}

std::string result_markdown() {
  std::string out = "### A run in result.json\n\n" + head_of("key");
  for (const ResultKey& key : result_keys())
    out += row(key.name, name_of(key.type) + (key.nullable ? " or null" : ""), key.unit, key.help);
  out += "\n### A bin of flow sizes (`bins`)\n\n" + head_of("key");
  for (const BinKey& key : bin_keys())
    out += row(key.name, name_of(key.type) + (bin_nullable(key) ? " or null" : ""), key.unit,
               key.help);
  out += "\n### A traffic item (`tenants`)\n\n" + head_of("key");
  for (const TenantKey& key : tenant_keys())
    out += row(key.name, name_of(key.type) + (key.nullable ? " or null" : ""), key.unit, key.help);
  out += "\n### A bin of a traffic item's flow sizes (`bins`)\n\n" + head_of("key");
  for (const BinKey& key : tenant_bin_keys())
    out += row(key.name, name_of(key.type) + (key.type == JsonType::number ? " or null" : ""),
               key.unit, key.help);
  out += "\n### The table `flows` in flows.sqlite\n\n" + head_of("column") +
         row("id", "INTEGER", "", "number of the flow, from 0, in the order of their starts");
  for (const FlowColumn& column : flow_columns())
    out += row(column.name, column.type, column.unit, column.help);
  return out;
}

}  // namespace eddy::lab
