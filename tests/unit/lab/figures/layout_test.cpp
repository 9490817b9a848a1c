#include "lab/figures/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lab/figures/figures.h"
#include "lab/figures/svg.h"

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const FigureStyle kColumn{.width = 239.76, .text = 7, .fonts = {"serif"}, .title = false};

Chart chart_of(std::vector<Series::Point> points) {
  Series series;
  series.name = "s";
  series.points = std::move(points);
  return {.title = "T", .x = {"x"}, .y = {"FCT [us]"}, .series = {series}, .note = ""};
}

std::vector<double> labelled(const AxisLayout& axis) {
  std::vector<double> out;
  for (const Tick& tick : axis.ticks)
    if (!tick.label.empty()) out.push_back(tick.at);
  return out;
}

TEST(ChartLayout, AllOfAnIntervalIsOnTheAxis) {
  const ChartLayout layout = lay_out(chart_of({{0, 100, 95}, {1, 50, 1}}), kColumn);
  EXPECT_GE(layout.up.high, 195);
  EXPECT_EQ(layout.up.low, 0);
  EXPECT_TRUE(layout.series[0].has_intervals);
  EXPECT_EQ(layout.series[0].points[0].low, 5);
  EXPECT_EQ(layout.series[0].points[0].high, 195);
}

// A time, a size, a share: nothing below 0 can be.
TEST(ChartLayout, AnIntervalEndsWhereItsQuantityDoes) {
  const ChartLayout layout = lay_out(chart_of({{0, 10, 300}, {1, 50, 1}}), kColumn);
  EXPECT_EQ(layout.up.low, 0);
  EXPECT_EQ(layout.series[0].points[0].low, 0);
  EXPECT_EQ(layout.series[0].points[0].high, 310);
  Chart change = chart_of({{0, 10, 300}});
  change.y.begin = AxisBegin::either;
  EXPECT_LE(lay_out(change, kColumn).up.low, -290);
  EXPECT_EQ(lay_out(change, kColumn).series[0].points[0].low, -290);
}

TEST(ChartLayout, ASettingBeginsWithItsValues) {
  Chart chart = chart_of({{0.5, 1}, {0.7, 2}, {0.9, 3}});
  chart.x.begin = AxisBegin::data;
  const ChartLayout layout = lay_out(chart, kColumn);
  EXPECT_GT(layout.across.low, 0.4);
  EXPECT_LT(layout.across.low, 0.5) << "an interval has room beside its point";
  EXPECT_LT(layout.across.high, 1);
  EXPECT_THAT(labelled(layout.across), testing::Contains(testing::DoubleNear(0.7, 1e-9)));
  chart.x.begin = AxisBegin::zero;
  EXPECT_EQ(lay_out(chart, kColumn).across.low, 0);
}

TEST(ChartLayout, ALogarithmicAxisHasNoPlaceForWhatIsNotPositive) {
  Chart chart = chart_of({{1, 5, 50}, {2, -1}, {3, 0}, {4, NAN}, {5, INFINITY}, {6, 8}});
  chart.y.logarithmic = true;
  const ChartLayout layout = lay_out(chart, kColumn);
  ASSERT_EQ(layout.series[0].points.size(), 2u);
  EXPECT_EQ(layout.series[0].points[0].low, layout.up.low);
  EXPECT_EQ(layout.series[0].points[0].high, 55);
  EXPECT_GE(layout.up.high, 55);
}

// At any width, whatever the numbers: what stands at marks does not touch.
TEST(ChartLayout, LabelsHaveRoom) {
  for (const double width : {108.0, 150.0, 239.76, 504.0})
    for (const double most : {1.0, 0.0007, 730.0, 123456.0, 9.99e8, 3e12})
      for (const bool logarithmic : {false, true}) {
        Chart chart = chart_of({{most / 1e7, most / 1e7}, {most, most}});
        chart.x.logarithmic = chart.y.logarithmic = logarithmic;
        FigureStyle style = kColumn;
        style.width = width;
        const ChartLayout layout = lay_out(chart, style);
        ASSERT_GT(layout.across.to, layout.across.from);
        double end = -1e9;
        for (const Tick& tick : layout.across.ticks) {
          if (tick.label.empty()) continue;
          const double half = text_width(tick.label, style.text) / 2;
          const double at = layout.across.place(tick.at);
          EXPECT_GT(at - half, end) << width << " " << most << " " << tick.label;
          end = at + half;
        }
        EXPECT_LE(end, width);
        double below = 1e9;
        for (const Tick& tick : layout.up.ticks) {
          if (tick.label.empty()) continue;
          EXPECT_LT(layout.up.place(tick.at), below - style.text) << width << " " << most;
          below = layout.up.place(tick.at);
        }
      }
}

TEST(ChartLayout, TheLegendIsBesideOrAboveTheCurvesAndNeverOnThem) {
  Chart chart = chart_of({{0, 1}, {1, 2}});
  for (int i = 0; i < 12; ++i) {
    Series more = chart.series[0];
    more.name = "scheme=letflow rlb=default " + std::to_string(i);
    chart.series.push_back(more);
  }
  const ChartLayout narrow = lay_out(chart, kColumn);
  ASSERT_EQ(narrow.legend.entries.size(), 13u);
  const double lines = std::ceil(13.0 / static_cast<double>(narrow.legend.columns));
  EXPECT_LT(narrow.legend.top + narrow.legend.line * (lines - 0.5), narrow.up.to);
  EXPECT_LE(narrow.legend.left + narrow.legend.column * static_cast<double>(narrow.legend.columns),
            kColumn.width + 7);
  const ChartLayout wide = lay_out(chart, FigureStyle{});
  EXPECT_GT(wide.legend.left, wide.across.to);
  EXPECT_LE(wide.legend.left + wide.legend.column, FigureStyle{}.width + 1);
  EXPECT_LE(wide.legend.top + wide.legend.line * 12.5, wide.height);
}

TEST(ChartLayout, RowsHaveNamesAndBars) {
  Chart chart = chart_of({{0, 10, 2}, {1, 20, 0}, {7, 1, 0}});
  chart.x.names = {"scheme=drill rlb=default load=0.6 size=1000000 hosts=1000", "b"};
  chart.series[0].kind = SeriesKind::bars;
  const ChartLayout layout = lay_out(chart, kColumn);
  EXPECT_EQ(layout.series[0].points.size(), 2u) << "there is no row 7";
  EXPECT_GT(layout.row_lines[0].size(), 1u);
  for (const std::string& line : layout.row_lines[0])
    EXPECT_LE(text_width(line, 7), layout.across.from);
  EXPECT_EQ(layout.across.low, 0);
  EXPECT_THAT(draw(layout), HasSubstr("<rect x="));
}

TEST(ChartLayout, ATitleTakesLinesAndIsLeftOut) {
  Chart chart = chart_of({{0, 1}});
  chart.title = "99th percentile of the flow completion time - experiment (reduced)";
  FigureStyle style = kColumn;
  style.title = true;
  const ChartLayout with = lay_out(chart, style);
  EXPECT_GT(with.title.size(), 1u);
  for (const std::string& line : with.title) EXPECT_LE(text_width(line, with.title_size), 239.76);
  const ChartLayout without = lay_out(chart, kColumn);
  EXPECT_THAT(without.title, IsEmpty());
  EXPECT_LT(without.height, with.height);
  EXPECT_THAT(draw(without), HasSubstr("<title>99th percentile"));
}

TEST(ChartLayout, UnitsHaveTheSignOfMicro) {
  const ChartLayout layout = lay_out(chart_of({{0, 1}}), kColumn);
  EXPECT_THAT(layout.up.label, ElementsAre("FCT [\u00b5s]"));
}

// A distribution's share stays until the next value.
TEST(Svg, DistributionsAreSteps) {
  VariantData variant{"v", {{}}};
  for (const int us : {10, 20, 40})
    variant.runs[0].flows.push_back({.size = 1, .fct_ns = us * 1'000, .slowdown = 1});
  const std::string text = draw(fct_chart({variant}));
  const size_t at = text.find("class=\"series\" d=\"");
  ASSERT_NE(at, std::string::npos);
  const std::string path = text.substr(at + 18, text.find('"', at + 18) - at - 18);
  EXPECT_EQ(std::ranges::count(path, 'H'), 3);
  EXPECT_EQ(std::ranges::count(path, 'V'), 3);
  EXPECT_EQ(std::ranges::count(path, 'L'), 0);
}

// No letter is smaller than the style's.
TEST(Svg, NoTextIsSmallerThanTheStyle) {
  Chart chart = chart_of({{0, 1}});
  chart.note = "a note";
  const std::string text = draw(chart, {.width = 240, .text = 7.5});
  for (size_t at = text.find("font-size=\""); at != std::string::npos;
       at = text.find("font-size=\"", at + 1))
    EXPECT_GE(std::stod(text.substr(at + 11)), 7.5);
  EXPECT_THAT(text, HasSubstr("width=\"240.00pt\""));
}

}  // namespace
}  // namespace eddy::lab
