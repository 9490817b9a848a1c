// Clients of a server on loopback, for tests: one question, or a connection that is left half open.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace eddy::control {

inline int loopback_socket(uint16_t port, int (*with)(int, const sockaddr*, socklen_t)) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (with(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

// One that was free a moment ago.
inline uint16_t free_port() {
  const int fd = loopback_socket(0, bind);
  sockaddr_in address{};
  socklen_t length = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  close(fd);
  return ntohs(address.sin_port);
}

// The whole answer, head and body; empty when none has begun within seconds.
inline std::string said_to(uint16_t port, const std::string& request) {
  const int fd = loopback_socket(port, connect);
  if (fd < 0) return "";
  const timeval patience{3, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4'096];
  for (ssize_t got = 0; (got = read(fd, buffer, sizeof(buffer))) > 0;)
    answer.append(buffer, static_cast<size_t>(got));
  close(fd);
  return answer;
}

}  // namespace eddy::control
