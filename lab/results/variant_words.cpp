#include "lab/results/variant_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <sstream>

#include "net/text/printable.h"

namespace eddy::lab {
namespace {

constexpr size_t kMostListed = 20;  // words
constexpr size_t kMostNamed = 8;    // variants

// Why no name has this word.
std::string unknown_word(const std::string& word, const std::vector<std::string>& names) {
  const std::string factor = word.substr(0, word.find('='));
  std::vector<std::string> factors;
  std::vector<std::string> values;
  for (const std::string& name : names)
    for (const std::string& each : words_in(name)) {
      const size_t equals = each.find('=');
      if (equals == std::string::npos) continue;
      if (!has_word(factors, each.substr(0, equals))) factors.push_back(each.substr(0, equals));
      if (each.substr(0, equals) == factor && !has_word(values, each.substr(equals + 1)))
        values.push_back(each.substr(equals + 1));
    }
  if (factors.empty())
    return fmt::format("no run has \"{}\"; its variants have no factors", printable(word));
  if (values.empty())
    return fmt::format("no factor \"{}\"; there are: {}", printable(factor), listed(factors));
  return fmt::format("no run has \"{}\"; {} is one of: {}", printable(word), factor,
                     listed(values));
}

std::string quoted(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& each : names)
    out += (out.empty() ? "" : ", ") + fmt::format("\"{}\"", printable(each));
  return out;
}

// Those that share most words.
std::vector<std::string> nearest(const VariantWords& words, std::vector<std::string> names) {
  std::ranges::stable_sort(names, std::greater<>(), [&](const std::string& name) {
    const VariantWords there = words_in(name);
    return std::ranges::count_if(words,
                                 [&](const std::string& word) { return has_word(there, word); });
  });
  names.resize(std::min(names.size(), kMostNamed));
  return names;
}

}  // namespace

VariantWords words_in(const std::string& name) {
  std::istringstream stream(name);
  VariantWords words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool has_word(const VariantWords& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

bool has_all(const VariantWords& words, const VariantWords& wanted) {
  return std::ranges::all_of(wanted,
                             [&](const std::string& word) { return has_word(words, word); });
}

std::string listed(const std::vector<std::string>& all) {
  const std::vector<std::string> some(
      all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min(all.size(), kMostListed)));
  return fmt::format("{}{}", printable(fmt::format("{}", fmt::join(some, ", "))),
                     all.size() > kMostListed ? ", ..." : "");
}

std::string unknown_words(const VariantWords& words, const std::vector<std::string>& names) {
  if (words.empty()) return "no factor=value in it";
  for (const std::string& word : words)
    if (std::ranges::none_of(
            names, [&](const std::string& name) { return has_word(words_in(name), word); }))
      return unknown_word(word, names);
  if (std::ranges::none_of(names,
                           [&](const std::string& name) { return has_all(words_in(name), words); }))
    return fmt::format("no run has all of \"{}\"",
                       printable(fmt::format("{}", fmt::join(words, " "))));
  return "";
}

std::vector<std::string> meant_by(const std::string& name, const std::vector<std::string>& names) {
  if (std::ranges::find(names, name) != names.end()) return {name};
  std::vector<std::string> meant;
  const VariantWords words = words_in(name);
  for (const std::string& each : names)
    if (!words.empty() && has_all(words_in(each), words)) meant.push_back(each);
  return meant;
}

std::vector<std::string> variants_meant(const std::vector<std::string>& named,
                                        const std::vector<std::string>& names, Problems& problems) {
  std::vector<std::string> meant;
  for (const std::string& name : named) {
    const std::vector<std::string> of_it = meant_by(name, names);
    if (of_it.empty()) problems.push_back(no_such_variant(name, names));
    meant.insert(meant.end(), of_it.begin(), of_it.end());
  }
  return meant;
}

std::string no_such_variant(const std::string& name, const std::vector<std::string>& variants) {
  if (variants == std::vector<std::string>{""})
    return fmt::format("no variant \"{}\"; the experiment has no variants", printable(name));
  if (name.empty()) return "one has to be named; there are: " + quoted(variants);
  const std::string none = fmt::format("no variant \"{}\"", printable(name));
  if (variants.size() <= kMostNamed) return none + "; there are: " + quoted(variants);
  const VariantWords words = words_in(name);
  for (const std::string& word : words)
    if (const std::string wrong = unknown_words({word}, variants); !wrong.empty())
      return none + ": " + wrong;
  return none + "; the nearest are: " + quoted(nearest(words, variants));
}

}  // namespace eddy::lab
