#include "testbed/wire_host.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "testbed/wire_links.h"
#include "testbed/wire_messages.h"

namespace eddy::testbed {

WireHost::~WireHost() {
  if (connection_ >= 0) close(connection_);
}

Result<bool> WireHost::join() {
  const auto connection = connect_to_wire(wishes_.socket);
  if (!connection) return false;
  if (connection_ >= 0) close(connection_);
  connection_ = *connection;
  auto links = WireLinks::open();
  if (!links) return links.problems();
  // Of the time before, where the server was away: with it goes its end at the switch.
  if (Problems problems = links->remove(wishes_.device); !problems.empty()) return problems;
  const int network = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (network < 0)
    return Result<bool>::failure(std::string("/proc/self/ns/net: ") + std::strerror(errno));
  const bool sent = send_to_wire(connection_, wishes_.name + " " + wishes_.device, network);
  close(network);
  const auto answer = sent ? receive_from_wire(connection_) : std::nullopt;
  if (!answer) return false;
  if (answer->descriptor >= 0) close(answer->descriptor);
  if (!answer->text.empty()) return Result<bool>::failure(answer->text);
  if (Problems problems = set_up_interface(); !problems.empty()) return problems;
  return true;
}

Problems WireHost::set_up_interface() const {
  auto links = WireLinks::open();
  if (!links) return links.problems();
  Problems problems = links->set_up("lo");
  if (problems.empty()) problems = links->add_address(wishes_.device, wishes_.address);
  if (problems.empty()) problems = links->set_up(wishes_.device);
  if (problems.empty()) problems = links->add_default_route(wishes_.device, wishes_.gateway);
  return problems;
}

bool WireHost::connected() {
  if (connection_ < 0) return false;
  pollfd one{connection_, POLLRDHUP, 0};
  return poll(&one, 1, 0) <= 0 || (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
}

}  // namespace eddy::testbed
