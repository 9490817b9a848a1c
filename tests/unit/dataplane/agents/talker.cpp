#include "tests/unit/dataplane/agents/talker.h"

#include <map>
#include <memory>
#include <utility>

#include "lb/schemes/bucket_scheme.h"

namespace eddy::test {
namespace {

std::map<std::pair<size_t, size_t>, std::unique_ptr<Talk>> talks;

}  // namespace

Talk& talk(SwitchId of, ShardId shard) {
  std::unique_ptr<Talk>& found = talks[{of.index(), shard.index()}];
  if (found == nullptr) found = std::make_unique<Talk>();
  return *found;
}

void forget_talks() {
  talks.clear();
}

}  // namespace eddy::test

namespace eddy::lb {
namespace {

using test::Talk;

constexpr uint16_t kFrames = kind_bit(ShimKind::probe) | kind_bit(ShimKind::notify) |
                             kind_bit(ShimKind::clear) | kind_bit(ShimKind::flowcut_ack) |
                             kind_bit(ShimKind::hula_probe) | kind_bit(ShimKind::flow_xoff) |
                             kind_bit(ShimKind::flow_xon);

// What they have in common: all calls.
class Speaking : public BucketScheme<BucketShare::equal> {
 public:
  Speaking(const SelectorInit& init, const Parameters& parameters)
      : BucketScheme(init, parameters), talk_(test::talk(init.switch_id, init.shard)) {
    talk_.lives = true;
  }
  ~Speaking() { talk_.lives = false; }

  Instant next_deadline() const { return talk_.deadline; }
  void on_timers(Voice& voice) {
    ++talk_.calls;
    talk_.deadline = Instant::never();
    if (talk_.on_timers) talk_.on_timers(voice);
  }
  void dress(Voice& voice, std::span<Dressing> burst) {
    ++talk_.calls;
    if (talk_.dress) talk_.dress(voice, burst);
  }
  bool dress_briefly(Voice&, std::span<Packet* const>, std::span<const uint16_t>,
                     std::span<uint32_t> briefs) {
    if (!talk_.dress_briefly) return false;
    talk_.dress_briefly(briefs);
    return true;
  }
  void arrived(Voice& voice, std::span<const Arrival> burst) {
    ++talk_.calls;
    if (talk_.on_arrivals) talk_.on_arrivals(voice, burst);
    for (Arrival arrival : burst) {
      arrival.packet = nullptr;
      talk_.arrivals.push_back(arrival);
    }
  }
  void on_feedback(Voice&, std::span<const Feedback> burst) {
    ++talk_.calls;
    talk_.feedback.insert(talk_.feedback.end(), burst.begin(), burst.end());
  }
  void on_frames(Voice& voice, std::span<HeardFrame> burst) {
    ++talk_.calls;
    if (talk_.on_frames) talk_.on_frames(voice, burst);
    talk_.frames.insert(talk_.frames.end(), burst.begin(), burst.end());
  }
  void on_replies(Voice&, std::span<const Reply> burst) {
    ++talk_.calls;
    for (Reply reply : burst) {
      reply.packet = nullptr;
      talk_.replies.push_back(reply);
    }
  }
  void rebase(const Rebase& rebase) {
    rebase.shift(talk_.deadline);
    ++talk_.rebases;
  }

 private:
  Talk& talk_;
};

class Talker : public Speaking {
 public:
  static constexpr std::string_view kSummary = "says and hears all that there is";
  static constexpr Speech kSpeech = {
      .shim = ShimNeed::every,
      .timers = true,
      .fields = kFieldReport | kFieldEpoch | kFieldTail | kFieldDelay | kFieldChannel,
      .arrivals = true,
      .feedback = kFeedbackLoad | kFeedbackMarks | kFeedbackDelay,
      .makes = kFrames,
      .hears = kFrames,
      .overhears = kind_bit(ShimKind::notify) | kind_bit(ShimKind::flowcut_ack),
      .replies = true,
      .pauses = true};
  using Speaking::Speaking;
};

// Frames of one kind, no shims.
class Sparse : public Speaking {
 public:
  static constexpr std::string_view kSummary = "sends and hears notifications";
  static constexpr Speech kSpeech = {
      .timers = true, .makes = kind_bit(ShimKind::notify), .hears = kind_bit(ShimKind::notify)};
  using Speaking::Speaking;
};

// Every packet has a shim, of which it may write the epoch alone; and it declares no calls but
// that.
class Modest : public Speaking {
 public:
  static constexpr std::string_view kSummary = "writes the epoch";
  static constexpr Speech kSpeech = {.shim = ShimNeed::every, .fields = kFieldEpoch};
  using Speaking::Speaking;
};

class Quiet : public Speaking {
 public:
  static constexpr std::string_view kSummary = "could speak and does not";
  using Speaking::Speaking;
};

static_assert(Speaks<Talker> && Speaks<Sparse> && Speaks<Modest> && !Speaks<Quiet>);

}  // namespace

SchemeInfo ecmp_scheme();
SchemeInfo conga_scheme();

std::span<const SchemeInfo> schemes() {
  static const std::array<SchemeInfo, 6> all = {ecmp_scheme(),
                                                conga_scheme(),
                                                describe<Talker>("talker"),
                                                describe<Sparse>("sparse"),
                                                describe<Modest>("modest"),
                                                describe<Quiet>("quiet")};
  return all;
}

}  // namespace eddy::lb
