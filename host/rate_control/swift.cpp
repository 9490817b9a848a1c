// swift: a window that follows the delay of its packets.
//
// The window is in packets, in units of 2^-20; a delay is the round-trip time of the packet that an
// ACK answers, by the times at which the NIC sends and hears. Below the target an ACK adds
// `additive_increase` a round trip; above it the window shrinks by the share of the delay that is
// too much, times beta, at most by max_decrease, and at most once in a round trip. The target is
// the base target, a delay for each hop that the ACK has come over, and up to flow_range the more
// the smaller the window is: 1 / sqrt(window), scaled so that it is flow_range at the window
// flow_smallest and 0 at flow_largest. A NAK and a timeout cut by max_decrease, a row of timeouts
// to the smallest window. A window below one packet (or below ack_every packets, which is what an
// ACK waits for) is kept by pacing: so many packets a round trip.
//
// The host's part is left out: a receiver here takes no time, so there is no window for it. Owner:
// one Nic. Bounds: 72 octets a QP. Cost: an integer square root an ACK. Source: Swift, section 3
// and algorithm 1; reference D.8.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "host/describe.h"

namespace eddy::host {
namespace {

constexpr int kShift = 20;
constexpr int64_t kPacket = int64_t{1} << kShift;
constexpr int64_t kThousandths = 1'000;
constexpr int kRootShift = 16;
constexpr int kTimeoutsToReset = 5;

int64_t from_thousandths(int64_t value) {
  return value * kPacket / kThousandths;
}

// The largest number whose square is at most n.
int64_t root(int64_t n) {
  if (n <= 0) return 0;
  int64_t guess = int64_t{1} << ((std::bit_width(static_cast<uint64_t>(n)) + 1) / 2);
  for (;;) {
    const int64_t better = (guess + n / guess) / 2;
    if (better >= guess) return guess;
    guess = better;
  }
}

// 1 / sqrt(window), in units of 2^-16.
int64_t inverse_root(int64_t window) {
  return root((int64_t{1} << (2 * kRootShift + kShift)) / window);
}

class Swift final : public RateControl {
 public:
  struct Parameters {
    std::optional<Duration> base_target;
    Duration hop_target = Duration::microseconds(1);
    std::optional<Duration> flow_range;
    int64_t flow_smallest = 100;
    int64_t flow_largest = 100'000;
    int64_t additive_increase = 1'000;
    int64_t beta = 800;
    int64_t max_decrease = 500;
    int64_t smallest_window = 1;
  };
  static constexpr auto parameters() {
    using P = Parameters;
    constexpr Duration kShort = Duration::nanoseconds(100);
    constexpr Duration kLong = Duration::seconds(1);
    return std::array{
        ranged<&P::base_target>("base_target", kShort, kLong,
                                {"delay that is no congestion; auto: the base RTT of the path",
                                 "Swift, 3.5; auto is Eddy's"}),
        ranged<&P::hop_target>("hop_target", Duration(), kLong,
                               {"and so much for each hop that an ACK has come over",
                                "Swift, 3.5; the number is Eddy's"}),
        ranged<&P::flow_range>("flow_range", Duration(), kLong,
                               {"and up to so much the smaller the window is; auto: four times "
                                "the base target",
                                "Swift, 3.5; the number is Eddy's"}),
        ranged<&P::flow_smallest>("flow_smallest", 1, 1'000'000,
                                  {"thousandths of a packet: the window that gets all of "
                                   "flow_range",
                                   "Swift, 3.5: fs_min_cwnd"}),
        ranged<&P::flow_largest>("flow_largest", 1, 1'000'000'000,
                                 {"thousandths of a packet: the window that gets none of it",
                                  "Swift, 3.5: fs_max_cwnd"}),
        ranged<&P::additive_increase>(
            "additive_increase", 1, 1'000'000,
            {"thousandths of a packet a round trip", "Swift, algorithm 1: ai"}),
        ranged<&P::beta>(
            "beta", 1, 1'000,
            {"thousandths of the excess delay by which the window shrinks", "Swift, algorithm 1"}),
        ranged<&P::max_decrease>(
            "max_decrease", 1, 999,
            {"thousandths of the window, at most, in a round trip", "Swift, algorithm 1: max_mdf"}),
        ranged<&P::smallest_window>("smallest_window", 1, 1'000'000,
                                    {"thousandths of a packet", "Swift, algorithm 1: min_cwnd"})};
  }
  static constexpr std::string_view kSummary =
      "a window that follows the round-trip time of its packets, paced below one packet";
  static constexpr Hears kHears = {.acks = true, .rtt = true};

  Swift(const LawInit& init, const Parameters& parameters)
      : parameters_(parameters),
        line_(init.nic.speed),
        payload_(init.nic.config.mtu),
        line_octets_(payload_ + kHeaders + init.nic.line_overhead),
        unpaced_(std::max(init.nic.config.ack_every, 1)),
        increase_(from_thousandths(parameters.additive_increase)),
        beta_(from_thousandths(parameters.beta)),
        max_decrease_(from_thousandths(parameters.max_decrease)),
        smallest_(from_thousandths(parameters.smallest_window)),
        flow_floor_(inverse_root(from_thousandths(parameters.flow_largest))),
        flow_span_(inverse_root(from_thousandths(parameters.flow_smallest)) - flow_floor_),
        queue_pairs_(init.nic.senders) {
    pace_all(init.nic.senders, line_);
  }

  void open(uint32_t qpn, const RateOpening& opening, SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    qp.largest = int64_t{opening.full_window} << kShift;
    qp.base_target = parameters_.base_target.value_or(opening.base_rtt);
    qp.flow_range = parameters_.flow_range.value_or(qp.base_target * 4);
    qp.rtt = std::max(opening.base_rtt, Duration::nanoseconds(1));
    qp.window = opening.bdp.count() / payload_ * kPacket;
    show(qpn, qp, state);
  }

  bool on_ack(uint32_t qpn, const Ack& ack, SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    qp.timeouts = 0;
    if (ack.rtt <= Duration()) return false;  // of a packet that was sent twice
    qp.rtt = ack.rtt;
    const Duration target = target_of(qp, ack.hops);
    if (ack.rtt < target)
      grow(qp, static_cast<int64_t>(ack.packets));
    else
      shrink(qp, excess(ack.rtt, target), ack.now);
    return show(qpn, qp, state);
  }
  bool on_nak(uint32_t qpn, const Ack& ack, SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    shrink(qp, max_decrease_, ack.now);
    return show(qpn, qp, state);
  }
  bool on_timeout(uint32_t qpn, SendState& state, Instant now) override {
    QueuePair& qp = queue_pairs_[qpn];
    if (qp.timeouts < kTimeoutsToReset) ++qp.timeouts;
    if (qp.timeouts == kTimeoutsToReset)
      qp.window = 0;  // show() takes the smallest
    else
      shrink(qp, max_decrease_, now);
    return show(qpn, qp, state);
  }

  // What the pace allows; the window alone is no rate.
  BitRate rate(uint32_t qpn, Instant) const override {
    return BitRate::bits_per_second(pace(qpn).rate_bps);
  }

 private:
  static constexpr int kHeaders = 58;  // Ethernet, IPv4, UDP, BTH, ICRC

  struct QueuePair {
    int64_t window = 0;
    int64_t largest = 0;
    Duration base_target;
    Duration flow_range;
    Duration rtt;  // the last one measured
    Instant next_cut;
    int timeouts = 0;  // in a row
  };

  Duration target_of(const QueuePair& qp, int hops) const {
    const Duration fixed = qp.base_target + parameters_.hop_target * hops;
    const int64_t above = inverse_root(qp.window) - flow_floor_;
    if (above <= 0 || flow_span_ <= 0) return fixed;
    const auto scaled = static_cast<int64_t>(__int128{qp.flow_range.ps()} * above / flow_span_);
    return fixed + std::min(Duration::picoseconds(scaled), qp.flow_range);
  }

  void grow(QueuePair& qp, int64_t packets) const {
    const int64_t all = increase_ * packets;
    qp.window +=
        qp.window < kPacket ? all : static_cast<int64_t>(__int128{all} * kPacket / qp.window);
  }

  // Of the window; in units of 2^-20.
  int64_t excess(Duration delay, Duration target) const {
    const auto share = static_cast<int64_t>(__int128{beta_} * (delay - target).ps() / delay.ps());
    return std::min(share, max_decrease_);
  }
  static void shrink(QueuePair& qp, int64_t share, Instant now) {
    if (now < qp.next_cut) return;
    qp.window -= static_cast<int64_t>(__int128{qp.window} * share >> kShift);
    qp.next_cut = now + qp.rtt;
  }

  // Window and pace as the NIC reads them; true when the pace has changed.
  bool show(uint32_t qpn, QueuePair& qp, SendState& state) {
    qp.window = std::clamp(qp.window, smallest_, std::max(qp.largest, smallest_));
    state.window = static_cast<uint32_t>(std::max(qp.window >> kShift, unpaced_));
    const int64_t rate = rate_of(qp);
    return std::exchange(pace(qpn).rate_bps, rate) != rate;
  }
  int64_t rate_of(const QueuePair& qp) const {
    if (qp.window >= unpaced_ * kPacket) return line_.bps();
    constexpr int64_t kBitPicoseconds = 8'000'000'000'000;  // of an octet at 1 b/s
    const auto rate = static_cast<int64_t>(
        __int128{line_octets_} * kBitPicoseconds * qp.window / qp.rtt.ps() >> kShift);
    return std::clamp(rate, int64_t{1}, line_.bps());
  }

  const Parameters parameters_;
  const BitRate line_;
  const int64_t payload_;
  const int64_t line_octets_;  // of a full packet
  const int64_t unpaced_;      // packets: a smaller window is kept by pacing
  const int64_t increase_;
  const int64_t beta_;
  const int64_t max_decrease_;
  const int64_t smallest_;
  const int64_t flow_floor_;
  const int64_t flow_span_;
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace

EDDY_RATE_CONTROL(swift, Swift)

}  // namespace eddy::host
