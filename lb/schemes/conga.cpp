// CONGA: each flowlet takes the path whose most utilised link is the least so, as the destination
// leaf reported.
//
// The measure of a member is the greater of its own line's level and the level of the rest of its
// path (PathRecord::congestion), both in Q bits. The first packet of a flowlet takes the least;
// of equals the flowlet's last member stays, else one is drawn: a flow moves only to a strictly
// better path. A report that is not renewed loses half of itself with every quarter of the ageing
// time from then on, so that a path is tried again. Two tiers: in three, one report covers several
// paths beyond the spine. A path that loses packets looks idle and attracts more.
// What was looked at holds for `hold`, by default a quarter of the DRE period by which a register
// steps: flowlets that begin meanwhile take one of the same members. Owner: the selector's shard.
// Octets: 8 an entry, 25 a path set, 16 a port. Cost: a line a packet, and a few loads a member for
// the sets that new flowlets want, once a hold. Source: reference A.8, A.7, A.5.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "lb/agents/load_reports.h"
#include "lb/draws.h"
#include "lb/dre.h"
#include "lb/flowlet_verdicts.h"
#include "lb/flowlets.h"
#include "lb/schemes/scheme.h"

namespace eddy::lb {
namespace {

using namespace literals;

constexpr MemberMask all_if(bool wanted) {
  return -MemberMask{wanted};
}

class Conga {
 public:
  static constexpr std::string_view kSummary =
      "each flowlet takes the path whose fullest link is the least full, told by the other end";
  static constexpr bool kPromisesOrder = true;
  static constexpr bool kBlindToQueues = true;
  static constexpr Speech kSpeech = LoadReports::kSpeech;
  using Token = NoToken;

  struct Parameters {
    int64_t q = 3;
    Duration gap = 50_us;
    FlowletMode mode = FlowletMode::agebit;
    int64_t entries = 65'536;
    Duration ageing = 10_ms;
    std::optional<Duration> hold;  // empty: a quarter of the DRE's period
    bool paused_is_full = false;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::q>("q", 1, 8, {"bits that a utilisation counts with", "reference A.8"}),
        ranged<&Parameters::gap>("gap", 1_us, 10_s,
                                 {"idle time that ends a flowlet; agebit: between this and twice "
                                  "this",
                                  "reference A.8"}),
        choice<&Parameters::mode>("mode", kFlowletModeNames,
                                  {"one-bit ageing as in hardware, or exact", "reference A.5"}),
        ranged<&Parameters::entries>("entries", 64, 16'777'216,
                                     {"flowlet table entries of 8 octets", "reference A.5"}),
        ranged<&Parameters::ageing>(
            "ageing", 4_us, 1'000_s,
            {"how long a report holds before it begins to fade", "reference A.8"}),
        ranged<&Parameters::hold>(
            "hold", 0_us, 10_ms,
            {"how long a look at the levels is good for; 0s: each flowlet that begins looks anew; "
             "auto: a quarter of dre.period",
             "reference A.8"}),
        flag<&Parameters::paused_is_full>(
            "paused_is_full",
            {"a line whose queue PFC has stopped counts as full", "reference A.8"})};
  }

  Conga(const SelectorInit& init, const Parameters& parameters);

  FlowLines flow_lines() const { return flowlets_.lines(); }
  void prepare(const PathView& view, std::span<Packet* const>) { flowlets_.set_time(view.now()); }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const MemberMask least = least_of(view, packet.queue, set);  // whoever asks: alike
    const Standing standing = standing_of(view, packet, set);
    if (standing.foreign) [[unlikely]]
      return {by_hash(packet, view.live(set))};
    const bool several = count_of(least) > 1;
    view.report_tie(!standing.keeps & several);
    const MemberIndex last = standing.flowlet.member();
    const bool drawn = standing.flowlet.drawn_by(set);
    const bool stays = standing.keeps | (drawn & contains(least, last));
    // Arithmetic, not a branch: whether a flowlet has ended is what no predictor can know.
    const auto keep = static_cast<MemberIndex>(-static_cast<int>(stays));
    return {static_cast<MemberIndex>((last & keep) | (random_of(least, draws_.peek()) & ~keep))};
  }

  // What that has looked at, and is good for later packets.
  struct Memory;
  Memory memory(const PathView& view, uint16_t set) const;
  void put_back(const PathView& view, uint16_t set, const Memory& memory);
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
  template <bool kOdd>
  void select_from(const FlowletTable::Cursor<kOdd>& flowlets, const PathView& view,
                   std::span<Packet* const> burst, std::span<const uint16_t> set_of,
                   const ByEcmp& control) {
    if (looks_alone_) [[unlikely]]
      return select_each(view, burst, set_of, control);
    look_at_sets(view, burst, set_of, control);
    const MemberMask* const best = looks_.members.data();
    FlowletVerdicts<kOdd> verdicts(flowlets, view.live(), best);
    verdicts.look_at(burst, set_of);
    const PathSet* const sets = view.sets().data();
    const uint16_t apart = control.flags();
    Draws::Ahead draws = draws_.ahead();
    uint32_t ties = 0;
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = *burst[i];
      const uint16_t set = set_of[i];
      if ((packet.flags & apart) != 0 || !verdicts.holds(i)) [[unlikely]] {
        if (control.has(packet) || !verdicts.renew(i, set)) {
          draws_.take(draws);
          assign(packet, sets[set], select_alone(*this, view, packet, set, control));
          draws = draws_.ahead();
          continue;
        }
      }
      const uint64_t keeps = verdicts.keeps(i);
      MemberIndex member = verdicts.slot(i).member();
      ties += (best[set] & (best[set] - 1) & ~keeps) != 0 ? 1 : 0;
      // Arithmetic, not a branch: which flowlet moves is what no predictor can know.
      const uint64_t stays = verdicts.stays(i);
      member = static_cast<MemberIndex>((member & stays) |
                                        (random_of(best[set], draws.peek()) & ~stays));
      draws.take_unless(keeps);
      verdicts.put(i, member);
      assign(packet, sets[set], member);
    }
    draws_.take(draws);
    view.report_ties(ties);
  }

  // Mixed with the flow: several flows may be moved before the next draw is taken.
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    const Least least =
        find_least(view, packet.queue, set, view.live(set) & ~tried, [&](PortId port) {
          const LineLevel& line = lines_[port.index()];
          return view.now() < line.until ? line.level : level_of(view, port);
        });
    return random_of(least.members,
                     static_cast<uint32_t>(mix64(packet.order_hash ^ draws_.peek())));
  }

  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token&) {
    const Standing standing = standing_of(view, packet, set);
    if (standing.foreign && member == by_hash(packet, view.live(set))) [[unlikely]]
      return flowlets_.keep(standing.index);
    draws_.take(!standing.keeps);
    flowlets_.put(standing.index, member, set);
  }

  // What other leaves are told and tell.
  void dress(Voice&, std::span<Dressing> burst) { reports_.dress(burst); }
  bool dress_briefly(Voice&, std::span<Packet* const>, std::span<const uint16_t>,
                     std::span<uint32_t>) {
    return true;
  }
  LoadReports& reports() { return reports_; }
  void arrived(Voice&, std::span<const Arrival> burst) { reports_.arrived(burst); }
  void on_feedback(Voice& voice, std::span<const Feedback> burst) {
    LoadReports::on_feedback(voice, burst);
  }

  void rebase(const Rebase& rebase) {
    flowlets_.rebase(rebase);
    for (LineLevel& line : lines_) rebase.shift(line.until);
    for (Instant& until : looks_.until) rebase.shift(until);
  }

  const std::shared_ptr<FlowSlots>& flow_slots() const { return flowlets_.slots(); }
  FlowTableUse flow_table(Instant now, size_t from, size_t count) {
    flowlets_.set_time(now);
    return {flowlets_.capacity(), flowlets_.used(from, count)};
  }

 private:
  // Of a packet's flowlet.
  struct Standing {
    size_t index;
    FlowSlot flowlet;
    bool keeps;    // its member
    bool foreign;  // not its own: the entry is another set's, and the flow goes by its hash
  };
  struct Least {
    Instant until;  // good till then, for these that live and this queue
    MemberMask live = 0;
    MemberMask members = 0;
    QueueId queue;
  };
  // Of all sets, each part by itself, so that several are asked at once.
  struct Looks {
    std::vector<Instant> until;
    std::vector<MemberMask> live;
    std::vector<MemberMask> members;
    std::vector<QueueId> queue;

    explicit Looks(size_t sets) : until(sets), live(sets), members(sets), queue(sets) {}
    Least of(uint16_t set) const { return {until[set], live[set], members[set], queue[set]}; }
    void put(uint16_t set, const Least& least) {
      until[set] = least.until;
      live[set] = least.live;
      members[set] = least.members;
      queue[set] = least.queue;
    }
    // True: it had not been good till then, for these that live.
    bool renew(uint16_t set, Instant till, MemberMask alive) {
      const bool holds = (until[set] == till) & (live[set] == alive);
      until[set] = till;
      live[set] = alive;
      return !holds;
    }
    // Which of these are to be looked at anew, by place. Four are asked for at once, in vectors
    // that every compiler and machine has.
    uint64_t outdated(Instant now, const MemberMask* live_of,
                      std::span<const uint16_t> sets) const {
      using Words = int64_t __attribute__((vector_size(4 * sizeof(int64_t))));
      const auto word = [](const auto& of, uint16_t set) {
        return std::bit_cast<int64_t>(of[set]);
      };
      const auto words = [&](const auto& of, const uint16_t* four) {
        return Words{word(of, four[0]), word(of, four[1]), word(of, four[2]), word(of, four[3])};
      };
      Words mask{};
      Words bits = {1, 2, 4, 8};
      size_t i = 0;
      for (; i + 4 <= sets.size(); i += 4, bits <<= 4) {
        const uint16_t* const four = &sets[i];
        const Words holds = (words(until.data(), four) > now.ps()) &
                            (words(live.data(), four) == words(live_of, four));
        mask |= ~holds & bits;
      }
      auto places = static_cast<uint64_t>(mask[0] | mask[1] | mask[2] | mask[3]);
      for (; i < sets.size(); ++i) {
        const uint16_t set = sets[i];
        const bool holds = (now < until[set]) & (live_of[set] == live[set]);
        places |= uint64_t{!holds} << i;
      }
      return places;
    }
  };
  struct LineLevel {
    Instant until;  // good till then
    uint8_t level = 0;
  };

  Standing standing_of(const PathView& view, const Packet& packet, uint16_t set) const {
    const size_t index = flowlets_.index_of(packet);
    const FlowSlot flowlet = flowlets_[index];
    const bool young = flowlets_.is_young(flowlet, index);
    const bool lives = contains(view.live(set), flowlet.member());
    return {index, flowlet, young && lives, young && !lives && !flowlet.drawn_by(set)};
  }

  MemberMask least_of(const PathView& view, QueueId queue, uint16_t set) const {
    const bool holds = view.now() < looks_.until[set] && looks_.live[set] == view.live(set) &&
                       (!paused_is_full_ || looks_.queue[set] == queue);
    if (!holds) look_anew(view, queue, set);
    return looks_.members[set];
  }
  [[gnu::noinline]] void look_anew(const PathView& view, QueueId queue, uint16_t set) const {
    looks_.put(set, find_least(view, queue, set, view.live(set), [&](PortId port) {
                 LineLevel& known = lines_[port.index()];
                 if (view.now() >= known.until) known = {view.now() + hold_, level_of(view, port)};
                 return known.level;
               }));
  }
  // What is known of the packets' sets holds then, but of those that go by ECMP. Which of them are
  // looked at anew is what no predictor can know: they are listed first, each once. Not where
  // looks_alone_.
  void look_at_sets(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control) const {
    const Instant until = view.now() + hold_;
    std::array<uint16_t, kBurst> listed;
    size_t count = 0;
    uint64_t places = looks_.outdated(view.now(), view.live(), set_of);
    for (; places != 0; places &= places - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(places));
      if (control.has(*burst[i])) continue;
      const uint16_t set = set_of[i];
      listed[count] = set;
      count += looks_.renew(set, until, view.live(set)) ? 1 : 0;
    }
    for (size_t i = 0; i < count; ++i) look_anew(view, burst[0]->queue, listed[i]);
  }
  [[gnu::noinline]] void select_each(const PathView& view, std::span<Packet* const> burst,
                                     std::span<const uint16_t> set_of, const ByEcmp& control) {
    for (size_t i = 0; i < burst.size(); ++i)
      assign(*burst[i], view.set(set_of[i]),
             select_alone(*this, view, *burst[i], set_of[i], control));
  }
  // By the level of each line, level_at(port), and by what was told.
  template <class LevelAt>
  Least find_least(const PathView& view, QueueId queue, uint16_t set, MemberMask among,
                   LevelAt&& level_at) const;
  uint8_t level_of(const PathView& view, PortId port) const;
  uint8_t told_level(const PathRecord& record, Instant record_time) const;

  uint8_t unused_bits_;  // of a level in 8 bits
  Duration ageing_;
  bool paused_is_full_;
  Duration hold_;     // of what was looked at
  bool looks_alone_;  // what a packet looks at is good for no other, or for those of its queue
  Draws draws_;
  FlowletTable flowlets_;
  Dre dre_;
  std::vector<Bytes> capacity_;  // by port: what its register comes to on a line that never rests
  // A look at the levels, which is good for `hold`, whoever asked for it.
  mutable std::vector<LineLevel> lines_;  // by port
  mutable Looks looks_;
  LoadReports reports_;
};

Conga::Conga(const SelectorInit& init, const Parameters& parameters)
    : unused_bits_(static_cast<uint8_t>(8 - parameters.q)),
      ageing_(parameters.ageing),
      paused_is_full_(parameters.paused_is_full),
      hold_(parameters.hold.value_or(init.dre.period() / 4)),
      looks_alone_(paused_is_full_ || hold_ == Duration{}),
      draws_(stream_of(init)),
      flowlets_({parameters.gap, parameters.mode, SweepPhase::zero, parameters.entries},
                init.slots),
      dre_(init.dre),
      lines_(init.lines.size()),
      looks_(init.sets.size()),
      reports_(init.sets) {
  for (const PortLine& line : init.lines) capacity_.push_back(dre_.capacity(line.rate));
}

struct Conga::Memory {
  Least least;
  std::array<LineLevel, kMaxPaths> lines;  // by member
};

Conga::Memory Conga::memory(const PathView& view, uint16_t set) const {
  Memory memory{looks_.of(set), {}};
  const PathSet& paths = view.set(set);
  for (size_t i = 0; i < paths.count; ++i) memory.lines[i] = lines_[paths.members[i].port.index()];
  return memory;
}

void Conga::put_back(const PathView& view, uint16_t set, const Memory& memory) {
  looks_.put(set, memory.least);
  const PathSet& paths = view.set(set);
  for (size_t i = 0; i < paths.count; ++i) lines_[paths.members[i].port.index()] = memory.lines[i];
}

inline uint8_t Conga::told_level(const PathRecord& record, Instant record_time) const {
  const uint32_t told = record.congestion.load(std::memory_order_relaxed);
  if (told == 0) return 0;
  const Duration age = record.congestion_age(record_time);
  if (age < ageing_) [[likely]]
    return static_cast<uint8_t>(told >> unused_bits_);
  const int64_t halvings = 1 + (age - ageing_) / (ageing_ / 4);
  return static_cast<uint8_t>(told >> std::min<int64_t>(halvings, 8) >> unused_bits_);
}

template <class LevelAt>
inline Conga::Least Conga::find_least(const PathView& view, QueueId queue, uint16_t set,
                                      MemberMask among, LevelAt&& level_at) const {
  const PathSet& paths = view.set(set);
  const PathTable* const reports = view.paths();
  const Instant record_time = reports == nullptr ? Instant{} : reports->record_time(view.now());
  Least least{.until = view.now() + hold_, .live = among, .queue = queue};
  uint32_t lowest = ~0u;
  for (MemberMask left = among; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const PortId port = paths.members[member].port;
    uint32_t level = level_at(port);
    if (paused_is_full_ && view.port(port).paused(queue)) level = UINT8_MAX >> unused_bits_;
    if (reports != nullptr)
      level = std::max<uint32_t>(level, told_level(reports->at(set, member), record_time));
    // Arithmetic, not a branch: which is lower is what no predictor can know.
    least.members =
        (least.members & all_if(level >= lowest)) | (bit_of(member) & all_if(level <= lowest));
    lowest = std::min(lowest, level);
  }
  return least;
}

uint8_t Conga::level_of(const PathView& view, PortId port) const {
  constexpr uint32_t kScale = Dre::kFullScale / 256;
  const uint32_t utilisation =
      dre_.utilisation(view.port(port), capacity_[port.index()], view.now());
  return static_cast<uint8_t>(std::min<uint32_t>(utilisation / kScale, UINT8_MAX) >> unused_bits_);
}

}  // namespace

EDDY_SCHEME(conga, Conga)

}  // namespace eddy::lb
