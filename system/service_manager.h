// ServiceManager: what systemd, or whoever speaks its protocol, is told of this process.
//
// $NOTIFY_SOCKET says where; without it nothing is sent. $WATCHDOG_USEC and $WATCHDOG_PID say how
// often it wants to hear. Owner: main; any thread. Cost: a datagram a call, which is lost rather
// than waited for. Source: sd_notify(3), sd_watchdog_enabled(3).
#pragma once

#include <string>

#include "net/units.h"

namespace eddy {

class ServiceManager {
 public:
  ServiceManager();

  bool present() const { return present_; }
  // It wants a sign of life at least this often; zero: it does not.
  Duration watchdog() const { return watchdog_; }
  // Lines "NAME=VALUE".
  void notify(const std::string& lines) const;

 private:
  bool present_ = false;
  Duration watchdog_;
};

}  // namespace eddy
