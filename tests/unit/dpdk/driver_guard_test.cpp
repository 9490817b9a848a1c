#include "switch/dpdk/driver_guard.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

namespace eddy {
namespace {

constexpr const char* kDriversThread = "eal-intr-thread";  // DPDK's name for it
constexpr const char* kOtherThread = "telemetry";

template <typename Run>
void on_thread(const char* name, const Run& run) {
  std::thread([&] {
    pthread_setname_np(pthread_self(), name);
    run();
  }).join();
}

// As a library that was loaded later finds it.
template <typename Function>
Function* found_by_libraries(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

class Page {
 public:
  Page()
      : start_(mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  bool mapped() const {
    unsigned char resident = 0;
    return mincore(start_, size(), &resident) == 0;
  }
  void unmap() { EXPECT_EQ(found_by_libraries<decltype(munmap)>("munmap")(start_, size()), 0); }

 private:
  static size_t size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  void* start_;
};

TEST(DriverGuard, TheDriversThreadWaitsBeforeItUnmaps) {
  Page page;
  int waits = 0;
  const DriverGuard guard([&] {
    ++waits;
    EXPECT_TRUE(page.mapped()) << "unmapped under the workers";
  });
  on_thread(kDriversThread, [&] { page.unmap(); });
  EXPECT_EQ(waits, 1);
  EXPECT_FALSE(page.mapped());
}

TEST(DriverGuard, OtherThreadsUnmapAtOnce) {
  Page page;
  int waits = 0;
  const DriverGuard guard([&] { ++waits; });
  on_thread(kOtherThread, [&] { page.unmap(); });
  EXPECT_EQ(waits, 0);
  EXPECT_FALSE(page.mapped());
}

TEST(DriverGuard, NobodyIsWaitedForAfterIt) {
  Page page;
  int waits = 0;
  {
    const DriverGuard guard([&] { ++waits; });
  }
  on_thread(kDriversThread, [&] { page.unmap(); });
  EXPECT_EQ(waits, 0);
  EXPECT_FALSE(page.mapped());
}

// What sendmsg() of two parts, 12 octets together, answers on a thread when the peer has gone.
struct Answer {
  ssize_t sent = 0;
  int error = 0;
};
Answer greet_who_is_gone(const char* thread) {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
  close(ends[1]);
  std::array<char, 12> octets{};
  std::array<iovec, 2> parts{{{octets.data(), 4}, {octets.data() + 4, 8}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  Answer answer;
  on_thread(thread, [&] {
    answer.sent = found_by_libraries<decltype(sendmsg)>("sendmsg")(ends[0], &message, 0);
    answer.error = answer.sent < 0 ? errno : 0;
  });
  close(ends[0]);
  return answer;
}

TEST(DriverGuard, TheDriversThreadIsNotToldThatAPeerIsGone) {
  EXPECT_EQ(greet_who_is_gone(kDriversThread).sent, 12);
}

TEST(DriverGuard, OtherThreadsAreToldWithoutASignal) {
  const Answer answer = greet_who_is_gone(kOtherThread);
  EXPECT_EQ(answer.sent, -1);
  EXPECT_EQ(answer.error, EPIPE);
}

}  // namespace
}  // namespace eddy
