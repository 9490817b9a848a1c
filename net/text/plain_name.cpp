#include "net/text/plain_name.h"

#include <algorithm>

#include "net/text/printable.h"

namespace eddy {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestPlainName && name.front() != '.' &&
         name.front() != '-' && std::all_of(name.begin(), name.end(), is_plain);
}

Problems check_plain_name(std::string_view what, std::string_view name) {
  if (is_plain_name(name)) return {};
  return {std::string(what) + " '" + printable(name.substr(0, kLongestPlainName)) +
          "' is no plain name; valid are 1 to " + std::to_string(kLongestPlainName) +
          " letters, digits, '_', '-' and '.', neither '.' nor '-' first"};
}

}  // namespace eddy
