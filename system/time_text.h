// A moment of the wall clock as text, as it stands in logs and reports.
//
// Pure but for the zone of the environment (tzset(3)).
#pragma once

#include <cstdint>
#include <string>

namespace eddy {

// Nanoseconds since the Unix epoch in the local zone, to the millisecond:
// 2026-01-31T12:00:00.123+00:00.
std::string time_text(int64_t unix_ns);
// By the system's clock.
int64_t unix_now_ns();

}  // namespace eddy
