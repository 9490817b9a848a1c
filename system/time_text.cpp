#include "system/time_text.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace eddy {

std::string time_text(int64_t unix_ns) {
  constexpr int64_t kNano = 1'000'000'000;
  constexpr int64_t kNanosecondsAMillisecond = 1'000'000;
  const time_t seconds = unix_ns / kNano;
  tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> day{};
  std::array<char, 8> milliseconds{};
  std::array<char, 8> zone{};
  std::strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &local);
  std::snprintf(milliseconds.data(), milliseconds.size(), ".%03d",
                static_cast<int>(unix_ns % kNano / kNanosecondsAMillisecond));
  std::strftime(zone.data(), zone.size(), "%z", &local);
  constexpr size_t kHours = 3;  // "+00" of "+0000"
  return std::string(day.data()) + milliseconds.data() +
         std::string(zone.data()).insert(kHours, ":");
}

int64_t unix_now_ns() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
}

}  // namespace eddy
