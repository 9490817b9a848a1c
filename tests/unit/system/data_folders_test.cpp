#include "system/data_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy {
namespace {

using testing::ElementsAre;

TEST(DataFolders, OfAProgramInItsBuildTree) {
  EXPECT_THAT(data_folders("/home/a/eddy/build/dev/bin/eddylab", ""),
              ElementsAre("config", "/home/a/eddy/config", "/home/a/eddy/build/dev/share/eddy",
                          "/usr/share/eddy"));
}

TEST(DataFolders, OfAProgramBelowAPrefix) {
  EXPECT_THAT(data_folders("/opt/x/bin/eddylab", ""),
              ElementsAre("config", "/opt/x/share/eddy", "/usr/share/eddy"));
}

TEST(DataFolders, OfAProgramFromAPackageTheRootIsNone) {
  EXPECT_THAT(data_folders("/usr/bin/eddylab", ""), ElementsAre("config", "/usr/share/eddy"));
}

TEST(DataFolders, WhatTheUserNamesIsFirst) {
  EXPECT_THAT(data_folders("/usr/bin/eddylab", "/srv/mine"),
              ElementsAre("/srv/mine", "config", "/usr/share/eddy"));
}

TEST(DataFolders, OfAnUnknownProgram) {
  EXPECT_THAT(data_folders("", ""), ElementsAre("config", "/usr/share/eddy"));
}

}  // namespace
}  // namespace eddy
