#include "lb/agents/load_reports.h"

namespace eddy::lb {

LoadReports::LoadReports(std::span<const PathSet> sets) {
  uint32_t places = 0;
  for (const PathSet& set : sets) {
    leaves_.push_back({.first = places, .last = static_cast<uint8_t>(places_of(set) - 1)});
    places += places_of(set);
  }
  paths_ = std::make_unique<FromPath[]>(places);
}

void LoadReports::arrived(std::span<const Arrival> burst) {
  has_any_ |= !burst.empty();
  for (const Arrival& arrival : burst) {
    FromLeaf& leaf = leaves_[arrival.set];
    leaf.used |= uint64_t{1} << arrival.place;
    paths_[leaf.first + arrival.place] = {arrival.shim.path, arrival.shim.congestion};
  }
}

// One place is in use at least.
LoadReports::Report LoadReports::next(uint16_t set) {
  FromLeaf& leaf = leaves_[set];
  uint8_t place = leaf.turn;
  while ((leaf.used >> place & 1) == 0) place = static_cast<uint8_t>((place + 1u) & leaf.last);
  leaf.turn = static_cast<uint8_t>((place + 1u) & leaf.last);
  const FromPath& from = paths_[leaf.first + place];
  return {place, from.load, from.path};
}

void LoadReports::report(Dressing& dressing) {
  const Report report = next(dressing.set);
  dressing.fields.written = kFieldReport;
  dressing.fields.report_place = report.place;
  dressing.fields.report_path = report.path;
  dressing.fields.report_load = report.load;
}

void LoadReports::on_feedback(Voice& voice, std::span<const Feedback> burst) {
  PathTable* paths = voice.paths();
  for (const Feedback& told : burst)
    if (told.kind == kFeedbackLoad)
      paths->at(told.key.set, told.key.member)
          .take_congestion(static_cast<uint8_t>(told.value), paths->record_time(told.heard_at));
}

}  // namespace eddy::lb
