#include "switch/dpdk/driver_guard.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <vector>

namespace eddy {
namespace {

using testing::HasSubstr;

constexpr DpdkVersion kWrittenFor{22, 11, 7};

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

std::vector<config::PortConfig> port_on(const char* device) {
  std::vector<config::PortConfig> ports{config::default_port("p1")};
  ports[0].device = device;
  return ports;
}

class DriverGuardTest : public testing::Test {
 protected:
  DriverGuardTest() { EXPECT_EQ(guard_drivers({}, kWrittenFor), ""); }
  ~DriverGuardTest() override { guard_drivers({}, {}); }
};

TEST_F(DriverGuardTest, TheDriversThreadWaitsBeforeItUnmaps) {
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

TEST_F(DriverGuardTest, OtherThreadsUnmapAtOnce) {
  Page page;
  int waits = 0;
  const DriverGuard guard([&] { ++waits; });
  on_thread(kOtherThread, [&] { page.unmap(); });
  EXPECT_EQ(waits, 0);
  EXPECT_FALSE(page.mapped());
}

TEST_F(DriverGuardTest, NobodyIsWaitedForAfterIt) {
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
Answer greet_who_is_gone(const char* thread, int flags = 0, int kind = SOCK_SEQPACKET) {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, kind, 0, ends.data()), 0);
  close(ends[1]);
  std::array<char, 12> octets{};
  std::array<iovec, 2> parts{{{octets.data(), 4}, {octets.data() + 4, 8}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  Answer answer;
  on_thread(thread, [&] {
    answer.sent = found_by_libraries<decltype(sendmsg)>("sendmsg")(ends[0], &message, flags);
    answer.error = answer.sent < 0 ? errno : 0;
  });
  close(ends[0]);
  return answer;
}

TEST_F(DriverGuardTest, TheDriversThreadIsNotToldThatAPeerIsGone) {
  EXPECT_EQ(greet_who_is_gone(kDriversThread).sent, 12);
}

TEST_F(DriverGuardTest, OtherThreadsAreToldWithoutASignal) {
  const Answer answer = greet_who_is_gone(kOtherThread, 0, SOCK_STREAM);
  EXPECT_EQ(answer.sent, -1);
  EXPECT_EQ(answer.error, EPIPE);
}

TEST_F(DriverGuardTest, AnyUpdateOfItsVersionIsGuarded) {
  const auto ports = port_on("net_memif0,socket=/run/eddy/a.sock");
  EXPECT_EQ(guard_drivers(ports, {22, 11, 0}), "");
  EXPECT_EQ(greet_who_is_gone(kDriversThread).sent, 12);
  EXPECT_EQ(guard_drivers(ports, {22, 11, 99}), "");
  EXPECT_EQ(greet_who_is_gone(kDriversThread).sent, 12);
}

TEST_F(DriverGuardTest, MemifPortsOnAnotherVersionAreWarnedOf) {
  const auto ports = port_on("net_memif0,socket=/run/eddy/a.sock");
  EXPECT_THAT(guard_drivers(ports, {23, 3, 0}), HasSubstr("DPDK 23.03.0 runs"));
  EXPECT_THAT(guard_drivers(ports, {22, 7, 1}), HasSubstr("DPDK 22.07.1 runs"));
  EXPECT_THAT(guard_drivers(ports, {21, 11, 0}), HasSubstr("DPDK 21.11.0 runs"));
  EXPECT_EQ(guard_drivers(port_on("net_af_packet0,iface=eth1"), {23, 11, 0}), "");
}

TEST_F(DriverGuardTest, OnAnotherVersionUnmappingIsTheSystems) {
  guard_drivers({}, {23, 11, 0});
  Page page;
  int waits = 0;
  const DriverGuard guard([&] { ++waits; });
  on_thread(kDriversThread, [&] { page.unmap(); });
  EXPECT_EQ(waits, 0);
  EXPECT_FALSE(page.mapped());
}

TEST_F(DriverGuardTest, OnAnotherVersionSendingIsTheSystems) {
  guard_drivers({}, {23, 11, 0});
  const Answer answer = greet_who_is_gone(kDriversThread, MSG_NOSIGNAL);
  EXPECT_EQ(answer.sent, -1);
  EXPECT_EQ(answer.error, EPIPE);
  const auto greet_with_signals = [] {
    signal(SIGPIPE, SIG_DFL);
    greet_who_is_gone(kDriversThread, 0, SOCK_STREAM);
  };
  EXPECT_EXIT(greet_with_signals(), testing::KilledBySignal(SIGPIPE), "");
}

TEST(DpdkVersion, IsReadFromWhatDpdkSays) {
  EXPECT_EQ(DpdkVersion::parse("DPDK 22.11.11").to_string(), "22.11.11");
  EXPECT_EQ(DpdkVersion::parse("DPDK 23.03.0-rc1").to_string(), "23.03.0");
  EXPECT_EQ(DpdkVersion::parse("something else").to_string(), "0.00.0");
}

// What runs here is what all of this is tested with.
TEST_F(DriverGuardTest, TheVersionThatRunsIsKnown) {
  EXPECT_EQ(running_dpdk().year, 22u);
  EXPECT_EQ(running_dpdk().month, 11u);
}

}  // namespace
}  // namespace eddy
