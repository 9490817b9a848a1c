// selective_ack: the receiver keeps what is out of order, and each of its replies says which
// packets have arrived; the sender repeats those alone that are missing.
//
// A reply has the PSN of the last packet in order, as any, and behind its AETH a bitmap of 64
// packets: of those that follow the one expected, or, answering one that is farther ahead, of the
// 63 before that one and it. A packet out of order is answered at once with such an ACK; one beyond
// what the receiver can keep is dropped with a NAK. What is missing counts as lost by `reorder`
// (SackBoard), so packets may overtake each other by that much, which is what several paths do.
// What has arrived behind a gap is not in flight: the window does not stop for a gap before both
// ends have no more room.
// Owner: one Nic. Bounds: NicOptions' reorder_packets, a bit each at both ends, which bounds the
// window, too. Cost: two words a reply. Source: reference D.9.
#include <algorithm>
#include <limits>
#include <vector>

#include "host/describe.h"
#include "host/recovery/held_packets.h"
#include "host/recovery/sack_board.h"

namespace eddy::host {
namespace {

class SelectiveAck final : public SendRecovery {
 public:
  struct Parameters {
    int64_t reorder = 32;
    Duration rto = Duration::milliseconds(4);
    std::optional<int64_t> bitmap;
  };
  static constexpr auto parameters() {
    using P = Parameters;
    return std::array{
        ranged<&P::reorder>("reorder", 1, 1'024,
                            {"packets: a packet is lost when one so much later has arrived; at "
                             "most half a window",
                             "MP-RDMA: the bound of overtaking"}),
        ranged<&P::rto>("rto", Duration::microseconds(1), Duration::seconds(60),
                        {"without news for so long all in flight counts as lost", "as host.rto"}),
        ranged<&P::bitmap>("bitmap", 64, 65'536,
                           {"packets from the one expected on that a receiver keeps, and "
                            "a sender sends; auto: as many as NICs have bits for",
                            "MP-RDMA: L, 64"})};
  }
  static constexpr std::string_view kSummary =
      "packets out of order are kept and told in bitmaps, and only missing ones are sent again";
  static constexpr bool kBitmaps = true;

  SelectiveAck(const LawInit& init, const Parameters& parameters)
      : parameters_(parameters),
        board_(init.nic.senders, init.nic.reorder_packets),
        room_(std::min({board_.window(), kept_of(parameters, board_.window()), kMostBeyond})),
        slack_(init.nic.senders) {}

  // Packets that a receiver keeps, the expected one included, where it has `bits`.
  static uint64_t kept_of(const Parameters& parameters, uint64_t bits) {
    return std::min(bits, static_cast<uint64_t>(
                              parameters.bitmap.value_or(std::numeric_limits<int64_t>::max())));
  }

  Timeouts timeouts() const override {
    return {.rto = parameters_.rto, .short_rto = parameters_.rto};
  }
  uint32_t full_window(uint32_t wanted, uint32_t) const override {
    return static_cast<uint32_t>(std::min<uint64_t>(wanted, room_));
  }
  void open(uint32_t qpn, SendState& state) override {
    const auto most = std::max<int64_t>(state.window / 2, 1);
    board_.open(qpn, static_cast<uint64_t>(std::min(parameters_.reorder, most)), state);
    slack_[qpn] = static_cast<uint32_t>(room_ - std::min<uint64_t>(room_, state.window));
    state.repair = Repair::listens;
  }
  void on_ack(uint32_t qpn, const Ack& ack, SendState& state) override {
    if (board_.on_arrived(qpn, ack.bits_base, ack.bits, state)) state.progress = ack.now;
    show(qpn, state);
  }
  // Of a packet that was too far ahead; on_ack() has its bits.
  void on_nak(uint32_t, const Ack&, SendState&) override {}
  void on_timeout(uint32_t qpn, SendState& state, Instant) override {
    board_.on_timeout(qpn, state);
    show(qpn, state);
  }
  uint64_t next_send(uint32_t qpn, SendState& state) override {
    const uint64_t sequence = board_.take_lost(qpn, state);
    show(qpn, state);
    return sequence;
  }

 private:
  static constexpr uint64_t kMostBeyond = UINT16_MAX;

  void show(uint32_t qpn, SendState& state) {
    state.repair = board_.has_lost(qpn) ? Repair::pending : Repair::listens;
    state.beyond = static_cast<uint16_t>(std::min(board_.beyond(qpn), slack_[qpn]));
  }

  const Parameters parameters_;
  SackBoard board_;
  const uint64_t room_;  // packets from the lowest unacknowledged one that either end has bits for
  std::vector<uint32_t> slack_;  // by QP: packets that the window may be wider than it is
};

class Keeper final : public ReceiveRecovery {
 public:
  Keeper(const LawInit& init, const SelectiveAck::Parameters& parameters)
      : held_(init), kept_(SelectiveAck::kept_of(parameters, held_.size())) {}

  Disposal on_ahead(uint32_t qpn, uint64_t sequence, ReceiveState& state, Instant) override {
    if (sequence - state.expected >= kept_) return {.reply = Reply::nak};
    return {held_.keep(qpn, sequence, state), Reply::ack};
  }
  void on_filled(uint32_t qpn, ReceiveState& state, Instant) override { held_.take(qpn, state); }
  Bitmap bitmap(uint32_t qpn, uint64_t answered, const ReceiveState& state) const override {
    constexpr uint64_t kBefore = Bitmap::kPackets - 1;
    const bool far = answered > state.expected + kBefore;
    const bool kept = answered - state.expected < kept_;
    const uint64_t base = far && kept ? answered - kBefore : state.expected;
    return {base, state.held == 0 ? 0 : held_.bits(qpn, base)};
  }

 private:
  HeldPackets held_;
  const uint64_t kept_;  // packets from the expected one on
};

}  // namespace

EDDY_RECOVERY(selective_ack, SelectiveAck, Keeper)

}  // namespace eddy::host
