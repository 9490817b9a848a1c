// What time_dilation does to one value: a time is stretched, a rate slowed, a word with a unit of
// either is one.
//
// Pure functions. Every key's Key::dilate is made from these by the type of its member.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "net/units.h"

namespace eddy::config {

// A time that would be beyond any run stays where adding two of them does not overflow.
Duration dilated(Duration time, int64_t factor);
BitRate dilated(BitRate rate, int64_t factor);
// Parameters of a scheme, or keys of a switch, as they stand in a file.
void dilate_words(std::map<std::string, std::string>& words, int64_t factor);

}  // namespace eddy::config
