#include "lab/figures/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lab/figures/figures.h"

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks)
    if (!tick.label.empty()) out.push_back(tick.label);
  return out;
}

TEST(Ticks, LinearOnesAreRoundAndCoverTheSpan) {
  EXPECT_THAT(labels(ticks(0, 1, false)), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(labels(ticks(0, 730, false)),
              ElementsAre("0", "100", "200", "300", "400", "500", "600", "700", "800"));
  EXPECT_THAT(labels(ticks(-3, 3, false)), ElementsAre("-3", "-2", "-1", "0", "1", "2", "3"));
}

TEST(Ticks, LogarithmicOnesCoverTheSpanAndNoDecadeTooMuch) {
  const auto few = ticks(12, 340, true);
  EXPECT_LE(few.front().at, 12);
  EXPECT_GE(few.back().at, 340);
  EXPECT_GE(few.front().at, 10);
  EXPECT_LE(few.back().at, 400 * (1 + 1e-9));
  EXPECT_THAT(labels(few), ElementsAre("10", "20", "50", "100", "200"));
  EXPECT_THAT(labels(ticks(1, 1e6, true)),
              ElementsAre("1", "10", "100", "1000", "10k", "100k", "1M"));
}

Chart chart_of(std::vector<Series::Point> points) {
  return {.title = "T",
          .x = {"x", true},
          .y = {"y", false},
          .series = {{"s", std::move(points)}},
          .note = ""};
}

// Of the first series.
std::string path_of(const std::string& svg) {
  const std::string mark = "class=\"series\" d=\"";
  const size_t at = svg.find(mark) + mark.size();
  return svg.substr(at, svg.find('"', at) - at);
}

TEST(Svg, TheSameChartIsTheSameText) {
  const Chart chart = chart_of({{1, 0}, {10, 0.5}, {100, 1}});
  EXPECT_EQ(draw(chart), draw(chart));
  EXPECT_THAT(draw(chart), testing::StartsWith("<svg "));
  EXPECT_THAT(draw(chart), testing::EndsWith("</svg>\n"));
}

TEST(Svg, PointsLieOnTheirAxes) {
  const std::string text = draw(chart_of({{1, 0}, {10, 0.5}, {100, 1}}));
  double x[3];
  double y[3];
  ASSERT_EQ(std::sscanf(path_of(text).c_str(), "M%lf,%lfL%lf,%lfL%lf,%lf", &x[0], &y[0], &x[1],
                        &y[1], &x[2], &y[2]),
            6);
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.2);  // decades are equally long
  EXPECT_GT(x[1], x[0]);
  EXPECT_NEAR(y[0] - y[1], y[1] - y[2], 0.2);
  EXPECT_GT(y[0], y[1]);  // pixels count downwards
}

TEST(Svg, WhatAnAxisCannotShowIsLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string text =
      draw(chart_of({{0, 1}, {-5, 1}, {nan, 1}, {1, nan}, {1, INFINITY}, {1, 1}, {10, 2}}));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
  EXPECT_EQ(std::ranges::count(path_of(text), ','), 2);
}

TEST(Svg, EmptyAndSinglePointChartsAreDrawn) {
  EXPECT_THAT(draw(chart_of({})), Not(HasSubstr("class=\"series\"")));
  EXPECT_THAT(draw(chart_of({{5, 5}})), Not(HasSubstr("nan")));
  EXPECT_THAT(draw(chart_of({{1, 0}, {2, 0}})), Not(HasSubstr("nan")));
}

TEST(Svg, TextsAreEscaped) {
  EXPECT_EQ(svg_escaped("a<b>&\"c\"\x01"), "a&lt;b&gt;&amp;&quot;c&quot; ");
  Chart chart = chart_of({{1, 1}});
  chart.series[0].name = "</text><script>";
  chart.title = "&";
  EXPECT_THAT(draw(chart), Not(HasSubstr("<script>")));
  EXPECT_THAT(draw(chart), HasSubstr("<title>&amp;</title>"));
}

TEST(Figures, ADistributionEndsAtOne) {
  VariantData variant{"v", {{}}};
  for (int i = 1; i <= 1'000; ++i)
    variant.runs[0].flows.push_back({.size = 1'000, .fct_ns = i * 1'000, .slowdown = 1.0 * i});
  const Chart chart = fct_chart({variant});
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_LE(chart.series[0].points.size(), 401u);
  EXPECT_DOUBLE_EQ(chart.series[0].points.front().x, 1);
  EXPECT_DOUBLE_EQ(chart.series[0].points.back().x, 1'000);
  EXPECT_DOUBLE_EQ(chart.series[0].points.back().y, 1);
}

TEST(Figures, SlowdownBySizeLeavesOutSizesOfFewFlows) {
  VariantData variant{"v", {{}}};
  for (int i = 1; i <= 100; ++i)
    variant.runs[0].flows.push_back({.size = 1'500, .fct_ns = 1, .slowdown = 1.0 * i});
  variant.runs[0].flows.push_back({.size = 2'000'000, .fct_ns = 1, .slowdown = 7});
  const Chart chart = slowdown_chart({variant});
  ASSERT_EQ(chart.series.size(), 2u);
  ASSERT_EQ(chart.series[0].points.size(), 1u);
  EXPECT_DOUBLE_EQ(chart.series[0].points[0].y, 50);
  EXPECT_DOUBLE_EQ(chart.series[1].points[0].y, 99);
}

TEST(Figures, QueuesKeepTheLargestOfWhatIsDrawnAsOnePoint) {
  VariantData variant{"v", {{}}};
  for (int i = 0; i < 1'000; ++i)
    variant.runs[0].samples.push_back(
        {.at_ns = i * 1'000, .max_queue_bytes = i == 500 ? 10'240 : 0});
  const Chart chart = queue_chart({variant});
  double largest = 0;
  for (const Series::Point& point : chart.series[0].points) largest = std::max(largest, point.y);
  EXPECT_DOUBLE_EQ(largest, 10);
  EXPECT_LE(chart.series[0].points.size(), 401u);
}

}  // namespace
}  // namespace eddy::lab
