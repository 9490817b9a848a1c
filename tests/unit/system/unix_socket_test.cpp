#include "system/unix_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace eddy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A socket that is bound to a path, and listens where its type can.
class Bound {
 public:
  Bound(const std::string& path, int type) : fd_(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0)) {
    sockaddr_un address;
    EXPECT_TRUE(fill_unix_address(path, address));
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    if (type != SOCK_DGRAM) {
      EXPECT_EQ(::listen(fd_, 4), 0);
    }
  }
  ~Bound() { ::close(fd_); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  // Whether somebody has connected.
  bool disturbed() const {
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
    const int client = ::accept(fd_, nullptr, nullptr);
    if (client >= 0) ::close(client);
    return client >= 0;
  }

 private:
  int fd_;
};

class UnixSocketTest : public testing::Test {
 protected:
  // What a killed process leaves behind.
  void leave_dead() const { Bound(path_, SOCK_STREAM); }
  // The path stays as it is, and this is said.
  void expect_kept(SocketPath state, const char* said) const {
    EXPECT_EQ(socket_path_state(path_), state);
    EXPECT_THAT(clear_socket_path(path_), ElementsAre(HasSubstr(said)));
    EXPECT_TRUE(fs::exists(fs::symlink_status(path_)));
  }
  test::TempDirectory directory_;
  std::string path_ = directory_.file("s.sock");
};

TEST_F(UnixSocketTest, ADeadOneIsUnlinked) {
  leave_dead();
  EXPECT_EQ(socket_path_state(path_), SocketPath::dead);
  EXPECT_THAT(clear_socket_path(path_), IsEmpty());
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(UnixSocketTest, NothingIsNothing) {
  EXPECT_EQ(socket_path_state(path_), SocketPath::absent);
  EXPECT_THAT(clear_socket_path(path_), IsEmpty());
  EXPECT_THAT(clear_socket_path(directory_.file("no/such/folder.sock")), IsEmpty());
}

TEST_F(UnixSocketTest, OneThatIsHeldStaysWhateverItsType) {
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM}) {
    {
      const Bound bound(path_, type);
      expect_kept(SocketPath::held, "is served by another process");
      EXPECT_FALSE(bound.disturbed()) << type;
    }
    EXPECT_THAT(clear_socket_path(path_), IsEmpty());
  }
}

TEST_F(UnixSocketTest, OnesOwnIsHiddenWhileItIsHeld) {
  const Bound bound(path_, SOCK_SEQPACKET);
  hide_own_socket(path_);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_FALSE(bound.disturbed());
  hide_own_socket(path_);  // of a path where nothing stands
  std::ofstream(path_) << "precious";
  hide_own_socket(path_);
  EXPECT_TRUE(fs::exists(path_));
}

TEST_F(UnixSocketTest, AFileStaysAsItIs) {
  std::ofstream(path_) << "precious";
  expect_kept(SocketPath::other, "is not a socket");
  std::string text;
  std::ifstream(path_) >> text;
  EXPECT_EQ(text, "precious");
}

TEST_F(UnixSocketTest, AFolderAFifoAndALinkStay) {
  ASSERT_EQ(::mkdir(path_.c_str(), 0700), 0);
  expect_kept(SocketPath::other, "is not a socket");
  ASSERT_EQ(::rmdir(path_.c_str()), 0);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_kept(SocketPath::other, "is not a socket");
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  const std::string dead = directory_.file("dead.sock");
  Bound(dead, SOCK_STREAM);
  ASSERT_EQ(::symlink(dead.c_str(), path_.c_str()), 0);
  expect_kept(SocketPath::other, "is not a socket");
  EXPECT_TRUE(fs::exists(dead));
}

TEST_F(UnixSocketTest, APathThatIsTooLongForASocketIsNotTouched) {
  path_ = directory_.file(std::string(120, 'a'));
  EXPECT_EQ(socket_path_state(path_), SocketPath::absent);
  std::ofstream(path_) << "x";
  expect_kept(SocketPath::other, "is not a socket");
}

}  // namespace
}  // namespace eddy
