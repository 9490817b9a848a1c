#include "config/scheme_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "lb/registry.h"

namespace eddy::config {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::filesystem::path kSheets = EDDY_SOURCE_DIR "/docs/schemes";

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> sheets() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kSheets))
    if (entry.path().extension() == ".md" && entry.path().stem() != "README")
      names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

TEST(SchemeIndex, IsCurrent) {
  EXPECT_EQ(content_of(kSheets / "README.md"), scheme_index(sheets())) << "run: ninja config_docs";
}

TEST(SchemeIndex, NamesEveryScheme) {
  const std::string index = scheme_index({});
  for (const lb::SchemeInfo& scheme : lb::schemes())
    EXPECT_THAT(index, HasSubstr("| [" + std::string(scheme.name) + "](../configuration.md#"));
  EXPECT_THAT(index, Not(HasSubstr("Other sheets")));
}

TEST(SchemeIndex, LinksToTheSheetsThatThereAre) {
  const std::vector<std::string> some = {"drill", "flowbender"};
  const std::string index = scheme_index(some);
  EXPECT_THAT(index, HasSubstr("| no | no | [drill](drill.md) |\n"));
  EXPECT_THAT(index, HasSubstr("| yes | every packet |  |\n")) << "conga, without one";
  EXPECT_THAT(index, HasSubstr("\nOther sheets: [flowbender](flowbender.md).\n"));
}

// All headings of the form, in its order, a picture, and no second one of a kind.
TEST(Sheets, HaveTheForm) {
  constexpr std::array<std::string_view, 5> kHeadings = {
      "## What it keeps and reads", "## Parameters", "## Where the source is silent",
      "## How it is tested", "## When it helps"};
  for (const std::string& name : sheets()) {
    SCOPED_TRACE(name);
    std::istringstream lines(content_of(kSheets / (name + ".md")));
    std::vector<std::string> headings;
    std::string line, text;
    while (std::getline(lines, line)) {
      text += line + "\n";
      if (line.starts_with("#")) headings.push_back(line);
    }
    ASSERT_FALSE(headings.empty());
    EXPECT_EQ(headings.front(), "# " + name);
    headings.erase(headings.begin());
    EXPECT_THAT(headings, testing::ElementsAreArray(kHeadings));
    EXPECT_THAT(text, HasSubstr("](" + name + ".svg)"));
    EXPECT_TRUE(std::filesystem::exists(kSheets / (name + ".svg")));
  }
}

}  // namespace
}  // namespace eddy::config
