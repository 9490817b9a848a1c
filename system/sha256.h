// SHA-256 (FIPS 180-4) of octets at hand: a name for a file that `sha256sum` gives it, too.
//
// Pure. Cost: about 10 ns an octet; for files of a program, not for packets.
#pragma once

#include <string>
#include <string_view>

namespace eddy {

// 64 hexadecimal digits.
std::string sha256(std::string_view octets);

}  // namespace eddy
