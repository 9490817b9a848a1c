// PLB: flows keep away from paths that PFC stops for longer than they can bear.
//
// A path is clear (its delay is low), congested (delay is high and some link is full) or halted
// (delay is high and no link is full: PFC stops it). A new flow takes a clear path with the least
// delay, else the halted one with the fullest link, which is likely to go on soon, else the
// congested one with the least delay. A flow moves when its path is congested, or kicked out.
// Each packet says how much later it may be before another path would have been better: what the
// next best path takes more than its own. Every switch counts down what the packet waits there. One
// that comes to a queue that PFC stops compares what is left with what waits before it and with
// what packets waited there on average: if it is less, the path's source leaf is told. That does
// not use the path until a sample that was sent after that shows low delay, or for `reactivate`.
// At the source leaf's own ports the same test holds for as long as it comes out so. While all
// paths are out, all are in. A path that has been silent for too long is out as well.
// What paths are like is looked at once a `hold` and set. With order_guard a flow moves only when
// all that it sent is proven to have arrived, or its path is gone.
// Owner: the selector's shard. Times of flows are nanoseconds modulo 2^32. Octets: 16 a flow, 40 a
// member, 64 a path set, 16 a port; 4,096 for notices. Cost: a line a packet; a look at the members
// of a set once a hold. Source: reference A.11, F-28 to F-35.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "lb/agents/load_reports.h"
#include "lb/draws.h"
#include "lb/dre.h"
#include "lb/flow_table.h"
#include "lb/schemes/plb_flow.h"
#include "lb/schemes/scheme.h"

namespace eddy::lb {
namespace {

using namespace literals;

constexpr uint32_t kUnitNs = 64;                          // of tolerable delays
constexpr uint16_t kMostUnits = kShimUnlimitedDelay - 1;  // that can be told
enum class Way : uint8_t { clear, halted, congested };    // what a path is like

class Plb {
 public:
  static constexpr std::string_view kSummary =
      "flows leave paths that are congested, or that PFC stops for longer than they can bear";
  static constexpr bool kPromisesOrder = false;
  static constexpr Speech kSpeech = {.shim = ShimNeed::every,
                                     .probes_idle = true,
                                     .fields = kFieldReport | kFieldDelay,
                                     .arrivals = true,
                                     .feedback = kFeedbackLoad,
                                     .makes = kind_bit(ShimKind::notify),
                                     .hears = kind_bit(ShimKind::notify),
                                     .waits = true,
                                     .line_percent = 5};
  using Flow = PlbFlow;
  using Flows = FlowTable<Flow, uint32_t>;
  struct Token {
    Flows::Place place = Flows::kNowhere;  // of the packet's flow
    bool drew = false;                     // the member came from the next draw
  };

  struct Parameters {
    Duration low = 20_us;
    int64_t full_percent = 95;
    Duration equal = 1_us;
    Duration rest = 100_us;
    std::optional<Duration> reactivate;  // empty: two base round trips, 200 us at least
    Duration notice = 16_us;
    std::optional<Duration> hold;  // empty: half of the DRE's period
    Duration flow_life = 1_ms;
    bool order_guard = false;
    int64_t flows = 65'536;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::low>(
            "low", 0_us, 1_s,
            {"delay of a clear path above that of an idle one, at most", "reference A.11"}),
        ranged<&Parameters::full_percent>(
            "full_percent", 1, 100, {"use from which a link counts as full", "reference A.11"}),
        ranged<&Parameters::equal>(
            "equal", 0_us, 1_ms,
            {"paths whose delays differ by no more are equal, and one is drawn", "our choice"}),
        ranged<&Parameters::rest>(
            "rest", 0_us, 100_ms,
            {"how long a moved flow stays on a congested path", "our choice"}),
        ranged<&Parameters::reactivate>(
            "reactivate", 1_us, 1_s,
            {"how long a path is out after a notice; auto: two base round trips, 200us at least",
             "reference A.11"}),
        ranged<&Parameters::notice>(
            "notice", 1_us, 1_s,
            {"a switch tells a leaf of a path once in so long", "reference A.11"}),
        ranged<&Parameters::hold>(
            "hold", 0_us, 10_ms,
            {"how long a look at a set's paths is good for; auto: half of dre.period",
             "our choice"}),
        ranged<&Parameters::flow_life>(
            "flow_life", 10_us, 1_s, {"idle time after which a flow counts as new", "our choice"}),
        flag<&Parameters::order_guard>(
            "order_guard", {"a flow moves only when all that it sent is proven to have arrived",
                            "reference A.11"}),
        ranged<&Parameters::flows>(
            "flows", 64, 4'194'304,
            {"flows remembered, 16 octets each; the least recent is forgotten first",
             "our choice"})};
  }

  Plb(const SelectorInit& init, const Parameters& parameters);

  FlowLines flow_lines() const { return flows_.lines(); }
  void prepare(const PathView& view, std::span<Packet* const>) {
    now_ns_ = PathRecord::wire_time(view.now());
  }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const Flows::Place place = flows_.place_of(packet.order_hash);
    const Flow* flow = flows_.at(packet.order_hash, place);
    const Look& look = look_of(view, packet.queue, set);
    if (flow != nullptr && flow->is_of(set) && contains(look.stays, flow->member()) &&
        flow->lives(now_ns_, life_ns_))
      return {flow->member(), {place}};
    const Choice choice = choose(view, packet, set, look, flow);
    return {choice.member, {place, choice.drawn}};
  }

  // What of that stays beyond the burst: a look at a set's paths, good for `hold`.
  struct Memory;
  Memory memory(const PathView& view, uint16_t set) const;
  void put_back(const PathView& view, uint16_t set, const Memory& memory);
  Reason reason(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) const;

  // propose() and commit() of each.
  void select_burst(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control) {
    const Flows::Cursor flows(flows_);
    const PathSet* const sets = view.sets().data();
    // Here, so that what is written of flows need not be thought to change it.
    const MemberMask* const live_of = view.live();
    const Look* const looks = looks_.data();
    const Instant now = view.now();
    const uint32_t now_ns = now_ns_;
    const uint32_t life_ns = life_ns_;
    Draws::Ahead draws = draws_.ahead();
    uint32_t ties = 0;
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = *burst[i];
      const uint16_t set = set_of[i];
      if (control.has(packet)) [[unlikely]] {
        assign(packet, sets[set], control.pick(packet, set, live_of[set]));
        continue;
      }
      bool known = false;
      Flow& flow = flows.touch(packet.order_hash, known);
      const Look& last = looks[set];
      const bool holds = last.holds(now, live_of[set], packet.queue);
      const Look& look = holds ? last : look_anew(view, packet.queue, set);
      const bool placed = known & flow.is_of(set) & flow.lives(now_ns, life_ns);
      if (placed & !contains(look.stays, flow.member())) [[unlikely]] {
        draws_.take(draws);
        const Choice choice = choose(view, packet, set, look, &flow);
        draws_.take(choice.drawn);
        draws = draws_.ahead();
        note(flow, set, choice.member, known);
        assign(packet, sets[set], choice.member);
        continue;
      }
      const MemberIndex drawn = random_of(look.best, draws.peek());
      draws.take(!placed);
      ties += static_cast<uint32_t>(!placed & look.tied);
      flow.go(Flow::way_of(set, drawn), known, placed, now_ns);
      assign(packet, sets[set], flow.member());
    }
    draws_.take(draws);
    view.report_ties(ties);
  }

  // Mixed with the flow: several flows may be moved before the next draw is taken.
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    const Look look = look_at(view, packet.queue, set, view.live(set) & ~tried);
    return random_of(look.best, static_cast<uint32_t>(mix64(packet.order_hash ^ draws_.peek())));
  }

  void commit(const PathView&, const Packet& packet, uint16_t set, MemberIndex member,
              const Token& token) {
    const bool known = token.place != Flows::kNowhere;
    draws_.take(token.drew);
    note(flows_.touch(packet.order_hash, token.place), set, member, known);
  }

  // What other leaves are told and tell, and what packets can bear.
  void dress(Voice&, std::span<Dressing> burst) {
    reports_.dress(burst);
    for (Dressing& dressing : burst) {
      dressing.fields.tolerable_delay = tolerable_[first_[dressing.set] + dressing.packet->member];
      dressing.fields.written = static_cast<uint8_t>(dressing.fields.written | kFieldDelay);
    }
  }
  bool dress_briefly(Voice&, std::span<Packet* const> burst, std::span<const uint16_t> sets,
                     std::span<uint32_t> briefs) {
    const uint16_t* const tolerable = tolerable_.data();
    const uint32_t* const first = first_.data();
    for (size_t i = 0; i < burst.size(); ++i)
      briefs[i] = brief_delay(tolerable[first[sets[i]] + burst[i]->member]);
    return true;
  }
  LoadReports& reports() { return reports_; }
  void arrived(Voice&, std::span<const Arrival> burst) { reports_.arrived(burst); }
  void on_feedback(Voice& voice, std::span<const Feedback> burst) {
    LoadReports::on_feedback(voice, burst);
  }
  void on_frames(Voice& voice, std::span<HeardFrame> burst) {
    for (const HeardFrame& frame : burst)
      if (frame.message.shim.kind == ShimKind::notify && frame.for_us) hear(voice, frame);
  }
  void on_waits(Voice& voice, std::span<const Waiting> burst) {
    for (const Waiting& waiting : burst) judge(voice, waiting);
  }

  void rebase(const Rebase& rebase) {
    for (Look& look : looks_) rebase.shift(look.until);
    for (Instant& until : told_until_) rebase.shift(until);
    for (Kick& kick : kicks_) {
      rebase.shift(kick.at);
      rebase.shift(kick.until);
    }
    for (Notice& notice : notices_) rebase.shift(notice.until);
  }

  FlowTableUse flow_table(Instant, size_t from, size_t count) const {
    return {flows_.capacity(), flows_.used(from, count)};
  }

 private:
  static constexpr uint16_t kNoSet = UINT16_MAX;
  static constexpr size_t kNotices = 256;

  // What a set's paths were like.
  struct Look {
    Instant until = Instant::long_past();  // good till then, for these that live and this queue
    MemberMask live = 0;
    MemberMask stays = 0;  // a flow there need not look for another
    MemberMask out = 0;    // one there is to go at once
    MemberMask best = 0;   // for whoever does
    uint32_t best_ns = 0;  // delay of these, the least
    Way way = Way::clear;  // what these are like
    bool tied = false;     // they are several
    QueueId queue;

    bool holds(Instant now, MemberMask those, QueueId asked) const {
      return (now < until) & (live == those) & (queue == asked);
    }
  };
  struct Kick {  // of a path, by a switch on the way
    Instant at = Instant::long_past();
    Instant until = Instant::long_past();
    uint32_t sent_ns = 0;  // when the notice was
  };
  struct Notice {  // that was sent
    uint64_t of = 0;
    Instant until = Instant::long_past();
  };
  struct Choice {
    MemberIndex member;
    bool drawn = false;
  };
  // Of the paths of a set that are looked at: each one's delay, the least, whose it is, and the
  // least of the others.
  struct Delays {
    Delays() {}
    void add(MemberIndex member) {
      const uint32_t delay = of[member];
      next = std::min(next, std::max(delay, least));
      first = delay < least ? member : first;
      least = std::min(least, delay);
    }
    void find(MemberMask among) {
      least = next = ~0u;
      for (MemberMask left = among; left != 0; left &= left - 1) add(first_of(left));
    }

    // Of these the ones that take no more than `equal` above the least.
    MemberMask as_good(MemberMask among, uint32_t equal) const {
      MemberMask good = 0;
      for (MemberMask left = among; left != 0; left &= left - 1)
        good |= of[first_of(left)] - least <= equal ? bit_of(first_of(left)) : 0;
      return good;
    }

    std::array<uint32_t, kMaxPaths> of;
    uint32_t least = ~0u;
    uint32_t next = ~0u;
    MemberIndex first = 0;
  };

  Choice choose(const PathView& view, const Packet& packet, uint16_t set, const Look& look,
                const Flow* flow) const;
  bool may_leave(const PathView& view, const Packet& packet, uint16_t set, const Look& look,
                 const Flow& flow) const;
  void note(Flow& flow, uint16_t set, MemberIndex member, bool known) const {
    const uint32_t way = Flow::way_of(set, member);
    const bool same = static_cast<uint16_t>(flow.way) == way;
    flow.go(way, known, known & same & flow.lives(now_ns_, life_ns_), now_ns_);
  }

  const Look& look_of(const PathView& view, QueueId queue, uint16_t set) const {
    const Look& known = looks_[set];
    if (known.holds(view.now(), view.live(set), queue)) [[likely]]
      return known;
    return look_anew(view, queue, set);
  }
  [[gnu::noinline]] const Look& look_anew(const PathView& view, QueueId queue, uint16_t set) const {
    Look& look = looks_[set];
    look = look_at(view, queue, set, view.live(set));
    look.live = view.live(set);
    look.tied = (look.best & (look.best - 1)) != 0;
    return look;
  }
  Look look_at(const PathView& view, QueueId queue, uint16_t set, MemberMask among) const;
  bool look_at_clear(const PathView& view, QueueId queue, uint16_t set, MemberMask among,
                     Look& look) const;
  MemberMask measure(const PathView& view, uint16_t set, MemberMask among, Delays& delays) const;
  [[gnu::noinline]] bool is_kicked(const PathView& view, uint16_t set, MemberIndex member,
                                   uint32_t delay) const;
  MemberMask stopped_here(const PathView& view, QueueId queue, uint16_t set, MemberMask among,
                          const Delays& delays) const;
  void choose_best(const PathView& view, uint16_t set, MemberMask among, const Delays& delays,
                   Look& look) const;
  uint32_t delay_of(const PathView& view, uint16_t set, MemberIndex member) const;
  uint32_t utilisation_of(const PathView& view, uint16_t set, MemberIndex member) const;
  uint16_t tolerable(const Delays& delays, MemberIndex member, uint32_t delay) const;
  // Too long for what is left: the test that the paper prints the other way round (F-28).
  bool is_too_long(const PathView& view, PortId port, uint64_t ahead, uint16_t left) const {
    const uint64_t sojourn = view.port(port).sojourn_ns.load(std::memory_order_relaxed);
    const uint64_t predicted = ahead * ns_of_kib_[port.index()] / 1'024;
    return left != kShimUnlimitedDelay && uint64_t{left} * kUnitNs < std::max(sojourn, predicted);
  }

  uint16_t set_to(size_t leaf) const {
    return leaf < set_to_leaf_.size() ? set_to_leaf_[leaf] : kNoSet;
  }
  void hear(Voice& voice, const HeardFrame& frame);
  void judge(Voice& voice, const Waiting& waiting);

  Duration low_;
  uint32_t full_;  // of 256
  uint32_t equal_ns_;
  uint32_t rest_ns_;
  uint32_t life_ns_;
  std::optional<Duration> reactivate_;
  Duration notice_;
  Duration hold_;
  bool guards_;
  uint32_t now_ns_ = 0;
  Draws draws_;
  Dre dre_;
  std::vector<Bytes> capacity_;        // by port: what its register comes to on a line never idle
  std::vector<uint32_t> ns_of_kib_;    // by port: on its line
  std::vector<uint16_t> set_to_leaf_;  // by leaf
  std::vector<uint32_t> first_;        // by set: its first member in what follows
  std::vector<Kick> kicks_;
  std::vector<Instant> told_until_;          // by set: none of its kicks lasts longer
  mutable std::vector<uint16_t> tolerable_;  // as of the last look
  mutable std::vector<Look> looks_;          // by set
  std::vector<Notice> notices_;
  Flows flows_;
  LoadReports reports_;
};

uint32_t ns_of(Duration time) {
  return static_cast<uint32_t>(std::min<int64_t>(time.ns(), INT32_MAX));
}

Plb::Plb(const SelectorInit& init, const Parameters& parameters)
    : low_(parameters.low),
      full_(static_cast<uint32_t>((parameters.full_percent * 256 + 99) / 100)),
      equal_ns_(ns_of(parameters.equal)),
      rest_ns_(ns_of(parameters.rest)),
      life_ns_(ns_of(parameters.flow_life)),
      reactivate_(parameters.reactivate),
      notice_(parameters.notice),
      hold_(parameters.hold.value_or(init.dre.period() / 2)),
      guards_(parameters.order_guard),
      draws_(stream_of(init)),
      dre_(init.dre),
      told_until_(init.sets.size(), Instant::long_past()),
      looks_(init.sets.size()),
      notices_(kNotices),
      flows_(static_cast<size_t>(parameters.flows)),
      reports_(init.sets) {
  for (const PortLine& line : init.lines) {
    capacity_.push_back(dre_.capacity(line.rate));
    ns_of_kib_.push_back(ns_of(LineRate(line.rate).time_of(Bytes(1'024))));
  }
  for (uint16_t set = 0; set < init.sets.size(); ++set) {
    const size_t leaf = init.sets[set].leaf.index();
    if (leaf >= set_to_leaf_.size()) set_to_leaf_.resize(leaf + 1, kNoSet);
    set_to_leaf_[leaf] = set;
    first_.push_back(static_cast<uint32_t>(kicks_.size()));
    kicks_.resize(kicks_.size() + init.sets[set].count);
  }
  tolerable_.assign(kicks_.size(), kShimUnlimitedDelay);
}

struct Plb::Memory {
  uint32_t now_ns;
  Look look;
  std::array<uint16_t, kMaxPaths> tolerable;
};

Plb::Memory Plb::memory(const PathView& view, uint16_t set) const {
  Memory memory{now_ns_, looks_[set], {}};
  std::copy_n(tolerable_.begin() + first_[set], view.set(set).count, memory.tolerable.begin());
  return memory;
}

void Plb::put_back(const PathView& view, uint16_t set, const Memory& memory) {
  now_ns_ = memory.now_ns;
  looks_[set] = memory.look;
  std::copy_n(memory.tolerable.begin(), view.set(set).count, tolerable_.begin() + first_[set]);
}

Reason Plb::reason(const PathView&, const Packet& packet, uint16_t set, MemberIndex member) const {
  const Flow* flow = flows_.at(packet.order_hash, flows_.place_of(packet.order_hash));
  if (flow == nullptr || !flow->is_of(set) || now_ns_ - flow->last_ns > life_ns_)
    return Reason::begins;
  return flow->member() == member ? Reason::keeps : Reason::leaves;
}

// Of a flow that is new, or whose path is not one to stay on.
[[gnu::noinline]] Plb::Choice Plb::choose(const PathView& view, const Packet& packet, uint16_t set,
                                          const Look& look, const Flow* flow) const {
  const bool placed = flow != nullptr && flow->is_of(set) &&
                      contains(view.live(set), flow->member()) && flow->lives(now_ns_, life_ns_);
  if (placed && (contains(look.best, flow->member()) || !may_leave(view, packet, set, look, *flow)))
    return {flow->member()};
  view.report_tie(look.tied);
  return {random_of(look.best, draws_.peek()), true};
}

bool Plb::may_leave(const PathView& view, const Packet& packet, uint16_t set, const Look& look,
                    const Flow& flow) const {
  const MemberIndex member = flow.member();
  if (!contains(look.out, member)) {
    // From a congested path to another one only if that is notably better.
    const uint64_t better = uint64_t{look.best_ns} + ns_of(low_);
    if (look.way == Way::congested && delay_of(view, set, member) <= better) return false;
    if (flow.moved() && now_ns_ - flow.moved_ns < rest_ns_) return false;
  }
  if (!guards_) return true;
  if (view.paths() == nullptr) return false;
  const Instant arrived = view.paths()->arrived_before(set, member, packet.queue);
  return arrived != Instant{} &&
         static_cast<int32_t>(PathRecord::wire_time(arrived) - flow.last_ns) > 0;
}

// Never measured: as an idle one.
uint32_t Plb::delay_of(const PathView& view, uint16_t set, MemberIndex member) const {
  const PathTable* paths = view.paths();
  if (paths == nullptr) return 0;
  return ns_of(paths->delay(set, member, view.now()).value_or(paths->base_delay()));
}

// The fullest link, our own line included.
uint32_t Plb::utilisation_of(const PathView& view, uint16_t set, MemberIndex member) const {
  constexpr uint32_t kScale = Dre::kFullScale / 256;
  const PortId port = view.set(set).members[member].port;
  const uint32_t own =
      dre_.utilisation(view.port(port), capacity_[port.index()], view.now()) / kScale;
  if (view.paths() == nullptr) return own;
  // 255 is a full one, too.
  const uint32_t told = view.paths()->at(set, member).congestion.load(std::memory_order_relaxed);
  return std::max(own, told == UINT8_MAX ? 256 : told);
}

// A switch has told of it, and no sample that was sent since then says otherwise.
bool Plb::is_kicked(const PathView& view, uint16_t set, MemberIndex member, uint32_t delay) const {
  const PathTable* paths = view.paths();
  if (paths == nullptr) return true;
  const PathRecord& record = paths->at(set, member);
  if (!record.known()) return true;
  const Duration measured = Duration::nanoseconds(delay);
  const Duration sent = record.age(paths->record_time(view.now())) + measured;
  const Kick& kick = kicks_[first_[set] + member];
  return sent >= view.now() - kick.at || measured > paths->base_delay() + low_;
}

// Each one's delay. Returns those that are out: by a notice, or because they were measured once and
// not of late.
MemberMask Plb::measure(const PathView& view, uint16_t set, MemberMask among,
                        Delays& delays) const {
  MemberMask out = 0;
  const PathTable* const paths = view.paths();
  const Kick* const kicks = &kicks_[first_[set]];
  // Never measured: as an idle one.
  const uint32_t idle = paths == nullptr ? 0 : ns_of(paths->base_delay());
  for (MemberMask left = among; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const auto found = paths == nullptr ? std::nullopt : paths->delay(set, member, view.now());
    const uint32_t delay = found ? ns_of(*found) : idle;
    delays.of[member] = delay;
    delays.add(member);
    const bool silent = !found && paths != nullptr && paths->at(set, member).known();
    const bool told = view.now() < kicks[member].until;
    if (!silent && !told) [[likely]]
      continue;
    if (silent || is_kicked(view, set, member, delay)) out |= bit_of(member);
  }
  return out;
}

// How much later a packet may be there than by the best of the other paths.
uint16_t Plb::tolerable(const Delays& delays, MemberIndex member, uint32_t delay) const {
  const uint32_t other = member == delays.first ? delays.next : delays.least;
  if (other == ~0u) return kShimUnlimitedDelay;
  const uint32_t spare = other > delay ? other - delay : 0;
  return static_cast<uint16_t>(std::min<uint32_t>(spare / kUnitNs, kMostUnits));
}

// Those whose port here PFC stops for longer than a packet can bear.
MemberMask Plb::stopped_here(const PathView& view, QueueId queue, uint16_t set, MemberMask among,
                             const Delays& delays) const {
  MemberMask stopped = 0;
  for (MemberMask left = among; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const PortId id = view.set(set).members[member].port;
    const PortSignals& port = view.port(id);
    if (!port.paused(queue)) continue;
    const uint16_t bears = tolerable(delays, member, delays.of[member]);
    if (is_too_long(view, id, port.waiting_from(queue), bears)) stopped |= bit_of(member);
  }
  return stopped;
}

// Of a set whose paths are all clear, measured of late or never, and neither told of nor stopped
// here, which is what look_at() finds nearly always. False: there is more to look at.
inline bool Plb::look_at_clear(const PathView& view, QueueId queue, uint16_t set, MemberMask among,
                               Look& look) const {
  const PathTable* const paths = view.paths();
  if (paths == nullptr || among != view.live(set) || among == 0) [[unlikely]]
    return false;
  const PathTable::Recent recent(*paths, set, view.now());
  const uint32_t idle = ns_of(paths->base_delay());
  const uint32_t low = ns_of(paths->base_delay() + low_);
  const size_t first = first_[set];
  uint16_t* const tolerable_of = &tolerable_[first];
  const PathMember* const members = view.set(set).members.data();
  const bool told = view.now() < told_until_[set];
  Delays delays;
  uint32_t least = ~0u, most = 0;
  unsigned paused = 0;
  for (MemberMask left = among; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const uint32_t found = recent.delay_ns(member);
    const uint32_t delay = found == PathRecord::kUnknown ? idle : found;  // kStale is above low
    delays.of[member] = delay;
    least = std::min(least, delay);
    most = std::max(most, delay);
    paused |= view.port(members[member].port).paused_queues.load(std::memory_order_relaxed);
    tolerable_of[member] = 0;
  }
  if ((most > low) | told | ((paused >> queue.index() & 1) != 0)) [[unlikely]]
    return false;
  look.stays = among;
  look.best_ns = delays.least = least;
  look.best = most - least <= equal_ns_ ? among : delays.as_good(among, equal_ns_);
  if (most - least < kUnitNs && (among & (among - 1)) != 0) return true;
  // All but the best one would be there later than by that.
  delays.find(among);
  tolerable_of[delays.first] = tolerable(delays, delays.first, delays.least);
  return true;
}

Plb::Look Plb::look_at(const PathView& view, QueueId queue, uint16_t set, MemberMask among) const {
  Look look{.until = view.now() + hold_, .queue = queue};
  if (look_at_clear(view, queue, set, among, look)) [[likely]]
    return look;
  Delays delays;
  MemberMask out = measure(view, set, among, delays);
  if (out == among) out = 0;
  if (out != 0) [[unlikely]]
    delays.find(among & ~out);
  out |= stopped_here(view, queue, set, among & ~out, delays);
  if (out == among) out = 0;
  look.out = out;
  if (among == view.live(set))
    for (MemberMask left = among; left != 0; left &= left - 1) {
      const MemberIndex member = first_of(left);
      tolerable_[first_[set] + member] = tolerable(delays, member, delays.of[member]);
    }
  choose_best(view, set, among & ~out, delays, look);
  return look;
}

// Of the clear ones those that are as good as the least; else the fullest of the halted ones, which
// are used and not congested; else of the congested ones those that are as good as the least.
void Plb::choose_best(const PathView& view, uint16_t set, MemberMask among, const Delays& delays,
                      Look& look) const {
  const uint32_t low = view.paths() == nullptr ? ~0u : ns_of(view.paths()->base_delay() + low_);
  MemberMask clear = 0, halted = 0, fullest = 0;
  uint32_t most = 0;
  for (MemberMask left = among; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    if (delays.of[member] <= low) [[likely]] {
      clear |= bit_of(member);
      continue;
    }
    const uint32_t full = utilisation_of(view, set, member);
    if (full >= full_) continue;
    halted |= bit_of(member);
    if (full >= most) fullest = bit_of(member) | (full == most ? fullest : 0);
    most = std::max(most, full);
  }
  look.stays = clear | halted;
  look.way = clear != 0 ? Way::clear : halted != 0 ? Way::halted : Way::congested;
  if (look.way == Way::halted) {
    look.best = fullest;
    look.best_ns = delays.of[first_of(fullest)];
    return;
  }
  const MemberMask alike = look.way == Way::clear ? clear : among;
  look.best_ns = delays.least;
  if (!contains(alike, delays.first)) [[unlikely]] {
    look.best_ns = ~0u;
    for (MemberMask left = alike; left != 0; left &= left - 1)
      look.best_ns = std::min(look.best_ns, delays.of[first_of(left)]);
  }
  for (MemberMask left = alike; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    if (delays.of[member] - look.best_ns <= equal_ns_) look.best |= bit_of(member);
  }
}

// A notice names the leaf that the path leads to and what was left for the packet.
void Plb::hear(Voice& voice, const HeardFrame& frame) {
  const ShimControl& notice = frame.message;
  const uint16_t set = set_to(notice.value >> 16);
  const PathView view = voice.view();
  MemberIndex member = kMaxPaths;
  if (notice.reason == NotifyReason::kicked_out && set != kNoSet) {
    const PathSet& paths = view.set(set);
    for (MemberIndex i = 0; i < paths.count && member == kMaxPaths; ++i)
      if (paths.members[i].path == notice.shim.path) member = i;
  }
  Kick* kick = member == kMaxPaths ? nullptr : &kicks_[first_[set] + member];
  const bool doubled =
      kick != nullptr && view.now() < kick->until && kick->sent_ns == notice.shim.sent_ns;
  if (kick == nullptr || doubled) {
    if (frame.here) voice.disbelieve(frame.port);
    return;
  }
  Duration out = 200_us;
  if (reactivate_)
    out = *reactivate_;
  else if (voice.paths() != nullptr)
    out = std::max(out, voice.paths()->parameters().base_rtt * 2);
  *kick = {view.now(), view.now() + out, notice.shim.sent_ns};
  told_until_[set] = std::max(told_until_[set], kick->until);
  looks_[set].until = Instant::long_past();
}

// Of another leaf's packet, whose queue here PFC stops.
void Plb::judge(Voice& voice, const Waiting& waiting) {
  const PathView view = voice.view();
  if (!is_too_long(view, waiting.port, waiting.ahead, waiting.tolerable_delay)) return;
  const uint16_t back = set_to(waiting.source.index());
  if (back == kNoSet || view.live(back) == 0) return;
  const uint64_t of = (uint64_t{waiting.source.index()} << 32 |
                       uint64_t{waiting.destination.index()} << 16 | waiting.path.index()) +
                      1;
  Notice& last = notices_[mix64(of) % kNotices];
  if (last.of == of && view.now() < last.until) return;
  last = {of, view.now() + notice_};
  const auto value =
      static_cast<uint32_t>(waiting.destination.index() << 16 | waiting.tolerable_delay);
  (void)voice.send({.message = {.shim = {.kind = ShimKind::notify, .path = waiting.path},
                                .reason = NotifyReason::kicked_out,
                                .value = value},
                    .path = {back, first_of(view.live(back))}});
}

}  // namespace

EDDY_SCHEME(plb, Plb)

}  // namespace eddy::lb
