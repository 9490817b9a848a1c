#include "switch/control/ctl/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace eddy::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Folder {
  Folder() {
    char name[] = "/tmp/eddy-archive-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST(Archive, HeadersAreUstar) {
  const std::string header = ustar_header("a/b.txt", 8, 0);
  ASSERT_EQ(header.size(), 512u);
  EXPECT_STREQ(header.c_str(), "a/b.txt");
  EXPECT_EQ(header.substr(124, 12), std::string("00000000010\0", 12));
  EXPECT_EQ(header.substr(257, 8), std::string("ustar\00000", 8));
  uint64_t sum = 0;
  for (size_t i = 0; i < header.size(); ++i)
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
  EXPECT_EQ(std::stoul(header.substr(148, 6), nullptr, 8), sum);
}

TEST(Archive, LongNamesAreCutAtASlash) {
  const std::string folder(70, 'f');
  const std::string file(60, 'n');
  const std::string header = ustar_header(folder + "/" + file, 0, 0);
  EXPECT_STREQ(header.c_str(), file.c_str());
  EXPECT_STREQ(header.c_str() + 345, folder.c_str());
}

TEST(Archive, IsAFileOfItsOwnerAlone) {
  const Folder folder;
  const std::string path = folder.path / "x.tar.gz";
  Archive archive(path);
  EXPECT_THAT(archive.open(), IsEmpty());
  EXPECT_THAT(archive.add("a", "text"), IsEmpty());
  EXPECT_THAT(archive.finish(), IsEmpty());
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST(Archive, NothingIsOverwritten) {
  const Folder folder;
  const std::string path = folder.path / "x.tar.gz";
  std::ofstream(path) << "precious";
  {
    Archive archive(path);
    EXPECT_THAT(archive.open(),
                ElementsAre(path + ": there is such a file; nothing is overwritten"));
  }
  EXPECT_EQ(std::filesystem::file_size(path), 8u);
}

TEST(Archive, WhatIsNotFinishedVanishes) {
  const Folder folder;
  const std::string path = folder.path / "x.tar.gz";
  {
    Archive archive(path);
    EXPECT_THAT(archive.open(), IsEmpty());
    EXPECT_THAT(archive.add("a", "text"), IsEmpty());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Archive, AFolderThatIsNotThereIsSaid) {
  Archive archive("/nonexistent/x.tar.gz");
  EXPECT_THAT(archive.open(), ElementsAre(HasSubstr("No such file")));
}

}  // namespace
}  // namespace eddy::control
