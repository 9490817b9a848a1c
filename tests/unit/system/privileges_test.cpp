#include "system/privileges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/support/temp_directory.h"

namespace eddy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Of the calling process; what it gives up, it has given up for good: hence children.
int status_after(const Narrowing& narrowing) {
  if (!give_up(narrowing).empty()) return 1;
  if (rights_of_process().capabilities != 0) return 2;
  return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 3;
}

TEST(PrivilegesDeathTest, NothingIsLeftWhenNothingIsKept) {
  EXPECT_EXIT(::_exit(status_after({})), testing::ExitedWithCode(0), "");
}

// Whoever holds none has nothing to keep, and is not refused for it.
TEST(PrivilegesDeathTest, WhatIsKeptIsWhatWasHeldOfIt) {
  const uint64_t keep = uint64_t{1} << 12 | uint64_t{1} << 13;
  const auto kept_exactly = [&] {
    const uint64_t held = rights_of_process().capabilities;
    const bool fine = give_up({.keep = keep}).empty();
    return fine && rights_of_process().capabilities == (held & keep) ? 0 : 1;
  };
  EXPECT_EXIT(::_exit(kept_exactly()), testing::ExitedWithCode(0), "");
}

TEST(Privileges, AProcessOfManyThreadsIsRefused) {
  std::jthread other([](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
  });
  EXPECT_THAT(give_up({}), ElementsAre(HasSubstr("more than one thread")));
}

TEST(Privileges, FilesAreTriedAsTheUser) {
  test::TempDirectory directory;
  const std::string file = directory.file("switch.yaml");
  std::ofstream(file) << "x";
  const User self{"root", ::getuid(), ::getgid()};
  const User other{"nobody", 65'534, 65'534};
  const std::vector<FileNeed> all{{"/", false}, {file, false}, {directory.file("a/b"), true}};
  if (::getuid() != 0) {
    EXPECT_THAT(check_files_as(other, all), ElementsAre("this process cannot become user nobody"));
    return;
  }
  EXPECT_THAT(check_files_as(self, all), IsEmpty());
  EXPECT_THAT(check_files_as(other, all), ElementsAre("user nobody cannot read " + file));
  EXPECT_THAT(check_files_as(other, {all.back()}),
              ElementsAre("user nobody cannot write in " + directory.file("a/b")));
}

TEST(Privileges, UsersAndGroupsAreFoundByName) {
  ASSERT_TRUE(find_user("root").has_value());
  EXPECT_EQ(find_user("root")->uid, 0u);
  EXPECT_EQ(find_group("root"), gid_t{0});
  EXPECT_FALSE(find_user("no-such-user-").has_value());
  EXPECT_FALSE(find_group("no-such-group-").has_value());
}

}  // namespace
}  // namespace eddy
