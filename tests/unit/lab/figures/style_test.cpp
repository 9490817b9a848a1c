#include "lab/figures/style.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string problem_of(const StyleOptions& options) {
  const auto style = figure_style(options);
  return style.ok() ? "" : style.problems().front();
}

TEST(FigureStyle, LengthsHaveUnits) {
  EXPECT_DOUBLE_EQ(parse_length("3.5in").value(), 252);
  EXPECT_NEAR(parse_length("3.33in").value(), 239.76, 1e-9);
  EXPECT_DOUBLE_EQ(parse_length("25.4mm").value(), 72);
  EXPECT_DOUBLE_EQ(parse_length("2.54cm").value(), 72);
  EXPECT_DOUBLE_EQ(parse_length("240pt").value(), 240);
  for (const char* text : {"", "in", "3.33", "3.33 in", "3,33in", "-3in", "0in", "nanin", "infin",
                           "1e2pt", "3.33inch", "3.33px"})
    EXPECT_FALSE(parse_length(text).ok()) << text;
}

TEST(FigureStyle, TemplatesAreColumnsOfPapers) {
  const auto acm = figure_style({.figure_template = "acm"});
  ASSERT_TRUE(acm.ok());
  EXPECT_NEAR(acm.value().width, 239.76, 1e-9);
  EXPECT_EQ(acm.value().text, 8);
  EXPECT_EQ(acm.value().fonts.front(), "Linux Libertine O");
  EXPECT_FALSE(acm.value().title);
  const auto ieee = figure_style({.figure_template = "ieee"});
  ASSERT_TRUE(ieee.ok());
  EXPECT_EQ(ieee.value().width, 252);
  EXPECT_EQ(ieee.value().fonts.front(), "Times New Roman");
}

TEST(FigureStyle, WhatIsGivenWinsOverTheTemplate) {
  const auto style = figure_style({.figure_template = "acm",
                                   .width = "7in",
                                   .text = "9pt",
                                   .font = "DejaVu Sans",
                                   .title = true});
  ASSERT_TRUE(style.ok());
  EXPECT_EQ(style.value().width, 504);
  EXPECT_EQ(style.value().text, 9);
  EXPECT_EQ(style.value().fonts.front(), "DejaVu Sans");
  EXPECT_TRUE(style.value().title);
}

TEST(FigureStyle, AWidthAloneHasLettersOfAPaper) {
  EXPECT_EQ(figure_style({.width = "3.33in"}).value().text, 8);
  EXPECT_TRUE(figure_style({.width = "3.33in"}).value().title);
  EXPECT_EQ(figure_style({}).value().text, FigureStyle{}.text);
}

TEST(FigureStyle, WhatCannotBeIsNamedWithItsOption) {
  EXPECT_EQ(problem_of({.width = "3.33"}),
            "--width: \"3.33\" is no length; such as 3.33in, 84.6mm, 8.5cm or 240pt");
  EXPECT_EQ(problem_of({.width = "1in"}), "--width: 1in is out of range; from 108pt to 1440pt");
  EXPECT_THAT(problem_of({.text = "99pt"}), HasSubstr("--text-size: 99pt is out of range"));
  EXPECT_EQ(problem_of({.figure_template = "nature"}),
            "--template: no template \"nature\"; there are: acm, ieee");
  for (const char* font :
       {"x\" onload=\"y", "a;b", "<b>", "a\nb", "\\write18", " x", "x ", "'x'", "\xff"})
    EXPECT_THAT(problem_of({.font = font}), HasSubstr("--font: ")) << font;
  EXPECT_THAT(problem_of({.font = std::string(65, 'x')}), HasSubstr("--font: "));
  EXPECT_EQ(problem_of({.font = "TeX Gyre Termes-1.0_x"}), "");
}

TEST(FigureStyle, TextsAreBrokenAtBlanksAndShortened) {
  const double width = text_width("one two", 10);
  EXPECT_THAT(wrapped("one two three", 10, width), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("  ", 10, width), ElementsAre());
  EXPECT_THAT(wrapped("incomprehensible it is", 10, width),
              ElementsAre("incomprehensible", "it is"));
  EXPECT_EQ(fitted("short", 10, 100), "short");
  const std::string cut = fitted("a name that is far too long", 10, 60);
  EXPECT_THAT(cut, testing::EndsWith("..."));
  EXPECT_LE(text_width(cut, 10), 60);
  EXPECT_EQ(fitted("\u00e4\u00e4\u00e4\u00e4", 10, text_width("\u00e4...", 10)), "\u00e4...");
}

TEST(FigureStyle, ControlCharactersAreNoText) {
  EXPECT_EQ(unfit_text("DRILL, \u00b5s & <more>"), "");
  for (const char* text : {"a\nb", "\x1b[1m", "\xff", "\u202e"}) EXPECT_NE(unfit_text(text), "");
}

}  // namespace
}  // namespace eddy::lab
