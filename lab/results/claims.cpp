#include "lab/results/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

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

bool take_prefix(std::string_view& rest, std::string_view prefix) {
  if (!rest.starts_with(prefix)) return false;
  rest.remove_prefix(prefix.size());
  return true;
}

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool read_bound(std::string_view text, Claim& claim) {
  if (take_prefix(text, "at most "))
    claim.kind = ClaimKind::at_most;
  else if (take_prefix(text, "at least "))
    claim.kind = ClaimKind::at_least;
  else
    return false;
  const std::optional<double> value = number_in(text);
  claim.value = value.value_or(0);
  return value.has_value();
}

// What stands behind "against [B]: ".
bool read_change(std::string_view text, Claim& claim) {
  if (text == "less" || text == "more") {
    claim.kind = text == "less" ? ClaimKind::less : ClaimKind::more;
    return true;
  }
  if (!text.ends_with(" %")) return false;
  text.remove_suffix(2);
  if (read_bound(text, claim)) return true;
  const std::optional<double> value = number_in(text);
  claim.value = value.value_or(0);
  return value.has_value();
}

const Json* run_of(const std::vector<VariantRuns>& variants, const std::string& name,
                   uint64_t seed) {
  const auto found = std::ranges::find(variants, name, &VariantRuns::name);
  if (found == variants.end()) return nullptr;
  for (const Json* run : found->runs)
    if (run->value("seed", uint64_t{0}) == seed) return run;
  return nullptr;
}

bool is_meant(const Claim& claim, const std::string& variant) {
  return claim.every ? variant.find(claim.variant) != std::string::npos : variant == claim.variant;
}

bool has_run(const Claim& claim, const std::vector<VariantRuns>& variants) {
  const auto meant = [&](const VariantRuns& each) { return is_meant(claim, each.name); };
  if (std::ranges::none_of(variants, meant)) return false;
  return !claim.compares ||
         std::ranges::find(variants, claim.baseline, &VariantRuns::name) != variants.end();
}

// The values of the key in each run that the bound is of.
std::vector<double> bounded_values(const Claim& claim, const std::vector<VariantRuns>& variants) {
  std::vector<double> found;
  for (const VariantRuns& variant : variants) {
    if (!is_meant(claim, variant.name)) continue;
    const std::vector<double> values = values_of(variant.runs, claim.key);
    found.insert(found.end(), values.begin(), values.end());
  }
  return found;
}

Verdict verdict_of_change(double claimed, double found) {
  constexpr double kEnough = 0.5;
  const double share = claimed == 0 ? 0 : found / claimed;
  if (share >= 1) return Verdict::holds;
  if (share >= kEnough) return Verdict::half;
  return share > 0 ? Verdict::less_than_half : Verdict::not_at_all;
}

Verdict verdict_of(const Claim& claim, double found) {
  const auto if_so = [](bool so) { return so ? Verdict::holds : Verdict::not_at_all; };
  switch (claim.kind) {
    case ClaimKind::change:
      return verdict_of_change(claim.value, found);
    case ClaimKind::less:
      return if_so(found < 0);
    case ClaimKind::more:
      return if_so(found > 0);
    case ClaimKind::at_most:
      return if_so(found <= claim.value);
    case ClaimKind::at_least:
      return if_so(found >= claim.value);
  }
  return Verdict::in_words;
}

// The worst run stands for all: a mean would hide the one that breaks a bound.
Estimate worst(const Claim& claim, const std::vector<double>& values) {
  if (values.empty()) return {};
  return {.count = values.size(),
          .mean = claim.kind == ClaimKind::at_most ? std::ranges::max(values)
                                                   : std::ranges::min(values)};
}

}  // namespace

std::optional<Claim> parse_claim(std::string_view text) {
  Claim claim;
  const auto key = take_until(text, " of ");
  if (!key) return std::nullopt;
  claim.key = *key;
  claim.every = take_prefix(text, "every ");
  if (!take_prefix(text, "[")) return std::nullopt;
  const auto variant = take_until(text, "]");
  if (!variant) return std::nullopt;
  claim.variant = *variant;
  if (take_prefix(text, ": ")) return read_bound(text, claim) ? std::optional(claim) : std::nullopt;
  if (claim.every || !take_prefix(text, " against [")) return std::nullopt;
  const auto baseline = take_until(text, "]: ");
  if (!baseline) return std::nullopt;
  claim.compares = true;
  claim.baseline = *baseline;
  return read_change(text, claim) ? std::optional(claim) : std::nullopt;
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::half:
      return "half of it or more";
    case Verdict::less_than_half:
      return "less than half";
    case Verdict::not_at_all:
      return "not at all";
    case Verdict::not_run:
      return "not run";
    case Verdict::no_number:
      return "no number";
    case Verdict::in_words:
      return "in words";
  }
  return "";
}

std::string JudgedClaim::of_text() const {
  return (claim->every ? "every [" : "[") + claim->variant + "]";
}

std::string JudgedClaim::claimed_text() const {
  switch (claim->kind) {
    case ClaimKind::change:
      return fmt::format("{:+.0f} %", claim->value);
    case ClaimKind::less:
      return "less";
    case ClaimKind::more:
      return "more";
    case ClaimKind::at_most:
      return "at most " + short_number(claim->value) + (claim->compares ? " %" : "");
    case ClaimKind::at_least:
      return "at least " + short_number(claim->value) + (claim->compares ? " %" : "");
  }
  return "";
}

std::string JudgedClaim::found_text() const {
  if (found.count == 0) return "-";
  if (!claim->compares) return short_number(found.mean);
  return fmt::format("{:+.0f}{} %", found.mean,
                     found.half_width > 0 ? fmt::format(" +-{:.0f}", found.half_width) : "");
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

std::vector<JudgedClaim> judge_claims(const Json& expect,
                                      const std::vector<VariantRuns>& variants) {
  std::vector<JudgedClaim> judged;
  for (const Json& text : expect) {
    JudgedClaim& each = judged.emplace_back();
    each.text = text.get<std::string>();
    each.claim = parse_claim(each.text);
    if (!each.claim) continue;
    const Claim& claim = *each.claim;
    each.found = !claim.compares ? worst(claim, bounded_values(claim, variants))
                                 : estimate(changes(claim, variants));
    if (each.found.count > 0)
      each.verdict = verdict_of(claim, each.found.mean);
    else
      each.verdict = has_run(claim, variants) ? Verdict::no_number : Verdict::not_run;
  }
  return judged;
}

TextRows claims_rows(const Json& expect, const std::vector<VariantRuns>& variants) {
  TextRows rows = {{"claim", "of", "against", "claimed", "ours", "runs", "the claim"}};
  for (const JudgedClaim& judged : judge_claims(expect, variants)) {
    if (judged.found.count == 0) continue;
    const Claim& claim = *judged.claim;
    rows.push_back({claim.key, claim.every ? judged.of_text() : claim.variant,
                    !claim.compares ? "-" : claim.baseline, judged.claimed_text(),
                    judged.found_text(), std::to_string(judged.found.count),
                    std::string(name_of(judged.verdict))});
  }
  return rows;
}

}  // namespace eddy::lab
