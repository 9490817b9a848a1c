#include "lab/page/run_charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::lab {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Field;

auto point(double x, double y) {
  return testing::AllOf(Field(&Series::Point::x, DoubleEq(x)),
                        Field(&Series::Point::y, DoubleEq(y)));
}

// Of 4 packets that were out of order 2 were one off, and one each two and three off.
TEST(RunCharts, DisorderIsTheShareThatIsAtLeastSoFarOff) {
  const Json first = {{"ood_histogram", {90, 1, 1, 0}}};
  const Json second = {{"ood_histogram", {90, 1, 0, 1}}};
  const Chart chart = ood_chart({.name = "v", .runs = {}, .values = {&first, &second}});
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_EQ(chart.series[0].name, "v");
  EXPECT_THAT(chart.series[0].points, ElementsAre(point(1, 1), point(2, 0.5), point(3, 0.25)));
}

TEST(RunCharts, PausedQueuesAreThoseOfTheFirstRun) {
  StoredRun first;
  first.samples = {{.at_ns = 1'000'000, .paused_queues = 3}, {.at_ns = 2'000'000}};
  const Chart chart = paused_chart({.name = "v", .runs = {first, {}}});
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_THAT(chart.series[0].points, ElementsAre(point(1, 3), point(2, 0)));
}

// In 2 us 250 octets are 1 Gb/s.
TEST(RunCharts, LinksStandByTheirMeanOverRunsTheGreatestFirst) {
  const Json run = {{"simulated_us", 2}};
  StoredRun first;
  first.links = {{"a-s", "a", 500, 6'000}, {"a-s", "s", 250, 0}, {"b-s", "b", 1'000, 0}};
  StoredRun second = first;
  second.links[1].bytes = 3'250;
  const VariantData variant{.name = "v", .runs = {first, second}, .values = {&run, &run}};
  const LinkCurve load = load_chart(variant);
  EXPECT_THAT(load.names, ElementsAre("a-s from s", "b-s from b", "a-s from a"));
  ASSERT_EQ(load.chart.series.size(), 1u);
  EXPECT_THAT(load.chart.series[0].points, ElementsAre(point(1, 7), point(2, 4), point(3, 2)));
  const LinkCurve pauses = pause_chart(variant);
  EXPECT_EQ(pauses.names[0], "a-s from a");
  EXPECT_THAT(pauses.chart.series[0].points, ElementsAre(point(1, 6), point(2, 0), point(3, 0)));
}

}  // namespace
}  // namespace eddy::lab
