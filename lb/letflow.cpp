// LetFlow: a flow that pauses long enough to end a flowlet draws a new path at random.
//
// A direct-indexed table of 8-octet entries; flows that share an entry are one to it. Mode `agebit`
// is the paper's one-bit ageing without its scan: an entry last used in epoch e = floor((t - phase)
// / gap) is dead from epoch e + 2 on, so the gap that ends a flowlet lies in (gap, 2 gap]. Mode
// `exact` ends it after `gap`. Times are kept modulo 2^56, so an entry that nobody used for 20
// hours can look alive: the flow then keeps an old path. Source: reference A.5.
#include <rte_prefetch.h>

#include <array>
#include <vector>

#include "lb/draws.h"
#include "lb/scheme.h"
#include "lb/turns.h"

namespace eddy::lb {
namespace {

using namespace literals;

enum class FlowletMode : uint8_t { agebit, exact };
constexpr std::array<std::string_view, 2> kModeNames = {"agebit", "exact"};
enum class SweepPhase : uint8_t { zero, swept };
constexpr std::array<std::string_view, 2> kPhaseNames = {"zero", "swept"};

// Bits 0-5: the member; 6-15: the path set (modulo 1,024) that drew it; above: the stamp of the
// last use.
class Flowlet {
 public:
  Flowlet() = default;
  Flowlet(MemberIndex member, uint16_t set, uint64_t stamp)
      : word_(stamp << kStampShift | tag_of(set) | member) {}

  MemberIndex member() const { return static_cast<MemberIndex>(word_ & kMemberBits); }
  bool drawn_by(uint16_t set) const { return (word_ & kTagBits) == tag_of(set); }
  uint64_t age(uint64_t stamp) const {
    return ((stamp << kStampShift) - (word_ & ~kLowBits)) >> kStampShift;
  }
  void use(uint64_t stamp) { word_ = stamp << kStampShift | (word_ & kLowBits); }

 private:
  static constexpr int kStampShift = 16;
  static constexpr uint64_t kLowBits = 0xFFFF;
  static constexpr uint64_t kMemberBits = 0x3F;
  static constexpr uint64_t kTagBits = 0xFFC0;
  static constexpr uint64_t tag_of(uint16_t set) { return uint64_t{set} << 6 & kTagBits; }
  uint64_t word_ = 0;
};
static_assert(sizeof(Flowlet) == 8 && kMaxPaths == 64);

class LetFlow {
 public:
  static constexpr std::string_view kSummary =
      "a random path for each flowlet; slow paths shed load because they make gaps";
  static constexpr bool kPromisesOrder = true;

  struct Parameters {
    Duration gap = 50_us;
    int64_t entries = 65'536;
    FlowletMode mode = FlowletMode::agebit;
    SweepPhase phase = SweepPhase::zero;
    bool weighted = false;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::gap>("gap", 1_us, 10_s,
                                 {"idle time that ends a flowlet; agebit: between this and twice "
                                  "this",
                                  "reference A.5"}),
        ranged<&Parameters::entries>("entries", 64, 16'777'216,
                                     {"flowlet table entries of 8 octets", "reference A.5"}),
        choice<&Parameters::mode>("mode", kModeNames,
                                  {"one-bit ageing as in hardware, or exact", "reference A.5"}),
        choice<&Parameters::phase>(
            "phase", kPhaseNames,
            {"agebit: all entries age together, or as under a sweeping checker", "reference A.5"}),
        flag<&Parameters::weighted>("weighted",
                                    {"draw in proportion to static weights", "reference A.5"})};
  }

  LetFlow(const SelectorInit& init, const Parameters& parameters)
      : gap_(parameters.gap),
        mode_(parameters.mode),
        phase_(parameters.phase),
        max_age_(mode_ == FlowletMode::agebit ? 1 : static_cast<uint64_t>(gap_.ps())),
        turns_(init.sets, parameters.weighted ? BucketShare::weighted : BucketShare::equal),
        draws_(stream_of(init)),
        entries_(static_cast<uint32_t>(parameters.entries)),
        first_late_(entries_),
        table_(entries_, Flowlet(0, 0, ~max_age_ - 1)) {}  // too old at time 0, also under a sweep

  void prepare(const PathView& view, std::span<Packet* const> burst) {
    for (const Packet* packet : burst) rte_prefetch0(&table_[index_of(*packet)]);
    set_time(view.now());
  }

  MemberIndex propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const MemberMask live = view.live(set);
    const size_t index = index_of(packet);
    const Flowlet flowlet = table_[index];
    const bool young = is_young(flowlet, index);
    if (young & !contains(live, flowlet.member())) [[unlikely]]
      return astray(flowlet, live, packet, set);
    const MemberIndex drawn = turns_.draw(set, live, draws_.peek());
    // Arithmetic, not a branch: whether a flowlet has ended is what no predictor can know.
    const auto keep = static_cast<MemberIndex>(-static_cast<int>(young));
    return static_cast<MemberIndex>((flowlet.member() & keep) | (drawn & ~keep));
  }

  // Mixed with the flow: several flows may be moved before the next draw is taken.
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    const auto random = static_cast<uint32_t>(mix64(packet.order_hash ^ draws_.peek()));
    return turns_.draw(set, view.live(set) & ~tried, random);
  }

  // A draw is taken for every new flowlet, whatever member it got: that the next draw does not wait
  // for this packet's member is worth 7 cycles a packet.
  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) {
    const MemberMask live = view.live(set);
    const size_t index = index_of(packet);
    const Flowlet flowlet = table_[index];
    const bool young = is_young(flowlet, index);
    if (young & !contains(live, flowlet.member())) [[unlikely]]
      return commit_astray(live, packet, set, member);
    draws_.take(!young);
    table_[index] = Flowlet(member, set, stamp_of(index));
  }

 private:
  size_t index_of(const Packet& packet) const {
    return scaled_to(static_cast<uint32_t>(packet.order_hash >> 32), entries_);
  }
  bool is_young(Flowlet flowlet, size_t index) const {
    return flowlet.age(stamp_of(index)) <= max_age_;
  }

  // A young flowlet whose member does not live in this set: it died, and the flowlet ends; or the
  // entry is another set's, and the flow goes by its hash.
  [[gnu::noinline]] MemberIndex astray(Flowlet flowlet, MemberMask live, const Packet& packet,
                                       uint16_t set) const {
    return flowlet.drawn_by(set) ? turns_.draw(set, live, draws_.peek()) : by_hash(packet, live);
  }
  [[gnu::noinline]] void commit_astray(MemberMask live, const Packet& packet, uint16_t set,
                                       MemberIndex member) {
    const size_t index = index_of(packet);
    Flowlet& flowlet = table_[index];
    if (!flowlet.drawn_by(set) && member == by_hash(packet, live))
      return flowlet.use(stamp_of(index));
    draws_.take(true);
    flowlet = Flowlet(member, set, stamp_of(index));
  }
  static MemberIndex by_hash(const Packet& packet, MemberMask live) {
    return random_of(live, static_cast<uint32_t>(mix64(packet.order_hash)));
  }
  uint64_t stamp_of(size_t index) const { return stamp_ - (index >= first_late_ ? 1 : 0); }

  // Under a sweeping checker entry i is visited i * gap / entries late: from first_late_ on,
  // entries are still in the epoch before.
  void set_time(Instant now) {
    if (mode_ == FlowletMode::exact) {
      stamp_ = static_cast<uint64_t>(now.ps());
      return;
    }
    stamp_ = static_cast<uint64_t>(now.since_zero() / gap_);
    if (phase_ == SweepPhase::zero) return;
    const __int128 into_epoch = now.ps() % gap_.ps();
    const __int128 entries = static_cast<__int128>(entries_);
    first_late_ = static_cast<size_t>(((into_epoch + 1) * entries + gap_.ps() - 1) / gap_.ps());
  }

  Duration gap_;
  FlowletMode mode_;
  SweepPhase phase_;
  uint64_t max_age_;  // in stamps: epochs or picoseconds
  TurnList turns_;
  Draws draws_;
  uint64_t stamp_ = 0;  // of this burst: epoch or picoseconds
  uint32_t entries_;
  size_t first_late_;  // entries from here on are still in the epoch before
  std::vector<Flowlet> table_;
};

}  // namespace

EDDY_SCHEME(letflow, LetFlow)

}  // namespace eddy::lb
