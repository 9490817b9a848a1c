#include "switch/dataplane/state/explanation.h"

#include <algorithm>

namespace eddy {
namespace {

template <class E>
bool within(E value, E last) {
  return static_cast<uint64_t>(value) <= static_cast<uint64_t>(last);
}

bool is_sound(const PathOption& path) {
  return within(path.row.failure, lb::PathFailure::rounds);
}

bool is_sound(const lb::Preview& choice) {
  return within(choice.by, lb::Preview::By::scheme) && within(choice.reason, lb::Reason::packet) &&
         within(choice.decision, lb::Decision::culprit) && within(choice.hold, lb::Hold::drains);
}

}  // namespace

bool is_sound(const Explanation& of) {
  if (of.options > kMaxPaths || !is_sound(of.choice)) return false;
  if (static_cast<size_t>(of.reason) >= kDropReasons ||
      static_cast<int>(of.verdict) >= kParseVerdicts)
    return false;
  const bool named =
      within(of.fate, Fate::drains) && within(of.class_by, ClassBy::pcp) &&
      within(of.next_hop.kind, NextHop::Kind::path_set) &&
      within(of.isolation, IsolationStep::ends) && within(of.next_mac, NextMac::other_shard) &&
      within(of.admission.verdict.verdict, pfc::AdmitVerdict::headroom_full) &&
      within(of.last, Explanation::Step::enqueue) && within(of.frame.kind, FrameKind::link_local);
  return named && std::all_of(of.paths.begin(), of.paths.begin() + of.options,
                              [](const PathOption& path) { return is_sound(path); });
}

}  // namespace eddy
