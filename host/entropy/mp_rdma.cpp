// mp_rdma, the ways: a reply lets packets go by the way of the packet that it answers.
//
// A way is a source port. What the window lets go after a reply is that reply's credit: two packets
// at most go by its way, in the order of replies, so ways whose replies come unmarked and soon get
// more, and ways that lose get nothing. A reply to a packet that others sent `delta` later have
// overtaken gives its way none. A packet without a credit, as all at the start, takes a way by lot;
// so does one packet after a round, of `explore` rounds in a thousand. What is sent again goes by
// the way that last brought an unmarked reply. A timeout takes all credits back. The credit comes
// from the window that the rate control writes, so any rate control will do.
//
// Owner: one Nic. Bounds: 168 octets a QP; credits beyond 32 ways in turn are lost, and their
// packets take ways by lot. Cost: two dozen instructions a packet and a reply. Source: MP-RDMA;
// reference A.18; decision 37; docs/schemes/mp_rdma.md.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "host/describe.h"
#include "host/overtaken.h"

namespace eddy::host {
namespace {

constexpr uint32_t kPorts = kLastEntropy - kFirstEntropy + 1;
constexpr uint32_t kPurpose = 18;  // of the random stream
constexpr uint32_t kThousandths = 1'000;

// Packets that may go by a way, oldest first.
class Credits {
 public:
  uint32_t packets() const { return packets_; }

  void give(uint16_t port, uint32_t packets) {
    if (ways_ != 0 && way(ways_ - 1).port == port) {
      way(ways_ - 1).packets = static_cast<uint16_t>(way(ways_ - 1).packets + packets);
    } else if (ways_ < kWays) {
      way(ways_++) = {port, static_cast<uint16_t>(packets)};
    } else {
      return;
    }
    packets_ += packets;
  }
  // The way of the oldest; only if there is one.
  uint16_t take() {
    Way& oldest = way(0);
    const uint16_t port = oldest.port;
    --packets_;
    if (--oldest.packets == 0) {
      first_ = (first_ + 1) % kWays;
      --ways_;
    }
    return port;
  }
  // The youngest ones go.
  void keep(uint32_t packets) {
    while (packets_ > packets) {
      --packets_;
      if (--way(ways_ - 1).packets == 0) --ways_;
    }
  }

 private:
  static constexpr uint32_t kWays = 32;

  struct Way {
    uint16_t port = 0;
    uint16_t packets = 0;
  };

  Way& way(uint32_t i) { return all_[(first_ + i) % kWays]; }

  std::array<Way, kWays> all_{};
  uint32_t packets_ = 0;
  uint8_t first_ = 0;
  uint8_t ways_ = 0;
};

class MpRdmaWays final : public Entropy {
 public:
  struct Parameters {
    int64_t explore = 10;
    int64_t delta = 32;
  };
  static constexpr auto parameters() {
    using P = Parameters;
    return std::array{ranged<&P::explore>("explore", 0, kThousandths,
                                          {"of a thousand rounds, those after which a packet takes "
                                           "a new way",
                                           "MP-RDMA: 1 % a round trip"}),
                      overtaken_parameter<&P::delta>()};
  }
  static constexpr std::string_view kSummary =
      "many ports at once: a reply lets packets go by the port that it answers";
  static constexpr Hears kHears = {.acks = true, .rounds = true};
  static constexpr bool kEachPacket = true;
  static constexpr bool kSpreads = true;
  static constexpr bool kEchoesMarks = true;
  static constexpr bool kEchoesPort = true;

  MpRdmaWays(const LawInit& init, const Parameters& parameters)
      : explore_(static_cast<uint32_t>(parameters.explore)),
        random_(stream_of(init, kPurpose)),
        overtaken_(init.nic.senders, parameters.delta),
        queue_pairs_(init.nic.senders) {}

  uint16_t open(uint32_t qpn, const EntropyOpening&, const SendState& state) override {
    queue_pairs_[qpn] = {.seen_next = state.next};
    overtaken_.open(qpn, state);
    return kSamePort;
  }

  uint16_t on_ack(uint32_t qpn, const Ack& ack, const SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    const bool late = overtaken_.hear(qpn, ack);
    const auto in_flight = static_cast<int64_t>(state.in_flight());
    const auto open = static_cast<uint32_t>(std::max<int64_t>(state.window - in_flight, 0));
    qp.credits.keep(open);
    if (late || ack.entropy < kFirstEntropy) return kSamePort;
    if (!ack.marked) qp.good = ack.entropy;
    const uint32_t packets = std::min(open - qp.credits.packets(), kMostAtOnce);
    if (packets != 0) qp.credits.give(ack.entropy, packets);
    return kSamePort;
  }
  uint16_t on_round(uint32_t qpn, const Round&, const SendState&) override {
    if (random_.below(kThousandths) < explore_) queue_pairs_[qpn].explores = true;
    return kSamePort;
  }
  uint16_t on_timeout(uint32_t qpn, const SendState&, Instant) override {
    queue_pairs_[qpn].credits.keep(0);
    return kSamePort;
  }

  uint16_t next_send(uint32_t qpn, const SendState& state, Instant) override {
    QueuePair& qp = queue_pairs_[qpn];
    const bool again = state.next == qp.seen_next;
    qp.seen_next = state.next;
    if (again) return qp.good != kSamePort ? qp.good : draw();
    const uint16_t credited = qp.credits.packets() != 0 ? qp.credits.take() : draw();
    const bool explores = std::exchange(qp.explores, false);
    return explores ? draw() : credited;
  }

 private:
  static constexpr uint32_t kMostAtOnce = 2;

  struct QueuePair {
    Credits credits;
    uint64_t seen_next = 0;     // SendState::next when a packet left last
    uint16_t good = kSamePort;  // of the last unmarked reply
    bool explores = false;
  };

  uint16_t draw() { return static_cast<uint16_t>(kFirstEntropy + random_.below(kPorts)); }

  const uint32_t explore_;
  RandomStream random_;
  Overtaken overtaken_;
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace

EDDY_ENTROPY(mp_rdma, MpRdmaWays)

}  // namespace eddy::host
