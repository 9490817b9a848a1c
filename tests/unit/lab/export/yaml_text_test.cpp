#include "lab/export/yaml_text.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

namespace eddy::lab {
namespace {

TEST(YamlText, MapsListsAndScalarsAreReadBack) {
  Yaml inner = Yaml::map();
  inner.set("name", "a").set("on", true).set("n", 7);
  Yaml list = Yaml::list();
  list.add(std::move(inner)).add("b");
  Yaml document = Yaml::map();
  document.set("list", std::move(list)).set("empty", Yaml::map()).set("none", Yaml::list());
  EXPECT_EQ(
      document.text(),
      "list:\n  - name: \"a\"\n    \"on\": true\n    \"n\": 7\n  - \"b\"\nempty: {}\nnone: []\n");
  const YAML::Node read = YAML::Load(document.text());
  EXPECT_EQ(read["list"][0]["on"].as<bool>(), true);
  EXPECT_EQ(read["list"][1].as<std::string>(), "b");
}

// Whatever a user has called his switch: it is a text, and ends where it ends.
TEST(YamlText, TextsOfAllKindsSurvive) {
  for (const std::string text : {"plain",
                                 "1.10",
                                 "yes",
                                 "~",
                                 "null",
                                 "- x",
                                 "a: b",
                                 "a #b",
                                 "\"quoted\" \\ back",
                                 "two\nlines\n",
                                 "tab\there",
                                 "\x01\x7f",
                                 "{x: y}",
                                 "&anchor",
                                 "*alias",
                                 "!tag",
                                 "%",
                                 "@",
                                 "`",
                                 "",
                                 " ",
                                 "caf\xc3\xa9",
                                 "$HOME ${X:-y}"}) {
    Yaml document = Yaml::map();
    document.set(text, text).set("list", Yaml::list(std::vector<std::string>{text}));
    document.set("block", Yaml::block(text));
    const YAML::Node read = YAML::Load(document.text());
    EXPECT_EQ(read[text].as<std::string>(), text) << document.text();
    EXPECT_EQ(read["list"][0].as<std::string>(), text) << document.text();
    EXPECT_EQ(read["block"].as<std::string>(), text) << document.text();
  }
}

TEST(YamlText, BlocksKeepTheirLines) {
  for (const std::string text :
       {"a: 1\nb:\n  - c\n\nd: 2\n", "no end", "ends twice\n\n", " first indented\n"}) {
    Yaml document = Yaml::map();
    document.set("data", Yaml::block(text));
    EXPECT_EQ(YAML::Load(document.text())["data"].as<std::string>(), text) << document.text();
  }
  Yaml document = Yaml::map();
  document.set("data", Yaml::block("a: 1\n"));
  EXPECT_EQ(document.text(), "data: |\n  a: 1\n");
}

TEST(YamlText, LongListsAreALineAnItem) {
  Yaml document = Yaml::map();
  document.set("short", Yaml::list({"a", "b"}));
  document.set("long", Yaml::list(std::vector<std::string>(20, "some words")));
  const std::string text = document.text();
  EXPECT_NE(text.find("short: [\"a\", \"b\"]\n"), std::string::npos);
  EXPECT_NE(text.find("long:\n  - \"some words\"\n"), std::string::npos);
  EXPECT_EQ(YAML::Load(text)["long"].size(), 20u);
}

}  // namespace
}  // namespace eddy::lab
