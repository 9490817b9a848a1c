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
// rounded down to a power of two. Octets: 16 a flow, 32 a member, 16 a path set. Cost: a line a
// packet, looked through once, and four packets are noted at once; classes and rates of all members
// where a flow is placed. Source: reference A.10.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "lb/draws.h"
#include "lb/dre.h"
#include "lb/flow_table.h"
#include "lb/schemes/hermes_flow.h"
#include "lb/schemes/hermes_paths.h"
#include "lb/schemes/scheme.h"
#include "net/byte_order.h"
#include "net/protocols.h"

namespace eddy::lb {
namespace {

using namespace literals;

constexpr uint32_t kUnit = 64;           // octets that flows are counted in
constexpr Bytes kUsualMarking{160'000};  // where no queue is marked; reference C.7

class Hermes {
 public:
  static constexpr std::string_view kSummary =
      "flows keep away from paths that delay, mark or lose, and move only where it pays";
  static constexpr bool kPromisesOrder = false;
  static constexpr bool kBlindToQueues = true;
  static constexpr Speech kSpeech = {.shim = ShimNeed::sampled, .probes_idle = true};
  using Flow = HermesFlow;
  using Sending = HermesSending;
  using PathClass = HermesClass;
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
    add(sending(set, member), packet.wire_len, tick_);
  }

  // What flows keep are low bits of ticks, which come to the same value.
  void rebase(const Rebase& rebase) {
    const auto back = static_cast<uint32_t>(rebase.back().ps() >> tick_shift_);
    tick_ -= back;
    for (Sending& to : sendings_) {
      to.since -= period_of(back);
      to.window -= back;
      to.penalty_ends -= back;
    }
  }

  FlowTableUse flow_table(Instant, size_t from, size_t count) const {
    return {flows_.capacity(), flows_.used(from, count)};
  }

 private:
  static constexpr int kTicksShift = Flow::kTicksShift;
  static constexpr uint32_t period_of(uint32_t tick) { return tick >> kTicksShift << kTicksShift; }
  struct Placed {
    MemberIndex member;
    bool tied;
  };
  struct Choice {
    MemberIndex member;
    bool drawn = false;  // by the next draw
  };
  HermesSending sending_over(const SelectorInit& init, const PathMember& member) const;
  bool is_over(const Flow& flow) const { return flow.since(tick_) > life_; }
  uint32_t ticks_of(Duration time) const {
    return static_cast<uint32_t>(std::max<int64_t>(time.ps() >> tick_shift_, 1));
  }
  Sending& sending(uint16_t set, MemberIndex member) { return first_[set][member]; }
  const Sending& sending(uint16_t set, MemberIndex member) const { return first_[set][member]; }
  // `tick`: tick_, of which compilers do not see that it stays as it is.
  uint32_t rate_of(const Sending& to, uint32_t tick) const {
    return kept(to.octets, (period_of(tick) - to.since) >> kTicksShift);
  }
  uint32_t rate_of(const Flow& flow) const { return kept(flow.rate, flow.periods_since(tick_)); }
  // As Dre::decayed(), of a register of 32 bits.
  uint32_t kept(uint64_t octets, uint32_t periods) const {
    if (periods >= Flow::kPeriods) return 0;
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

  void select_few(const PathView& view, std::span<Packet* const> burst,
                  std::span<const uint16_t> set_of, const ByEcmp& control);
  size_t find_flows(std::span<Packet* const> burst, size_t from, const ByEcmp& control,
                    std::array<Flow*, kBurst>& found);
  void give_to_paths(const PathView& view, std::span<Packet* const> burst,
                     std::span<const uint16_t> set_of, Flow* const* found);
  Choice choose(const PathView& view, const Packet& packet, uint16_t set, const Flow* flow) const;
  void prepare_flow(const PathView& view, const Packet& packet, uint16_t set, Flow& flow,
                    Choice choice);
  bool give_four(const PathView& view, const FourHermesFlows::Measure& measure,
                 Packet* const* burst, const uint16_t* set_of, Flow* const* found,
                 std::optional<HermesSight>& sight);
  [[gnu::noinline]] void give_one(const PathView& view, Packet& packet, uint16_t set, Flow& flow,
                                  std::optional<HermesSight>& sight);
  [[gnu::noinline]] MemberIndex begin(const PathView& view, uint16_t set,
                                      std::optional<HermesSight>& sight);
  [[gnu::noinline]] MemberIndex choose_again(const PathView& view, const Packet& packet,
                                             uint16_t set, Flow& flow);
  // A flow whose member lives: it has sent enough, and slowly, and has rested.
  bool may_move(const Flow& flow, const Sending& over) const {
    return flow.sent() > size_ && rate_of(flow) < over.slow && flow.since_move(tick_) >= rest_;
  }
  [[gnu::noinline]] MemberIndex place_anew(const PathView& view, const Packet& packet, uint16_t set,
                                           const Flow* known) const;
  struct Members {
    MemberMask all;
    MemberMask sound;  // of these
  };
  Placed place(const PathView& view, uint16_t set, MemberMask among, uint32_t random) const;
  Placed place(std::optional<HermesSight>& sight, uint16_t set, Members among,
               uint32_t random) const;
  Placed least_sent(uint16_t set, MemberMask among, uint32_t random) const;
  [[gnu::noinline]] MemberIndex better(const PathView& view, const Packet& packet, uint16_t set,
                                       const Flow& flow) const;
  static uint32_t marked_of(const PathTable& paths, uint16_t set, MemberIndex member) {
    return paths.at(set, member).marked.load(std::memory_order_relaxed);
  }
  HermesHeard heard(const PathView& view, uint16_t set, MemberIndex member) const;
  PathClass class_of(const PathView& view, const HermesHeard& heard) const {
    if (!heard.known) return PathClass::gray;
    return bounds_.above(view.paths()->base_delay()).class_of(heard);
  }
  // By a detector; and those that have failed here, too.
  static MemberMask excluded(const PathView& view, uint16_t set) {
    const PathTable* paths = view.paths();
    return paths == nullptr ? 0 : paths->failed(set);
  }
  MemberMask failed(const PathView& view, uint16_t set) const {
    return excluded(view, set) | (failed_[set] == 0 ? 0 : penalised(set));
  }
  [[gnu::noinline]] MemberMask penalised(uint16_t set) const;

  [[gnu::noinline]] void judge_loss(const PathView& view, uint16_t set, const Flow& flow);
  void judge_retransmission(const PathView& view, uint16_t set, MemberIndex member);
  void fail(uint16_t set, MemberIndex member);
  void note(Flow& flow, const Packet& packet, MemberIndex member) const {
    const uint32_t units = (packet.wire_len + kUnit - 1) / kUnit;
    const bool numbered = has_psn(packet);
    flow.rate = static_cast<uint16_t>(std::min(rate_of(flow) + units, Flow::kFastest));
    flow.set_sent(std::min(flow.sent() + units, Flow::kMostUnits), numbered);
    flow.see(tick_, member);
    if (numbered) flow.psn = static_cast<uint16_t>(psn_of(packet));
  }
  void add(Sending& to, uint32_t octets, uint32_t tick) {
    uint32_t sum;
    const bool full = __builtin_add_overflow(rate_of(to, tick), octets, &sum);
    to.octets = full ? UINT32_MAX : sum;
    to.since = period_of(tick);
    ++to.packets;
    if (tick - to.window >= window_) [[unlikely]]
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
  Flow::Shares shares_{};
  Draws draws_;
  Duration notable_delay_;
  HermesBounds bounds_;             // above an idle path's delay
  std::vector<MemberMask> failed_;  // by set
  size_t failing_ = 0;              // of which so many are not 0
  std::vector<Sending> sendings_;
  std::vector<Sending*> first_;  // by set: of its first member
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
      settling_(std::min(life_, 1u << (Flow::kMovedBits - 1))),
      rest_(parameters.rest == 0_us ? 0 : ticks_of(parameters.rest)),
      rto_(ticks_of(parameters.rto)),
      window_(ticks_of(parameters.loss_window)),
      penalty_(ticks_of(parameters.penalty)),
      size_(static_cast<uint32_t>(parameters.size.count()) / kUnit),
      rates_({.period = Duration::picoseconds(static_cast<int64_t>(
                  std::bit_floor(static_cast<uint64_t>(init.dre.period().ps()))))}),
      draws_(stream_of(init)),
      notable_delay_(parameters.notable_delay),
      bounds_{.low_ns = parameters.low.ns(),
              .high_ns = 0,
              .marks = 65'535 * static_cast<uint32_t>(parameters.ecn_percent)},
      flows_(static_cast<size_t>(parameters.flows)) {
  for (size_t periods = 0; periods < Flow::kPeriods; ++periods)
    shares_[periods] = rates_.decayed(kWhole, static_cast<int64_t>(periods));
  const Duration hop = longest_hop(init);
  bounds_.high_ns = (parameters.high == 0_us ? hop * 3 / 2 : parameters.high).ns();
  if (notable_delay_ == 0_us) notable_delay_ = hop;
  failed_.resize(init.sets.size());
  for (const PathSet& set : init.sets)
    for (size_t i = 0; i < set.count; ++i) sendings_.push_back(sending_over(init, set.members[i]));
  Sending* first = sendings_.data();
  for (const PathSet& set : init.sets) {
    first_.push_back(first);
    first += set.count;
  }
}

HermesSending Hermes::sending_over(const SelectorInit& init, const PathMember& member) const {
  const BitRate rate = init.lines[member.port.index()].rate;
  const int64_t full = rates_.capacity(rate).count() * parameters_.rate_percent / 100;
  Sending sending;
  sending.port = member.port;
  sending.path = member.path;
  sending.slow = static_cast<uint32_t>(std::min<int64_t>(full / kUnit, Flow::kFastest));
  return sending;
}

// `flow`: null if it is not known.
Hermes::Choice Hermes::choose(const PathView& view, const Packet& packet, uint16_t set,
                              const Flow* flow) const {
  const MemberMask usable = view.live(set) & ~failed(view, set);
  if (flow == nullptr || is_over(*flow) || !contains(usable, flow->member()))
    return {place_anew(view, packet, set, flow), true};
  const MemberIndex member = flow->member();
  if (!may_move(*flow, sending(set, member))) return {member};
  return {better(view, packet, set, *flow)};
}

// What changes with a choice, before the packet is noted with its flow.
void Hermes::prepare_flow(const PathView& view, const Packet& packet, uint16_t set, Flow& flow,
                          Choice choice) {
  draws_.take(choice.drawn);
  if (failed_[set] != 0) [[unlikely]] {
    failed_[set] = penalised(set);
    failing_ -= failed_[set] == 0 ? 1 : 0;
  }
  if (is_behind(flow, packet)) [[unlikely]]
    judge_loss(view, set, flow);
  const bool unknown = flow.sent() == 0;  // whoever was here sent something
  if (unknown || is_over(flow))
    flow = {};
  else if (flow.member() != choice.member)
    flow.move(tick_);
}

// propose() and commit() of each. Flows are found before their packets are given to paths, as far
// as no flow that was found is moved in the table by that: each waits for memory, and none for
// another.
void Hermes::select_burst(const PathView& view, std::span<Packet* const> burst,
                          std::span<const uint16_t> set_of, const ByEcmp& control) {
  if (burst.size() < FourHermesFlows::kFlows) return select_few(view, burst, set_of, control);
  std::array<Flow*, kBurst> found;
  for (size_t from = 0; from < burst.size();) {
    const size_t end = find_flows(burst, from, control, found);
    give_to_paths(view, burst.subspan(from, end - from), set_of.subspan(from, end - from),
                  found.data() + from);
    from = end;
    if (end == burst.size() || !control.has(*burst[end])) continue;
    const uint16_t set = set_of[end];
    assign(*burst[end], view.set(set), control.pick(*burst[end], set, view.live(set)));
    ++from;
  }
}

[[gnu::noinline]] void Hermes::select_few(const PathView& view, std::span<Packet* const> burst,
                                          std::span<const uint16_t> set_of, const ByEcmp& control) {
  std::optional<HermesSight> sight;
  for (size_t i = 0; i < burst.size(); ++i) {
    Packet& packet = *burst[i];
    const uint16_t set = set_of[i];
    if (control.has(packet)) [[unlikely]]
      assign(packet, view.set(set), control.pick(packet, set, view.live(set)));
    else
      give_one(view, packet, set, flows_.touch(packet.order_hash), sight);
  }
}

// All at once as one string instruction, which compilers make of it, takes longer.
inline void forget(std::array<HermesFlow*, kBurst>& found) {
  constexpr size_t kAtOnce = 8;
  static_assert(kBurst % kAtOnce == 0);
  for (size_t i = 0; i < found.size(); i += kAtOnce)
    std::memset(&found[i], 0, kAtOnce * sizeof found[i]);
}

// From there on; to the first that goes by ECMP, or whose look moves a flow that was found.
[[gnu::noinline]] size_t Hermes::find_flows(std::span<Packet* const> burst, size_t from,
                                            const ByEcmp& control,
                                            std::array<Flow*, kBurst>& found) {
  const Flows::Cursor flows(flows_);
  const uint16_t apart = control.flags();
  forget(found);
  for (size_t i = from; i < burst.size(); ++i) {
    if ((burst[i]->flags & apart) != 0) [[unlikely]]
      return i;
    const uint64_t key = burst[i]->order_hash;
    found[i] = flows.touch_early(key);
    if (found[i] != nullptr) [[likely]]
      continue;
    Flow* const late = flows.touch_late(key, found);
    found[i] = late;
    if (late == nullptr) return i;
  }
  return burst.size();
}

// Four at a time, where nothing is to be decided but where those go that begin.
[[gnu::noinline]] void Hermes::give_to_paths(const PathView& view, std::span<Packet* const> burst,
                                             std::span<const uint16_t> set_of, Flow* const* found) {
  constexpr size_t kFour = FourHermesFlows::kFlows;
  const FourHermesFlows::Measure measure(tick_, life_, size_, shares_);
  std::optional<HermesSight> sight;
  size_t i = 0;
  for (; i + kFour <= burst.size(); i += kFour)
    if (FourHermesFlows::are_twins(found + i) ||
        !give_four(view, measure, &burst[i], &set_of[i], found + i, sight)) [[unlikely]]
      for (size_t k = i; k < i + kFour; ++k) give_one(view, *burst[k], set_of[k], *found[k], sight);
  for (; i < burst.size(); ++i) give_one(view, *burst[i], set_of[i], *found[i], sight);
}

// False: more is to be decided, and nothing was done.
[[gnu::always_inline]] inline bool Hermes::give_four(const PathView& view,
                                                     const FourHermesFlows::Measure& measure,
                                                     Packet* const* burst, const uint16_t* set_of,
                                                     Flow* const* found,
                                                     std::optional<HermesSight>& sight) {
  using Words = FourHermesFlows::Words;
  constexpr size_t kFour = FourHermesFlows::kFlows;
  const auto four = [](const auto& of) { return Words{of(0), of(1), of(2), of(3)}; };
  const uint32_t tick = tick_;
  FourHermesFlows flows(found, measure);
  const Words members = flows.members();
  Words usable = four([&](size_t i) { return view.live(set_of[i]); });
  if (const PathTable* const paths = view.paths(); paths != nullptr && paths->any_failed())
    usable &= ~four([&](size_t i) { return paths->failed(set_of[i]); });
  Words decide = ~(usable << (63 - members)) & flows.stays();
  const unsigned stays = lanes_of(flows.stays());
  const unsigned large = lanes_of(flows.large(measure));
  const Words octets = four([&](size_t i) { return uint64_t{burst[i]->wire_len}; });
  flows.note((octets + (kUnit - 1)) / kUnit, measure);
  uint16_t flags = 0;
  for (size_t i = 0; i < kFour; ++i) flags |= burst[i]->flags;
  if ((flags & kPacketRoce) != 0) {
    const Words numbered = four([&](size_t i) { return -uint64_t{has_psn(*burst[i])}; });
    const Words psns =
        four([&](size_t i) { return uint64_t{has_psn(*burst[i]) ? psn_of(*burst[i]) : 0}; });
    decide |= numbered & flows.behind(psns);
    flows.note_numbers(numbered, psns);
  }
  if (lanes_of(decide) != 0) [[unlikely]]
    return false;
  if (failing_ != 0 && (failed_[set_of[0]] | failed_[set_of[1]] | failed_[set_of[2]] |
                        failed_[set_of[3]]) != 0) [[unlikely]]
    return false;
  for (unsigned left = large; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    if (may_move(*found[i], sending(set_of[i], found[i]->member()))) return false;
  }
  flows.store(found);
  for (size_t i = 0; i < kFour; ++i) {
    auto member = static_cast<MemberIndex>(members[i]);
    if ((stays >> i & 1) == 0) [[unlikely]] {
      member = begin(view, set_of[i], sight);
      found[i]->see(tick, member);
    }
    Sending& to = sending(set_of[i], member);
    add(to, burst[i]->wire_len, tick);
    to.assign_to(*burst[i], member);
  }
  return true;
}

void Hermes::give_one(const PathView& view, Packet& packet, uint16_t set, Flow& flow,
                      std::optional<HermesSight>& sight) {
  MemberIndex member = flow.member();
  const MemberMask usable = view.live(set) & ~excluded(view, set);
  const bool begins = (flow.sent() == 0) | is_over(flow);
  const bool suspect = (failed_[set] != 0) | is_behind(flow, packet);
  if (begins & !suspect) {
    member = begin(view, set, sight);
    flow = {};
  } else if (suspect || !contains(usable, member) || may_move(flow, sending(set, member))) {
    member = choose_again(view, packet, set, flow);
  }
  note(flow, packet, member);
  add(sending(set, member), packet.wire_len, tick_);
  sending(set, member).assign_to(packet, member);
}

// What choose_again() comes to for a flow that begins, sends nothing again and finds all paths
// sound.
MemberIndex Hermes::begin(const PathView& view, uint16_t set, std::optional<HermesSight>& sight) {
  if (!sight && view.paths() != nullptr) sight.emplace(*view.paths(), view.now(), bounds_);
  const MemberMask live = view.live(set);
  const Placed placed = place(sight, set, {live, live & ~excluded(view, set)}, draws_.peek());
  view.report_tie(placed.tied);
  draws_.take(true);
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

Hermes::Placed Hermes::place(const PathView& view, uint16_t set, MemberMask among,
                             uint32_t random) const {
  std::optional<HermesSight> sight;
  if (view.paths() != nullptr) sight.emplace(*view.paths(), view.now(), bounds_);
  return place(sight, set, {among, among & ~failed(view, set)}, random);
}

// Of the good ones, or else of the gray ones, that on which least is sent.
inline Hermes::Placed Hermes::place(std::optional<HermesSight>& sight, uint16_t set, Members among,
                                    uint32_t random) const {
  if (among.sound == 0) return {random_of(among.all, random), false};
  if (!sight) return least_sent(set, among.sound, random);  // all are gray
  const HermesSight paths = sight->of(set);
  const Sending* const to = first_[set];
  const uint32_t tick = tick_;
  HermesLeast least;
  for (MemberMask left = among.sound; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const PathClass path_class = paths.class_of(member);
    if (path_class == PathClass::congested) continue;
    const uint64_t rank = static_cast<uint64_t>(path_class) << 32 | rate_of(to[member], tick);
    least.add(member, rank);
  }
  if (least.members == 0) return {random_of(among.sound, random), false};
  return {random_of(least.members, random), count_of(least.members) > 1};
}

Hermes::Placed Hermes::least_sent(uint16_t set, MemberMask among, uint32_t random) const {
  HermesLeast least;
  for (MemberMask left = among; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    least.add(member, rate_of(sending(set, member), tick_));
  }
  return {random_of(least.members, random), count_of(least.members) > 1};
}

// For a flow that may be moved: its own member, unless that is congested and another is not.
MemberIndex Hermes::better(const PathView& view, const Packet& packet, uint16_t set,
                           const Flow& flow) const {
  const MemberIndex own = flow.member();
  const HermesHeard now = heard(view, set, own);
  if (class_of(view, now) != PathClass::congested) return own;
  const uint32_t notable_marks = 65'535 * static_cast<uint32_t>(parameters_.notable_ecn_percent);
  std::array<MemberMask, 3> by_class{};
  for (MemberMask left = view.live(set) & ~failed(view, set); left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const HermesHeard there = heard(view, set, member);
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

HermesHeard Hermes::heard(const PathView& view, uint16_t set, MemberIndex member) const {
  const PathTable* paths = view.paths();
  if (paths == nullptr) return {};
  const auto delay = paths->delay(set, member, view.now());
  if (!delay) return {};
  return {true, static_cast<uint32_t>(delay->ns()), marked_of(*paths, set, member)};
}

// Failed paths whose penalty is not over yet.
MemberMask Hermes::penalised(uint16_t set) const {
  MemberMask failed = failed_[set];
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
  failing_ += failed_[set] == 0 ? 1 : 0;
  failed_[set] |= bit_of(member);
}

}  // namespace

EDDY_SCHEME(hermes, Hermes)

}  // namespace eddy::lb
