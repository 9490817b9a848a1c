#include "switch/dpdk/driver_guard.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <string_view>

namespace eddy {
namespace {

std::mutex guard_mutex;
std::function<void()> wait_for_workers_now;

bool on_interrupt_thread() {
  std::array<char, 16> name{};
  prctl(PR_GET_NAME, name.data());
  return std::string_view(name.data()).starts_with("eal-intr");
}

void wait_before_unmapping() {
  if (!on_interrupt_thread()) return;
  const std::lock_guard lock(guard_mutex);
  if (wait_for_workers_now) wait_for_workers_now();
}

}  // namespace

DriverGuard::DriverGuard(std::function<void()> wait_for_workers) {
  const std::lock_guard lock(guard_mutex);
  wait_for_workers_now = std::move(wait_for_workers);
}

DriverGuard::~DriverGuard() {
  const std::lock_guard lock(guard_mutex);
  wait_for_workers_now = nullptr;
}

}  // namespace eddy

extern "C" ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  const ssize_t sent = syscall(SYS_sendmsg, fd, message, flags | MSG_NOSIGNAL);
  const bool broken = sent < 0 && (errno == EPIPE || errno == ECONNRESET);
  if (!broken || !eddy::on_interrupt_thread()) return sent;
  ssize_t length = 0;
  for (size_t i = 0; i < message->msg_iovlen; ++i)
    length += static_cast<ssize_t>(message->msg_iov[i].iov_len);
  return length;
}

extern "C" int munmap(void* address, size_t length) noexcept {
  eddy::wait_before_unmapping();
  return static_cast<int>(syscall(SYS_munmap, address, length));
}
