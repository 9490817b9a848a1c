// What is written beside a figure: its data, and what draws it from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/figures/chart_csv.h"
#include "lab/figures/matplotlib.h"
#include "lab/figures/pgfplots.h"
#include "lab/figures/svg.h"

namespace eddy::lab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const FigureStyle kColumn{
    .width = 240, .text = 8, .fonts = {"Linux Libertine O", "serif"}, .title = false};

ChartLayout two_series() {
  Series steps{.name = "DRILL", .points = {{1, 0}, {10, 0.5}, {100, 1}}, .kind = SeriesKind::steps};
  Series means{.name = "a,b", .points = {{1, 0.25, 0.5}, {100, 0.75, 0.125}}, .colour = 4};
  means.dots = true;
  return lay_out({.title = "Shares",
                  .x = {"FCT [us]", true},
                  .y = {"share"},
                  .series = {steps, means},
                  .note = ""},
                 kColumn);
}

TEST(ChartSources, DataAreNumbersByTheNumberOfTheirSeries) {
  EXPECT_EQ(chart_csv(two_series()),
            "# Shares\n"
            "# x: FCT [\u00b5s]\n"
            "# y: share\n"
            "# series 0: DRILL\n"
            "# series 1: a,b\n"
            "series,x,y,low,high\n"
            "0,1,0,0,0\n"
            "0,10,0.5,0.5,0.5\n"
            "0,100,1,1,1\n"
            "1,1,0.25,0,0.75\n"
            "1,100,0.75,0.625,0.875\n");
}

TEST(ChartSources, PgfplotsReadsTheData) {
  const std::string text = pgfplots_source(two_series(), "shares.csv");
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("xmode=log, log basis x=10, xmin=1, xmax=100, xtick={1,2,5,10,20,50,100}, "
                      "xticklabels={{1},{2},{5},{10},{20},{50},{100}},"),
            HasSubstr("xlabel={FCT [$\\mu$s]}"), HasSubstr("ymode=linear, ymin=0, ymax=1,"),
            HasSubstr("\\addplot[const plot mark left, eddy0,"),
            HasSubstr("restrict expr to domain={\\thisrow{series}}{0:0}]\n  table[col sep=comma, "
                      "x=x, y=y] {\\eddyfigures/shares.csv};\n"),
            HasSubstr("\\addplot[sharp plot, eddy4,"), HasSubstr("mark=triangle*"),
            HasSubstr("rotate=180"),
            HasSubstr("y error minus expr=\\thisrow{y}-\\thisrow{low}, y error plus "
                      "expr=\\thisrow{high}-\\thisrow{y}] {\\eddyfigures/shares.csv};\n"),
            HasSubstr("\\addlegendentry{DRILL}\n"), HasSubstr("\\addlegendentry{a,b}\n")));
  EXPECT_THAT(text, testing::EndsWith("\\end{axis}\n\\end{tikzpicture}\n"));
}

// Two messages from the upper row to the lower one, and a time for which the lower one is stopped.
ChartLayout messages() {
  Series stops{
      .name = "stop", .points = {{1, 3, 1}, {1, 10, 1}}, .colour = 1, .kind = SeriesKind::arrows};
  Series paused{.name = "paused", .points = {{1.25, 7, 3}}, .colour = 5, .kind = SeriesKind::spans};
  return lay_out({.title = "Said",
                  .x = {.label = "", .names = {"leaf2", "spine1"}},
                  .y = {.label = "time [us]", .begin = AxisBegin::data},
                  .series = {paused, stops},
                  .note = ""},
                 kColumn);
}

TEST(ChartSources, AnArrowIsAnIntervalOfARow) {
  EXPECT_THAT(chart_csv(messages()),
              HasSubstr("series,x,y,low,high\n0,1.25,7,4,10\n1,1,3,2,4\n1,1,10,9,11\n"));
  const std::string tex = pgfplots_source(messages(), "said.csv");
  EXPECT_THAT(
      tex, AllOf(HasSubstr("\\addplot[sharp plot, draw=none, mark=none, error bars/x dir=both, "
                           "error bars/x explicit,"),
                 HasSubstr("[col sep=comma, x=y, y=x, x error minus expr=\\thisrow{y}-"),
                 HasSubstr("\\addplot[quiver={u=\\thisrow{low}-\\thisrow{high}, v=-1}, stealth-, "
                           "eddy1, line width=1.28bp, mark=none, forget plot,"),
                 HasSubstr("[col sep=comma, x=high, y=x] {"),
                 HasSubstr("\\addlegendimage{-stealth, eddy1,"),
                 HasSubstr("\\addlegendimage{area legend, draw=none, fill=eddy5,")));
  EXPECT_THAT(matplotlib_source(messages(), "said.csv"),
              AllOf(HasSubstr("\"kind\": \"spans\", \"colour\": \"#e69f00\""),
                    HasSubstr("\"kind\": \"arrows\", \"colour\": \"#d55e00\""),
                    HasSubstr("\nSPAN = 4.00\n"), HasSubstr("\"y\": (1.5, -0.5, \"linear\"")));
}

// Rows are high enough for arrows, and an arrow goes from one to the next.
TEST(ChartSources, TheDrawingHasTheArrowsOfTheLayout) {
  const ChartLayout layout = messages();
  EXPECT_DOUBLE_EQ(layout.row, 5.2 * kColumn.text);
  const std::string svg = draw(layout);
  for (const double arrives : {4.0, 11.0})
    EXPECT_THAT(svg, HasSubstr(svg_arrow({layout.across.place(arrives - 2), layout.up.place(0)},
                                         {layout.across.place(arrives), layout.up.place(1)},
                                         "#d55e00", kColumn.text)));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"interval\"")));
}

TEST(ChartSources, MatplotlibReadsTheData) {
  const std::string text = matplotlib_source(two_series(), "shares.csv");
  EXPECT_THAT(text, AllOf(HasSubstr("CSV = \"shares.csv\"\n"),
                          HasSubstr("FONTS = [\"Linux Libertine O\", \"serif\"]\n"),
                          HasSubstr("\"kind\": \"steps\", \"colour\": \"#0072b2\""),
                          HasSubstr("\"kind\": \"line\", \"colour\": \"#56b4e9\""),
                          HasSubstr("\"x\": (1, 100, \"log\", [1, 2, 5, 10, 20, 50, 100, ]"),
                          HasSubstr("LEGEND = [(0, \"DRILL\"), (1, \"a,b\"), ]")));
}

TEST(ChartSources, RowsAreOneSeriesAcross) {
  Chart chart{.title = "R", .x = {}, .y = {"p99 [us]"}, .series = {}, .note = ""};
  chart.x.names = {"first", "50 % & more"};
  chart.series = {{.name = "", .points = {{0, 4, 1}}, .kind = SeriesKind::bars},
                  {.name = "", .points = {{1, 2, 0}}, .colour = 1, .kind = SeriesKind::bars}};
  const ChartLayout layout = lay_out(chart, kColumn);
  EXPECT_EQ(chart_csv(layout),
            "# R\n# x: row\n# y: p99 [\u00b5s]\n# row 0: first\n# row 1: 50 % & more\n"
            "series,x,y,low,high\n0,0,4,3,5\n1,1,2,2,2\n");
  EXPECT_THAT(pgfplots_source(layout, "r.csv"),
              AllOf(HasSubstr("yticklabels={{first},{50 \\% \\& more}}"),
                    HasSubstr("\\addplot[xbar, bar shift=0bp,"), HasSubstr("x=y, y=x, x error")));
  EXPECT_THAT(matplotlib_source(layout, "r.csv"),
              AllOf(HasSubstr("ROWS = True"), HasSubstr("[\"first\", \"50 % & more\", ]")));
}

TEST(ChartSources, NamesStandAsText) {
  EXPECT_EQ(tex_escaped("a_b & 50% #1 $x$ {y} ~^ \\z <|> \"q\""),
            "a\\_b \\& 50\\% \\#1 \\$x\\$ \\{y\\} \\textasciitilde{}\\textasciicircum{} "
            "\\textbackslash{}z \\textless{}\\textbar{}\\textgreater{} \\char34{}q\\char34{}");
  EXPECT_EQ(tex_escaped("\u00b5s"), "$\\mu$s");
  EXPECT_EQ(python_text("\"\"\" + x \\ $y$ {z}"), R"("\"\"\" + x \\ \\$y\\$ {z}")");
  EXPECT_EQ(python_text("a\nb"), R"("a\nb")");
  Series series{.name = "_x{}\\\n\"\"\"%#</text>", .points = {{1, 1}}};
  const ChartLayout layout =
      lay_out({.title = "t{\\\n", .x = {"x"}, .y = {"y"}, .series = {series}, .note = ""}, kColumn);
  const std::string csv = chart_csv(layout);
  EXPECT_THAT(csv, AllOf(HasSubstr("# series 0: _x()//n\"\"\"%#</text>\n"), Not(HasSubstr("{")),
                         Not(HasSubstr("\\"))));
  EXPECT_THAT(matplotlib_source(layout, "x.csv"), HasSubstr("(0, \" _x{}\\\\\\\\n\\\"\\\"\\\"%#"));
}

}  // namespace
}  // namespace eddy::lab
