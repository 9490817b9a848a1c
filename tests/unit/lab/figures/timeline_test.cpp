// The timeline of one path: what it is asked for, what it records, and that it changes nothing.
#include "lab/figures/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "config/experiment_load.h"
#include "lab/fabric/build_topology.h"
#include "lab/figures/timeline_figure.h"
#include "lab/figures/timeline_messages.h"
#include "lab/run/run.h"
#include "lab/traffic/traffic_files.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(TimelineSpec, IsAPathAndASpan) {
  const auto spec = parse_timeline("leaf1:spine2:leaf3@1.5ms-1800us");
  ASSERT_TRUE(spec.ok());
  EXPECT_THAT(spec.value().switches, ElementsAre("leaf1", "spine2", "leaf3"));
  EXPECT_EQ(spec.value().from, 1500_us);
  EXPECT_EQ(spec.value().to, 1800_us);
  const auto whole = parse_timeline("spine1:leaf2");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole.value().to, Duration::max());
  for (const char* wrong : {"leaf1", "", "a:b@", "a:b@1ms", "a:b@2ms-1ms", "a:b@1-2"})
    EXPECT_FALSE(parse_timeline(wrong).ok()) << wrong;
}

// The picture's own experiment.
class ATimeline : public testing::Test {
 protected:
  static Result<RunResult> run(const config::LoadedExperiment& loaded, Timeline* timeline) {
    config::Experiment experiment = loaded.runs.front().experiment;
    experiment.traffic[0].size = Bytes(3'000'000);
    RunOptions options{.read = TrafficFiles(loaded.folder)};
    if (timeline != nullptr)
      options.built = [timeline](const BuiltRun& run) {
        timeline->attach(run.world);
        return timeline;
      };
    return run_experiment(experiment, options);
  }
};

TEST_F(ATimeline, RecordsCauseBeforeEffectAndChangesNothing) {
  const auto loaded = config::load_experiment(
      std::filesystem::path(EDDY_SOURCE_DIR "/config/experiments/rlb-timeline.yaml"),
      {.size = "ci"});
  ASSERT_TRUE(loaded.ok()) << loaded.problems().front();
  const config::Experiment& experiment = loaded.value().runs.front().experiment;
  const auto topology = build_topology(experiment);
  ASSERT_TRUE(topology.ok());
  const auto spec = parse_timeline("leaf1:spine1:leaf2@1340us-1600us");
  auto timeline = Timeline::create(spec.value(), topology.value(), experiment);
  ASSERT_TRUE(timeline.ok());
  const auto watched = run(loaded.value(), &*timeline);
  const auto alone = run(loaded.value(), nullptr);
  ASSERT_TRUE(watched.ok() && alone.ok());
  EXPECT_EQ(watched.value().digest, alone.value().digest);

  const TimelineData data = timeline->take();
  std::array<Instant, static_cast<size_t>(TimelineKind::kCount)> first;
  first.fill(Instant::never());
  Instant before;
  for (const TimelineRecord& record : data.records) {
    EXPECT_GE(record.at, before);
    before = record.at;
    Instant& of_kind = first[static_cast<size_t>(record.kind)];
    if (record.value > 0) of_kind = std::min(of_kind, record.at);
  }
  const auto at = [&](TimelineKind kind) { return first[static_cast<size_t>(kind)]; };
  using enum TimelineKind;
  EXPECT_GT(at(cnm) - at(predicted), 2_us);  // the link, and 88 octets on the line
  EXPECT_LT(at(cnm) - at(predicted), 2'050_ns);
  EXPECT_GT(at(cnm_relayed), at(cnm) + 2_us);
  EXPECT_LE(at(warned), at(cnm_relayed));
  EXPECT_GT(at(rerouted), at(cnm_relayed));
  EXPECT_GT(at(pfc), at(rerouted));
  EXPECT_NE(at(pfc), Instant::never());
  EXPECT_GE(data.records.front().at, Instant() + 1340_us);
  EXPECT_LE(before, Instant() + 1600_us);

  const std::string csv = timeline_csv(data);
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(csv, '\n')), data.records.size() + 1);
  EXPECT_THAT(timeline_json(data),
              AllOf(HasSubstr("\"from_ns\": 1340000"), HasSubstr("\"pg_bytes\"")));
  EXPECT_THAT(
      draw_timeline(data, "A <title>"),
      AllOf(HasSubstr("A &lt;title&gt;"), HasSubstr("What leaf2 holds of what came from spine1"),
            HasSubstr("+0.0 \u00b5s"), HasSubstr("</svg>")));
}

TEST(Timeline, NamesThatAreNotThereAreNamed) {
  config::Experiment experiment;
  const auto topology = build_topology(experiment);
  ASSERT_TRUE(topology.ok());
  for (const auto& [path, says] : {std::pair{"leaf1:spin1", "no switch 'spin1'"},
                                   std::pair{"leaf1:leaf2", "no link joins 'leaf1' and 'leaf2'"}}) {
    const auto spec = parse_timeline(path);
    const auto made = Timeline::create(spec.value(), topology.value(), experiment);
    ASSERT_FALSE(made.ok()) << path;
    EXPECT_THAT(made.problems().front(), HasSubstr(says));
  }
}

TimelineData said() {
  const auto at = [](Duration when) { return Instant::at(when); };
  using enum TimelineKind;
  return {.hops = {{"leaf1", "spine1", 2_us}, {"spine1", "leaf2", 3_us}},
          .from = at(10_us),
          .to = at(40_us),
          .records = {{at(11_us), 1, cnm, 5},
                      {at(12_us), 1, warned, 1},
                      {at(14_us), 0, cnm_relayed, 4},
                      {at(15_us), 1, pfc, 1},
                      {at(15_us), 1, paused, 1},
                      {at(16_us), 1, warned, 2},
                      {at(20_us), 1, pfc, 0},
                      {at(20_us), 1, paused, 0},
                      {at(30_us), 1, cnm, 0},
                      {at(35_us), 0, paused, 1}}};
}

TEST(TimelineMessages, LeaveADelayBeforeTheyArrive) {
  using enum TimelineMessage::Says;
  const auto listed = [](uint32_t hop) {
    std::vector<std::tuple<TimelineMessage::Says, int64_t, int64_t>> out;
    for (const TimelineMessage& each : messages_of(said(), hop))
      out.emplace_back(each.says, each.left.since_zero().ns(), each.arrived.since_zero().ns());
    return out;
  };
  EXPECT_THAT(listed(0), ElementsAre(std::tuple(warning, 12'000, 14'000)));
  EXPECT_THAT(listed(1),
              ElementsAre(std::tuple(warning, 10'000, 11'000),  // from the span's begin
                          std::tuple(go, 27'000, 30'000), std::tuple(stop, 12'000, 15'000),
                          std::tuple(go, 17'000, 20'000)));
}

TEST(TimelineMessages, ALevelAboveZeroIsASpanUntilTheNext) {
  const auto listed = [](uint32_t hop, TimelineKind level) {
    std::vector<std::pair<int64_t, int64_t>> out;
    for (const TimelineSpan& each : spans_of(said(), hop, level))
      out.emplace_back(each.from.since_zero().ns(), each.to.since_zero().ns());
    return out;
  };
  EXPECT_THAT(listed(1, TimelineKind::warned),
              ElementsAre(std::pair(12'000, 16'000), std::pair(16'000, 40'000)));
  EXPECT_THAT(listed(1, TimelineKind::paused), ElementsAre(std::pair(15'000, 20'000)));
  EXPECT_THAT(listed(0, TimelineKind::paused), ElementsAre(std::pair(35'000, 40'000)));
  EXPECT_THAT(listed(0, TimelineKind::warned), testing::IsEmpty());
}

TEST(TimelineMessages, TheChartHasARowASwitchAndAnArrowAMessage) {
  const Chart chart = messages_chart(said(), Instant::at(12_us));
  EXPECT_THAT(chart.x.names, ElementsAre("leaf2", "spine1", "leaf1"));
  std::vector<std::string> found;
  for (const Series& series : chart.series)
    for (const Series::Point& point : series.points) {
      char text[80];
      std::snprintf(text, sizeof text, "%s %.2f %g %g", series.name.c_str(), point.x,
                    point.y - point.error, point.y + point.error);
      found.emplace_back(text);
    }
  EXPECT_THAT(found, ElementsAre("path warned 1.09 0 4", "path warned 1.09 4 28",
                                 "paused 2.19 23 28", "paused 1.19 3 8", "warning 2.00 0 2",
                                 "warning 1.00 -2 -1", "PFC: stop 1.00 0 3",
                                 "clear, PFC: go on 1.00 15 18", "clear, PFC: go on 1.00 5 8"));
  TimelineData silent = said();
  silent.records.clear();
  EXPECT_TRUE(messages_chart(silent, silent.from).series.empty());
}

// Without anything in the span there is a figure all the same.
TEST(TimelineFigure, OfNothing) {
  const TimelineData data{.hops = {{"a", "b", 2_us}},
                          .from = Instant::at(1_us),
                          .to = Instant::at(9_us),
                          .records = {}};
  EXPECT_THAT(draw_timeline(data, "t"),
              AllOf(HasSubstr("never"), HasSubstr("What a does"), HasSubstr(">time [\u00b5s]<")));
}

// The axes, the grid, the moments, the paths' lanes and the lines of the legend.
TEST(TimelineFigure, ItsLinesAreUprightOrLevel) {
  const TimelineData data{.hops = {{"a", "b", 2_us}, {"b", "c", 2_us}},
                          .from = Instant::at(1_us),
                          .to = Instant::at(9_us),
                          .records = {{Instant::at(3_us), 1, TimelineKind::predicted, 1}}};
  const std::string text = draw_timeline(data, "t");
  size_t lines = 0;
  for (size_t at = text.find("<line "); at != std::string::npos; at = text.find("<line ", at + 1)) {
    double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
    ASSERT_EQ(std::sscanf(text.c_str() + at, R"(<line x1="%lf" y1="%lf" x2="%lf" y2="%lf")", &x1,
                          &y1, &x2, &y2),
              4);
    EXPECT_TRUE(x1 == x2 || y1 == y2) << text.substr(at, text.find('>', at) + 1 - at);
    ++lines;
  }
  EXPECT_GT(lines, 20u);
}

}  // namespace
}  // namespace eddy::lab
