// mp_rdma, the window: one for all ways of a QP, moved a little by each reply.
//
// An unmarked reply makes it 1 / window larger, a marked one `decrease` smaller. A reply to a
// packet that others sent `delta` later have overtaken makes it one packet smaller: its way is too
// slow, and its entropy gives that way no credit. What a reply answers is known where the recovery
// has bitmaps. The window is in packets, in units of 2^-20. Losses do not move it. Owner: one Nic.
// Bounds: 24 octets a QP. Cost: a division an ACK. Source: MP-RDMA; reference A.18; decision 37;
// docs/schemes/mp_rdma.md.
#include <algorithm>
#include <vector>

#include "host/describe.h"
#include "host/overtaken.h"

namespace eddy::host {
namespace {

constexpr int kShift = 20;
constexpr int64_t kPacket = int64_t{1} << kShift;
constexpr int64_t kThousandths = 1'000;

class MpRdmaWindow final : public RateControl {
 public:
  struct Parameters {
    int64_t decrease = 500;
    int64_t delta = 32;
  };
  static constexpr auto parameters() {
    using P = Parameters;
    return std::array{
        ranged<&P::decrease>(
            "decrease", 1, 100'000,
            {"thousandths of a packet that a marked reply takes off the window", "MP-RDMA: 1/2"}),
        overtaken_parameter<&P::delta>()};
  }
  static constexpr std::string_view kSummary =
      "one window for many ways, moved by the mark of each reply";
  static constexpr Hears kHears = {.acks = true};
  static constexpr bool kEchoesMarks = true;

  MpRdmaWindow(const LawInit& init, const Parameters& parameters)
      : decrease_(parameters.decrease * kPacket / kThousandths),
        smallest_(int64_t{std::max(init.nic.config.ack_every, 1)} * kPacket),
        line_(init.nic.speed),
        overtaken_(init.nic.senders, parameters.delta),
        queue_pairs_(init.nic.senders) {}

  void open(uint32_t qpn, const RateOpening& opening, SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    qp.largest = int64_t{opening.full_window} << kShift;
    qp.window = qp.largest;
    overtaken_.open(qpn, state);
    move(qp, 0, state);
  }

  bool on_ack(uint32_t qpn, const Ack& ack, SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    if (overtaken_.hear(qpn, ack))
      move(qp, -kPacket, state);
    else if (ack.marked)
      move(qp, -decrease_, state);
    else
      move(qp, kPacket * kPacket / qp.window, state);
    return false;
  }

  BitRate rate(uint32_t, Instant) const override { return line_; }

 private:
  struct QueuePair {
    int64_t window = kPacket;
    int64_t largest = kPacket;
  };

  void move(QueuePair& qp, int64_t by, SendState& state) const {
    qp.window = std::max(std::min(qp.window + by, qp.largest), std::min(smallest_, qp.largest));
    state.window = static_cast<uint32_t>(qp.window >> kShift);
  }

  const int64_t decrease_;
  const int64_t smallest_;  // fewer would wait for an ACK that nobody owes
  const BitRate line_;
  Overtaken overtaken_;
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace

EDDY_RATE_CONTROL(mp_rdma, MpRdmaWindow)

}  // namespace eddy::host
