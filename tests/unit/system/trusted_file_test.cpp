#include "system/trusted_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/trusted_directory.h"

namespace eddy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class TrustedFile : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(folder_.path().empty())
        << "no folder that only its user writes to, here or in /var/lib";
    fs::create_directories(folder_ / "a/b");
    put(folder_ / "a/b/file");
    chmod("a", 0755);
    chmod("a/b", 0755);
  }
  static void put(const fs::path& path) {
    std::ofstream(path) << "contents";
    ::chmod(path.c_str(), 0644);
  }
  void chmod(const std::string& name, mode_t mode) {
    ASSERT_EQ(::chmod((folder_ / name).c_str(), mode), 0);
  }
  // What is wrong with the file, empty: nothing.
  std::string problem(const std::string& name = "a/b/file") const {
    return problem_of(folder_ / name);
  }
  static std::string problem_of(const fs::path& path, uid_t user = ::geteuid()) {
    const auto opened = open_trusted(path, user);
    return opened ? "" : opened.problems().front();
  }

  test::TrustedDirectory folder_;
};

TEST_F(TrustedFile, IsOpenedWhereOnlyItsOwnerWrites) {
  const auto opened = open_trusted(folder_ / "a/b/file", ::geteuid());
  ASSERT_TRUE(opened);
  char octets[16];
  EXPECT_EQ(::read(opened.value().get(), octets, sizeof octets), 8);
}

TEST_F(TrustedFile, ThatOthersMayWriteToIsRefused) {
  chmod("a/b/file", 0664);
  EXPECT_THAT(problem(), HasSubstr("file: it can be written to by its group"));
  chmod("a/b/file", 0646);
  EXPECT_THAT(problem(), HasSubstr("file: it can be written to by everybody"));
}

TEST_F(TrustedFile, BelowAFolderThatOthersMayWriteToIsRefused) {
  for (const auto& [mode, whom] : {std::pair{0775, "its group"}, {0757, "everybody"}}) {
    for (const std::string name : {"a", "a/b"}) {
      chmod(name, static_cast<mode_t>(mode));
      EXPECT_THAT(problem(), HasSubstr((folder_ / name).string() +
                                       ": this folder can be written to by " + whom));
      chmod(name, 0755);
    }
  }
  EXPECT_EQ(problem(), "");
}

// Who owns what others may not remove can still put something beside it.
TEST_F(TrustedFile, BelowAStickyFolderIsRefused) {
  chmod("a", 01777);
  EXPECT_THAT(problem(), HasSubstr("this folder can be written to by everybody"));
}

TEST_F(TrustedFile, OfAnotherUserIsRefused) {
  constexpr uid_t kSomebody = 4'321;
  if (::geteuid() != 0) {  // who cannot give files away is the other one
    EXPECT_THAT(problem_of(folder_ / "a/b/file", kSomebody),
                HasSubstr("belongs to user " + std::to_string(::geteuid())));
    return;
  }
  ASSERT_EQ(::chown((folder_ / "a/b/file").c_str(), kSomebody, kSomebody), 0);
  EXPECT_THAT(problem(), HasSubstr("file: it belongs to user 4321"));
  EXPECT_EQ(problem_of(folder_ / "a/b/file", kSomebody), "");
  ASSERT_EQ(::chown((folder_ / "a/b/file").c_str(), 0, 0), 0);
  ASSERT_EQ(::chown((folder_ / "a").c_str(), kSomebody, kSomebody), 0);
  EXPECT_THAT(problem(), HasSubstr("/a: this folder belongs to user 4321"));
}

TEST_F(TrustedFile, BehindALinkIsRefusedWhereOthersWriteToOneOfTheFolders) {
  fs::create_directories(folder_ / "open");
  put(folder_ / "open/file");
  chmod("open", 0777);
  fs::create_symlink("../../open/file", folder_ / "a/b/link");
  EXPECT_THAT(problem("a/b/link"), HasSubstr("/open: this folder can be written to by everybody"));
  // The link itself stands where others can make it lead elsewhere.
  fs::create_symlink(folder_ / "a/b/file", folder_ / "open/link");
  EXPECT_THAT(problem("open/link"), HasSubstr("/open: this folder can be written to by everybody"));
  // On the way back out of it.
  EXPECT_THAT(problem("open/../a/b/file"), HasSubstr("can be written to by everybody"));
}

TEST_F(TrustedFile, BehindGoodLinksIsOpened) {
  fs::create_symlink("../b/file", folder_ / "a/b/near");
  fs::create_symlink(folder_ / "a/b/near", folder_ / "a/far");
  fs::create_directory_symlink("a", folder_ / "c");
  EXPECT_EQ(problem("a/b/near"), "");
  EXPECT_EQ(problem("a/far"), "");
  EXPECT_EQ(problem("c/b/../b/./file"), "");
}

TEST_F(TrustedFile, BehindLinksInACircleIsRefused) {
  fs::create_symlink("loop", folder_ / "a/loop");
  EXPECT_THAT(problem("a/loop"), HasSubstr("too many symbolic links"));
}

TEST_F(TrustedFile, IsAFile) {
  EXPECT_THAT(problem("a/b"), HasSubstr("this is a folder"));
  EXPECT_THAT(problem("a/b/none"), HasSubstr("none: there is no such file"));
  EXPECT_THAT(problem("a/b/file/below"), HasSubstr("a file is no folder"));
  EXPECT_THAT(problem_of("a/b/file"), HasSubstr("does not begin at the root"));
  ASSERT_EQ(::mkfifo((folder_ / "a/pipe").c_str(), 0644), 0);
  EXPECT_THAT(problem("a/pipe"), HasSubstr("no regular file"));  // and nobody waits for its writer
}

TEST(TrustedFileInTmp, IsRefused) {
  std::string name = "/tmp/eddy-test-XXXXXX";
  const Descriptor file(::mkstemp(name.data()));
  const auto opened = open_trusted(name, ::geteuid());
  ::unlink(name.c_str());
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.problems(), ElementsAre(HasSubstr("/tmp: this folder can be written to")));
}

}  // namespace
}  // namespace eddy
