#include "lab/results/kept_results.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>

#include "lab/results/claims.h"
#include "lab/results/result_warnings.h"

namespace eddy::lab {
namespace {

constexpr int kDigits = 6;
constexpr auto kHead =
    std::to_array<std::string_view>({"schema_version", "experiment", "title", "size", "expect"});
constexpr auto kRun = std::to_array<std::string_view>(
    {"variant", "seed", "flows", "unfinished", "fct_mean_us", "fct_p99_us", "slowdown_mean",
     "slowdown_p50", "slowdown_p99", "ooo_ratio", "ood_p99", "pfc_events", "pfc_paused_us",
     "lossless_drops"});
constexpr auto kPart = std::to_array<std::string_view>(
    {"name", "flows", "slowdown_mean", "slowdown_p99", "ooo_ratio"});
constexpr std::string_view kSmallest = "< 1 BDP";

Json cut(const Json& value) {
  if (!value.is_number_float()) return value;
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value.get<double>(),
                                     std::chars_format::general, kDigits);
  double out = 0;
  std::from_chars(text.data(), written.ptr, out);
  return out;
}

template <class Keys>
Json with_keys(const Json& from, const Keys& keys) {
  Json out = Json::object();
  for (const auto& key : keys)
    if (const auto found = from.find(key); found != from.end()) out[std::string(key)] = cut(*found);
  return out;
}

std::set<std::string> claimed_keys(const Json& expect) {
  std::set<std::string> keys;
  for (const Json& text : expect)
    if (const auto claim = parse_claim(text.get<std::string>())) keys.insert(claim->key);
  return keys;
}

Json kept_tenants(const Json& run, const std::set<std::string>& claimed) {
  Json out = Json::array();
  for (const Json& tenant : run.value("tenants", Json::array())) {
    Json& kept = out.emplace_back(with_keys(tenant, kPart));
    const std::string prefix = tenant.value("name", "") + ".";
    for (const std::string& key : claimed)
      if (key.starts_with(prefix))
        if (const Json found = value_of(run, key); !found.is_null())
          kept[key.substr(prefix.size())] = cut(found);
  }
  return out;
}

// Of one alone the run has it all, but for what is claimed of it.
bool has_tenants(const Json& run, const std::set<std::string>& claimed) {
  const Json tenants = run.value("tenants", Json::array());
  return tenants.size() > 1 || std::ranges::any_of(tenants, [&](const Json& tenant) {
           const std::string prefix = tenant.value("name", "") + ".";
           return std::ranges::any_of(
               claimed, [&](const std::string& key) { return key.starts_with(prefix); });
         });
}

Json kept_run(const Json& run, const std::set<std::string>& claimed) {
  Json out = with_keys(run, kRun);
  for (const char* flag : {"censored", "interrupted"})
    if (run.value(flag, false)) out[flag] = true;
  out["digest"] = run.value("digest", "");
  for (const std::string& key : claimed) {
    if (run.contains(key))
      out[key] = cut(run.at(key));
    else if (const auto counters = run.find("counters");
             counters != run.end() && counters->contains(key))
      out["counters"][key] = counters->at(key);
  }
  for (const Json& bin : run.value("bins", Json::array()))
    if (bin.value("name", "") == kSmallest) out["bins"] = Json::array({with_keys(bin, kPart)});
  if (has_tenants(run, claimed)) out["tenants"] = kept_tenants(run, claimed);
  return out;
}

}  // namespace

Json kept_result(const Json& result) {
  Json out = with_keys(result, kHead);
  out["remarks"] = remarks_of(result);
  const std::set<std::string> claimed = claimed_keys(result.value("expect", Json::array()));
  out["runs"] = Json::array();
  for (const Json& run : result.at("runs")) out["runs"].push_back(kept_run(run, claimed));
  return out;
}

std::string kept_text(const Json& kept) {
  std::string out = "{";
  for (const auto& [key, value] : kept.items()) {
    if (key == "runs") continue;
    out += (out.size() > 1 ? ",\n \"" : "\"") + key + "\": " + value.dump();
  }
  out += ",\n \"runs\": [";
  const Json& runs = kept.at("runs");
  for (size_t i = 0; i < runs.size(); ++i) out += (i > 0 ? ",\n  " : "\n  ") + runs[i].dump();
  return out + "\n]}\n";
}

std::vector<std::string> remarks_of(const Json& result) {
  const auto said = result.find("remarks");
  if (said == result.end() || !said->is_array()) return result_warnings(result);
  std::vector<std::string> remarks;
  for (const Json& text : *said)
    if (text.is_string()) remarks.push_back(text.get<std::string>());
  return remarks;
}

}  // namespace eddy::lab
