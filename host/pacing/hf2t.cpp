// hf2t: a packet that comes long after the one before waits a little more, so that the gap ends a
// flowlet at the switches, and the flow may take another way.
//
// Packets start by the QP's rate, or as the window opens. Of each QP the gap before a packet is
// seen when the packet may start. Gaps longer than the packet before took of the line are kept in
// one histogram of the NIC, 64 bins by powers of two of a nanosecond, whose counts are halved every
// `decay`; T is its `percentile`, once there were enough gaps for one to lie beyond. A gap of T
// times alpha or more that is shorter than `timeout` is made `timeout` and `margin` long. Packets
// that are sent again are not held. Alpha is of the QP, from 1/4 to 4: a flowlet shorter than half
// of `target` raises it by a quarter, one longer than twice of it lowers it by a fifth. Other QPs
// go on meanwhile, and so do the timers of the rate control.
//
// Owner: one Nic. Bounds: 48 octets a QP and one histogram. Cost: two calls a packet; the
// percentile is looked up again every 256 gaps. Source: HF2T; reference A.14;
// docs/schemes/hf2t.md.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "host/describe.h"

namespace eddy::host {
namespace {

constexpr size_t kBins = 64;
constexpr int64_t kBitPicoseconds = 8'000'000'000'000;  // of an octet at 1 b/s
constexpr int64_t kPercent = 100;

// Gaps in nanoseconds: bin i has those of i binary digits.
class GapHistogram {
 public:
  GapHistogram(Duration decay, int64_t percentile)
      : decay_(decay),
        percentile_(percentile),
        fewest_(static_cast<uint64_t>(kPercent / (kPercent - percentile))) {}

  void add(Duration gap, Instant now) {
    if (now >= next_decay_) halve(now);
    ++bins_[static_cast<size_t>(std::bit_width(static_cast<uint64_t>(gap.ps() / kNanosecond)))];
    ++count_;
    if (++unread_ >= kReadAgain || count_ <= kReadAgain) look_up();
  }

  // max(): there were too few gaps yet for one to be beyond the percentile.
  Duration threshold() const { return threshold_; }

 private:
  static constexpr int64_t kNanosecond = 1'000;
  static constexpr uint64_t kReadAgain = 256;

  // As often as the time since says, all at once.
  void halve(Instant now) {
    const bool first = next_decay_ == Instant();
    const int64_t times = first ? 0 : (now - next_decay_).ps() / decay_.ps() + 1;
    count_ = 0;
    for (uint64_t& bin : bins_) count_ += bin >>= std::min<int64_t>(times, kBins - 1);
    next_decay_ = first ? now + decay_ : next_decay_ + decay_ * times;
  }

  // Within a bin gaps count as spread evenly.
  void look_up() {
    unread_ = 0;
    threshold_ = Duration::max();
    if (count_ < fewest_) return;
    const uint64_t rank = count_ * static_cast<uint64_t>(percentile_) / kPercent;
    uint64_t below = 0;
    for (size_t i = 0; i < kBins; ++i) {
      if (below + bins_[i] <= rank) {
        below += bins_[i];
        continue;
      }
      const int64_t low = i == 0 ? 0 : int64_t{1} << (i - 1);
      const int64_t width = std::max<int64_t>(low, 1);
      const auto share = static_cast<int64_t>(__int128{width} * static_cast<int64_t>(rank - below) /
                                              static_cast<int64_t>(bins_[i]));
      threshold_ = Duration::nanoseconds(low + share);
      return;
    }
  }

  const Duration decay_;
  const int64_t percentile_;
  const uint64_t fewest_;
  std::array<uint64_t, kBins> bins_{};
  uint64_t count_ = 0;
  uint64_t unread_ = 0;  // gaps since the percentile was looked up
  Instant next_decay_;
  Duration threshold_ = Duration::max();
};

class Hf2t final : public Pacing {
 public:
  struct Parameters {
    Duration timeout = Duration::microseconds(100);
    Duration margin = Duration::microseconds(2);
    int64_t percentile = 99;
    Duration decay = Duration::milliseconds(10);
    Bytes target{65'536};
    bool adapt = true;
    bool hold = true;
  };
  static constexpr auto parameters() {
    using P = Parameters;
    constexpr Duration kShort = Duration::microseconds(1);
    constexpr Duration kLong = Duration::seconds(10);
    return std::array{
        ranged<&P::timeout>("timeout", kShort, kLong,
                            {"a gap that ends a flowlet at the switches: with one-bit ageing twice "
                             "their gap, else that",
                             "reference A.14"}),
        ranged<&P::margin>("margin", Duration(), kLong,
                           {"so much longer are gaps that are made", "reference A.14"}),
        ranged<&P::percentile>("percentile", 0, 99,
                               {"of the gaps that are not back to back: T", "reference A.14"}),
        ranged<&P::decay>("decay", kShort, kLong,
                          {"after so long what was seen counts half", "reference A.14"}),
        ranged<&P::target>(
            "target", Bytes(1), Bytes(1'000'000'000),
            {"length of a flowlet, of frames, that alpha aims at", "reference A.14"}),
        flag<&P::adapt>(
            "adapt", {"alpha follows the length of flowlets; false: it is 1", "HF2T: dynamic T"}),
        flag<&P::hold>("hold", {"false: gaps are counted, and no packet waits", "Eddy"})};
  }
  static constexpr std::string_view kSummary =
      "a large gap is made so large that switches end a flowlet";
  static constexpr bool kAlways = true;

  Hf2t(const LawInit& init, const Parameters& parameters)
      : parameters_(parameters),
        line_bps_(init.nic.speed.bps()),
        overhead_(init.nic.line_overhead),
        gaps_(parameters.decay, parameters.percentile),
        queue_pairs_(init.nic.senders) {}

  Instant next_send(uint32_t qpn, const Pace& pace, const SendState& state, Instant now) override {
    QueuePair& qp = queue_pairs_[qpn];
    const Instant start = std::max(now, paced_start(pace));
    if (!qp.begun || start > now) return start;
    if (qp.held_until == Instant() && wants_gap(qp, state, start - pace.last_start)) {
      qp.natural = start - pace.last_start;
      qp.held_until = pace.last_start + parameters_.timeout + parameters_.margin;
    }
    return std::max(start, qp.held_until);
  }

  PacedPacket on_sent(uint32_t qpn, const Pace& pace, const SendState&) override {
    QueuePair& qp = queue_pairs_[qpn];
    const Duration gap = pace.last_start - qp.last_start;
    const bool flowlet = qp.begun && gap >= parameters_.timeout;
    const bool held = qp.held_until != Instant();
    if (qp.begun) note_gap(qp, held ? qp.natural : gap, pace.last_start);
    if (flowlet) end_flowlet(qp);
    qp.octets += pace.last_line_octets - overhead_;
    qp.last_start = pace.last_start;
    qp.last_line_octets = pace.last_line_octets;
    qp.held_until = Instant();
    qp.begun = true;
    return {.held = held, .flowlet = flowlet};
  }

 private:
  static constexpr int64_t kOne = 1 << 16;  // alpha, in units of 2^-16
  static constexpr int64_t kSmallest = kOne / 4;
  static constexpr int64_t kLargest = kOne * 4;

  struct QueuePair {
    Instant last_start;
    Instant held_until;  // 0: the next packet is not held
    Duration natural;    // the gap that it would have had
    int64_t octets = 0;  // of the flowlet
    int64_t alpha = kOne;
    int32_t last_line_octets = 0;
    bool begun = false;  // a packet has started
  };

  // A QP at line rate is paced by the line.
  Instant paced_start(const Pace& pace) const {
    if (pace.rate_bps >= line_bps_) return {};
    return pace.last_start +
           Duration::picoseconds(pace.last_line_octets * kBitPicoseconds / pace.rate_bps);
  }
  bool wants_gap(const QueuePair& qp, const SendState& state, Duration gap) const {
    const bool again = state.repair == Repair::pending || state.next < state.sent_end;
    if (!parameters_.hold || again || gap >= parameters_.timeout || back_to_back(qp, gap))
      return false;
    const Duration threshold = gaps_.threshold();
    return threshold != Duration::max() &&
           __int128{gap.ps()} * kOne >= __int128{threshold.ps()} * qp.alpha;
  }
  bool back_to_back(const QueuePair& qp, Duration gap) const {
    return __int128{gap.ps()} * line_bps_ <= __int128{qp.last_line_octets} * kBitPicoseconds;
  }
  void note_gap(const QueuePair& qp, Duration gap, Instant now) {
    if (!back_to_back(qp, gap)) gaps_.add(gap, now);
  }
  void end_flowlet(QueuePair& qp) const {
    const int64_t target = parameters_.target.count();
    if (parameters_.adapt && qp.octets * 2 < target)
      qp.alpha = std::min(qp.alpha * 5 / 4, kLargest);
    else if (parameters_.adapt && qp.octets > target * 2)
      qp.alpha = std::max(qp.alpha * 4 / 5, kSmallest);
    qp.octets = 0;
  }

  const Parameters parameters_;
  const int64_t line_bps_;
  const int64_t overhead_;
  GapHistogram gaps_;
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace

EDDY_PACING(hf2t, Hf2t)

}  // namespace eddy::host
