#include "net/text/required_version.h"

#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "net/text/printable.h"

namespace eddy {
namespace {

// One number of a version, taken off the front.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

bool take_dot(std::string_view& text) {
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  return true;
}

// MAJOR and MINOR.
std::optional<std::pair<int, int>> parse_version(std::string_view text) {
  const auto major = take_number(text);
  if (!major || !take_dot(text)) return std::nullopt;
  const auto minor = take_number(text);
  if (!minor) return std::nullopt;
  if (take_dot(text) && !take_number(text)) return std::nullopt;
  if (!text.empty()) return std::nullopt;
  return std::pair{*major, *minor};
}

}  // namespace

Problems check_required_version(std::string_view own, std::string_view required) {
  const auto wanted = parse_version(required);
  if (!wanted)
    return {"\"" + printable(required) + "\" is no version: MAJOR.MINOR or MAJOR.MINOR.PATCH"};
  if (wanted == parse_version(own)) return {};
  return {"version " + printable(required) + " is required and this is version " +
          std::string(own) + ": they differ in more than the last number"};
}

}  // namespace eddy
