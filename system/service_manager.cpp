#include "system/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <cstdlib>

namespace eddy {

ServiceManager::ServiceManager() {
  const char* const socket = std::getenv("NOTIFY_SOCKET");
  present_ = socket != nullptr && *socket != '\0';
  constexpr int64_t kLongestUs = int64_t{3'600} * 1'000'000;  // what is wanted less often is, too
  uint64_t interval_us = 0;
  if (!present_ || sd_watchdog_enabled(0, &interval_us) <= 0) return;
  const auto capped = interval_us < kLongestUs ? static_cast<int64_t>(interval_us) : kLongestUs;
  watchdog_ = Duration::microseconds(capped);
}

void ServiceManager::notify(const std::string& lines) const {
  if (present_) (void)sd_notify(0, lines.c_str());
}

}  // namespace eddy
