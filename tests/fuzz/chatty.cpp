// A scheme that says all that a path agent can, without rest, and answers whatever it hears; in the
// program that links this it stands beside all schemes. What it does follows from what comes in.
// Owner: its selector.
#include <algorithm>
#include <array>
#include <vector>

#include "lb/schemes/bucket_scheme.h"

namespace eddy::lb {
namespace {

using namespace literals;

constexpr std::array kKinds = {ShimKind::probe,       ShimKind::notify,     ShimKind::clear,
                               ShimKind::flowcut_ack, ShimKind::hula_probe, ShimKind::flow_xoff,
                               ShimKind::flow_xon};

constexpr uint16_t all_kinds() {
  uint16_t kinds = 0;
  for (const ShimKind kind : kKinds) kinds = static_cast<uint16_t>(kinds | kind_bit(kind));
  return kinds;
}

class Chatty : public BucketScheme<BucketShare::equal> {
 public:
  static constexpr std::string_view kSummary = "says all that there is, without rest";
  static constexpr Speech kSpeech = {
      .shim = ShimNeed::every,
      .timers = true,
      .fields = kFieldReport | kFieldEpoch | kFieldTail | kFieldDelay | kFieldChannel,
      .arrivals = true,
      .feedback = kFeedbackLoad | kFeedbackMarks | kFeedbackDelay,
      .makes = all_kinds(),
      .hears = all_kinds(),
      .overhears = all_kinds(),
      .replies = true};
  using BucketScheme::BucketScheme;

  Instant next_deadline() const { return next_; }
  void on_timers(Voice& voice) {
    say(voice, ++said_);
    next_ = voice.view().now() + 3_us;
  }
  void dress(Voice&, std::span<Dressing> burst) {
    for (Dressing& dressing : burst) {
      const auto draw = static_cast<uint32_t>(mix64(dressing.packet->order_hash + ++said_));
      dressing.fields = {.written = static_cast<uint8_t>(draw),
                         .report_place = static_cast<uint8_t>(draw >> 8 & 15),
                         .epoch = static_cast<uint8_t>(draw >> 16),
                         .virtual_channel = static_cast<uint8_t>(draw >> 20),
                         .tail = (draw >> 24 & 1) != 0,
                         .tail_sent_ns = draw};
    }
  }
  void arrived(Voice& voice, std::span<const Arrival> burst) {
    for (const Arrival& arrival : burst) say(voice, arrival.shim.sent_ns + arrival.place);
  }
  void on_feedback(Voice& voice, std::span<const Feedback> burst) {
    for (const Feedback& told : burst)
      (void)voice.send({.message = {.shim = {.kind = ShimKind::probe}}, .path = told.key});
  }
  void on_frames(Voice& voice, std::span<HeardFrame> burst) {
    for (HeardFrame& frame : burst) {
      frame.stops = (frame.message.value & 1) != 0;
      if (!frame.here) continue;
      if ((frame.message.value & 2) != 0) voice.disbelieve(frame.port);
      (void)voice.send({.message = frame.message, .by_path = false, .port = frame.port});
    }
  }
  void on_replies(Voice& voice, std::span<const Reply> burst) {
    for (const Reply& reply : burst) say(voice, static_cast<uint32_t>(reply.flow) + reply.psn);
  }
  void rebase(const Rebase& rebase) { rebase.shift(next_); }

 private:
  // Paths and ports that there are, and some that are not.
  void say(Voice& voice, uint32_t draw) {
    const ShimControl message{
        .shim = {.kind = kKinds[draw % kKinds.size()]}, .value = draw, .order_hash = draw};
    (void)voice.send(
        {.message = message,
         .by_path = (draw >> 3 & 1) != 0,
         .path = {static_cast<uint16_t>(draw >> 4 & 3), static_cast<MemberIndex>(draw >> 6 & 3)},
         .port = PortId(draw >> 8 & 7)});
  }

  Instant next_;
  uint32_t said_ = 0;
};

}  // namespace

std::span<const SchemeInfo> listed_schemes();

std::span<const SchemeInfo> schemes() {
  // First, so that its number in a corpus stays the same when schemes are added.
  static const std::vector<SchemeInfo> all = [] {
    std::vector<SchemeInfo> both{describe<Chatty>("chatty")};
    const std::span<const SchemeInfo> listed = listed_schemes();
    both.insert(both.end(), listed.begin(), listed.end());
    return both;
  }();
  return all;
}

}  // namespace eddy::lb
