#include "lab/figures/timeline_messages.h"

#include <algorithm>
#include <array>

namespace eddy::lab {
namespace {

// In rows: spans stand below the row of their switch, as arrows end at it.
constexpr double kWarnedAt = 0.09;
constexpr double kPausedAt = 0.19;

using Says = TimelineMessage::Says;

// In the colours of charts: blue for warnings, orange for pauses.
struct Look {
  Says says;
  const char* name;
  size_t colour;
};
constexpr auto kMessages = std::to_array<Look>({{Says::warning, "warning", 0},
                                                {Says::stop, "PFC: stop", 1},
                                                {Says::go, "clear, PFC: go on", 6}});

struct Level {
  TimelineKind kind;
  const char* name;
  size_t colour;
  double below;
};
constexpr auto kLevels = std::to_array<Level>({{TimelineKind::warned, "path warned", 4, kWarnedAt},
                                               {TimelineKind::paused, "paused", 5, kPausedAt}});

}  // namespace

std::vector<TimelineMessage> messages_of(const TimelineData& data, uint32_t hop) {
  std::vector<TimelineMessage> out;
  for (const auto kind : {TimelineKind::cnm, TimelineKind::cnm_relayed, TimelineKind::pfc})
    for (const TimelineRecord& record : data.records) {
      if (record.kind != kind || record.hop != hop) continue;
      const Says says = record.value == 0           ? Says::go
                        : kind == TimelineKind::pfc ? Says::stop
                                                    : Says::warning;
      out.push_back({says, std::max(data.from, record.at - data.hops[hop].delay), record.at});
    }
  return out;
}

std::vector<TimelineSpan> spans_of(const TimelineData& data, uint32_t hop, TimelineKind level) {
  std::vector<TimelineSpan> out;
  bool is_open = false;
  for (const TimelineRecord& record : data.records) {
    if (record.kind != level || record.hop != hop) continue;
    if (is_open) out.back().to = record.at;
    is_open = record.value > 0;
    if (is_open) out.push_back({record.at, data.to});
  }
  return out;
}

Chart messages_chart(const TimelineData& data, Instant zero) {
  Chart chart{.title = "What they tell each other",
              .x = {.label = ""},
              .y = {.label = "time [us]", .begin = AxisBegin::data},
              .series = {},
              .note = "time is counted from the first prediction of PFC"};
  for (size_t i = data.hops.size(); i-- > 0;) chart.x.names.push_back(data.hops[i].to);
  chart.x.names.push_back(data.hops.front().from);
  const auto micros = [&](Instant at) { return static_cast<double>((at - zero).ps()) * 1e-6; };
  const auto point = [&](double row, Instant from, Instant to) {
    return Series::Point{row, (micros(from) + micros(to)) / 2, (micros(to) - micros(from)) / 2};
  };
  const auto row_of_sender = [&](uint32_t hop) {
    return static_cast<double>(data.hops.size() - hop);
  };
  const auto keep = [&](Series series) {
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  };
  const auto hops = static_cast<uint32_t>(data.hops.size());
  for (const Level& level : kLevels) {
    Series series{
        .name = level.name, .points = {}, .colour = level.colour, .kind = SeriesKind::spans};
    for (uint32_t hop = 0; hop < hops; ++hop)
      for (const TimelineSpan& span : spans_of(data, hop, level.kind))
        series.points.push_back(point(row_of_sender(hop) + level.below, span.from, span.to));
    keep(std::move(series));
  }
  for (const Look& look : kMessages) {
    Series series{
        .name = look.name, .points = {}, .colour = look.colour, .kind = SeriesKind::arrows};
    for (uint32_t hop = 0; hop < hops; ++hop)
      for (const TimelineMessage& message : messages_of(data, hop))
        if (message.says == look.says)
          series.points.push_back(point(row_of_sender(hop), message.left, message.arrived));
    keep(std::move(series));
  }
  return chart;
}

}  // namespace eddy::lab
