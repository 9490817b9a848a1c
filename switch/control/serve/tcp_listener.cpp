#include "switch/control/serve/tcp_listener.h"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "config/host_port.h"

namespace eddy::control {
namespace {

constexpr int kBacklog = 512;  // more clients at once than a test or a browser has

}  // namespace

Result<Fd> listen_on(const std::string& who, const std::string& address) {
  const auto failed = [&](const std::string& why) {
    return Problems{who + ": cannot listen on " + address + ": " + why};
  };
  const auto [host, port] = split_host_port(address);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0)
    return failed(::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  Fd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1;
  if (!fd.valid() || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      ::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd.get(), kBacklog) != 0)
    return failed(std::strerror(errno));
  return fd;
}

std::string address_of(const Fd& listener) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host.data(), host.size(),
                    port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "";
  const bool is_v6 = address.ss_family == AF_INET6;
  return (is_v6 ? "[" : "") + std::string(host.data()) + (is_v6 ? "]:" : ":") + port.data();
}

}  // namespace eddy::control
