// Words for problems: what was probably meant, and what would be valid.
//
// Pure functions. Cost: as the product of the words' lengths, for words of at most 64 characters.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace eddy::config {

// The candidate that `text` is probably a slip of; empty when none is near.
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);
// ", did you mean 'x'?" or ", valid are x, y and z".
std::string hint(std::string_view text, std::span<const std::string_view> candidates);
// "a, b or c"
std::string join(std::span<const std::string_view> words, std::string_view last);

}  // namespace eddy::config
