#include "system/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "system/unix_socket.h"
#include "tests/support/temp_directory.h"

namespace eddy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::StartsWith;

class RunFolderTest : public testing::Test {
 protected:
  std::unique_ptr<RunFolder> claimed() const {
    auto claim = RunFolder::claim(folder_, "a switch named leaf1");
    EXPECT_TRUE(claim.ok()) << claim.problems().front();
    return claim ? std::move(*claim) : nullptr;
  }
  Problems refusal() const {
    auto claim = RunFolder::claim(folder_, "a switch named leaf1");
    return claim ? Problems{} : claim.problems();
  }
  void put(const std::string& name) const { std::ofstream(folder_ / name) << name; }
  test::TempDirectory directory_;
  const fs::path folder_ = fs::path(directory_.file("dpdk")) / "eddy-leaf1";
};

TEST_F(RunFolderTest, IsOfItsOwnerAloneAndGoesWithIt) {
  auto folder = claimed();
  struct stat status {};
  ASSERT_EQ(::stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  put("dpdk_telemetry.v2");
  folder.reset();
  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_TRUE(fs::exists(folder_.parent_path()));
}

TEST_F(RunFolderTest, ASecondOneIsRefusedAndTouchesNothing) {
  const auto first = claimed();
  put("dpdk_telemetry.v2");
  put("config");
  EXPECT_THAT(refusal(), ElementsAre(StartsWith("a switch named leaf1 runs already (")));
  EXPECT_TRUE(fs::exists(folder_ / "dpdk_telemetry.v2"));
  EXPECT_TRUE(fs::exists(folder_ / "config"));
}

TEST_F(RunFolderTest, WhatAKilledOneLeftIsRemoved) {
  fs::create_directories(folder_ / "below");
  put("eddy.lock");  // nobody holds it
  put("below/config");
  const auto next = claimed();
  EXPECT_FALSE(fs::exists(folder_ / "below"));
}

TEST_F(RunFolderTest, AProcessThatServesTelemetryThereIsInTheWay) {
  fs::create_directories(folder_);
  put("config");
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  sockaddr_un address;
  ASSERT_TRUE(fill_unix_address(folder_ / "dpdk_telemetry.v2", address));
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(fd, 1), 0);
  EXPECT_THAT(refusal(), ElementsAre(StartsWith("a switch named leaf1 runs already (")));
  EXPECT_TRUE(fs::exists(folder_ / "config"));
  ::close(fd);
  EXPECT_NE(claimed(), nullptr);
}

TEST_F(RunFolderTest, ALinkToSomewhereElseIsNoFolder) {
  fs::create_directories(folder_.parent_path());
  const fs::path elsewhere = directory_.file("elsewhere");
  fs::create_directory(elsewhere);
  std::ofstream(elsewhere / "precious") << "x";
  fs::create_directory_symlink(elsewhere, folder_);
  EXPECT_THAT(refusal(), ElementsAre(folder_.string() + ": this is no folder of this user"));
  EXPECT_TRUE(fs::exists(elsewhere / "precious"));
}

TEST_F(RunFolderTest, AFileInItsPlaceIsAProblem) {
  fs::create_directories(folder_.parent_path());
  std::ofstream(folder_) << "x";
  EXPECT_THAT(refusal(), ElementsAre(folder_.string() + ": this is no folder of this user"));
}

TEST(DpdkRunFolder, RuntimeDirectoryCountsNowhere) {
  const fs::path before = dpdk_run_folder();
  ::setenv("RUNTIME_DIRECTORY", "/nonexistent", 1);
  EXPECT_EQ(dpdk_run_folder(), before);
  ::unsetenv("RUNTIME_DIRECTORY");
  if (::getuid() == 0) {
    EXPECT_EQ(before, "/var/run/dpdk");
  }
}

}  // namespace
}  // namespace eddy
