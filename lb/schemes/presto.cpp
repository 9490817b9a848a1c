// Presto: a flow is cut into flowcells of 64 KiB of payload, and each takes the next path in turn.
//
// Oblivious to load; transit switches must follow the path id, and receivers without reordering
// (RoCE) see the cells cross. Source: reference A.4.
#include <array>

#include "lb/draws.h"
#include "lb/flow_table.h"
#include "lb/schemes/scheme.h"
#include "lb/turns.h"

namespace eddy::lb {
namespace {

using namespace literals;

struct Flowcell {
  uint32_t bytes = 0;  // payload octets sent in the current cell
  TurnIndex turn = 0;  // the cell's place in the list of turns
};

class Presto {
 public:
  static constexpr std::string_view kSummary =
      "each 64 KiB of a flow takes the next path, in proportion to static weights";
  static constexpr bool kPromisesOrder = false;
  static constexpr bool kBlindToQueues = true;
  using Token = NoToken;

  struct Parameters {
    Bytes cell_bytes = 65'536_B;
    int64_t flows = 16'384;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::cell_bytes>("cell_bytes", 1_B, 16_MiB,
                                        {"payload octets of a flowcell", "reference A.4"}),
        ranged<&Parameters::flows>(
            "flows", 64, 4'194'304,
            {"flows remembered, 16 octets each; the least recent is forgotten first",
             "reference A.4"})};
  }

  Presto(const SelectorInit& init, const Parameters& parameters)
      : cell_bytes_(static_cast<uint32_t>(parameters.cell_bytes.count())),
        turns_(init.sets, BucketShare::weighted),
        draws_(stream_of(init)),
        cells_(static_cast<size_t>(parameters.flows)) {}

  FlowLines flow_lines() const { return cells_.lines(); }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    return {choose(packet, set, view.live(set))};
  }
  Reason reason(const PathView&, const Packet& packet, uint16_t set, MemberIndex member) const {
    const Flowcell* known = cells_.find(packet.order_hash);
    if (known == nullptr || !fits(*known, packet)) return Reason::begins;
    return turns_.of(set)[turns_.next(set, known->turn, ~MemberMask{0})] == member ? Reason::keeps
                                                                                   : Reason::leaves;
  }
  // propose() and commit() of each: the turn that is chosen is the first that its member has.
  void select_burst(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control) {
    const FlowTable<Flowcell>::Cursor cells(cells_);
    const PathSet* const sets = view.sets().data();
    const MemberMask* const live_of = view.live();
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = *burst[i];
      const uint16_t set = set_of[i];
      const MemberMask live = live_of[set];
      if (control.has(packet)) [[unlikely]] {
        assign(packet, sets[set], control.pick(packet, set, live));
        continue;
      }
      bool known = false;
      Flowcell& cell = cells.touch(packet.order_hash, known);
      const TurnIndex turn = turns_.next(set, first_turn(known ? &cell : nullptr, packet), live);
      const bool same_cell = known && fits(cell, packet) && turn == cell.turn;
      draws_.take(!known);
      cell.bytes = (same_cell ? cell.bytes : 0) + packet.payload_len;
      cell.turn = turn;
      assign(packet, sets[set], turns_.of(set)[turn]);
    }
  }

  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return choose(packet, set, view.live(set) & ~tried);
  }

  void commit(const PathView&, const Packet& packet, uint16_t set, MemberIndex member,
              const Token&) {
    const Flowcell* known = cells_.find(packet.order_hash);
    const TurnIndex turn = turns_.next(set, first_turn(known, packet), bit_of(member));
    const bool same_cell = known != nullptr && fits(*known, packet) && turn == known->turn;
    draws_.take(known == nullptr);
    Flowcell& cell = cells_.touch(packet.order_hash);
    cell.bytes = (same_cell ? cell.bytes : 0) + packet.payload_len;
    cell.turn = turn;
  }

  FlowTableUse flow_table(Instant, size_t from, size_t count) const {
    return {cells_.capacity(), cells_.used(from, count)};
  }

 private:
  MemberIndex choose(const Packet& packet, uint16_t set, MemberMask mask) const {
    const uint32_t from = first_turn(cells_.find(packet.order_hash), packet);
    return turns_.of(set)[turns_.next(set, from, mask)];
  }

  // The turn that the packet would like; flows begin at a random one, so as not to march in step.
  uint32_t first_turn(const Flowcell* known, const Packet& packet) const {
    if (known == nullptr) return draws_.peek();
    return known->turn + (fits(*known, packet) ? 0u : 1u);
  }
  bool fits(const Flowcell& cell, const Packet& packet) const {
    return cell.bytes + packet.payload_len <= cell_bytes_;
  }

  uint32_t cell_bytes_;
  TurnList turns_;
  Draws draws_;  // where new flows start
  FlowTable<Flowcell> cells_;
};

}  // namespace

EDDY_SCHEME(presto, Presto)

}  // namespace eddy::lb
