#include "lab/results/claims_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "lab/results/kept_results.h"
#include "lab/results/result_tables.h"

namespace eddy::lab {
namespace {

// More variants than a reader takes in: then those that are claimed something of.
constexpr size_t kMostVariants = 16;
constexpr size_t kCommitDigits = 12;

// A text that is nothing but text in a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string code(std::string_view text) {
  return fmt::format("`{}`", cell(text));
}

std::string variant_text(const std::string& name) {
  return name.empty() ? "(only)" : code(name);
}

std::string every_text(const std::string& part) {
  return part.empty() ? "every run" : "every run of " + code(part);
}

std::string row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

// The first column to the left, numbers to the right.
std::string table(const TextRows& rows, size_t texts) {
  std::string out = row(rows.front()) + "|";
  for (size_t i = 0; i < rows.front().size(); ++i) out += i < texts ? "---|" : "---:|";
  out += "\n";
  for (size_t i = 1; i < rows.size(); ++i) out += row(rows[i]);
  return out;
}

std::string id_of(const ClaimsSource& source) {
  return source.result.value("experiment", "");
}

// "1-3, 7"
std::string seeds_of(const Json& result) {
  std::set<uint64_t> seeds;
  for (const Json& run : result.at("runs")) seeds.insert(run.value("seed", uint64_t{0}));
  std::string out;
  for (auto at = seeds.begin(); at != seeds.end();) {
    const uint64_t first = *at;
    uint64_t last = first;
    while (++at != seeds.end() && *at == last + 1) last = *at;
    out += (out.empty() ? "" : ",") + std::to_string(first);
    if (last > first) out += "-" + std::to_string(last);
  }
  return out;
}

std::vector<JudgedClaim> judged(const ClaimsSource& source) {
  return judge_claims(source.expect, by_variant(source.result));
}

std::string what_of(const JudgedClaim& each) {
  const Claim& claim = *each.claim;
  const std::string of = claim.every ? every_text(claim.variant) : variant_text(claim.variant);
  return fmt::format("{} of {}{}", code(claim.key), of,
                     claim.compares ? " against " + variant_text(claim.baseline) : "");
}

std::string counts(const std::vector<ClaimsSource>& sources) {
  std::map<Verdict, size_t> found;
  size_t all = 0;
  for (const ClaimsSource& source : sources)
    for (const JudgedClaim& each : judged(source)) {
      ++found[each.verdict];
      all += each.claim ? 1 : 0;
    }
  found.erase(Verdict::in_words);
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : found)
    parts.push_back(fmt::format("{}: {}", name_of(verdict), count));
  return fmt::format("{} claims in numbers. {}.\n", all, fmt::join(parts, ", "));
}

std::string overview(const std::vector<ClaimsSource>& sources) {
  TextRows rows = {{"experiment", "size", "seeds", "claim", "claimed", "here", "the claim"}};
  for (const ClaimsSource& source : sources)
    for (const JudgedClaim& each : judged(source)) {
      if (!each.claim) continue;
      rows.push_back({fmt::format("[{0}](#{0})", id_of(source)), source.result.value("size", ""),
                      seeds_of(source.result), what_of(each), each.claimed_text(),
                      each.found_text(), std::string(name_of(each.verdict))});
    }
  return table(rows, 4);
}

std::string claims_of(const ClaimsSource& source) {
  TextRows rows = {{"claim", "claimed", "here", "runs", "the claim"}};
  std::string words;
  for (const JudgedClaim& each : judged(source)) {
    if (!each.claim)
      words += "* In words: " + each.text + "\n";
    else
      rows.push_back({what_of(each), each.claimed_text(), each.found_text(),
                      std::to_string(each.found.count), std::string(name_of(each.verdict))});
  }
  std::string out = rows.size() > 1 ? table(rows, 1) : "";
  if (!words.empty()) out += (out.empty() ? "" : "\n") + words;
  return out;
}

bool is_claimed(const std::vector<JudgedClaim>& claims, const std::string& variant) {
  return std::ranges::any_of(claims, [&](const JudgedClaim& each) {
    return each.claim && ((!each.claim->every && each.claim->variant == variant) ||
                          (each.claim->compares && each.claim->baseline == variant));
  });
}

std::string variants_of(const ClaimsSource& source) {
  std::vector<VariantRuns> variants = by_variant(source.result);
  const size_t all = variants.size();
  if (all > kMostVariants) {
    const std::vector<JudgedClaim> claims = judged(source);
    std::erase_if(variants, [&](const VariantRuns& v) { return !is_claimed(claims, v.name); });
    if (variants.size() > 2 * kMostVariants) variants.resize(2 * kMostVariants);
  }
  std::string out;
  if (!variants.empty()) {
    TextRows rows = texts(main_table(variants));
    for (size_t i = 1; i < rows.size(); ++i) rows[i].front() = variant_text(variants[i - 1].name);
    out = table(rows, 1);
  }
  if (variants.size() == all) return out;
  if (out.empty()) return fmt::format("`eddylab show` of the numbers has all {} variants.\n", all);
  return out + fmt::format("\n{} of {} variants; `eddylab show` of the numbers has all.\n",
                           variants.size(), all);
}

std::string links_of(const ClaimsSource& source) {
  std::string out;
  if (!source.numbers.empty()) out += fmt::format(" [Numbers]({}).", source.numbers);
  if (!source.notes.empty()) out += fmt::format(" **[What it shows]({}).**", source.notes);
  return out;
}

std::string section(const ClaimsSource& source) {
  const Json& result = source.result;
  std::string out = fmt::format("### {}\n\n{}", id_of(source), result.value("title", ""));
  if (!source.source.empty()) out += fmt::format(" ({})", source.source);
  const std::string commit = result.value("commit", "");
  out += fmt::format(". `eddylab run {} --size {} --seed {}`{}, {} runs.{}\n", id_of(source),
                     result.value("size", ""), seeds_of(result),
                     commit.empty() ? "" : " at " + commit.substr(0, kCommitDigits),
                     result.at("runs").size(), links_of(source));
  std::string remarks;
  for (const std::string& remark : remarks_of(result)) remarks += "* " + remark + "\n";
  if (!remarks.empty()) out += "\n" + remarks;
  if (const std::string claims = claims_of(source); !claims.empty()) out += "\n" + claims;
  return out + "\n" + variants_of(source);
}

}  // namespace

std::string claims_markdown(const std::vector<ClaimsSource>& sources,
                            const std::vector<UnseenExperiment>& unseen) {
  std::string out = counts(sources) + "\n" + overview(sources);
  for (const ClaimsSource& source : sources) out += "\n" + section(source);
  if (unseen.empty()) return out;
  out += "\nClaims without results here:";
  for (const UnseenExperiment& each : unseen)
    out += fmt::format("{} {} ({})", &each == &unseen.front() ? "" : ",", each.id, each.claims);
  return out + ".\n";
}

Json claims_json(const std::vector<ClaimsSource>& sources) {
  Json out = Json::array();
  for (const ClaimsSource& source : sources)
    for (const JudgedClaim& each : judged(source)) {
      Json& row = out.emplace_back(Json{{"experiment", id_of(source)},
                                        {"size", source.result.value("size", "")},
                                        {"claim", each.text},
                                        {"verdict", name_of(each.verdict)}});
      row["runs"] = each.found.count;
      row["found"] = each.found.count > 0 ? Json(each.found.mean) : Json();
      row["interval"] = each.found.half_width;
    }
  return out;
}

}  // namespace eddy::lab
