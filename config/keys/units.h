// Units that ranges and defaults of keys are written in. Pure constants; every file of keys may use
// them.
#pragma once

#include <cstdint>

namespace eddy::config {

// Times, in picoseconds.
inline constexpr int64_t kMicrosecond = 1'000'000;
inline constexpr int64_t kMillisecond = 1'000 * kMicrosecond;
inline constexpr int64_t kSecond = 1'000 * kMillisecond;

// Sizes, in octets.
inline constexpr int64_t kKib = 1'024;
inline constexpr int64_t kMib = 1'024 * kKib;
inline constexpr int64_t kGib = 1'024 * kMib;

// The rates of a line that Eddy knows, in bit/s.
inline constexpr int64_t kSlowestLine = 1'000'000;
inline constexpr int64_t kFastestLine = 1'600'000'000'000;

}  // namespace eddy::config
