#include "switch/control/web/own_host.h"

#include <algorithm>
#include <cctype>

#include "net/addresses.h"

namespace eddy::control {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char one, unsigned char other) {
    return std::tolower(one) == std::tolower(other);
  });
}

bool is_port(std::string_view text) {
  constexpr size_t kMostDigits = 5;
  return !text.empty() && text.size() <= kMostDigits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_own_host(std::string_view host, std::string_view machine) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view after = host.substr(end + 1);
    if (!after.empty() && (after[0] != ':' || !is_port(after.substr(1)))) return false;
    const std::string_view inside = host.substr(1, end - 1);
    return inside.find(':') != std::string_view::npos && parse_ip(inside).has_value();
  }
  const size_t colon = host.find(':');
  if (colon != std::string_view::npos && !is_port(host.substr(colon + 1))) return false;
  const std::string_view name = host.substr(0, colon);
  return parse_ip(name).has_value() || same_name(name, "localhost") ||
         (!machine.empty() && same_name(name, machine));
}

bool is_own_page(std::string_view site) {
  return site.empty() || site == "same-origin" || site == "none";
}

}  // namespace eddy::control
