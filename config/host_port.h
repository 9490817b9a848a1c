// "127.0.0.1:9477" and "[::1]:9477" in two: the host without its brackets, and the port.
#pragma once

#include <string>
#include <string_view>

namespace eddy {

struct HostPort {
  std::string host;
  std::string port;  // empty: there is none
};

inline HostPort split_host_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return {std::string(host),
          std::string(colon == std::string_view::npos ? "" : text.substr(colon + 1))};
}

}  // namespace eddy
