#include "lab/results/base_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace eddy::lab {
namespace {

// What stands before and behind the base in a name.
struct Context {
  const VariantRuns* of = nullptr;
  std::string_view before;
  std::string_view behind;

  size_t length() const { return before.size() + behind.size(); }
  // `name` has something else between the two, or nothing where one of them is empty, too.
  bool fits(std::string_view name) const {
    return name.size() >= length() && name.starts_with(before) && name.ends_with(behind);
  }
};

// Words stand between blanks.
bool is_whole(std::string_view name, size_t from, size_t length) {
  const size_t to = from + length;
  return (from == 0 || name[from - 1] == ' ') && (to == name.size() || name[to] == ' ');
}

void add_contexts(const VariantRuns& variant, std::string_view base, std::vector<Context>& out) {
  const std::string_view name = variant.name;
  for (size_t at = name.find(base); at != std::string_view::npos; at = name.find(base, at + 1))
    if (is_whole(name, at, base.size()))
      out.push_back({&variant, name.substr(0, at), name.substr(at + base.size())});
}

// None: no base fits.
Result<const VariantRuns*> base_of(const VariantRuns& variant, std::string_view base,
                                   const std::vector<Context>& contexts) {
  const Context* best = nullptr;
  const Context* rival = nullptr;
  for (const Context& each : contexts) {
    if (!each.fits(variant.name)) continue;
    if (best != nullptr && each.length() == best->length() && each.of != best->of) rival = &each;
    if (best != nullptr && each.length() <= best->length()) continue;
    best = &each;
    rival = nullptr;
  }
  if (rival != nullptr)
    return Result<const VariantRuns*>::failure(fmt::format(
        "--base {}: [{}] could be compared with [{}] and with [{}]; give more of the base's name",
        base, shown(variant.name), shown(best->of->name), shown(rival->of->name)));
  return best == nullptr ? nullptr : best->of;
}

}  // namespace

Result<BasePairs> pairs_with_base(const std::vector<VariantRuns>& variants, std::string_view base) {
  std::vector<Context> contexts;
  if (!base.empty())
    for (const VariantRuns& variant : variants) add_contexts(variant, base, contexts);
  if (contexts.empty())
    return Result<BasePairs>::failure(
        fmt::format("--base {}: no variant has these words in its name; the first is [{}]", base,
                    variants.empty() ? "" : shown(variants.front().name)));
  BasePairs found;
  for (const VariantRuns& variant : variants) {
    if (std::ranges::find(contexts, &variant, &Context::of) != contexts.end()) continue;
    Result<const VariantRuns*> of = base_of(variant, base, contexts);
    if (!of) return of.problems();
    if (*of == nullptr)
      found.without.push_back(variant.name);
    else
      found.pairs.push_back({*of, &variant});
  }
  return found;
}

}  // namespace eddy::lab
