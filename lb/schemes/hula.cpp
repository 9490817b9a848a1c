// HULA: each flowlet takes the best next hop to its leaf, as probes of every leaf have told it.
//
// Every leaf sends a probe by each of its fabric ports once a period. It names the leaf and the
// fullest link that data on its way back to that leaf would meet: who hears one by a port takes the
// greater of what it says and how busy the port's own line is, outwards. A switch keeps the best
// next hop to each leaf: a probe by another port wins if its path is less full, one by the best
// port counts whatever it says, and any wins when nothing came by the best port for `failure`. What
// is accepted goes on, once a round of its leaf, by every port that does not lead to the leaf. A
// port that does not lead there is not believed either: so probes go up and then down where routes
// do, which is the whole rule against valleys, and there is no circle. A leaf passes nothing on.
// The first packet of a flowlet takes the best next hop. Where no probe came of late, flows go by a
// hash of their own and count as ties: their leaf, or a switch on the way, does not speak HULA.
// Packets that are to leave this way take the member that was heard to be least full.
// Probes have the number of their round, so that one that is old, doubled or of a leaf that is not
// reached by its port is known; what is believed is forgotten after `failure`.
// Owner: the selector's shard; every shard hears all probes, one of them passes each on. Octets: 8
// an entry, 16 a member, 40 a path set, 2 for each path set and port. Cost: a line a packet; for a
// probe a look at its port, and a frame a port. Source: reference A.9, A.5, A.7.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "lb/dre.h"
#include "lb/flowlets.h"
#include "lb/schemes/scheme.h"

namespace eddy::lb {
namespace {

using namespace literals;

class Hula {
 public:
  static constexpr std::string_view kSummary =
      "each flowlet takes the next hop whose fullest link is the least full, told by probes of "
      "every leaf";
  static constexpr bool kPromisesOrder = true;
  static constexpr bool kBlindToQueues = true;
  static constexpr Speech kSpeech = {.timers = true,
                                     .makes = kind_bit(ShimKind::hula_probe),
                                     .hears = kind_bit(ShimKind::hula_probe),
                                     .line_percent = 5};
  using Token = NoToken;

  struct Parameters {
    std::optional<Duration> probe;    // empty: half of what the DRE remembers
    std::optional<Duration> failure;  // empty: three probes
    Duration gap = 100_us;
    FlowletMode mode = FlowletMode::exact;
    int64_t entries = 65'536;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::probe>("probe", 10_us, 1_s,
                                   {"how often each leaf sends a probe by each fabric port; auto: "
                                    "half of dre.period / dre.alpha",
                                    "reference A.9"}),
        ranged<&Parameters::failure>(
            "failure", 10_us, 10_s,
            {"a next hop of which no probe came for so long is not used; auto: three probes",
             "reference A.9"}),
        ranged<&Parameters::gap>(
            "gap", 1_us, 10_s,
            {"idle time that ends a flowlet; agebit: between this and twice this",
             "reference A.9"}),
        choice<&Parameters::mode>("mode", kFlowletModeNames,
                                  {"one-bit ageing as in hardware, or exact", "reference A.5"}),
        ranged<&Parameters::entries>("entries", 64, 16'777'216,
                                     {"flowlet table entries of 8 octets", "reference A.5"})};
  }

  Hula(const SelectorInit& init, const Parameters& parameters);

  FlowLines flow_lines() const { return flowlets_.lines(); }
  void prepare(const PathView& view, std::span<Packet* const>) { flowlets_.set_time(view.now()); }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const Standing standing = standing_of(view, packet, set);
    if (standing.foreign) [[unlikely]]
      return {by_hash(packet, view.live(set))};
    if (standing.keeps) return {standing.flowlet.member()};
    return {first_of_flowlet(view, packet, set)};
  }

  Reason reason(const PathView& view, const Packet& packet, uint16_t set, MemberIndex) const {
    const Standing standing = standing_of(view, packet, set);
    if (standing.foreign) return Reason::hash;
    return standing.keeps ? Reason::keeps : Reason::begins;
  }

  // propose() and commit() of each.
  void select_burst(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control) {
    flowlets_.with_cursor(
        [&](const auto& flowlets) { select_from(flowlets, view, burst, set_of, control); });
  }
  template <class Flowlets>
  void select_from(const Flowlets& flowlets, const PathView& view, std::span<Packet* const> burst,
                   std::span<const uint16_t> set_of, const ByEcmp& control) {
    const PathSet* const sets = view.sets().data();
    const MemberMask* const live_of = view.live();
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = *burst[i];
      const uint16_t set = set_of[i];
      const size_t index = flowlets.index_of(packet);
      const FlowSlot flowlet = flowlets[index];
      const MemberIndex last = flowlet.member();
      const bool young = flowlets.is_young(flowlet, index);
      const bool lives = contains(live_of[set], last);
      if (control.has(packet) || (young & !lives & !flowlet.drawn_by(set))) [[unlikely]] {
        assign(packet, sets[set], select_alone(*this, view, packet, set, control));
        continue;
      }
      const MemberIndex member = young & lives ? last : first_of_flowlet(view, packet, set);
      flowlets.put(index, member, set);
      assign(packet, sets[set], member);
    }
  }

  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const;

  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token&) {
    const Standing standing = standing_of(view, packet, set);
    if (standing.foreign && member == by_hash(packet, view.live(set))) [[unlikely]]
      return flowlets_.keep(standing.index);
    flowlets_.put(standing.index, member, set);
  }

  Instant next_deadline() const { return next_probe_; }
  void on_timers(Voice& voice);
  void on_frames(Voice& voice, std::span<HeardFrame> burst) {
    for (const HeardFrame& frame : burst)
      if (frame.message.shim.kind == ShimKind::hula_probe) hear(voice, frame);
  }

  void rebase(const Rebase& rebase);

  const std::shared_ptr<FlowSlots>& flow_slots() const { return flowlets_.slots(); }
  FlowTableUse flow_table(Instant now, size_t from, size_t count) {
    flowlets_.set_time(now);
    return {flowlets_.capacity(), flowlets_.used(from, count)};
  }
  // Of what is no longer believed nothing is known but that it is not the best.
  PathKnowledge knowledge(Instant now, uint16_t set, MemberIndex member) const {
    const Heard& heard = heard_[first_[set] + member];
    const Best& best = bests_[set];
    PathKnowledge known{.best = now < best.until && best.member == member};
    if (now >= heard.until) return known;
    known.utilisation = heard.utilisation;
    known.age = failure_ - (heard.until - now);
    return known;
  }

 private:
  static constexpr uint16_t kNoSet = UINT16_MAX;
  static constexpr MemberIndex kNoMember = kMaxPaths;
  static constexpr uint32_t kPhases = 64;  // of leaves, in a period

  // Of a packet's flowlet.
  struct Standing {
    size_t index;
    FlowSlot flowlet;
    bool keeps;    // its member
    bool foreign;  // not its own: the entry is another set's, and the flow goes by its hash
  };
  struct Heard {                           // by a member, of the set's leaf
    Instant until = Instant::long_past();  // what was heard counts before then
    uint32_t round = 0;
    uint8_t utilisation = 0;  // 0..255 for 0..1, of the fullest link
  };
  static_assert(sizeof(Heard) == 16);
  struct Best {  // next hop to a set's leaf
    Instant until = Instant::long_past();
    MemberIndex member = 0;
    uint8_t utilisation = 0;
  };
  struct PassedOn {  // of a set's leaf
    Instant until = Instant::long_past();
    uint32_t round = 0;
    uint32_t first = 0;  // in away_
    uint32_t count = 0;
  };
  struct OwnPort {  // that leads to other switches
    PortId port;
    PathKey key;  // a path that begins with it
  };

  Standing standing_of(const PathView& view, const Packet& packet, uint16_t set) const {
    const size_t index = flowlets_.index_of(packet);
    const FlowSlot flowlet = flowlets_[index];
    const bool young = flowlets_.is_young(flowlet, index);
    const bool lives = contains(view.live(set), flowlet.member());
    return {index, flowlet, young && lives, young && !lives && !flowlet.drawn_by(set)};
  }
  MemberIndex first_of_flowlet(const PathView& view, const Packet& packet, uint16_t set) const {
    const Best& best = bests_[set];
    if (view.now() < best.until && contains(view.live(set), best.member)) [[likely]]
      return best.member;
    return unled(view, packet, set);
  }
  [[gnu::noinline]] MemberIndex unled(const PathView& view, const Packet& packet,
                                      uint16_t set) const {
    const MemberMask live = view.live(set);
    view.report_tie((live & (live - 1)) != 0);
    return random_of(live, own_hash(packet));
  }
  // Not the same in two switches, or flows that met in one would meet in the next.
  uint32_t own_hash(const Packet& packet) const {
    return static_cast<uint32_t>(mix64(packet.order_hash ^ salt_));
  }

  uint16_t set_to(uint32_t leaf) const {
    return leaf < set_to_leaf_.size() ? set_to_leaf_[leaf] : kNoSet;
  }
  uint8_t utilisation_of(const PathView& view, PortId port) const {
    constexpr uint32_t kScale = Dre::kFullScale / 256;
    const uint32_t share =
        dre_.utilisation(view.port(port), capacity_[port.index()], view.now()) / kScale;
    return static_cast<uint8_t>(std::min<uint32_t>(share, UINT8_MAX));
  }
  // Of rounds that wrap; what is no longer believed says nothing of them.
  static bool is_news(uint32_t round, uint32_t before, bool believed) {
    return !believed || static_cast<int32_t>(round - before) > 0;
  }

  void hear(Voice& voice, const HeardFrame& frame);
  void pass_on(Voice& voice, const HeardFrame& frame, uint16_t set);
  int64_t rounds_until(Instant now) const {
    return std::max<int64_t>((now - origin_) / period_, 0);
  }

  uint64_t salt_;
  Duration period_;
  Duration failure_;
  FlowletTable flowlets_;
  Dre dre_;
  std::vector<Bytes> capacity_;        // by port: what its register comes to on a line never idle
  std::vector<uint16_t> set_to_leaf_;  // by leaf
  std::vector<uint32_t> first_;        // by set: its first member in heard_
  std::vector<Heard> heard_;
  std::vector<Best> bests_;          // by set
  std::vector<PassedOn> passed_on_;  // by set
  std::vector<PortId> away_;         // that do not lead to a set's leaf, set by set
  std::vector<OwnPort> ports_;
  Instant origin_;  // a round of ours began, before or now; leaves begin at different times
  bool placed_ = false;
  uint32_t first_round_ = 0;  // which one that was
  Instant next_probe_ = Instant::long_past();
};

Hula::Hula(const SelectorInit& init, const Parameters& parameters)
    : salt_(seed_of(init.seed, init.switch_id)),
      flowlets_({parameters.gap, parameters.mode, SweepPhase::zero, parameters.entries},
                init.slots),
      dre_(init.dre),
      bests_(init.sets.size()) {
  // What the DRE remembers is what a line of 8 bits a nanosecond needs for its capacity.
  const Duration memory = Duration::nanoseconds(dre_.capacity(BitRate::gbps(8)).count());
  period_ = parameters.probe.value_or(std::max(memory / 2, Duration(10_us)));
  failure_ = parameters.failure.value_or(period_ * 3);
  for (const PortLine& line : init.lines) capacity_.push_back(dre_.capacity(line.rate));
  const auto leads_by = [](const PathSet& set, PortId port) {
    const auto end = set.members.begin() + set.count;
    return std::find_if(set.members.begin(), end,
                        [&](const PathMember& member) { return member.port == port; }) != end;
  };
  for (uint16_t set = 0; set < init.sets.size(); ++set) {
    const PathSet& paths = init.sets[set];
    const size_t leaf = paths.leaf.index();
    if (leaf >= set_to_leaf_.size()) set_to_leaf_.resize(leaf + 1, kNoSet);
    set_to_leaf_[leaf] = set;
    first_.push_back(static_cast<uint32_t>(heard_.size()));
    heard_.resize(heard_.size() + paths.count);
    for (MemberIndex i = 0; i < paths.count; ++i) {
      const PortId port = paths.members[i].port;
      if (std::ranges::find(ports_, port, &OwnPort::port) == ports_.end())
        ports_.push_back({port, {set, i}});
    }
  }
  for (const PathSet& paths : init.sets) {
    PassedOn& state = passed_on_.emplace_back();
    state.first = static_cast<uint32_t>(away_.size());
    for (const OwnPort& own : ports_)
      if (!leads_by(paths, own.port)) away_.push_back(own.port);
    state.count = static_cast<uint32_t>(away_.size()) - state.first;
  }
}

// Of those that a wrapper has not tried: what probes said of late counts before the line alone.
MemberIndex Hula::alternative(const PathView& view, const Packet& packet, uint16_t set,
                              MemberMask tried) const {
  const PathSet& paths = view.set(set);
  MemberMask least = 0;
  uint32_t lowest = ~0u;
  for (MemberMask left = view.live(set) & ~tried; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const Heard& heard = heard_[first_[set] + member];
    const uint8_t told = view.now() < heard.until ? heard.utilisation : uint8_t{0};
    const uint32_t full = std::max(told, utilisation_of(view, paths.members[member].port));
    if (full > lowest) continue;
    least = bit_of(member) | (full == lowest ? least : 0);
    lowest = full;
  }
  return random_of(least, own_hash(packet));
}

// Our own probes, where this switch is a leaf.
void Hula::on_timers(Voice& voice) {
  if (voice.leaf().is_none()) {
    next_probe_ = Instant::never();
    return;
  }
  const Instant now = voice.view().now();
  if (!std::exchange(placed_, true))
    origin_ = origin_ + period_ * static_cast<int64_t>(voice.leaf().index() % kPhases) / kPhases;
  const int64_t rounds = rounds_until(now);
  next_probe_ = origin_ + period_ * (rounds + 1);
  const ShimControl probe{.shim = {.kind = ShimKind::hula_probe},
                          .top_of_rack = static_cast<uint32_t>(voice.leaf().index()),
                          .sequence = first_round_ + static_cast<uint32_t>(rounds)};
  for (const OwnPort& own : ports_)
    if (voice.owns(own.key))
      (void)voice.send({.message = probe, .by_path = false, .port = own.port});
}

void Hula::hear(Voice& voice, const HeardFrame& frame) {
  const ShimControl& probe = frame.message;
  const uint16_t set = set_to(probe.top_of_rack);
  const PathView view = voice.view();
  const Instant now = view.now();
  MemberIndex member = kNoMember;
  if (set != kNoSet) {
    const PathSet& paths = view.set(set);
    for (MemberIndex i = 0; i < paths.count && member == kNoMember; ++i)
      if (paths.members[i].port == frame.port) member = i;
  }
  Heard* heard = member == kNoMember ? nullptr : &heard_[first_[set] + member];
  if (heard == nullptr || !is_news(probe.sequence, heard->round, now < heard->until)) {
    if (frame.here) voice.disbelieve(frame.port);
    return;
  }
  const uint8_t utilisation = std::max(probe.utilisation, utilisation_of(view, frame.port));
  *heard = {now + failure_, probe.sequence, utilisation};
  Best& best = bests_[set];
  const bool wins = best.member == member || utilisation < best.utilisation || now >= best.until;
  if (!wins) return;
  best = {now + failure_, member, utilisation};
  if (voice.leaf().is_none()) pass_on(voice, frame, set);
}

// What another shard passes on is not passed on here.
void Hula::pass_on(Voice& voice, const HeardFrame& frame, uint16_t set) {
  const ShimControl& probe = frame.message;
  PassedOn& state = passed_on_[set];
  const Instant now = voice.view().now();
  if (!is_news(probe.sequence, state.round, now < state.until)) return;
  state.until = now + failure_;
  state.round = probe.sequence;
  if (!frame.here) return;
  const ShimControl onwards{.shim = {.kind = ShimKind::hula_probe},
                            .top_of_rack = probe.top_of_rack,
                            .utilisation = bests_[set].utilisation,
                            .sequence = probe.sequence};
  for (uint32_t i = 0; i < state.count; ++i)
    (void)voice.send({.message = onwards, .by_path = false, .port = away_[state.first + i]});
}

// Rounds go on as they were: one of them began where the clock's zero comes to lie, or before.
void Hula::rebase(const Rebase& rebase) {
  const int64_t rounds = rebase.back() / period_;
  origin_ = origin_ - (rebase.back() - period_ * rounds);
  first_round_ += static_cast<uint32_t>(rounds);
  if (origin_ < Instant() - period_) {
    origin_ = origin_ + period_;
    ++first_round_;
  }
  flowlets_.rebase(rebase);
  rebase.shift(next_probe_);
  for (Heard& heard : heard_) rebase.shift(heard.until);
  for (Best& best : bests_) rebase.shift(best.until);
  for (PassedOn& state : passed_on_) rebase.shift(state.until);
}

}  // namespace

EDDY_SCHEME(hula, Hula)

}  // namespace eddy::lb
