#include "lab/import/settings.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "system/import_report.h"

namespace eddy::lab {
namespace {

TEST(Settings, DotsBecomeMaps) {
  Settings settings;
  settings.set("a.b.c", "1", "from x");
  settings.set("list", "\n  - {x: 1}");
  settings.set("a.d", "2");
  settings.set("a.b.e", in_yaml("q\"\n"));
  settings.set("a.d", "3");
  EXPECT_TRUE(settings.has("a.d"));
  EXPECT_FALSE(settings.has("a"));
  EXPECT_EQ(settings.yaml("one\ntwo"),
            "# one\n# two\na:\n  b:\n    c: 1  # from x\n    e: \"q\\\"\\\\n\"\n  d: 3\nlist:\n  - "
            "{x: 1}\n");
}

TEST(Settings, TextsOfOthersStayOnTheirLine) {
  Settings settings;
  settings.set("a", "1", "x\nb: 2");
  EXPECT_EQ(YAML::Load(settings.yaml("h\rb: 3")).size(), 1u);
}

TEST(ImportReport, IsSortedByPlaceAndCounted) {
  ImportReport report;
  report.add({Treatment::ignored, {}, 0, "w", "t"});
  report.add({Treatment::taken, "f", 10, "x\x1b", "t"});
  report.add({Treatment::approximated, "f", 9, std::string(100, 'y'), "t"});
  EXPECT_EQ(report.text(), "approximated  f:9   " + std::string(60, 'y') +
                               "...: t\ntaken         f:10  x\\x1b: t\nignored       -     w: t\n"
                               "1 taken, 1 approximated, 1 ignored\n");
}

}  // namespace
}  // namespace eddy::lab
