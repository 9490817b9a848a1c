#include "system/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "system/unix_socket.h"
#include "tests/support/temp_directory.h"

namespace eddy {
namespace {

// A socket that plays systemd; the environment is put back.
class ServiceManagerTest : public testing::Test {
 protected:
  void SetUp() override {
    sockaddr_un address;
    ASSERT_TRUE(fill_unix_address(path_, address));
    ASSERT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
    ::close(socket_);
  }
  void watch(const std::string& interval_us, pid_t pid) const {
    ::setenv("NOTIFY_SOCKET", path_.c_str(), 1);
    ::setenv("WATCHDOG_USEC", interval_us.c_str(), 1);
    ::setenv("WATCHDOG_PID", std::to_string(pid).c_str(), 1);
  }
  std::string heard() const {
    std::array<char, 1'024> buffer{};
    const ssize_t size = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(buffer.data(), static_cast<size_t>(size));
  }

  test::TempDirectory directory_;
  const std::string path_ = directory_.file("notify");
  const int socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

TEST_F(ServiceManagerTest, HearsWhatIsSaid) {
  ::setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  const ServiceManager manager;
  EXPECT_TRUE(manager.present());
  EXPECT_EQ(manager.watchdog(), Duration{});
  manager.notify("READY=1\nSTATUS=ports up: 1 of 1");
  EXPECT_EQ(heard(), "READY=1\nSTATUS=ports up: 1 of 1");
}

TEST_F(ServiceManagerTest, IsNotThereWithoutASocket) {
  const ServiceManager manager;
  EXPECT_FALSE(manager.present());
  manager.notify("READY=1");
  ::setenv("NOTIFY_SOCKET", "", 1);
  EXPECT_FALSE(ServiceManager().present());
  EXPECT_EQ(heard(), "");
}

TEST_F(ServiceManagerTest, WatchesThisProcessOrAnother) {
  watch("500000", ::getpid());
  EXPECT_EQ(ServiceManager().watchdog(), Duration::milliseconds(500));
  watch("500000", ::getppid());
  EXPECT_EQ(ServiceManager().watchdog(), Duration{});
  watch("nonsense", ::getpid());
  EXPECT_EQ(ServiceManager().watchdog(), Duration{});
  watch("18446744073709551614", ::getpid());
  EXPECT_EQ(ServiceManager().watchdog(), Duration::seconds(3'600));
}

}  // namespace
}  // namespace eddy
