// Quantities as people write them: "50us", "9MiB", "100Gbps", "0.2".
//
// A unit is mandatory where a thing has one. Values are exact: "1.5us" is 1,500,000 ps, "1.5B" is
// an error, and so is what does not fit 63 bits. Printing is canonical: the largest unit that
// leaves a whole number, so parse(to_string(x)) == x. Sizes: KiB = 1,024, kB = 1,000. Control plane
// only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/result.h"
#include "net/units.h"

namespace eddy {

// Failures say what was found and what would be valid; the caller adds where it was found.
Result<Duration> parse_duration(std::string_view text);  // ps ns us ms s min h
Result<Bytes> parse_bytes(std::string_view text);        // B kB MB GB KiB MiB GiB
Result<BitRate> parse_bit_rate(std::string_view text);   // bps kbps Mbps Gbps Tbps
Result<int64_t> parse_integer(std::string_view text);    // "-3"
Result<double> parse_decimal(std::string_view text);     // "0.2"; no exponent, never NaN
Result<bool> parse_flag(std::string_view text);          // true false

std::string to_string(Duration value);
std::string to_string(Bytes value);
std::string to_string(BitRate value);

}  // namespace eddy
