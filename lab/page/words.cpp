#include "lab/page/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/results/claims.h"
#include "lab/results/student.h"

namespace eddy::lab {
namespace {

struct Standing {
  std::string name;
  Estimate found;
};

// Of the variants that have a number, the lowest first.
std::vector<Standing> standings(const PageSource& source, std::string_view key, double scale = 1) {
  std::vector<Standing> out;
  for (const VariantRuns& variant : source.variants)
    if (const Estimate found = estimate(values_of(variant.runs, key, scale)); found.count > 0)
      out.push_back({shown(variant.name), found});
  std::ranges::stable_sort(out, {}, [](const Standing& each) { return each.found.mean; });
  return out;
}

std::string with_interval(const Estimate& found) {
  const std::string mean = short_number(found.mean);
  return found.half_width > 0 ? mean + " +-" + short_number(found.half_width) : mean;
}

std::string plural(size_t count, const std::string& word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string what_ran(const PageSource& source) {
  return fmt::format(
      "{} of experiment {} ({}): {}, {}.", plural(source.result.at("runs").size(), "run"),
      source.result.value("experiment", ""), source.result.value("size", ""),
      plural(source.variants.size(), "variant"), plural(source.seeds.size(), "seed"));
}

std::string best_of(const PageSource& source) {
  const std::vector<Standing> found = standings(source, "fct_p99_us");
  if (found.empty()) return "No flow that is measured has finished.";
  const Standing& best = found.front();
  if (found.size() == 1)
    return fmt::format("99 % of the measured flows were done within {} us.",
                       with_interval(best.found));
  const Standing& worst = found.back();
  if (best.found.mean == worst.found.mean)
    return fmt::format("99 % of the measured flows were done within {} us with every variant.",
                       short_number(best.found.mean));
  return fmt::format(
      "99 % of the measured flows were done within {} us with [{}], the shortest, and {} us with "
      "[{}], the longest.",
      with_interval(best.found), best.name, with_interval(worst.found), worst.name);
}

std::string order_of(const PageSource& source) {
  constexpr double kPercent = 100;
  const std::vector<Standing> found = standings(source, "ooo_ratio", kPercent);
  if (found.empty()) return "";
  if (found.back().found.mean == 0) return "No packet arrived out of order.";
  if (found.size() == 1)
    return fmt::format("{} % of the packets arrived out of order.",
                       with_interval(found.front().found));
  const auto kept =
      std::ranges::count_if(found, [](const Standing& each) { return each.found.mean == 0; });
  return fmt::format(
      "Packets out of order: up to {} % with [{}]; {} of {} variants kept all order.",
      with_interval(found.back().found), found.back().name, kept, found.size());
}

std::string pauses_of(const PageSource& source) {
  const std::vector<Standing> found = standings(source, "pfc_events");
  if (found.empty()) return "";
  if (found.back().found.mean == 0) return "PFC never paused anyone.";
  if (found.size() == 1)
    return fmt::format("PFC pauses begun in a run: {}.", with_interval(found.front().found));
  if (found.front().found.mean == found.back().found.mean)
    return fmt::format("PFC pauses begun in a run: {} with every variant.",
                       short_number(found.front().found.mean));
  return fmt::format(
      "PFC pauses begun in a run: {} with [{}], the most, and {} with [{}], the fewest.",
      with_interval(found.back().found), found.back().name, with_interval(found.front().found),
      found.front().name);
}

std::string losses_of(const PageSource& source) {
  size_t runs = 0;
  for (const Json& run : source.result.at("runs"))
    if (const Json drops = run.value("lossless_drops", Json()); drops.is_number() && drops != 0)
      ++runs;
  if (runs == 0) return "Nothing lossless was dropped.";
  return fmt::format(
      "Lossless packets were dropped in {}: the configuration is not sound, or links failed.",
      plural(runs, "run"));
}

std::string claims_of(const PageSource& source) {
  size_t claims = 0;
  size_t held = 0;
  size_t tested = 0;
  for (const JudgedClaim& judged :
       judge_claims(source.result.value("expect", Json::array()), source.variants)) {
    if (!judged.claim) continue;
    ++claims;
    tested += judged.found.count > 0 ? 1 : 0;
    held += judged.verdict == Verdict::holds ? 1 : 0;
  }
  if (claims == 0) return "";
  return fmt::format("Of {} in numbers, {} could be looked at and {} held in full.",
                     plural(claims, "claim"), tested, held);
}

}  // namespace

std::vector<std::string> summary_words(const PageSource& source) {
  std::vector<std::string> words = {what_ran(source),  best_of(source),   order_of(source),
                                    pauses_of(source), losses_of(source), claims_of(source)};
  std::erase(words, "");
  return words;
}

}  // namespace eddy::lab
