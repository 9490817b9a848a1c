#include "plugin/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_directory.h"

namespace eddy::plugin {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Places : public testing::Test {
 protected:
  static void touch(const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "x";
  }
  fs::path packaged() const { return top() / "usr" / EDDY_LIBRARY_FOLDER / "eddy/schemes/mine.so"; }
  fs::path top() const { return fs::path(folder_.file("")).parent_path(); }
  Surroundings around() const { return {top() / "usr/bin/eddyd", (top() / "data").string()}; }
  Result<Place> find(const std::string& plugin) const {
    return place_of(plugin, top() / "etc", around());
  }

  eddy::test::TempDirectory folder_;
};

TEST_F(Places, APathIsRelativeToTheFile) {
  EXPECT_EQ(find("/opt/mine.so").value().file, "/opt/mine.so");
  EXPECT_EQ(find("./mine.so").value().file, top() / "etc/mine.so");
  EXPECT_EQ(find("../lib/mine.so").value().file, top() / "etc/../lib/mine.so");
}

TEST_F(Places, APlainNameIsLookedForInOrder) {
  touch(packaged());
  EXPECT_EQ(find("mine.so").value().file, packaged());
  EXPECT_TRUE(find("mine.so").value().packaged);
  touch(top() / "etc/mine.so");
  EXPECT_EQ(find("mine.so").value().file, top() / "etc/mine.so");
  EXPECT_FALSE(find("mine.so").value().packaged);
  touch(top() / "data/schemes/mine.so");
  EXPECT_EQ(find("mine.so").value().file, top() / "data/schemes/mine.so");
  EXPECT_FALSE(find("mine.so").value().packaged);
}

TEST_F(Places, APlainNameThatIsNowhereSaysWhereItWasLookedFor) {
  const auto found = find("mine.so");
  ASSERT_FALSE(found);
  for (const fs::path& folder : {top() / "data/schemes", top() / "etc", packaged().parent_path()})
    EXPECT_THAT(found.problems().front(), HasSubstr(folder.string()));
}

TEST_F(Places, AProgramThatIsNotInABinHasNoPackages) {
  touch(packaged());
  EXPECT_FALSE(place_of("mine.so", top() / "etc", {top() / "usr/sbin/eddyd", ""}));
}

}  // namespace
}  // namespace eddy::plugin
