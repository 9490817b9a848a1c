#include "lab/results/sweep_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class SweepFolderTest : public testing::Test {
 public:
  ~SweepFolderTest() override { fs::remove_all(top_); }

 protected:
  SweepFolderTest() {
    std::string name = (fs::temp_directory_path() / "eddy-sweep-XXXXXX").string();
    top_ = mkdtemp(name.data());
  }

  fs::path top_;
};

TEST_F(SweepFolderTest, IsMadeAndHeldUntilItsOwnerEnds) {
  const fs::path folder = top_ / "out" / "one";
  {
    const auto first = SweepFolder::claim(folder);
    ASSERT_TRUE(first.ok()) << first.problems().front();
    EXPECT_THAT(SweepFolder::claim(folder).problems(),
                ElementsAre(HasSubstr("another sweep, process " + std::to_string(getpid()) +
                                      ", is writing there")));
    EXPECT_TRUE(SweepFolder::claim(top_ / "out" / "two").ok());
  }
  EXPECT_TRUE(SweepFolder::claim(folder).ok());
}

TEST_F(SweepFolderTest, IsSharedByTheProcessesOfOneJob) {
  const auto first = SweepFolder::claim(top_, {.index = 0, .count = 2, .from = {}});
  const auto second = SweepFolder::claim(top_, {.index = 1, .count = 2, .from = {}});
  EXPECT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(SweepFolder::claim(top_, {.index = 1, .count = 2, .from = {}}).ok());
  EXPECT_FALSE(SweepFolder::claim(top_).ok());
}

TEST_F(SweepFolderTest, OneThatCannotBeWrittenIsSaidInOneLine) {
  std::ofstream(top_ / "file") << "x";
  EXPECT_THAT(SweepFolder::claim(top_ / "file").problems(),
              ElementsAre(EndsWith("file: cannot be written: Not a directory")));
  EXPECT_THAT(SweepFolder::claim(top_ / "file" / "below").problems(),
              ElementsAre(EndsWith("below: cannot be written: Not a directory")));
}

TEST_F(SweepFolderTest, AFileIsTriedBeforeTheWork) {
  EXPECT_EQ(check_writable(top_ / "page.html"), Problems{});
  EXPECT_THAT(check_writable(top_), ElementsAre(EndsWith(": cannot be written: Is a directory")));
  EXPECT_THAT(check_writable(top_ / "none" / "page.html"),
              ElementsAre(EndsWith(": cannot be written: there is no folder for it")));
}

}  // namespace
}  // namespace eddy::lab
