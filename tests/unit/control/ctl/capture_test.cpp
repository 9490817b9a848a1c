// What eddyctl capture filters by, and where it writes to.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "switch/control/ctl/capture_file.h"
#include "switch/control/serve/socket_server.h"
#include "system/capture_filter.h"
#include "tests/support/frames.h"
#include "tests/support/temp_directory.h"

namespace eddy::control {
namespace {

test::Frame a_frame(uint16_t port) {
  test::UdpSpec spec{.source = *parse_ip("10.0.0.1"), .destination = *parse_ip("10.0.0.2")};
  spec.destination_port = port;
  return test::udp_frame(spec);
}

TEST(CaptureFilter, KeepsWhatMatches) {
  const Result<CaptureFilter> filter = CaptureFilter::compile("udp dst port 4791");
  ASSERT_TRUE(filter.ok());
  EXPECT_FALSE(filter.value().keeps_all());
  const test::Frame roce = a_frame(4'791);
  const test::Frame other = a_frame(53);
  EXPECT_TRUE(filter.value().matches(roce, 1'000));
  EXPECT_FALSE(filter.value().matches(other, 1'000));
  EXPECT_FALSE(filter.value().matches(std::span(roce).first(20), 1'000));  // it sees too little
  EXPECT_FALSE(filter.value().matches({}, 0));
}

TEST(CaptureFilter, EverythingWithoutAnExpression) {
  const Result<CaptureFilter> filter = CaptureFilter::compile("");
  ASSERT_TRUE(filter.ok());
  EXPECT_TRUE(filter.value().keeps_all());
  EXPECT_TRUE(filter.value().matches({}, 0));
}

TEST(CaptureFilter, NonsenseIsOneLine) {
  for (const std::string text : {"tcp prot 80", "((((", "\xff\xfe", "ether[", "inbound",
                                 "port 99999999999", "link[0:9] = 1"}) {
    const Result<CaptureFilter> filter = CaptureFilter::compile(text);
    ASSERT_FALSE(filter.ok()) << text;
    ASSERT_EQ(filter.problems().size(), 1u);
    EXPECT_TRUE(filter.problems()[0].starts_with("--filter \"" + text + "\": "));
    EXPECT_EQ(filter.problems()[0].find('\n'), std::string::npos);
  }
  EXPECT_EQ(CaptureFilter::compile(std::string(5'000, '(')).problems()[0],
            "--filter: longer than 4096 characters");
}

bool never() {
  return false;
}

const std::vector<uint8_t> kOctets(100'000, 7);

TEST(CaptureFile, WritesAnewForItsOwnerAlone) {
  test::TempDirectory directory;
  const std::string path = directory.file("a.pcapng");
  for (int round = 0; round < 2; ++round) {
    CaptureFile file(never);
    ASSERT_EQ(file.open(path), Problems{});
    EXPECT_EQ(file.write(kOctets), Problems{});
  }
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 100'000);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(CaptureFile(never).open(directory.file("no/such/folder")),
            Problems{directory.file("no/such/folder") + ": No such file or directory"});
}

TEST(CaptureFile, AFullDeviceIsOneLine) {
  CaptureFile file(never);
  ASSERT_EQ(file.open("/dev/full"), Problems{});
  EXPECT_EQ(file.write(kOctets), Problems{"/dev/full: No space left on device"});
}

// A pipe by its name.
struct Pipe {
  Pipe() { ::mkfifo(path.c_str(), 0600); }
  test::TempDirectory directory;
  std::string path = directory.file("pipe");
};

TEST(CaptureFile, AReaderThatStallsIsWaitedForUntilToldOtherwise) {
  Pipe pipe;
  const Fd reader(::open(pipe.path.c_str(), O_RDONLY | O_NONBLOCK));
  int asked = 0;
  CaptureFile file([&asked] { return ++asked == 1; });
  ASSERT_EQ(file.open(pipe.path), Problems{});
  EXPECT_FALSE(file.reader_is_gone());
  const Problems problems = file.write(kOctets);  // more than a pipe holds
  EXPECT_EQ(problems, Problems{pipe.path + ": nobody reads it; what was left is not written"});
}

// One that is there may be readable by all; a file is its owner's alone, a device stays as it is.
TEST(CaptureFile, WhatItWritesIsItsOwnersAlone) {
  const std::string path = testing::TempDir() + "/eddy-capture-" + std::to_string(::getpid());
  const Fd old(::open(path.c_str(), O_WRONLY | O_CREAT, 0644));
  ASSERT_EQ(::fchmod(old.get(), 0666), 0);
  CaptureFile file(never);
  ASSERT_EQ(file.open(path), Problems{});
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ::unlink(path.c_str());
  struct stat before {};
  ASSERT_EQ(::stat("/dev/null", &before), 0);
  CaptureFile device(never);
  ASSERT_EQ(device.open("/dev/null"), Problems{});
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_EQ(status.st_mode, before.st_mode);
}

TEST(CaptureFile, AReaderThatIsGoneIsSeen) {
  Pipe pipe;
  Fd reader(::open(pipe.path.c_str(), O_RDONLY | O_NONBLOCK));
  CaptureFile file(never);
  ASSERT_EQ(file.open(pipe.path), Problems{});
  reader.reset();
  EXPECT_TRUE(file.reader_is_gone());
  std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(file.write(kOctets), Problems{pipe.path + ": its reader has closed it"});
  std::signal(SIGPIPE, SIG_DFL);
}

}  // namespace
}  // namespace eddy::control
