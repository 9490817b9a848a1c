// reps: a source port that brought a packet there without a mark is used once more.
//
// Recycled entropies: each unmarked reply puts the port of the packet that it answers into a ring
// of eight, and each packet takes the oldest port that is fresh there. So good ways are kept and
// bad ones forgotten, at the pace of ACKs. A port is drawn where the ring has none, and for as many
// packets as a bandwidth-delay product at the start, which look for ways. A timeout is a suspected
// failure: for a time (`freeze`) no port is drawn, and those of the ring go round, fresh or not:
// only ways that have delivered are used. Then the QP looks for ways again.
//
// Owner: one Nic. Bounds: 40 octets a QP. Cost: a call a packet and a call an ACK, a dozen
// instructions each. Source: REPS, section 3 and algorithms 1 and 2; reference A.21;
// docs/schemes/reps.md.
#include <algorithm>
#include <array>
#include <vector>

#include "host/describe.h"

namespace eddy::host {
namespace {

constexpr uint32_t kPorts = kLastEntropy - kFirstEntropy + 1;
constexpr uint32_t kPurpose = 21;  // of the random stream
constexpr uint32_t kRing = 8;
constexpr int64_t kMostExplored = UINT16_MAX;

class Reps final : public Entropy {
 public:
  struct Parameters {
    std::optional<int64_t> explore;
    Duration freeze = Duration::milliseconds(10);
  };
  static constexpr auto parameters() {
    using P = Parameters;
    return std::array{
        ranged<&P::explore>("explore", 0, kMostExplored,
                            {"packets at the start, and after freezing, whose ports are drawn; "
                             "auto: as many as one bandwidth-delay product has",
                             "REPS, section 3"}),
        ranged<&P::freeze>(
            "freeze", Duration::microseconds(1), Duration::seconds(60),
            {"so long after a timeout no port is drawn", "REPS's artifact; reference A.21"})};
  }
  static constexpr std::string_view kSummary =
      "a port for each packet: one that came back unmarked, else a random one";
  static constexpr Hears kHears = {.acks = true};
  static constexpr bool kEachPacket = true;
  static constexpr bool kSpreads = true;
  static constexpr bool kEchoesMarks = true;
  static constexpr bool kEchoesPort = true;

  Reps(const LawInit& init, const Parameters& parameters)
      : parameters_(parameters),
        random_(stream_of(init, kPurpose)),
        queue_pairs_(init.nic.senders) {}

  uint16_t open(uint32_t qpn, const EntropyOpening& opening, const SendState&) override {
    QueuePair& qp = queue_pairs_[qpn];
    const auto bdp = std::min<int64_t>(opening.bdp_packets, kMostExplored);
    qp.budget = static_cast<uint16_t>(parameters_.explore.value_or(bdp));
    qp.exploring = qp.budget;
    return kSamePort;
  }

  uint16_t on_ack(uint32_t qpn, const Ack& ack, const SendState&) override {
    QueuePair& qp = queue_pairs_[qpn];
    thaw(qp, ack.now);
    if (ack.marked || ack.entropy < kFirstEntropy) return kSamePort;
    qp.ring[qp.head] = ack.entropy;
    qp.head = (qp.head + 1) % kRing;
    qp.fresh = std::min<uint8_t>(qp.fresh + 1, kRing);
    qp.filled = std::min<uint8_t>(qp.filled + 1, kRing);
    return kSamePort;
  }

  // A failure is suspected, unless the QP is still looking for ways.
  uint16_t on_timeout(uint32_t qpn, const SendState&, Instant now) override {
    QueuePair& qp = queue_pairs_[qpn];
    thaw(qp, now);
    if (qp.exploring != 0 || qp.frozen) return kSamePort;
    qp.frozen_until = now + parameters_.freeze;
    qp.frozen = true;
    return kSamePort;
  }

  uint16_t next_send(uint32_t qpn, const SendState&, Instant now) override {
    QueuePair& qp = queue_pairs_[qpn];
    thaw(qp, now);
    if (qp.exploring != 0) {
      --qp.exploring;
      return draw();
    }
    if (qp.fresh != 0) return qp.ring[(qp.head + kRing - qp.fresh--) % kRing];
    if (!qp.frozen || qp.filled == 0) return draw();
    qp.turn = (qp.turn + 1) % qp.filled;
    return qp.ring[qp.turn];
  }

 private:
  struct QueuePair {
    std::array<uint16_t, kRing> ring{};
    Instant frozen_until;
    uint16_t budget = 0;     // packets that look for ways, each time
    uint16_t exploring = 0;  // still to do so
    uint8_t head = 0;        // of the ring: written next
    uint8_t fresh = 0;       // ports not used since they were written: those before the head
    uint8_t filled = 0;      // ports ever written, from place 0 on
    uint8_t turn = 0;        // the port used last while frozen
    bool frozen = false;
  };

  static void thaw(QueuePair& qp, Instant now) {
    if (!qp.frozen || now < qp.frozen_until) return;
    qp.frozen = false;
    qp.exploring = qp.budget;
  }
  uint16_t draw() { return static_cast<uint16_t>(kFirstEntropy + random_.below(kPorts)); }

  const Parameters parameters_;
  RandomStream random_;
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace

EDDY_ENTROPY(reps, Reps)

}  // namespace eddy::host
