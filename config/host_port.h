// "127.0.0.1:9477" and "[::1]:9477" in two: the host without its brackets, and the port.
#pragma once

#include <string>
#include <string_view>

#include "net/addresses.h"

namespace eddy {

struct HostPort {
  std::string host;
  std::string port;  // empty: there is none
};

inline HostPort split_host_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host),
          std::string(colon == std::string_view::npos ? "" : text.substr(colon + 1))};
}

// 127.0.0.0/8 or ::1.
inline bool is_loopback(const IpAddress& address) {
  constexpr uint32_t kLoopbackNet = 127;
  constexpr int kNetShift = 24;
  return address.is_v4() ? address.v4().value >> kNetShift == kLoopbackNet
                         : to_string(address) == "::1";
}

}  // namespace eddy
