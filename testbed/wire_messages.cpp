#include "testbed/wire_messages.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "system/unix_socket.h"

namespace eddy::testbed {
namespace {

constexpr size_t kLongestText = 512;
constexpr int kBacklog = 64;

// Room for one descriptor.
struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> octets{};
};

// The descriptor that came along; of several none.
int descriptor_of(msghdr& header) {
  int found = -1;
  for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    if (each->cmsg_len == CMSG_LEN(sizeof(int))) std::memcpy(&found, CMSG_DATA(each), sizeof(int));
  }
  return found;
}

}  // namespace

Result<int> listen_on_wire(const std::string& path) {
  sockaddr_un address{};
  if (!fill_unix_address(path, address)) return Result<int>::failure(path + ": too long");
  if (Problems problems = clear_socket_path(path); !problems.empty()) return problems;
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return Result<int>::failure(path + ": " + std::strerror(errno));
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      listen(fd, kBacklog) == 0)
    return fd;
  const int error = errno;
  close(fd);
  return Result<int>::failure(path + ": " + std::strerror(error));
}

std::optional<int> connect_to_wire(const std::string& path) {
  sockaddr_un address{};
  if (!fill_unix_address(path, address)) return {};
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return {};
}

bool send_to_wire(int socket, const std::string& text, int descriptor) {
  std::string copy = text.substr(0, kLongestText);
  copy.push_back('\0');  // a packet of nothing would be taken for the end
  iovec part{copy.data(), copy.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control;
  if (descriptor >= 0) {
    header.msg_control = control.octets.data();
    header.msg_controllen = control.octets.size();
    cmsghdr* one = CMSG_FIRSTHDR(&header);
    one->cmsg_level = SOL_SOCKET;
    one->cmsg_type = SCM_RIGHTS;
    one->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(one), &descriptor, sizeof(int));
  }
  return sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(copy.size());
}

std::optional<WireMessage> receive_from_wire(int socket) {
  std::array<char, kLongestText + 1> text{};
  iovec part{text.data(), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control;
  header.msg_control = control.octets.data();
  header.msg_controllen = control.octets.size();
  const ssize_t count = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  if (count <= 0) return {};
  WireMessage out{.text = {}, .descriptor = descriptor_of(header)};
  if (text[static_cast<size_t>(count) - 1] == '\0') {
    out.text = text.data();
    return out;
  }
  if (out.descriptor >= 0) close(out.descriptor);
  return {};
}

}  // namespace eddy::testbed
