// Quantities as ns-3 and the simulators on it write them: "100Gbps", "40.0Mb/s", "1000ns",
// "0.001ms", "1e-05".
//
// A rate's `b` is a bit and its `B` an octet; k and K are 1,000, and Ki 1,024; a bare number is in
// bit/s. A bare number as a time is in seconds. Failures say what was found and what would be
// valid; the caller adds where. Control plane only. Source: ns-3, DataRate and Time.
#pragma once

#include <string>
#include <string_view>

#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

Result<BitRate> parse_ns3_rate(std::string_view text);
Result<Duration> parse_ns3_time(std::string_view text);
// A finite decimal number, an exponent allowed.
Result<double> parse_real(std::string_view text);
// The shortest decimal number that reads as this one, without an exponent, as experiments have it.
std::string in_decimals(double value);

}  // namespace eddy::lab
