#include "lab/results/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lab/results/student.h"

namespace eddy::lab {
namespace {

constexpr double kHundred = 100;

// Takes what is before `mark` off the front of `rest`, and `mark`.
std::optional<std::string_view> take_until(std::string_view& rest, std::string_view mark) {
  const size_t at = rest.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return taken;
}

const Json* run_of(const std::vector<VariantRuns>& variants, const std::string& name,
                   uint64_t seed) {
  const auto found = std::ranges::find(variants, name, &VariantRuns::name);
  if (found == variants.end()) return nullptr;
  for (const Json* run : found->runs)
    if (run->value("seed", uint64_t{0}) == seed) return run;
  return nullptr;
}

std::string verdict(double claimed, double found) {
  constexpr double kEnough = 0.5;
  const double share = claimed == 0 ? 0 : found / claimed;
  if (share >= 1) return "holds";
  if (share >= kEnough) return "half of it or more";
  return share > 0 ? "less than half" : "not at all";
}

}  // namespace

std::optional<Claim> parse_claim(std::string_view text) {
  const auto key = take_until(text, " of [");
  const auto variant = take_until(text, "] against [");
  const auto baseline = take_until(text, "]: ");
  if (!key || !variant || !baseline || !text.ends_with(" %")) return std::nullopt;
  text.remove_suffix(2);
  if (text.starts_with('+')) text.remove_prefix(1);
  Claim claim{std::string(*key), std::string(*variant), std::string(*baseline), 0};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), claim.change);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return claim;
}

std::vector<double> changes(const Claim& claim, const std::vector<VariantRuns>& variants) {
  std::vector<double> found;
  const auto variant = std::ranges::find(variants, claim.variant, &VariantRuns::name);
  if (variant == variants.end()) return found;
  for (const Json* run : variant->runs) {
    const Json* other = run_of(variants, claim.baseline, run->value("seed", uint64_t{0}));
    if (other == nullptr) continue;
    const Json ours = value_of(*run, claim.key);
    const Json base = value_of(*other, claim.key);
    if (!ours.is_number() || !base.is_number() || base.get<double>() == 0) continue;
    found.push_back((ours.get<double>() / base.get<double>() - 1) * kHundred);
  }
  return found;
}

TextRows claims_rows(const Json& expect, const std::vector<VariantRuns>& variants) {
  TextRows rows = {{"claim", "of", "against", "claimed %", "ours %", "seeds", "the claim"}};
  for (const Json& text : expect) {
    const std::optional<Claim> claim = parse_claim(text.get<std::string>());
    if (!claim) continue;
    const Estimate ours = estimate(changes(*claim, variants));
    if (ours.count == 0) continue;
    const std::string interval =
        ours.half_width > 0 ? fmt::format(" +-{:.0f}", ours.half_width) : "";
    rows.push_back({claim->key, claim->variant, claim->baseline,
                    fmt::format("{:+.0f}", claim->change),
                    fmt::format("{:+.0f}{}", ours.mean, interval), std::to_string(ours.count),
                    verdict(claim->change, ours.mean)});
  }
  return rows;
}

}  // namespace eddy::lab
