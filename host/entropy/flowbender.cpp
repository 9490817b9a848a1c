// flowbender: a flow whose way is congested takes another source port, and so another way.
//
// An epoch is a round trip: it ends when all that had been sent at its start is acknowledged. It is
// congested when more than `threshold` percent of its ACKs say that a packet was marked. Where the
// rate control has marks answered by CNPs, an epoch is congested when a CNP came in it, and lasts
// no shorter than the receiver's interval between CNPs. After `epochs` congested ones in a row the
// QP draws another port; so it does at a timeout. What was sent by the old port is of no epoch: its
// ACKs tell of the way that was left. With `randomise` each row has one epoch fewer or more (never
// none), drawn anew after each move, so that flows that met do not move together again.
//
// Owner: one Nic. Bounds: 48 octets a QP. Cost: a few instructions an ACK. Source: FlowBender;
// reference A.15; docs/schemes/flowbender.md.
#include <algorithm>
#include <vector>

#include "host/describe.h"

namespace eddy::host {
namespace {

constexpr uint32_t kPorts = kLastEntropy - kFirstEntropy + 1;
constexpr uint32_t kPurpose = 15;  // of the random stream
constexpr uint64_t kPercent = 100;

class FlowBender final : public Entropy {
 public:
  struct Parameters {
    int64_t threshold = 5;
    int64_t epochs = 1;
    bool randomise = true;
  };
  static constexpr auto parameters() {
    using P = Parameters;
    return std::array{
        ranged<&P::threshold>(
            "threshold", 0, 99,
            {"percent: an epoch with a larger share of marked ACKs is congested", "FlowBender: T"}),
        ranged<&P::epochs>("epochs", 1, 100,
                           {"congested ones in a row before a move", "FlowBender: N"}),
        flag<&P::randomise>("randomise", {"each row is one epoch shorter, as long, or one longer",
                                          "FlowBender; the choice is Eddy's"})};
  }
  static constexpr std::string_view kSummary =
      "a flow that meets marks or a timeout takes another source port";
  static constexpr Hears kHears = {.acks = true};
  static constexpr bool kEchoesMarks = true;

  FlowBender(const LawInit& init, const Parameters& parameters)
      : parameters_(parameters),
        echoed_(laws_of(init.nic.config).rate_control.law->make_notifier == nullptr),
        shortest_(echoed_ ? Duration() : init.nic.config.dcqcn.cnp_interval),
        random_(stream_of(init, kPurpose)),
        queue_pairs_(init.nic.senders) {}

  uint16_t open(uint32_t qpn, const EntropyOpening& opening, const SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    qp.port = opening.port;
    qp.row = draw_row();
    qp.first = state.next;
    return kSamePort;
  }

  uint16_t on_ack(uint32_t qpn, const Ack& ack, const SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    if (state.unacked <= qp.first) return kSamePort;
    if (!qp.running) begin(qp, state, ack.now);
    ++qp.acks;
    if (ack.marked) ++qp.marked;
    const bool over = state.unacked >= qp.end && ack.now >= qp.since + shortest_;
    return over ? end_epoch(qp, state) : kSamePort;
  }
  uint16_t on_cnp(uint32_t qpn, const SendState&, Instant) override {
    queue_pairs_[qpn].notified = queue_pairs_[qpn].running;
    return kSamePort;
  }
  uint16_t on_timeout(uint32_t qpn, const SendState& state, Instant) override {
    return move(queue_pairs_[qpn], state);
  }

 private:
  // Sequences are those of SendState.
  struct QueuePair {
    uint64_t first = 0;  // the epoch begins with the first ACK beyond it
    uint64_t end = 0;    // the epoch is over when all below is acknowledged
    Instant since;
    uint32_t acks = 0;
    uint32_t marked = 0;
    uint16_t port = 0;
    uint8_t row = 1;        // congested epochs until a move
    uint8_t congested = 0;  // so many in a row
    bool running = false;   // the epoch, with the first ACK of what was sent in it
    bool notified = false;  // a CNP came
  };

  static void begin(QueuePair& qp, const SendState& state, Instant now) {
    qp.end = state.next;
    qp.since = now;
    qp.acks = qp.marked = 0;
    qp.running = true;
    qp.notified = false;
  }

  uint16_t end_epoch(QueuePair& qp, const SendState& state) {
    const bool many = uint64_t{qp.marked} * kPercent >
                      uint64_t{qp.acks} * static_cast<uint64_t>(parameters_.threshold);
    const bool congested = echoed_ ? many : qp.notified;
    qp.congested = congested ? static_cast<uint8_t>(qp.congested + 1) : uint8_t{0};
    if (qp.congested >= qp.row) return move(qp, state);
    qp.first = state.unacked;
    qp.running = false;
    return kSamePort;
  }

  uint16_t move(QueuePair& qp, const SendState& state) {
    const uint32_t other = qp.port - kFirstEntropy + 1 + random_.below(kPorts - 1);
    qp.port = static_cast<uint16_t>(kFirstEntropy + other % kPorts);
    qp.row = draw_row();
    qp.congested = 0;
    qp.running = false;
    qp.notified = false;
    qp.first = state.next;
    return qp.port;
  }

  uint8_t draw_row() {
    constexpr uint32_t kLengths = 3;  // one fewer, as many, one more
    const int64_t row =
        parameters_.epochs + (parameters_.randomise ? int64_t{random_.below(kLengths)} - 1 : 0);
    return static_cast<uint8_t>(std::max<int64_t>(row, 1));
  }

  const Parameters parameters_;
  const bool echoed_;  // ACKs count; else CNPs
  const Duration shortest_;
  RandomStream random_;
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace

EDDY_ENTROPY(flowbender, FlowBender)

}  // namespace eddy::host
