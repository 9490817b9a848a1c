#include "config/keys/hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace eddy::config {
namespace {

// Edits that turn one word into the other: insert, delete, replace, swap neighbours.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
  constexpr size_t kLongest = 64;  // a longer word is no slip of any of ours
  if (text.empty() || text.size() > kLongest) return {};
  std::string_view best;
  size_t best_distance = text.size() / 3 + 1;  // more edits than this are another word
  for (std::string_view candidate : candidates) {
    const size_t distance = edit_distance(text, candidate);
    if (distance > best_distance || distance >= candidate.size()) continue;
    if (distance == best_distance && !best.empty()) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string hint(std::string_view text, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest(text, candidates);
  if (!near.empty()) return fmt::format(", did you mean '{}'?", near);
  if (candidates.empty()) return ", there is none";
  return fmt::format(", valid {} {}", candidates.size() == 1 ? "is" : "are",
                     join(candidates, "and"));
}

std::string join(std::span<const std::string_view> words, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace eddy::config
