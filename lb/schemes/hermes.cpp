// Hermes: a flow goes where delay and ECN say that it is good to go, and moves on with caution.
//
// A path is good (few marks and little delay), congested (many and much), or gray. A new flow, one
// that timed out and one whose path failed take the good path, else the gray one, on which this
// leaf sends least. Any other flow moves only from a congested path, when it has sent enough and
// sends slowly, and only to a path that is notably better in both. Of equals one is drawn. A switch
// sees no acknowledgements, so it infers: a PSN that is not ahead of the last one is a
// retransmission, and a timeout when the flow was silent for an RTO before it. A path fails for
// `penalty` when so many flows time out on it while nothing is heard of it, or when retransmissions
// pass their share of a window on a path that is not congested. Those of a flow that has just moved
// do not count: its packets may have crossed.
// Owner: the selector's shard. Times are in ticks of a 16th of a rate period, which is the DRE's
// rounded down to a power of two. Octets: 16 a flow, 24 a member, 16 a path set. Cost: a line a
// packet, looked through once; classes and rates of all members where a flow is placed. Source:
// reference A.10.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "lb/draws.h"
#include "lb/dre.h"
#include "lb/flow_table.h"
#include "lb/schemes/scheme.h"
#include "net/byte_order.h"
#include "net/protocols.h"

namespace eddy::lb {
namespace {

using namespace literals;

constexpr uint32_t kUnit = 64;  // octets that flows are counted in
constexpr uint32_t kUnitBits = 14, kSeenBits = 20, kMovedBits = 14;
constexpr uint32_t kMostUnits = (1u << kUnitBits) - 1;
constexpr uint32_t kFastest = UINT16_MAX;
constexpr uint32_t kNever = ~0u;
constexpr Bytes kUsualMarking{160'000};  // where no queue is marked; reference C.7

constexpr MemberMask all_if(bool wanted) {
  return -MemberMask{wanted};
}
// One more member of those of which the ones with the lowest rank are wanted. Arithmetic, not a
// branch: which is lower is what no predictor can know.
void add_least(MemberMask& least, uint64_t& lowest, MemberIndex member, uint64_t rank) {
  least = (least & all_if(rank >= lowest)) | (bit_of(member) & all_if(rank <= lowest));
  lowest = std::min(lowest, rank);
}

constexpr uint32_t low_bits(uint32_t value, uint32_t bits) {
  return value & ((1u << bits) - 1);
}

// Its parts are whole octets where the loop over packets reads and writes them.
class Flow {
 public:
  uint16_t psn = 0;   // of the last packet, its low bits
  uint16_t rate = 0;  // a DRE register in units

  uint32_t sent() const { return sent_ & kMostUnits; }  // units
  bool has_psn() const { return (sent_ & kHasPsn) != 0; }
  void set_sent(uint32_t units, bool has_psn) {
    sent_ = static_cast<uint16_t>((sent_ & kHasMoved) | units | (has_psn ? kHasPsn : 0));
  }
  MemberIndex member() const { return static_cast<MemberIndex>(seen_ & kMemberBits); }
  // Ticks since its last packet; periods since the one in which that was.
  uint32_t since(uint32_t tick) const {
    return ((tick << kSeenShift | (kLowest - 1)) - seen_) >> kSeenShift;
  }
  uint32_t periods_since(uint32_t tick) const {
    return static_cast<uint16_t>((tick >> kTicksShift) - (seen_ >> (kSeenShift + kTicksShift)));
  }
  void see(uint32_t tick, MemberIndex member) { seen_ = tick << kSeenShift | member; }
  uint32_t since_move(uint32_t tick) const {
    return (sent_ & kHasMoved) != 0 ? low_bits(tick - moved_, kMovedBits) : kNever;
  }
  void move(uint32_t tick) {
    sent_ = static_cast<uint16_t>(sent_ | kHasMoved);
    moved_ = static_cast<uint16_t>(tick);
  }

  static constexpr int kTicksShift = 4;  // ticks of a rate period

 private:
  static constexpr uint32_t kHasPsn = 1 << kUnitBits;
  static constexpr uint32_t kHasMoved = kHasPsn << 1;
  static constexpr uint32_t kSeenShift = 32 - kSeenBits;
  static constexpr uint32_t kLowest = 1u << kSeenShift;  // of a tick in seen_
  static constexpr uint32_t kMemberBits = kMaxPaths - 1;

  uint16_t sent_ = 0;
  uint16_t moved_ = 0;  // tick, of which kMovedBits count
  uint32_t seen_ = 0;   // tick of the last packet; below it the member
};
static_assert(sizeof(Flow) == 12 && kMaxPaths == 64);

struct Sending {        // over a member
  uint32_t octets = 0;  // a DRE register
  uint32_t period = 0;
  uint32_t window = 0;  // tick at which it began
  uint32_t packets = 0;
  uint32_t penalty_ends = 0;  // tick; while its bit is in SetState::failed
  uint16_t retransmissions = 0;
  uint8_t timeouts = 0;
};
static_assert(sizeof(Sending) == 24);

struct SetState {
  MemberMask failed = 0;
  uint32_t first = 0;  // Sending of its first member
};

enum class PathClass : uint8_t { good, gray, congested };

class Hermes {
 public:
  static constexpr std::string_view kSummary =
      "flows keep away from paths that delay, mark or lose, and move only where it pays";
  static constexpr bool kPromisesOrder = false;
  static constexpr bool kBlindToQueues = true;
  static constexpr Speech kSpeech = {.shim = ShimNeed::sampled, .probes_idle = true};
  using Flows = FlowTable<Flow, uint32_t>;
  struct Token {
    Flows::Place place;  // of the packet's flow
    bool drew = false;   // the member came from the next draw
  };

  struct Parameters {
    int64_t ecn_percent = 40;
    Duration low = 20_us;
    Duration high = 0_us;
    Duration notable_delay = 0_us;
    int64_t notable_ecn_percent = 5;
    int64_t rate_percent = 30;
    Bytes size = 600'000_B;
    Duration rest = 100_us;
    Duration flow_life = 1_ms;
    Duration rto = 4_ms;
    int64_t timeouts = 3;
    int64_t loss_percent = 1;
    Duration loss_window = 10_ms;
    Duration penalty = 100_ms;
    int64_t flows = 65'536;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::ecn_percent>(
            "ecn_percent", 0, 100,
            {"share of marked packets that parts good from congested", "reference A.10"}),
        ranged<&Parameters::low>(
            "low", 0_us, 1_s,
            {"delay of a good path above that of an idle one, at most", "reference A.10"}),
        ranged<&Parameters::high>(
            "high", 0_us, 1_s,
            {"delay of a congested path above that of an idle one, at least; 0: one and a half "
             "times what the shortest queue that ECN marks takes",
             "reference A.10"}),
        ranged<&Parameters::notable_delay>(
            "notable_delay", 0_us, 1_s,
            {"how much less delay a better path has; 0: what the shortest queue that ECN marks "
             "takes",
             "reference A.10"}),
        ranged<&Parameters::notable_ecn_percent>(
            "notable_ecn_percent", 0, 100,
            {"how much fewer marks a better path has", "reference A.10"}),
        ranged<&Parameters::rate_percent>(
            "rate_percent", 0, 100,
            {"share of its line that a flow may use and still be moved", "reference A.10"}),
        ranged<&Parameters::size>("size", 0_B, 1'000'000_B,
                                  {"what a flow sends before it may be moved", "reference A.10"}),
        ranged<&Parameters::rest>("rest", 0_us, 4_ms,
                                  {"how long a moved flow stays", "reference A.10"}),
        ranged<&Parameters::flow_life>(
            "flow_life", 10_us, 100_ms,
            {"idle time after which a flow counts as new", "reference A.10"}),
        ranged<&Parameters::rto>(
            "rto", 10_us, 500_ms,
            {"silence before a retransmission that makes it a timeout", "reference A.10"}),
        ranged<&Parameters::timeouts>(
            "timeouts", 1, 255,
            {"of a path that nothing is heard of: it failed", "reference A.10"}),
        ranged<&Parameters::loss_percent>(
            "loss_percent", 1, 100,
            {"share of retransmissions above which a path failed", "reference A.10"}),
        ranged<&Parameters::loss_window>("loss_window", 100_us, 1_s,
                                         {"in which it is counted", "reference A.10"}),
        ranged<&Parameters::penalty>(
            "penalty", 100_us, 100_s,
            {"how long a failed path is left alone before it is tried again", "our choice"}),
        ranged<&Parameters::flows>(
            "flows", 64, 4'194'304,
            {"flows remembered, 16 octets each; the least recent is forgotten first",
             "reference A.10"})};
  }

  Hermes(const SelectorInit& init, const Parameters& parameters);

  FlowLines flow_lines() const { return flows_.lines(); }
  void prepare(const PathView& view, std::span<Packet* const>) {
    tick_ = static_cast<uint32_t>(view.now().ps() >> tick_shift_);
  }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const Flows::Place place = flows_.place_of(packet.order_hash);
    const Choice choice = choose(view, packet, set, flows_.at(packet.order_hash, place));
    return {choice.member, {place, choice.drawn}};
  }
  Reason reason(const PathView&, const Packet& packet, uint16_t, MemberIndex member) const {
    const Flow* flow = flows_.at(packet.order_hash, flows_.place_of(packet.order_hash));
    if (flow == nullptr || is_over(*flow)) return Reason::begins;
    return flow->member() == member ? Reason::keeps : Reason::leaves;
  }
  void select_burst(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control);
  // Mixed with the flow: several flows may be moved before the next draw is taken.
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    const auto random = static_cast<uint32_t>(mix64(packet.order_hash ^ draws_.peek()));
    return place(view, set, view.live(set) & ~tried, random).member;
  }
  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token& token) {
    Flow& flow = flows_.touch(packet.order_hash, token.place);
    prepare_flow(view, packet, set, flow, {member, token.drew});
    note(flow, packet, member);
    add(sending(set, member), packet.wire_len);
  }

  // What flows keep are low bits of ticks, which come to the same value.
  void rebase(const Rebase& rebase) {
    const auto back = static_cast<uint32_t>(rebase.back().ps() >> tick_shift_);
    tick_ -= back;
    for (Sending& to : sendings_) {
      to.period = low_bits(to.period - (back >> kTicksShift), kPeriodBits);
      to.window -= back;
      to.penalty_ends -= back;
    }
  }

  FlowTableUse flow_table(Instant, size_t from, size_t count) const {
    return {flows_.capacity(), flows_.used(from, count)};
  }

 private:
  static constexpr int kTicksShift = Flow::kTicksShift;
  static constexpr uint32_t kPeriodBits = 32 - kTicksShift;
  struct Placed {
    MemberIndex member;
    bool tied;
  };
  struct Choice {
    MemberIndex member;
    bool drawn = false;  // by the next draw
  };
  struct Heard {  // of a member, of late
    bool known;
    uint32_t delay_ns;
    uint32_t marked;  // 65'535: all
  };
  // What parts the classes of paths that are known.
  struct Bounds {
    Bounds(const Hermes& hermes, const PathTable& paths)
        : low_ns(paths.base_delay().ns() + hermes.low_ns_),
          high_ns(paths.base_delay().ns() + hermes.high_ns_),
          marks(65'535 * static_cast<uint32_t>(hermes.parameters_.ecn_percent)) {}
    PathClass class_of(const Heard& heard) const {
      const uint32_t marked = heard.marked * 100;
      if (marked < marks && heard.delay_ns < low_ns) return PathClass::good;
      if (marked > marks && heard.delay_ns > high_ns) return PathClass::congested;
      return PathClass::gray;
    }

    int64_t low_ns;
    int64_t high_ns;
    uint32_t marks;  // hundredths of 65'535
  };

  bool is_over(const Flow& flow) const { return flow.since(tick_) > life_; }
  uint32_t ticks_of(Duration time) const {
    return static_cast<uint32_t>(std::max<int64_t>(time.ps() >> tick_shift_, 1));
  }
  Sending& sending(uint16_t set, MemberIndex member) {
    return sendings_[sets_[set].first + member];
  }
  const Sending& sending(uint16_t set, MemberIndex member) const {
    return sendings_[sets_[set].first + member];
  }
  uint32_t rate_of(const Sending& to) const {
    return kept(to.octets, low_bits((tick_ >> kTicksShift) - to.period, kPeriodBits));
  }
  uint32_t rate_of(const Flow& flow) const { return kept(flow.rate, flow.periods_since(tick_)); }
  // As Dre::decayed(), of a register of 32 bits.
  uint32_t kept(uint64_t octets, uint32_t periods) const {
    if (periods >= shares_.size()) return 0;
    return static_cast<uint32_t>((octets * shares_[periods] + kWhole / 2) / kWhole);
  }

  static uint32_t psn_of(const Packet& packet) {
    constexpr uint32_t kPsn = 10;  // its low 16 bits, in the BTH
    return load_be16(packet.data() + packet.l2_len + packet.l3_len + kUdpHeader + kPsn);
  }
  // An acknowledgement's number is of the other direction's data, and a CNP has none.
  static bool has_psn(const Packet& packet) {
    return (packet.flags & (kPacketRoce | kPacketRoceControl)) == kPacketRoce;
  }
  static bool is_behind(const Flow& flow, const Packet& packet) {
    return has_psn(packet) && flow.has_psn() &&
           static_cast<int16_t>(psn_of(packet) - flow.psn) <= 0;
  }

  void give_to_paths(const PathView& view, std::span<Packet* const> burst,
                     std::span<const uint16_t> set_of, Flow* const* found);
  Choice choose(const PathView& view, const Packet& packet, uint16_t set, const Flow* flow) const;
  void prepare_flow(const PathView& view, const Packet& packet, uint16_t set, Flow& flow,
                    Choice choice);
  [[gnu::noinline]] MemberIndex begin(const PathView& view, uint16_t set, Flow& flow);
  [[gnu::noinline]] MemberIndex choose_again(const PathView& view, const Packet& packet,
                                             uint16_t set, Flow& flow);
  // A flow whose member lives: it has sent enough, and slowly, and has rested.
  bool may_move(const Flow& flow, PortId port) const {
    return flow.sent() > size_ && rate_of(flow) < slow_[port.index()] &&
           flow.since_move(tick_) >= rest_;
  }
  [[gnu::noinline]] MemberIndex place_anew(const PathView& view, const Packet& packet, uint16_t set,
                                           const Flow* known) const;
  Placed place(const PathView& view, uint16_t set, MemberMask among, uint32_t random) const;
  Placed least_sent(uint16_t set, MemberMask among, uint32_t random) const;
  [[gnu::noinline]] MemberIndex better(const PathView& view, const Packet& packet, uint16_t set,
                                       const Flow& flow) const;
  static uint32_t marked_of(const PathTable& paths, uint16_t set, MemberIndex member) {
    return paths.at(set, member).marked.load(std::memory_order_relaxed);
  }
  Heard heard(const PathView& view, uint16_t set, MemberIndex member) const;
  PathClass class_of(const PathView& view, const Heard& heard) const {
    return heard.known ? Bounds(*this, *view.paths()).class_of(heard) : PathClass::gray;
  }
  // By a detector; and those that have failed here, too.
  static MemberMask excluded(const PathView& view, uint16_t set) {
    const PathTable* paths = view.paths();
    return paths == nullptr ? 0 : paths->failed(set);
  }
  MemberMask failed(const PathView& view, uint16_t set) const {
    return excluded(view, set) | (sets_[set].failed == 0 ? 0 : penalised(set));
  }
  [[gnu::noinline]] MemberMask penalised(uint16_t set) const;

  [[gnu::noinline]] void judge_loss(const PathView& view, uint16_t set, const Flow& flow);
  void judge_retransmission(const PathView& view, uint16_t set, MemberIndex member);
  void fail(uint16_t set, MemberIndex member);
  void note(Flow& flow, const Packet& packet, MemberIndex member) const {
    const uint32_t units = (packet.wire_len + kUnit - 1) / kUnit;
    const bool numbered = has_psn(packet);
    flow.rate = static_cast<uint16_t>(std::min(rate_of(flow) + units, kFastest));
    flow.set_sent(std::min(flow.sent() + units, kMostUnits), numbered);
    flow.see(tick_, member);
    if (numbered) flow.psn = static_cast<uint16_t>(psn_of(packet));
  }
  void add(Sending& to, uint32_t octets) {
    to.octets =
        static_cast<uint32_t>(std::min<uint64_t>(uint64_t{rate_of(to)} + octets, UINT32_MAX));
    to.period = tick_ >> kTicksShift;
    ++to.packets;
    if (tick_ - to.window >= window_) [[unlikely]]
      begin_window(to);
  }
  [[gnu::noinline]] void begin_window(Sending& to) const;

  Parameters parameters_;
  uint32_t tick_ = 0;
  int tick_shift_;
  uint32_t life_;  // in ticks, as those that follow
  uint32_t settling_, rest_, rto_, window_, penalty_;
  uint32_t size_;  // in units
  static constexpr uint64_t kWhole = uint64_t{1} << 32;
  Dre rates_;
  std::array<uint64_t, 64> shares_{};  // that are left after so many periods, in 1/kWhole
  Draws draws_;
  std::vector<uint32_t> slow_;  // by port: a register in units below which a flow is slow
  Duration notable_delay_;
  int64_t low_ns_, high_ns_;  // above an idle path's delay
  std::vector<SetState> sets_;
  std::vector<Sending> sendings_;
  Flows flows_;
};

// What the shortest queue that ECN marks takes on the slowest line of any path.
Duration longest_hop(const SelectorInit& init) {
  Duration longest;
  for (const PathSet& set : init.sets)
    for (size_t i = 0; i < set.count; ++i) {
      const PortLine& line = init.lines[set.members[i].port.index()];
      const Bytes marking = line.marking.count() != 0 ? line.marking : kUsualMarking;
      longest = std::max(longest, LineRate(line.rate).time_of(marking));
    }
  return longest;
}

Hermes::Hermes(const SelectorInit& init, const Parameters& parameters)
    : parameters_(parameters),
      tick_shift_(std::bit_width(static_cast<uint64_t>(init.dre.period().ps())) - 1 - kTicksShift),
      life_(ticks_of(parameters.flow_life)),
      settling_(std::min(life_, 1u << (kMovedBits - 1))),
      rest_(parameters.rest == 0_us ? 0 : ticks_of(parameters.rest)),
      rto_(ticks_of(parameters.rto)),
      window_(ticks_of(parameters.loss_window)),
      penalty_(ticks_of(parameters.penalty)),
      size_(static_cast<uint32_t>(parameters.size.count()) / kUnit),
      rates_({.period = Duration::picoseconds(static_cast<int64_t>(
                  std::bit_floor(static_cast<uint64_t>(init.dre.period().ps()))))}),
      draws_(stream_of(init)),
      notable_delay_(parameters.notable_delay),
      low_ns_(parameters.low.ns()),
      flows_(static_cast<size_t>(parameters.flows)) {
  for (size_t periods = 0; periods < shares_.size(); ++periods)
    shares_[periods] = rates_.decayed(kWhole, static_cast<int64_t>(periods));
  for (const PortLine& line : init.lines) {
    const int64_t full = rates_.capacity(line.rate).count() * parameters.rate_percent / 100;
    slow_.push_back(static_cast<uint32_t>(std::min<int64_t>(full / kUnit, kFastest)));
  }
  const Duration hop = longest_hop(init);
  high_ns_ = (parameters.high == 0_us ? hop * 3 / 2 : parameters.high).ns();
  if (notable_delay_ == 0_us) notable_delay_ = hop;
  for (const PathSet& set : init.sets) {
    sets_.push_back({.first = static_cast<uint32_t>(sendings_.size())});
    sendings_.resize(sendings_.size() + set.count);
  }
}

// `flow`: null if it is not known.
Hermes::Choice Hermes::choose(const PathView& view, const Packet& packet, uint16_t set,
                              const Flow* flow) const {
  const MemberMask usable = view.live(set) & ~failed(view, set);
  if (flow == nullptr || is_over(*flow) || !contains(usable, flow->member()))
    return {place_anew(view, packet, set, flow), true};
  const MemberIndex member = flow->member();
  if (!may_move(*flow, view.set(set).members[member].port)) return {member};
  return {better(view, packet, set, *flow)};
}

// What changes with a choice, before the packet is noted with its flow.
void Hermes::prepare_flow(const PathView& view, const Packet& packet, uint16_t set, Flow& flow,
                          Choice choice) {
  draws_.take(choice.drawn);
  if (sets_[set].failed != 0) [[unlikely]]
    sets_[set].failed = penalised(set);
  if (is_behind(flow, packet)) [[unlikely]]
    judge_loss(view, set, flow);
  const bool unknown = flow.sent() == 0;  // whoever was here sent something
  if (unknown || is_over(flow))
    flow = {};
  else if (flow.member() != choice.member)
    flow.move(tick_);
}

// propose() and commit() of each. Flows are found before their packets are given to paths, as far
// as no flow is moved in the table by that: each waits for memory, and none for another.
void Hermes::select_burst(const PathView& view, std::span<Packet* const> burst,
                          std::span<const uint16_t> set_of, const ByEcmp& control) {
  const Flows::Cursor flows(flows_);
  std::array<Flow*, kBurst> found;
  size_t first = 0;  // of those that are found and not given to paths
  const auto give = [&](size_t end) {
    const size_t count = end - first;
    give_to_paths(view, burst.subspan(first, count), set_of.subspan(first, count),
                  found.data() + first);
  };
  for (size_t i = 0; i < burst.size(); ++i) {
    Packet& packet = *burst[i];
    const bool apart = control.has(packet);
    if (!apart) [[likely]] {
      found[i] = flows.touch_early(packet.order_hash);
      if (found[i] != nullptr) [[likely]]
        continue;
    }
    give(i);
    first = i;
    if (!apart) {
      found[i] = &flows.touch(packet.order_hash);
    } else {
      assign(packet, view.set(set_of[i]), control.pick(packet, set_of[i], view.live(set_of[i])));
      first = i + 1;
    }
  }
  give(burst.size());
}

// A flow of which nothing is to be decided stays where it is.
[[gnu::noinline]] void Hermes::give_to_paths(const PathView& view, std::span<Packet* const> burst,
                                             std::span<const uint16_t> set_of, Flow* const* found) {
  const PathSet* const sets = view.sets().data();
  const MemberMask* const live_of = view.live();
  const PathTable* const paths = view.paths();
  for (size_t i = 0; i < burst.size(); ++i) {
    Packet& packet = *burst[i];
    const uint16_t set = set_of[i];
    Flow& flow = *found[i];
    MemberIndex member = flow.member();
    const MemberMask usable = live_of[set] & ~(paths == nullptr ? 0 : paths->failed(set));
    const bool begins = (flow.sent() == 0) | is_over(flow);
    const bool suspect = (sets_[set].failed != 0) | is_behind(flow, packet);
    if (begins & !suspect)
      member = begin(view, set, flow);
    else if (suspect || !contains(usable, member) || may_move(flow, sets[set].members[member].port))
        [[unlikely]]
      member = choose_again(view, packet, set, flow);
    note(flow, packet, member);
    add(sending(set, member), packet.wire_len);
    assign(packet, sets[set], member);
  }
}

// What choose_again() comes to for a flow that begins, sends nothing again and finds all paths
// sound.
MemberIndex Hermes::begin(const PathView& view, uint16_t set, Flow& flow) {
  const Placed placed = place(view, set, view.live(set), draws_.peek());
  view.report_tie(placed.tied);
  draws_.take(true);
  flow = {};
  return placed.member;
}

MemberIndex Hermes::choose_again(const PathView& view, const Packet& packet, uint16_t set,
                                 Flow& flow) {
  const Choice choice = choose(view, packet, set, flow.sent() == 0 ? nullptr : &flow);
  prepare_flow(view, packet, set, flow, choice);
  return choice.member;
}

// Not the path on which it timed out, where there is another.
MemberIndex Hermes::place_anew(const PathView& view, const Packet& packet, uint16_t set,
                               const Flow* known) const {
  MemberMask among = view.live(set);
  if (known != nullptr && known->since(tick_) >= rto_ && is_behind(*known, packet)) {
    const MemberMask others = among & ~bit_of(known->member());
    if (others != 0) among = others;
  }
  const Placed placed = place(view, set, among, draws_.peek());
  view.report_tie(placed.tied);
  return placed.member;
}

// Of the good ones, or else of the gray ones, that on which least is sent.
inline Hermes::Placed Hermes::place(const PathView& view, uint16_t set, MemberMask among,
                                    uint32_t random) const {
  const MemberMask sound = among & ~failed(view, set);
  if (sound == 0) return {random_of(among, random), false};
  if (view.paths() == nullptr) return least_sent(set, sound, random);  // all are gray
  const PathTable::Recent recent(*view.paths(), set, view.now());
  const Bounds bounds(*this, *view.paths());
  const Sending* const sendings = &sendings_[sets_[set].first];
  MemberMask least = 0;
  uint64_t lowest = ~uint64_t{0};
  for (MemberMask left = sound; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const uint32_t delay_ns = recent.delay_ns(member);
    auto path_class = PathClass::gray;
    if (delay_ns < PathTable::Recent::kStale)
      path_class = bounds.class_of({true, delay_ns, marked_of(*view.paths(), set, member)});
    if (path_class == PathClass::congested) continue;
    const uint64_t rank = static_cast<uint64_t>(path_class) << 32 | rate_of(sendings[member]);
    add_least(least, lowest, member, rank);
  }
  if (least == 0) return {random_of(sound, random), false};
  return {random_of(least, random), count_of(least) > 1};
}

Hermes::Placed Hermes::least_sent(uint16_t set, MemberMask among, uint32_t random) const {
  MemberMask least = 0;
  uint64_t lowest = ~uint64_t{0};
  for (MemberMask left = among; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    add_least(least, lowest, member, rate_of(sending(set, member)));
  }
  return {random_of(least, random), count_of(least) > 1};
}

// For a flow that may be moved: its own member, unless that is congested and another is not.
MemberIndex Hermes::better(const PathView& view, const Packet& packet, uint16_t set,
                           const Flow& flow) const {
  const MemberIndex own = flow.member();
  const Heard now = heard(view, set, own);
  if (class_of(view, now) != PathClass::congested) return own;
  const uint32_t notable_marks = 65'535 * static_cast<uint32_t>(parameters_.notable_ecn_percent);
  std::array<MemberMask, 3> by_class{};
  for (MemberMask left = view.live(set) & ~failed(view, set); left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const Heard there = heard(view, set, member);
    if (!there.known || there.delay_ns + notable_delay_.ns() >= now.delay_ns) continue;
    if (there.marked >= now.marked || (now.marked - there.marked) * 100 <= notable_marks) continue;
    by_class[static_cast<size_t>(class_of(view, there))] |= bit_of(member);
  }
  const auto random = static_cast<uint32_t>(mix64(packet.order_hash));
  for (const PathClass path_class : {PathClass::good, PathClass::gray})
    if (const MemberMask members = by_class[static_cast<size_t>(path_class)]; members != 0)
      return least_sent(set, members, random).member;
  return own;
}

Hermes::Heard Hermes::heard(const PathView& view, uint16_t set, MemberIndex member) const {
  const PathTable* paths = view.paths();
  if (paths == nullptr) return {};
  const auto delay = paths->delay(set, member, view.now());
  if (!delay) return {};
  return {true, static_cast<uint32_t>(delay->ns()), marked_of(*paths, set, member)};
}

// Failed paths whose penalty is not over yet.
MemberMask Hermes::penalised(uint16_t set) const {
  MemberMask failed = sets_[set].failed;
  for (MemberMask left = failed; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    if (static_cast<int32_t>(tick_ - sending(set, member).penalty_ends) >= 0)
      failed &= ~bit_of(member);
  }
  return failed;
}

void Hermes::begin_window(Sending& to) const {
  to.window = tick_;
  to.packets = 1;
  to.retransmissions = 0;
}

// The flow sends again what it has sent, most likely over its member, before.
void Hermes::judge_loss(const PathView& view, uint16_t set, const Flow& flow) {
  if (flow.since_move(tick_) < settling_) return;
  const MemberIndex member = flow.member();
  const uint32_t silence = flow.since(tick_);
  if (silence < rto_) return judge_retransmission(view, set, member);
  Sending& to = sending(set, member);
  const PathTable* paths = view.paths();
  const Duration silent_for = Duration::picoseconds(int64_t{silence} << tick_shift_);
  const bool answers =
      paths != nullptr && paths->at(set, member).age(paths->record_time(view.now())) < silent_for;
  to.timeouts = answers ? 0 : static_cast<uint8_t>(std::min(to.timeouts + 1, 255));
  if (to.timeouts >= parameters_.timeouts) fail(set, member);
}

void Hermes::judge_retransmission(const PathView& view, uint16_t set, MemberIndex member) {
  constexpr uint32_t kFewest = 100;  // packets that a share is made of
  Sending& to = sending(set, member);
  to.retransmissions = static_cast<uint16_t>(std::min(to.retransmissions + 1, 65'535));
  const uint64_t share = uint64_t{to.retransmissions} * 100;
  if (to.packets < kFewest ||
      share <= uint64_t{to.packets} * static_cast<uint64_t>(parameters_.loss_percent))
    return;
  if (class_of(view, heard(view, set, member)) != PathClass::congested) fail(set, member);
}

void Hermes::fail(uint16_t set, MemberIndex member) {
  Sending& to = sending(set, member);
  to.timeouts = 0;
  to.retransmissions = 0;
  to.penalty_ends = tick_ + penalty_;
  sets_[set].failed |= bit_of(member);
}

}  // namespace

EDDY_SCHEME(hermes, Hermes)

}  // namespace eddy::lb
