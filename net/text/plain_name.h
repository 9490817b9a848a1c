// Plain names: what becomes a part of a path and so must not lead anywhere else.
//
// Letters, digits, '_', '-' and '.', and neither '.' nor '-' first: no separator, no "..", no
// hidden file, nothing that a command takes for an option. Bound: kLongestPlainName octets. Cost:
// linear in the name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "net/result.h"

namespace eddy {

inline constexpr size_t kLongestPlainName = 64;

bool is_plain_name(std::string_view name);
// Empty, or the line that refuses `name` and says which ones are valid; `what` is where it was
// written, such as "--name".
Problems check_plain_name(std::string_view what, std::string_view name);

}  // namespace eddy
