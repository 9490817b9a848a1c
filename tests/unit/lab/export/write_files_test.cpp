#include "lab/export/write_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/support/temp_directory.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    out.push_back(entry.path().lexically_relative(folder).string());
  std::ranges::sort(out);
  return out;
}

mode_t mode_of(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
}

TEST(WriteFolder, FilesAreThereForOtherUsersToRead) {
  const test::TempDirectory beside;
  const mode_t before = umask(077);
  EXPECT_THAT(write_folder(beside.file("out"), {{"a", "1"}, {"b/c/d", "2\n"}, {"b/e", ""}}),
              IsEmpty());
  umask(before);
  EXPECT_THAT(names_in(beside.file("")),
              ElementsAre("out", "out/a", "out/b", "out/b/c", "out/b/c/d", "out/b/e"));
  std::ostringstream text;
  text << std::ifstream(beside.file("out/b/c/d")).rdbuf();
  EXPECT_EQ(text.str(), "2\n");
  EXPECT_EQ(mode_of(beside.file("out")), 0755u);
  EXPECT_EQ(mode_of(beside.file("out/b")), 0755u);
  EXPECT_EQ(mode_of(beside.file("out/a")), 0644u);
}

TEST(WriteFolder, AnEmptyFolderIsTaken) {
  const test::TempDirectory beside;
  fs::create_directory(beside.file("out"));
  EXPECT_THAT(write_folder(beside.file("out/"), {{"a", "1"}}), IsEmpty());
  EXPECT_THAT(names_in(beside.file("")), ElementsAre("out", "out/a"));
}

TEST(WriteFolder, TheFolderAboveMustBeThere) {
  const test::TempDirectory beside;
  const std::string out = beside.file("no") + "/out";
  EXPECT_THAT(write_folder(out, {{"a", "1"}}),
              ElementsAre("--out " + out + ": there is no folder " + beside.file("no")));
  EXPECT_THAT(write_folder("", {{"a", "1"}}), ElementsAre("--out: a folder is needed"));
}

TEST(WriteFolder, WhatIsThereStays) {
  const test::TempDirectory beside;
  fs::create_directory(beside.file("out"));
  std::ofstream(beside.file("out/mine")) << "x";
  EXPECT_THAT(write_folder(beside.file("out"), {{"a", "1"}}),
              ElementsAre(HasSubstr("is there and is not empty")));
  EXPECT_THAT(write_folder(beside.file("out/mine"), {{"a", "1"}}),
              ElementsAre(HasSubstr("is there, and is no folder")));
  EXPECT_THAT(names_in(beside.file("")), ElementsAre("out", "out/mine"));
}

TEST(WriteFolder, ACheckSeesAllAndMayRefuse) {
  const test::TempDirectory beside;
  const auto refuse = [](const fs::path& staged) {
    return fs::exists(staged / "b/c") ? Problems{"no"} : Problems{"not there"};
  };
  EXPECT_THAT(write_folder(beside.file("out"), {{"a", "1"}, {"b/c", "2"}}, refuse),
              ElementsAre("no"));
  EXPECT_THAT(names_in(beside.file("")), IsEmpty());
  const auto take = [](const fs::path&) { return Problems{}; };
  EXPECT_THAT(write_folder(beside.file("out"), {{"a", "1"}}, take), IsEmpty());
  EXPECT_THAT(names_in(beside.file("")), ElementsAre("out", "out/a"));
}

// A file that cannot be written to its end, as on a full disk: the limit of a file's size.
TEST(WriteFolder, NothingHalfIsLeft) {
  const test::TempDirectory beside;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Problems problems =
      write_folder(beside.file("out"), {{"a", "1"}, {"b/c", std::string(200, 'x')}});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(problems, ElementsAre(HasSubstr("File too large")));
  EXPECT_THAT(names_in(beside.file("")), IsEmpty());
}

}  // namespace
}  // namespace eddy::lab
