// flowcut: a flow takes another source port only with nothing in flight, and one whose round trips
// have become long is stopped until that is so.
//
// This is flowcut in the NIC (the paper's variant without any help of switches): the sender notes
// when a packet left, and its ACK brings the round trip, less what the packet takes on each line.
// It is divided by the least one over as many hops that the NIC has seen; when the moving average
// of that is above `ratio_percent`, the QP sends nothing until all that it ever sent is
// acknowledged, and goes on by a port that is drawn. The average is then a new one, and two round
// trips pass before the flow may be stopped again. What a NAK or a timeout repeats goes by the old
// port, and the flow does not move for `settle`: copies of its packets may still be on their way. A
// flow that has nothing left to send is not stopped. Which way the new port leads nobody knows.
//
// Owner: one Nic. Bounds: 24 octets a QP, 200 a NIC, and when each packet left. Cost: an ACK, as
// round_trips.h. Source: reference A.12; docs/schemes/flowcut.md.
#include <algorithm>
#include <vector>

#include "host/describe.h"
#include "net/measure/round_trips.h"
#include "net/measure/slow_paths.h"

namespace eddy::host {
namespace {

using namespace literals;

constexpr uint32_t kPorts = kLastEntropy - kFirstEntropy + 1;
constexpr uint32_t kPurpose = 12;    // of the random stream
constexpr int64_t kDataHeader = 58;  // of a packet over IPv4: Ethernet, IP, UDP, BTH and ICRC

class Flowcut final : public Entropy {
 public:
  struct Parameters {
    int64_t ratio_percent = 400;
    int64_t alpha_percent = 12;
    int64_t gradient_percent = 0;
    Duration relearn = 100_ms;
    Duration settle = 10_ms;
  };
  static constexpr auto parameters() {
    using P = Parameters;
    return joined(
        slow_path_parameters<&P::ratio_percent, &P::alpha_percent, &P::gradient_percent,
                             &P::relearn>(),
        std::array{ranged<&P::settle>("settle", 0_us, 10_s,
                                      {"so long after a NAK or a timeout a flow keeps its port",
                                       "Eddy's choice; reference A.12"})});
  }
  static constexpr std::string_view kSummary =
      "another source port with nothing in flight; a slow flow is stopped until then";
  static constexpr Hears kHears = {.acks = true, .rtt = true};
  static constexpr bool kDrains = true;

  Flowcut(const LawInit& init, const Parameters& parameters)
      : slow_paths_(parameters.ratio_percent, parameters.alpha_percent,
                    parameters.gradient_percent),
        settle_(parameters.settle),
        on_a_line_(LineRate(init.nic.speed)
                       .time_of(Bytes(init.nic.config.mtu + kDataHeader + init.nic.line_overhead))),
        least_times_(ticks_of(parameters.relearn)),
        random_(stream_of(init, kPurpose)),
        queue_pairs_(init.nic.senders) {}

  uint16_t open(uint32_t qpn, const EntropyOpening& opening, const SendState&) override {
    QueuePair& qp = queue_pairs_[qpn];
    qp.port = opening.port;
    if (opening.port >= kFirstEntropy) return kSamePort;
    qp.port = static_cast<uint16_t>(kFirstEntropy + random_.below(kPorts));  // one to go back to
    return qp.port;
  }

  uint16_t on_ack(uint32_t qpn, const Ack& ack, const SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    const bool empty = state.unacked == state.sent_end;
    if (qp.drains) return empty ? move(qp, ack) : kSamePort;
    if (ack.nak || ack.rtt == Duration{}) return kSamePort;
    qp.rtt = ack.rtt;
    const bool slow = judge(qp, ack);
    if (!slow || ack.now < qp.rests_until || state.next == state.end) return kSamePort;
    if (empty) return move(qp, ack);
    qp.drains = true;
    return kStopSending;
  }
  uint16_t on_nak(uint32_t qpn, const Ack& ack, const SendState&) override {
    return stay(queue_pairs_[qpn], ack.now);
  }
  uint16_t on_timeout(uint32_t qpn, const SendState&, Instant now) override {
    return stay(queue_pairs_[qpn], now);
  }

 private:
  struct QueuePair {
    Instant rests_until;  // before that it does not move
    Duration rtt;         // the last one
    Trend trend;
    uint16_t port = 0;
    bool drains = false;
  };

  static constexpr int kTickShift = 20;
  static uint32_t ticks_of(Duration time) {
    return static_cast<uint32_t>(std::min<int64_t>((time.ps() >> kTickShift) + 1, INT32_MAX));
  }

  bool judge(QueuePair& qp, const Ack& ack) {
    constexpr int64_t kLongest = 1 << 30;  // ns
    const int64_t rtt_ns = (ack.rtt - on_a_line_ * (ack.hops + 1)).ns();
    const auto adjusted = static_cast<uint32_t>(std::clamp<int64_t>(rtt_ns, 1, kLongest));
    const auto tick = static_cast<uint32_t>(ack.now.ps() >> kTickShift);
    const uint32_t least = least_times_.take(ack.hops, adjusted, tick);
    return slow_paths_.take(qp.trend, norm_of(adjusted, least));
  }

  uint16_t move(QueuePair& qp, const Ack& ack) {
    const uint32_t other = qp.port - kFirstEntropy + 1 + random_.below(kPorts - 1);
    qp.port = static_cast<uint16_t>(kFirstEntropy + other % kPorts);
    qp.drains = false;
    qp.trend = {};
    qp.rests_until = ack.now + qp.rtt * 2;
    return qp.port;
  }

  // What is repeated goes the way that it went.
  uint16_t stay(QueuePair& qp, Instant now) {
    qp.rests_until = now + settle_;
    if (!qp.drains) return kSamePort;
    qp.drains = false;
    return qp.port;
  }

  const SlowPaths slow_paths_;
  const Duration settle_;
  const Duration on_a_line_;  // that a full packet takes
  LeastTimes least_times_;    // by the hops of ACKs
  RandomStream random_;
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace

EDDY_ENTROPY(flowcut, Flowcut)

}  // namespace eddy::host
