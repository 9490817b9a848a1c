#include "switch/dpdk/driver_guard.h"

#include <rte_version.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "switch/dpdk/devargs.h"

namespace eddy {
namespace {

constexpr unsigned kYear = 22;  // of the DPDK whose net_memif was read
constexpr unsigned kMonth = 11;

std::atomic<bool> steps_in{false};
std::mutex guard_mutex;
std::function<void()> wait_for_workers_now;

bool is_memif(const config::PortConfig& port) {
  return DeviceArgs::parse(port.device).driver() == "net_memif";
}

bool on_interrupt_thread() {
  std::array<char, 16> name{};
  prctl(PR_GET_NAME, name.data());
  return std::string_view(name.data()).starts_with("eal-intr");
}

void wait_before_unmapping() {
  if (!steps_in.load(std::memory_order_acquire) || !on_interrupt_thread()) return;
  const std::lock_guard lock(guard_mutex);
  if (wait_for_workers_now) wait_for_workers_now();
}

ssize_t octets_of(const msghdr& message) {
  ssize_t length = 0;
  for (size_t i = 0; i < message.msg_iovlen; ++i)
    length += static_cast<ssize_t>(message.msg_iov[i].iov_len);
  return length;
}

}  // namespace

std::string DpdkVersion::to_string() const {
  const std::string digits = std::to_string(month);
  return std::to_string(year) + (month < 10 ? ".0" : ".") + digits + '.' + std::to_string(update);
}

DpdkVersion DpdkVersion::parse(const std::string& text) {
  DpdkVersion version;
  std::sscanf(text.c_str(), "%*s %u.%u.%u", &version.year, &version.month, &version.update);
  return version;
}

DpdkVersion running_dpdk() {
  return DpdkVersion::parse(rte_version());
}

std::string guard_drivers(std::span<const config::PortConfig> ports, const DpdkVersion& running) {
  const bool known = running.year == kYear && running.month == kMonth;
  steps_in.store(known, std::memory_order_release);
  if (known || std::none_of(ports.begin(), ports.end(), is_memif)) return {};
  return "DPDK " + running.to_string() +
         " runs, and the guard of memif ports against peers that die was written for 22.11: it "
         "is off, so a peer that is killed may take this process along";
}

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
  if (!eddy::steps_in.load(std::memory_order_acquire))
    return syscall(SYS_sendmsg, fd, message, flags);
  const ssize_t sent = syscall(SYS_sendmsg, fd, message, flags | MSG_NOSIGNAL);
  const bool broken = sent < 0 && (errno == EPIPE || errno == ECONNRESET);
  return broken && eddy::on_interrupt_thread() ? eddy::octets_of(*message) : sent;
}

extern "C" int munmap(void* address, size_t length) noexcept {
  eddy::wait_before_unmapping();
  return static_cast<int>(syscall(SYS_munmap, address, length));
}
