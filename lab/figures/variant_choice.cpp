#include "lab/figures/variant_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "lab/figures/style.h"
#include "lab/results/variant_words.h"
#include "net/text/printable.h"

namespace eddy::lab {
namespace {

constexpr size_t kLongestName = 200;
// Values may have colons, and names, too: the first one before which there are known words.
Result<std::pair<VariantWords, std::string>> read_legend(const std::string& text,
                                                         const std::vector<std::string>& names) {
  using Read = Result<std::pair<VariantWords, std::string>>;
  std::string problem;
  for (size_t colon = text.find(':'); colon != std::string::npos;
       colon = text.find(':', colon + 1)) {
    const VariantWords words = words_in(text.substr(0, colon));
    const std::string wrong = unknown_words(words, names);
    if (problem.empty()) problem = wrong;
    if (!wrong.empty()) continue;
    const std::string name = text.substr(colon + 1);
    if (const std::string unfit = unfit_text(name); !unfit.empty())
      return Read::failure(fmt::format("--legend: \"{}\": {}", printable(text), unfit));
    if (name.size() > kLongestName)
      return Read::failure(fmt::format("--legend: \"{}\": the name is longer than {} octets",
                                       printable(text.substr(0, colon)), kLongestName));
    return std::pair(words, name);
  }
  if (problem.empty()) problem = "no name in it; such as 'scheme=drill:DRILL'";
  return Read::failure(fmt::format("--legend: \"{}\": {}", printable(text), problem));
}

}  // namespace

Result<VariantChoice> VariantChoice::create(const std::vector<std::string>& variants,
                                            const std::vector<std::string>& legends,
                                            const std::vector<std::string>& names) {
  VariantChoice choice;
  Problems problems;
  for (const std::string& variant : variants) {
    if (const std::string wrong = unknown_words(words_in(variant), names); !wrong.empty())
      problems.push_back(fmt::format("--variant: \"{}\": {}", printable(variant), wrong));
    std::ranges::copy(meant_by(variant, names), std::back_inserter(choice.only_));
  }
  for (const std::string& legend : legends) {
    Result<std::pair<VariantWords, std::string>> read = read_legend(legend, names);
    if (read)
      choice.called_.push_back(*read);
    else
      problems.insert(problems.end(), read.problems().begin(), read.problems().end());
  }
  if (!problems.empty()) return problems;
  if (choice.called_.empty()) return choice;
  std::map<std::string, std::string> found;
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    if (!choice.takes(name)) continue;
    const auto [other, is_new] = found.emplace(choice.shown(name), name);
    if (!is_new)
      return Problems{fmt::format("--legend: \"{}\" and \"{}\" would both be \"{}\"",
                                  printable(other->second), printable(name),
                                  printable(other->first))};
  }
  return choice;
}

bool VariantChoice::takes(const std::string& name) const {
  return only_.empty() || std::ranges::find(only_, name) != only_.end();
}

std::string VariantChoice::shown(const std::string& name) const {
  std::vector<std::pair<std::string, bool>> parts;  // a word, or what is in the place of some
  for (const std::string& word : words_in(name)) parts.emplace_back(word, true);
  for (const auto& [wanted, called] : called_) {
    VariantWords left;
    for (const auto& [text, is_word] : parts)
      if (is_word) left.push_back(text);
    if (!has_all(left, wanted)) continue;
    bool is_first = true;
    for (auto& [text, is_word] : parts) {
      if (!is_word || !has_word(wanted, text)) continue;
      text = is_first ? called : "";
      is_word = false;
      is_first = false;
    }
  }
  std::string out;
  for (const auto& [text, is_word] : parts)
    if (!text.empty()) out += (out.empty() ? "" : " ") + text;
  return out.empty() ? name : out;
}

}  // namespace eddy::lab
