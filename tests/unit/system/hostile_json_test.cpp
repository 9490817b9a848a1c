#include "system/hostile_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/temp_directory.h"

namespace eddy {
namespace {

using Json = nlohmann::ordered_json;

constexpr JsonBounds kSmall{.octets = 100, .values = 10, .key_pairs = 5, .depth = 3};

std::string said(std::string_view text, const JsonBounds& bounds = kSmall) {
  const auto value = parse_json("x", text, bounds);
  return value ? "" : value.problems().front();
}

TEST(HostileJson, WhatIsWithinBoundsIsParsed) {
  const auto value =
      parse_json("x", R"({"a": [1, {"b": 2}], "[[[[": "]{,,,,,,,,,,,\"[[[["})", kSmall);
  ASSERT_TRUE(value.ok()) << value.problems().front();
  EXPECT_EQ(value.value()["a"][1]["b"], 2);
  EXPECT_EQ(said("[[[]]]"), "");
  EXPECT_EQ(said("[1,2,3,4,5,6,7,8,9]"), "");
}

TEST(HostileJson, WhatIsBeyondIsNot) {
  EXPECT_EQ(said("[[[[]]]]"), "x: it is nested more than 3 deep");
  EXPECT_EQ(said(R"({"a":{"b":{"c":{}}}})"), "x: it is nested more than 3 deep");
  EXPECT_EQ(said("[1,2,3,4,5,6,7,8,9,10]"), "x: it has more than 10 values");
  EXPECT_EQ(said(R"({"a":1,"b":2,"c":3,"d":4})"), "x: it has objects of too many keys");
  EXPECT_EQ(said(R"([{"a":1,"b":2,"c":3},{"a":1,"b":2}])"), "");
  EXPECT_EQ(said("\"" + std::string(200, 'a') + "\""), "x: it has more than 100 octets");
  EXPECT_EQ(said("[1,"), "x: this is no JSON");
  EXPECT_EQ(said("\"\xff\""), "x: this is no JSON");
  EXPECT_EQ(said(""), "x: this is no JSON");
}

TEST(HostileJson, AMillionDeepIsRefusedAtOnce) {
  const std::string open(1'000'000, '[');
  EXPECT_EQ(said(open, kFileBounds), "x: it is nested more than 32 deep");
  EXPECT_EQ(said(open + std::string(1'000'000, ']'), kAnswerBounds),
            "x: it is nested more than 32 deep");
}

TEST(HostileJson, AFileIsARegularOneWithinBounds) {
  const test::TempDirectory directory;
  const auto read = [&](const std::string& name) {
    const auto value = read_json_file(directory.file(name), kSmall);
    return value ? value.value().dump()
                 : value.problems().front().substr(directory.file("").size());
  };
  std::ofstream(directory.file("good")) << "[1]\n";
  EXPECT_EQ(read("good"), "[1]");
  std::ofstream(directory.file("long")) << std::string(1'000, ' ');
  EXPECT_EQ(read("long"), "long: it has more than 100 octets");
  ASSERT_EQ(::mkfifo(directory.file("fifo").c_str(), 0600), 0);
  EXPECT_EQ(read("fifo"), "fifo: cannot be read: this is no regular file");
  EXPECT_EQ(read("nothing"), "nothing: cannot be read: No such file or directory");
  const auto zeros = read_json_file("/dev/zero", kSmall);
  ASSERT_FALSE(zeros.ok());
  EXPECT_EQ(zeros.problems().front(), "/dev/zero: cannot be read: this is no regular file");
}

TEST(HostileJson, TextsForPeopleAreOfOneLine) {
  const Json value = Json::parse(R"({"a\n": ["\u001b[2J", 1, {"b": "x\ty", "c": null}]})");
  EXPECT_EQ(with_printable_texts(value).dump(),
            R"({"a\\n":["\\x1b[2J",1,{"b":"x\\ty","c":null}]})");
}

}  // namespace
}  // namespace eddy
