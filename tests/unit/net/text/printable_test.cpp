#include "net/text/printable.h"

#include <gtest/gtest.h>

namespace eddy {
namespace {

TEST(Printable, TextStaysAsItIs) {
  for (const char* text : {"", "leaf1: port 7 is down",
                           "\xc2\xb5s, gr\xc3\xb6\xc3\x9f"
                           "er",
                           "\xe2\x82\xac \xf0\x9f\x90\x9f", "a\\b 'c' \"d\" ~"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
  }
}

TEST(Printable, ControlCharactersAreShown) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
  EXPECT_EQ(printable("\x1b[2J\x1b]0;title\x07"), "\\x1b[2J\\x1b]0;title\\x07");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  for (int c = 0; c < 0x20; ++c)
    EXPECT_EQ(printable(std::string(1, static_cast<char>(c))).front(), '\\') << c;
}

TEST(Printable, ThoseOfLatin1AndOfUnicodeToo) {
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\u009b2J");  // CSI in one character
  EXPECT_EQ(printable("\xc2\x80\xc2\x9f\xc2\xa1"), "\\u0080\\u009f\xc2\xa1");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xe2\x80\xa8"
                      "c\xe2\x81\xa6"),
            "a\\u202eb\\u2028c\\u2066");
}

TEST(Printable, OctetsThatAreNoUtf8) {
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");                    // ESC, two octets long
  EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");           // and three
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last
  EXPECT_EQ(printable("\xe2\x82"
                      "a"),
            "\\xe2\\x82"
            "a");
  EXPECT_EQ(printable("\xff"), "\\xff");
}

TEST(Printable, LinesThatWeLaidOutStay) {
  EXPECT_EQ(printable_lines("a\nb\x1b[0m\n"), "a\nb\\x1b[0m\n");
  EXPECT_EQ(printable_lines("a\r\n"), "a\\x0d\n");
}

}  // namespace
}  // namespace eddy
