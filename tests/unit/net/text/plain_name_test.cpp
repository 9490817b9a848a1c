#include "net/text/plain_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PlainName, LettersDigitsAndThreeSigns) {
  for (const char* name : {"a", "leaf1", "Leaf-1_b.c", "_x", "0", "a..b", "a-"})
    EXPECT_TRUE(is_plain_name(name)) << name;
}

TEST(PlainName, NothingThatLeadsElsewhere) {
  for (const char* name : {"", ".", "..", "../x", "a/b", "/a", ".hidden", "-option", "--", "a b",
                           "a\n", "a\x1b[2J", "a\\b", "\xc3\xa4", "a:b", "~", "a*"})
    EXPECT_FALSE(is_plain_name(name)) << name;
  EXPECT_FALSE(is_plain_name(std::string_view("a\0b", 3)));
}

TEST(PlainName, AsLongAsItMayBe) {
  EXPECT_TRUE(is_plain_name(std::string(kLongestPlainName, 'a')));
  EXPECT_FALSE(is_plain_name(std::string(kLongestPlainName + 1, 'a')));
}

TEST(PlainName, ARefusalSaysWhereAndWhatIsValid) {
  EXPECT_THAT(check_plain_name("--name", "leaf1"), IsEmpty());
  EXPECT_THAT(check_plain_name("--name", "../\x1b[2J\n"),
              ElementsAre("--name '../\\x1b[2J\\n' is no plain name; valid are 1 to 64 letters, "
                          "digits, '_', '-' and '.', neither '.' nor '-' first"));
  EXPECT_LT(check_plain_name("--name", std::string(100'000, 'a')).front().size(), 250u);
}

}  // namespace
}  // namespace eddy
