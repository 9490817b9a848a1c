#include "lab/results/run_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/results/tenants.h"

namespace eddy::lab {
namespace {

bool has_type(const Json& value, JsonType type) {
  switch (type) {
    case JsonType::boolean:
      return value.is_boolean();
    case JsonType::integer:
      return value.is_number_integer();
    case JsonType::number:
      return value.is_number();
    case JsonType::string:
      return value.is_string();
    case JsonType::array:
      return value.is_array();
    case JsonType::object:
      return value.is_object();
  }
  return false;
}

std::string_view wanted(JsonType type) {
  switch (type) {
    case JsonType::boolean:
      return "true or false";
    case JsonType::integer:
      return "an integer";
    case JsonType::number:
      return "a number";
    case JsonType::string:
      return "a string";
    case JsonType::array:
      return "an array";
    case JsonType::object:
      return "an object";
  }
  return "";
}

class Check {
 public:
  explicit Check(std::string name) : name_(std::move(name)) {}

  // A key that is there must have the type.
  void key(const Json& in, std::string_view key, JsonType type, bool nullable) {
    const auto found = in.find(key);
    if (found == in.end() || has_type(*found, type) || (nullable && found->is_null())) return;
    problems_.push_back(fmt::format("{}: key \"{}\" is {}, valid is {}", name_, key,
                                    found->type_name(), wanted(type)));
  }
  void present(const Json& in, std::string_view key, JsonType type) {
    if (!in.contains(key))
      problems_.push_back(fmt::format("{}: key \"{}\" is missing", name_, key));
    this->key(in, key, type, false);
  }
  void problem(const std::string& what) { problems_.push_back(name_ + ": " + what); }
  void all(const Json& values, std::string_view key, JsonType type) {
    const auto found = values.find(key);
    if (found == values.end()) return;
    for (const Json& value : *found)
      if (!has_type(value, type)) {
        problems_.push_back(fmt::format("{}: key \"{}\" holds {}, valid is {} everywhere", name_,
                                        key, value.type_name(), wanted(type)));
        return;
      }
  }
  bool ok() const { return problems_.empty(); }
  Problems take() { return std::move(problems_); }

 private:
  std::string name_;
  Problems problems_;
};

void check_bins(Check& check, const Json& run) {
  check.all(run, "bins", JsonType::object);
  if (!check.ok() || !run.contains("bins")) return;
  for (const Json& bin : run.at("bins"))
    for (const BinKey& key : bin_keys())
      check.key(bin, key.name, key.type, key.type != JsonType::string);
}

void check_tenants(Check& check, const Json& run) {
  check.all(run, "tenants", JsonType::object);
  if (!check.ok() || !run.contains("tenants")) return;
  for (const Json& tenant : run.at("tenants")) {
    check.present(tenant, "name", JsonType::string);
    for (const TenantKey& key : tenant_keys()) check.key(tenant, key.name, key.type, key.nullable);
    if (check.ok()) check.all(tenant, "bins", JsonType::object);
    if (!check.ok()) return;
    for (const Json& bin : tenant.value("bins", Json::array()))
      for (const BinKey& key : tenant_bin_keys())
        check.key(bin, key.name, key.type, key.type != JsonType::string);
  }
}

void check_run(Check& check, const Json& run) {
  check.present(run, "variant", JsonType::string);
  check.present(run, "seed", JsonType::integer);
  for (const ResultKey& key : result_keys()) check.key(run, key.name, key.type, key.nullable);
  if (!check.ok()) return;
  if (run.at("seed") < 0) check.problem("key \"seed\" is negative, valid is 0 and more");
  check.all(run, "ood_histogram", JsonType::integer);
  check.all(run, "counters", JsonType::integer);
  check.all(run, "violations", JsonType::string);
  check.all(run, "warnings", JsonType::string);
  check.all(run, "with", JsonType::string);
  check_bins(check, run);
  check_tenants(check, run);
}

// What a file has beside its runs, which `runs` names.
void check_head(Check& check, const Json& file, std::string_view runs, JsonType type) {
  if (!file.is_object()) return check.problem("this is no JSON object");
  for (const char* key : {"experiment", "title", "size"})
    check.present(file, key, JsonType::string);
  check.present(file, "expect", JsonType::array);
  check.present(file, runs, type);
  if (check.ok()) check.all(file, "expect", JsonType::string);
}

}  // namespace

Problems check_run_file(const std::string& name, const Json& file) {
  Check check(name);
  check_head(check, file, "run", JsonType::object);
  if (check.ok()) check_run(check, file.at("run"));
  return check.take();
}

Problems check_result_file(const std::string& name, const Json& file) {
  Check check(name);
  check_head(check, file, "runs", JsonType::array);
  if (check.ok()) check.all(file, "runs", JsonType::object);
  for (size_t i = 0; check.ok() && i < file.at("runs").size(); ++i)
    check_run(check, file.at("runs")[i]);
  if (check.ok() && file.at("runs").empty()) check.problem("there are no runs in it");
  return check.take();
}

std::string other_version(const std::string& name, const Json& file) {
  if (!file.is_object() || !file.contains("schema_version"))
    return fmt::format("{}: this is no result of schema version {}", name, kResultSchemaVersion);
  const Json& version = file.at("schema_version");
  if (version == kResultSchemaVersion) return "";
  return fmt::format(
      "{}: this is no result of schema version {}, but of {}: read it with the eddylab that wrote "
      "it, or run the experiment again with this one (eddylab run --fresh)",
      name, kResultSchemaVersion, version.dump());
}

}  // namespace eddy::lab
