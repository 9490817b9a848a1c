// Adaptive local routing: a flowlet, or a packet, takes the port that is best here and now.
//
// Ports are compared by three things, one after the other: whether PFC stops the packet's queue,
// how much waits in it, and how busy the line has been, in whole percents. Of equals one is drawn.
// All members are looked at, or two that are drawn. A flow keeps its port until it has been silent
// for longer than `gap`; then it moves with a chance, and only to a port that is better. With
// `granularity: packet` each packet is on its own. With a `queue_unit` lengths count in four
// levels, so that more ports are equal. Weights do not matter. A port that leads to a black hole
// drains well and attracts more. Owner: the selector's shard. Octets: 16 a port; 16 a flow,
// by flowlet only. Cost: a look at a port's line once a burst; by flowlet a line of the table a
// packet, and ports for a flowlet's first packet only. Source: reference A.19, A.7.
#include <algorithm>
#include <array>
#include <vector>

#include "lb/burst_memo.h"
#include "lb/draws.h"
#include "lb/dre.h"
#include "lb/flow_table.h"
#include "lb/flowlets.h"
#include "lb/schemes/scheme.h"

namespace eddy::lb {
namespace {

using namespace literals;

enum class Granularity : uint8_t { packet, flowlet };
constexpr std::array<std::string_view, 2> kGranularityNames = {"packet", "flowlet"};
enum class Scan : uint8_t { full, two };
constexpr std::array<std::string_view, 2> kScanNames = {"full", "two"};

class Adaptive {
 public:
  static constexpr std::string_view kSummary =
      "each flowlet or packet takes a local port that is not paused, of these the shortest queue, "
      "of these the line that was least busy";
  static constexpr bool kPromisesOrder = false;

  using Flows = FlowTable<Flowlet>;
  struct Token {
    Flows::Place place = Flows::kNowhere;  // of the packet's flow
  };
  struct Parameters {
    Granularity granularity = Granularity::flowlet;
    Scan scan = Scan::full;
    Duration gap = 10_us;
    int64_t move_percent = 50;
    Bytes queue_unit = 0_B;
    int64_t flows = 65'536;
  };
  static constexpr auto parameters() {
    return std::array{
        choice<&Parameters::granularity>(
            "granularity", kGranularityNames,
            {"what takes a port anew: each packet, or each flowlet", "reference A.19"}),
        choice<&Parameters::scan>(
            "scan", kScanNames,
            {"the ports that are compared: all, or two that are drawn", "reference A.19"}),
        ranged<&Parameters::gap>("gap", 1_us, 10_s,
                                 {"granularity: flowlet: a flow that was silent for longer may "
                                  "move",
                                  "reference A.19"}),
        ranged<&Parameters::move_percent>(
            "move_percent", 1, 100,
            {"granularity: flowlet: the chance that it looks for a better port then",
             "reference A.19"}),
        ranged<&Parameters::queue_unit>("queue_unit", 0_B, 1_MiB,
                                        {"0B: lengths are compared to the octet; else in four "
                                         "levels, which begin at none, one, "
                                         "two and four of these",
                                         "reference A.19"}),
        ranged<&Parameters::flows>("flows", 64, 16'777'216,
                                   {"granularity: flowlet: flows remembered, 16 octets each; the "
                                    "least recent is forgotten first",
                                    "our choice"})};
  }

  Adaptive(const SelectorInit& init, const Parameters& parameters);

  void prepare(const PathView&, std::span<Packet* const> burst) {
    ranks_.begin();
    if (by_packet_) return;
    for (const Packet* packet : burst) flows_.prefetch(packet->order_hash);
  }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const Token token{by_packet_ ? Flows::kNowhere : flows_.place_of(packet.order_hash)};
    const Standing standing = standing_of(view, packet, set, token);
    if (standing.rests) return {standing.member, token};
    const Best best = best_of(view, packet, set, view.live(set));
    if (standing.known && rank_of(view, packet.queue, set, standing.member) <= best.rank)
      return {standing.member, token};
    view.report_tie(best.tied);
    return {best.member, token};
  }

  Reason reason(const PathView& view, const Packet& packet, uint16_t set,
                MemberIndex member) const {
    if (by_packet_) return Reason::packet;
    const Standing standing = standing_of(view, packet, set, {flows_.place_of(packet.order_hash)});
    if (standing.member == member && (standing.rests || standing.known)) return Reason::keeps;
    return standing.known ? Reason::leaves : Reason::begins;
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return best_of(view, packet, set, view.live(set) & ~tried).member;
  }

  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token& token) {
    draws_.take(true);
    if (by_packet_) return;
    flows_.touch(packet.order_hash, token.place) = Flowlet(member, set, stamp_of(view));
  }

  FlowTableUse flow_table(Instant, size_t from, size_t count) const {
    return {flows_.capacity(), flows_.used(from, count)};
  }

 private:
  // A packet's flow, which has a port that lives or is new.
  struct Standing {
    MemberIndex member = 0;
    bool known = false;
    bool rests = false;  // it does not look for a better one
  };
  struct Best {
    MemberIndex member;
    bool tied;  // with another that was looked at
    uint64_t rank;
  };

  // Inlined though reason() asks it, too, which no packet waits for.
  [[gnu::always_inline]] Standing standing_of(const PathView& view, const Packet& packet,
                                              uint16_t set, const Token& token) const;
  Best best_of(const PathView& view, const Packet& packet, uint16_t set, MemberMask among) const {
    const uint64_t word = mix64(draws_.peek());
    return look_at_all_ ? best_of_all(view, packet.queue, set, among, word)
                        : best_of_two(view, packet.queue, set, among, word);
  }
  Best best_of_all(const PathView& view, QueueId queue, uint16_t set, MemberMask among,
                   uint64_t word) const;
  Best best_of_two(const PathView& view, QueueId queue, uint16_t set, MemberMask among,
                   uint64_t word) const;
  // Less is better: what is compared first stands highest.
  uint64_t rank_of(const PathView& view, QueueId queue, uint16_t set, MemberIndex member) const {
    const PortId port = view.set(set).members[member].port;
    const uint64_t rank = ranks_.look_up(port, ranks_.stamp(queue));
    return rank < BurstMemo::kUnknown ? rank : find_rank(view, queue, port);
  }
  [[gnu::noinline]] uint64_t find_rank(const PathView& view, QueueId queue, PortId id) const {
    constexpr int kPercentBits = 7;
    const PortSignals& port = view.port(id);
    const uint64_t paused = port.paused(queue) ? 1 : 0;
    return ranks_.note(id, ranks_.stamp(queue),
                       paused << (BurstMemo::kBits - 1) |
                           level_of(port.backlog_from(queue)) << kPercentBits |
                           percent_of(view, port, id));
  }
  uint64_t level_of(uint64_t octets) const {
    if (queue_unit_ == 0) return octets;
    return uint64_t{octets >= queue_unit_} + uint64_t{octets >= 2 * queue_unit_} +
           uint64_t{octets >= 4 * queue_unit_};
  }
  // Of what the line could have sent.
  uint64_t percent_of(const PathView& view, const PortSignals& port, PortId id) const {
    const auto octets = static_cast<unsigned __int128>(dre_.octets(port, view.now()));
    const auto percent = octets * percent_of_octet_[id.index()] >> kPercentShift;
    return static_cast<uint64_t>(std::min<unsigned __int128>(percent, 100));
  }
  static uint64_t stamp_of(const PathView& view) { return static_cast<uint64_t>(view.now().ps()); }

  static constexpr int kPercentShift = 56;

  bool by_packet_;
  bool look_at_all_;
  uint32_t move_percent_;
  uint64_t gap_;  // in picoseconds
  uint64_t queue_unit_;
  Draws draws_;
  Dre dre_;
  mutable BurstMemo ranks_;
  std::vector<uint64_t> percent_of_octet_;  // by port, in 2^-kPercentShift, rounded up
  Flows flows_;
};

Adaptive::Adaptive(const SelectorInit& init, const Parameters& parameters)
    : by_packet_(parameters.granularity == Granularity::packet),
      look_at_all_(parameters.scan == Scan::full),
      move_percent_(static_cast<uint32_t>(parameters.move_percent)),
      gap_(static_cast<uint64_t>(parameters.gap.ps())),
      queue_unit_(static_cast<uint64_t>(parameters.queue_unit.count())),
      draws_(stream_of(init)),
      dre_(init.dre),
      ranks_(init.lines.size()),
      flows_(by_packet_ ? 0 : static_cast<size_t>(parameters.flows)) {
  constexpr uint64_t kFull = uint64_t{100} << kPercentShift;
  for (const PortLine& line : init.lines) {
    const auto capacity = static_cast<uint64_t>(dre_.capacity(line.rate).count());
    percent_of_octet_.push_back(kFull / std::max<uint64_t>(capacity, 100) + 1);
  }
}

inline Adaptive::Standing Adaptive::standing_of(const PathView& view, const Packet& packet,
                                                uint16_t set, const Token& token) const {
  if (by_packet_) return {};
  const Flowlet* last = flows_.at(packet.order_hash, token.place);
  if (last == nullptr || !last->drawn_by(set) || !contains(view.live(set), last->member()))
    return {};
  const bool young = last->age(stamp_of(view)) <= gap_;
  const uint32_t luck = scaled_to(static_cast<uint32_t>(mix64(~uint64_t{draws_.peek()})), 100);
  return {last->member(), true, young || luck >= move_percent_};
}

Adaptive::Best Adaptive::best_of_all(const PathView& view, QueueId queue, uint16_t set,
                                     MemberMask among, uint64_t word) const {
  uint64_t lowest = ~uint64_t{0};
  MemberMask equals = 0;
  for (MemberMask left = among; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const uint64_t rank = rank_of(view, queue, set, member);
    if (rank > lowest) continue;
    equals = bit_of(member) | (rank == lowest ? equals : 0);
    lowest = rank;
  }
  return {random_of(equals, static_cast<uint32_t>(word >> 32)), count_of(equals) > 1, lowest};
}

// Of equals the one that was drawn first.
Adaptive::Best Adaptive::best_of_two(const PathView& view, QueueId queue, uint16_t set,
                                     MemberMask among, uint64_t word) const {
  const MemberIndex first = random_of(among, static_cast<uint32_t>(word >> 32));
  const MemberIndex second = random_of(among, static_cast<uint32_t>(word));
  const uint64_t rank = rank_of(view, queue, set, first);
  const uint64_t other = rank_of(view, queue, set, second);
  if (other < rank) return {second, false, other};
  return {first, other == rank && first != second, rank};
}

}  // namespace

EDDY_SCHEME(adaptive, Adaptive)

}  // namespace eddy::lb
