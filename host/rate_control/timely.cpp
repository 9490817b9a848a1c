// timely: a rate that follows how the delay of packets changes.
//
// Once a round trip (or once in so many octets) the last measured round-trip time is a step. Below
// t_low the rate grows by additive_increase. Above t_high it shrinks by beta times the share of the
// delay that is too much. Between the two the change of the delay decides, smoothed by alpha and as
// a share of min_rtt: where delays do not grow the rate does, by additive_increase, and by
// hyper_increase after hyper_after such steps in a row; where they grow it shrinks by beta times
// the change. A cut ends the row. The first step only notes its delay. A NAK and a timeout do not
// move the rate: the law is made for lossless networks.
//
// Rates are in bit/s, changes of the delay in picoseconds, shares in thousandths. Owner: one Nic.
// Bounds: 48 octets a QP. Cost: two comparisons an ACK, two divisions a step. Source: TIMELY,
// algorithm 1; reference D.10.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "host/describe.h"

namespace eddy::host {
namespace {

constexpr int64_t kThousandths = 1'000;

class Timely final : public RateControl {
 public:
  struct Parameters {
    Duration t_low = Duration::microseconds(50);
    Duration t_high = Duration::microseconds(500);
    std::optional<Duration> min_rtt = Duration::microseconds(20);
    int64_t alpha = 875;
    int64_t beta = 800;
    BitRate additive_increase = BitRate::mbps(10);
    BitRate hyper_increase = BitRate::mbps(50);
    int64_t hyper_after = 5;
    bool hyper_below_low = false;
    std::optional<Bytes> segment;
    BitRate min_rate = BitRate::mbps(10);
  };
  static constexpr auto parameters() {
    using P = Parameters;
    constexpr Duration kShort = Duration::nanoseconds(100);
    constexpr Duration kLong = Duration::seconds(1);
    constexpr BitRate kSlowest = BitRate::bits_per_second(1);
    constexpr BitRate kFastest = BitRate::gbps(1'600);
    return std::array{
        ranged<&P::t_low>("t_low", Duration(), kLong,
                          {"below this delay the rate grows", "TIMELY: T_low; HPCC's simulator"}),
        ranged<&P::t_high>("t_high", kShort, kLong,
                           {"above this delay it shrinks", "TIMELY: T_high; HPCC's simulator"}),
        ranged<&P::min_rtt>("min_rtt", kShort, kLong,
                            {"changes of the delay are shares of it; auto: the base RTT of the "
                             "path",
                             "TIMELY: minRTT; HPCC's simulator, auto is Eddy's"}),
        ranged<&P::alpha>("alpha", 1, 1'000,
                          {"thousandths: the weight of the newest change of the delay",
                           "TIMELY, algorithm 1; HPCC's simulator"}),
        ranged<&P::beta>("beta", 1, 1'000,
                         {"thousandths: how much of the excess, or of the change, is a cut",
                          "TIMELY, algorithm 1; HPCC's simulator"}),
        ranged<&P::additive_increase>("additive_increase", kSlowest, kFastest,
                                      {"a step", "TIMELY, algorithm 1: delta"}),
        ranged<&P::hyper_increase>(
            "hyper_increase", kSlowest, kFastest,
            {"a step after hyper_after of them in a row", "TIMELY, algorithm 1: N delta, N = 5"}),
        ranged<&P::hyper_after>(
            "hyper_after", 1, 1'000'000,
            {"steps in a row that raised the rate", "TIMELY; HPCC's simulator"}),
        flag<&P::hyper_below_low>("hyper_below_low",
                                  {"steps below t_low count for the row and are as large",
                                   "HPCC's simulator; the paper's are not"}),
        ranged<&P::segment>("segment", Bytes(1), Bytes(1'000'000'000),
                            {"octets between steps; auto: a step a round trip",
                             "TIMELY has 16 KB to 64 KB; auto is HPCC's simulator's"}),
        ranged<&P::min_rate>("min_rate", kSlowest, kFastest,
                             {"the rate never falls below", "the number is Eddy's"})};
  }
  static constexpr std::string_view kSummary = "a rate that follows how round-trip times change";
  static constexpr Hears kHears = {.acks = true, .rtt = true};

  Timely(const LawInit& init, const Parameters& parameters)
      : parameters_(parameters),
        line_(init.nic.speed.bps()),
        slowest_(std::min(parameters.min_rate.bps(), line_)),
        packets_(parameters.segment
                     ? std::max<int64_t>(parameters.segment->count() / init.nic.config.mtu, 1)
                     : 0),
        queue_pairs_(init.nic.senders) {
    pace_all(init.nic.senders, init.nic.speed);
  }

  void open(uint32_t qpn, const RateOpening& opening, SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    qp = {.min_rtt = parameters_.min_rtt.value_or(opening.base_rtt),
          .step_end = state.unacked,
          .rate = line_};
    qp.min_rtt = std::max(qp.min_rtt, Duration::nanoseconds(1));
    pace(qpn).rate_bps = line_;
  }

  bool on_ack(uint32_t qpn, const Ack& ack, SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    if (ack.rtt <= Duration() || state.unacked <= qp.step_end) return false;
    qp.step_end = step_end(state);
    const Duration before = std::exchange(qp.rtt, ack.rtt);
    if (before > Duration()) step(qp, before);
    return std::exchange(pace(qpn).rate_bps, qp.rate) != qp.rate;
  }

  BitRate rate(uint32_t qpn, Instant) const override {
    return BitRate::bits_per_second(queue_pairs_[qpn].rate);
  }

 private:
  struct QueuePair {
    Duration min_rtt;
    Duration rtt;           // of the last step; 0: there was none
    int64_t change = 0;     // of it, smoothed; picoseconds
    uint64_t step_end = 0;  // when more than this is acknowledged there is a step
    int64_t rate = 0;
    int64_t row = 0;  // steps without a cut
  };

  // All that is in flight now and a packet that leaves from now on; or a segment from here.
  uint64_t step_end(const SendState& state) const {
    return packets_ == 0 ? state.next : state.unacked + static_cast<uint64_t>(packets_) - 1;
  }

  void step(QueuePair& qp, Duration before) const {
    const __int128 newest = (qp.rtt - before).ps();
    qp.change = static_cast<int64_t>(
        (qp.change * __int128{kThousandths - parameters_.alpha} + newest * parameters_.alpha) /
        kThousandths);
    if (qp.rtt < parameters_.t_low)
      raise(qp, parameters_.hyper_below_low);
    else if (qp.rtt > parameters_.t_high)
      cut(qp, (qp.rtt - parameters_.t_high).ps(), qp.rtt.ps());
    else if (qp.change <= 0)
      raise(qp, true);
    else
      cut(qp, qp.change, qp.min_rtt.ps());
  }

  void raise(QueuePair& qp, bool counts) const {
    const bool hyper = counts && qp.row >= parameters_.hyper_after;
    qp.row += counts ? 1 : 0;
    qp.rate += (hyper ? parameters_.hyper_increase : parameters_.additive_increase).bps();
    qp.rate = std::min(qp.rate, line_);
  }

  // By beta times `part` of `whole`, at most by all.
  void cut(QueuePair& qp, int64_t part, int64_t whole) const {
    qp.row = 0;
    const __int128 most = __int128{whole} * kThousandths;
    const __int128 share = std::min(__int128{part} * parameters_.beta, most);
    qp.rate -= static_cast<int64_t>(qp.rate * share / most);
    qp.rate = std::max(qp.rate, slowest_);
  }

  const Parameters parameters_;
  const int64_t line_;  // bit/s
  const int64_t slowest_;
  const int64_t packets_;  // of a segment; 0: a step a round trip
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace

EDDY_RATE_CONTROL(timely, Timely)

}  // namespace eddy::host
