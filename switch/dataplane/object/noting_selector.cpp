#include "switch/dataplane/object/noting_selector.h"

#include <algorithm>

#include "net/capture/capture_record.h"

namespace eddy {
namespace {

// A view of the same, in which nothing has been reported yet.
lb::PathView fresh(const lb::PathView& view) {
  return {view.now(),
          view.sets(),
          view.live(),
          &view.port(PortId(0)),
          {.warnings = view.warnings(),
           .paths = view.paths(),
           .flows = view.flows(),
           .slots = view.slots(),
           .loop = view.loop()}};
}

// What is reported of one packet, as a mask of CaptureDecision.
uint8_t decisions_of(const lb::PathView& view) {
  static constexpr std::array<uint8_t, lb::kDecisions> kBits = {0,                     // direct
                                                                kCaptureRerouted,      // rerouted
                                                                kCaptureAllWarned,     // all_warned
                                                                kCaptureSuspended,     // suspended
                                                                kCaptureRecirculated,  // waits
                                                                kCaptureForced,        // forced
                                                                kCapturePlaced,        // placed
                                                                kCaptureCulprit};      // culprit
  uint8_t decisions = 0;
  for (size_t i = 1; i < lb::kDecisions; ++i)
    if (view.decisions(static_cast<lb::Decision>(i)) != 0)
      decisions = static_cast<uint8_t>(decisions | kBits[i]);
  return decisions;
}

void note(Packet& packet, uint8_t decisions, uint8_t rounds = 0) {
  CaptureNote all = capture_note_of(packet);
  all.decisions = static_cast<uint8_t>(all.decisions | decisions);
  all.rounds = static_cast<uint8_t>(std::min(all.rounds + rounds, 255));
  put_capture_note(packet, all);
}

void report_all(const lb::PathView& from, const lb::PathView& to, size_t index) {
  for (uint32_t i = 0; i < from.ties(); ++i) to.report_tie();
  if ((from.away() & 1) != 0) to.report_away(index);
  if (from.fallback() != 0) to.report_fallback(from.fallback(), from.failed());
  if (from.placeless() != 0) to.report_placeless(from.placeless());
  for (size_t i = 0; i < lb::kDecisions; ++i)
    for (uint32_t n = 0; n < from.decisions(static_cast<lb::Decision>(i)); ++n)
      to.report(static_cast<lb::Decision>(i));
  for (size_t i = 0; i < lb::kGuardEvents; ++i) {
    const auto event = static_cast<lb::GuardEvent>(i);
    if (from.guarded(event) != 0) to.report(event, from.guarded(event));
  }
}

}  // namespace

void NotingSelector::select(const lb::PathView& view, std::span<Packet* const> burst,
                            std::span<const uint16_t> set_of) {
  if (view.warnings() == nullptr) return inner_->select(view, burst, set_of);
  for (size_t i = 0; i < burst.size(); ++i) select_one(view, *burst[i], set_of[i], i);
}

// What is reported without a packet's own decision is of another, as where one that waits is let
// out by one of its flow that comes.
void NotingSelector::select_one(const lb::PathView& view, Packet& packet, uint16_t set,
                                size_t index) {
  const lb::PathView one = fresh(view);
  Packet* const burst[] = {&packet};
  inner_->select(one, burst, {&set, 1});
  uint8_t decisions = decisions_of(one);
  if ((one.away() & 1) != 0 && (decisions & kCaptureRecirculated) == 0)
    decisions = static_cast<uint8_t>(decisions | kCaptureFollowed);
  if (decisions != 0) note(packet, decisions);
  report_all(one, view, index);
}

lb::MemberIndex NotingSelector::again(const lb::PathView& view, Packet& packet, uint16_t set,
                                      lb::Trip& trip) {
  const lb::PathView one = fresh(view);
  const lb::MemberIndex member = inner_->again(one, packet, set, trip);
  note(packet, decisions_of(one), 1);
  report_all(one, view, 0);
  return member;
}

void NotingSelector::follow(const lb::PathView& view, Packet& packet, uint16_t set,
                            lb::MemberIndex member) {
  inner_->follow(view, packet, set, member);
  note(packet, 0, 1);
}

}  // namespace eddy
