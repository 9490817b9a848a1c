// ConWeave: a flow asks its path for an answer once a round trip, and where that is late it goes on
// by another, behind which the receiver's leaf puts it in order again.
//
// A flow has epochs, told by 1 to 3 in turn. The first packet of one asks; the receiver's leaf
// answers. If the answer comes within `reply`, the next packet begins the next epoch. If not, two
// other paths are drawn; unless both were told of as busy, the packet in hand is the last by the
// old path, its tail, and all that follow go by the new one and say so, until the receiver's leaf
// has had the tail and clears the epoch (lb/stages/tail_stage.h). A flow that was silent for longer
// than `inactive` takes a path anew if all that it sent has arrived (PathTable), or after
// kLongSilences of that; while its tail is out nobody knows that. A path is busy for `busy` since a
// packet came marked by it. A flow moves only to where leaves answered lately: a leaf that does not
// speak gets flows that stay. The table keeps who is there: a flow without a place goes by its
// hash, stays there, and is not told of. So do packets of other leaves' flows, which have a shim:
// between leaves a path is its first port. Owner: the selector's shard. Times of flows are
// nanoseconds modulo 2^32. Octets: 16 a flow, 8 a member, 16 a path set; at the receiver's leaf 32
// a flow. Cost: a line a packet. Source: reference A.13.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lb/draws.h"
#include "lb/flow_lines.h"
#include "lb/schemes/scheme.h"
#include "lb/stages/tail_stage.h"
#include "net/assert.h"

namespace eddy::lb {
namespace {

using namespace literals;

constexpr MemberIndex kNone = UINT8_MAX;
constexpr int64_t kLongSilences = 64;    // of `inactive`
constexpr int64_t kAnswersLately = 32;   // likewise: a leaf that answered since then speaks
constexpr Bytes kUsualMarking{100'000};  // where no queue is marked; reference A.13
constexpr uint8_t kEpochs = 3;

// What a packet's shim is to say, as its note; above these bits when the tail was sent.
constexpr uint32_t kEpochBits = 3;
constexpr uint32_t kTailBit = 1 << 2;
constexpr uint32_t kReroutedBit = 1 << 3;
constexpr uint32_t kTailTime = ~uint32_t{0xf};

enum class Phase : uint8_t {
  settled,  // the epoch is over: the next packet begins another
  asking,
  moved,  // the epoch ends with the answer to its tail
};

class Flow {
 public:
  uint32_t tag = 0;  // low half of the order hash, odd; 0: the place is free
  uint32_t last_ns = 0;
  uint32_t since_ns = 0;  // asking: when; moved: when the tail was sent
  uint16_t set = 0;

  MemberIndex member() const { return member_and_phase_ & (kMaxPaths - 1); }
  Phase phase() const { return static_cast<Phase>(member_and_phase_ / kMaxPaths); }
  uint8_t epoch() const { return epoch_; }
  void go_by(MemberIndex member, Phase phase) {
    member_and_phase_ = static_cast<uint8_t>(static_cast<unsigned>(phase) * kMaxPaths | member);
  }
  void settle() { go_by(member(), Phase::settled); }
  void begin_epoch(MemberIndex member, uint32_t now_ns) {
    epoch_ = epoch_ == kEpochs ? 1 : static_cast<uint8_t>(epoch_ + 1);
    go_by(member, Phase::asking);
    since_ns = now_ns;
  }
  // Of a flow that has not moved: begin_epoch() where it is, or nothing, by arithmetic.
  void ask_if(bool wanted, uint32_t now_ns) {
    constexpr unsigned kNext = 0x1321;  // four bits for the epoch that follows 0, 1, 2 and 3
    const uint32_t all = wanted ? ~uint32_t{0} : 0;
    const unsigned next = kNext >> 4 * epoch_ & 0xf;
    epoch_ = static_cast<uint8_t>(epoch_ ^ ((epoch_ ^ next) & all));
    static_assert(static_cast<int>(Phase::settled) == 0 && static_cast<int>(Phase::asking) == 1);
    member_and_phase_ = static_cast<uint8_t>(member_and_phase_ | (all & kMaxPaths));
    since_ns ^= (since_ns ^ now_ns) & all;
  }
  // Of its packets.
  uint32_t note() const {
    return phase() == Phase::moved ? epoch_ | kReroutedBit | since_ns : uint32_t{epoch_};
  }

 private:
  uint8_t member_and_phase_ = 0;
  uint8_t epoch_ = 0;  // 0: none yet
};
static_assert(sizeof(Flow) == 16 && kMaxPaths == 64);

// Places for flows, four to a line. Who is there stays while it may have packets under way.
class Flows {
 public:
  static constexpr size_t kWays = 4;

  explicit Flows(size_t flows)
      : lines_(static_cast<uint32_t>((flows + kWays - 1) / kWays)),
        flows_(static_cast<Flow*>(std::aligned_alloc(64, bytes()))),
        crowded_(lines_) {
    ASSERT(flows_ != nullptr);
    std::memset(static_cast<void*>(flows_.get()), 0, bytes());
  }

  size_t capacity() const { return size_t{lines_} * kWays; }
  FlowTableUse use(size_t from, size_t count) const {
    FlowTableUse use{.places = capacity(), .phased = true};
    const size_t end = std::min(from + count, capacity());
    for (size_t i = from; i < end; ++i) {
      const Flow& flow = flows_.get()[i];
      if (flow.tag == 0) continue;
      ++use.used;
      use.asking += flow.phase() == Phase::asking ? 1 : 0;
      use.moved += flow.phase() == Phase::moved ? 1 : 0;
    }
    return use;
  }

  FlowLines lines() const {
    using Line = std::array<Flow, kWays>;
    return {reinterpret_cast<const Line*>(flows_.get()), lines_};
  }
  // Null when the flow is not known.
  Flow* find(uint64_t key) const {
    Flow* const flow = likeliest(key);
    return flow->tag == tag_of(key) ? flow : nullptr;
  }
  Flow* likeliest(uint64_t key) const { return finder().likeliest(key); }
  // What a loop over a burst keeps in registers.
  struct Finder {
    Flow* flows;
    uint32_t lines;
    // Where the flow is, if it is known. Arithmetic, not branches: on which of the places of its
    // line a flow is found is what no predictor can know.
    Flow* likeliest(uint64_t key) const {
      Flow* const line = flows + size_t{line_of(key, lines)} * kWays;
      const uint32_t tag = tag_of(key);
      static_assert(kWays == 4);
      const size_t in_second_half = (line[2].tag == tag) | (line[3].tag == tag) ? 2 : 0;
      return line + in_second_half + (line[in_second_half + 1].tag == tag ? 1 : 0);
    }
  };
  Finder finder() const { return {flows_.get(), lines_}; }
  // For one that is not known. Null: who is there does not go.
  template <class MayGo>
  Flow* find_room(uint64_t key, MayGo&& may_go) const {
    Flow* const line = line_of(key);
    for (Flow* flow = line; flow != line + kWays; ++flow)
      if (flow->tag == 0) return flow;
    for (Flow* flow = line; flow != line + kWays; ++flow)
      if (may_go(*flow)) return flow;
    return nullptr;
  }
  static uint32_t tag_of(uint64_t key) { return static_cast<uint32_t>(key) | 1; }
  // There were flows beside it that had no place, and went by their hash.
  bool is_crowded(uint64_t key) const { return crowded_[line_index(key)] != 0; }
  void crowd(uint64_t key) { crowded_[line_index(key)] = 1; }

 private:
  size_t bytes() const { return size_t{lines_} * kWays * sizeof(Flow); }
  static uint32_t line_of(uint64_t key, uint32_t lines) {
    return scaled_to(static_cast<uint32_t>(key >> 32), lines);
  }
  uint32_t line_index(uint64_t key) const { return line_of(key, lines_); }
  Flow* line_of(uint64_t key) const { return flows_.get() + size_t{line_index(key)} * kWays; }

  struct Free {
    void operator()(Flow* flows) const { std::free(flows); }
  };
  uint32_t lines_;
  std::unique_ptr<Flow, Free> flows_;
  std::vector<uint8_t> crowded_;  // by line
};

// What is to be done with a packet.
enum class Step : uint8_t {
  go_on,
  ask,    // it begins an epoch, where its flow is
  begin,  // likewise by another path, or for a flow that is new
  move,   // it is the tail
  stray,  // its flow has no place, or is another leaf's
};

class Conweave {
 public:
  static constexpr std::string_view kSummary =
      "a flow whose path answers late moves on, and the receiver's leaf puts it in order again";
  static constexpr bool kPromisesOrder = false;
  static constexpr Speech kSpeech = {
      .shim = ShimNeed::every,
      .timers = true,
      .fields = kFieldEpoch | kFieldTail,
      .makes = kind_bit(ShimKind::clear) | kind_bit(ShimKind::notify),
      .hears = kind_bit(ShimKind::clear) | kind_bit(ShimKind::notify)};

  struct Token {
    Flow* flow = nullptr;
    MemberIndex member = 0;
    MemberIndex next = kNone;  // move: of what follows
    Step step = Step::go_on;
    bool drew = false;
  };
  struct Parameters {
    std::optional<Duration> reply;  // empty: a base round trip, from host to host
    // Empty: what the shortest queue that ECN marks takes, and no less than a base round trip.
    std::optional<Duration> busy;
    Duration inactive = 300_us;
    Duration slack = 2_ms;
    Duration wait = 2_ms;
    int64_t queues = 31;
    Bytes held = 8_MiB;
    int64_t flows = 65'536;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::reply>(
            "reply", 1_us, 1_s,
            {"an answer that takes longer is late, and the flow may move; auto: a base round trip "
             "from host to host, twice that between leaves",
             "reference A.13"}),
        ranged<&Parameters::busy>("busy", 0_us, 1_s,
                                  {"how long a path is not moved to after a packet came marked by "
                                   "it; auto: what the shortest queue that ECN marks takes, at "
                                   "least a base round trip as in reply",
                                   "reference A.13"}),
        ranged<&Parameters::inactive>(
            "inactive", 10_us, 20_ms,
            {"a flow that was silent for longer, and of which nothing is on the way, is new",
             "reference A.13"}),
        ranged<&Parameters::slack>("slack", 0_us, 100_ms,
                                   {"how much later than expected a tail may come before what has "
                                    "overtaken it goes on; it may be paused on its way",
                                    "our choice"}),
        ranged<&Parameters::wait>("wait", 1_us, 100_ms,
                                  {"how long it is waited for where nothing has come by its path; "
                                   "16 of these is the longest that a packet is held",
                                   "our choice"}),
        ranged<&Parameters::queues>("queues", 1, 1'024,
                                    {"flows that wait for their tails, of a host's port; one more "
                                     "goes on out of order",
                                     "reference A.13"}),
        ranged<&Parameters::held>(
            "held", 2'048_B, 1'024_MiB,
            {"octets that wait for tails, of a shard; more go on out of order", "reference A.13"}),
        ranged<&Parameters::flows>(
            "flows", 64, 4'194'304,
            {"flows remembered, 16 octets each that is sent and 32 each that "
             "is received; one without a place stays on its path",
             "our choice"})};
  }

  Conweave(const SelectorInit& init, const Parameters& parameters);

  FlowLines flow_lines() const { return flows_.lines(); }
  void prepare(const PathView& view, std::span<Packet* const>) {
    now_ns_ = PathRecord::wire_time(view.now());
    if (learns_ && view.paths() != nullptr) learn(view.paths()->parameters().base_rtt);
  }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const Token token = step_of(view, packet, set);
    view.report_tie(token.drew);
    return {token.member, token};
  }
  // What prepare() learns is the next burst's to learn.
  struct Memory {
    uint32_t now_ns;
    uint32_t reply_ns;
    Duration busy;
  };
  Memory memory(const PathView&, uint16_t) const { return {now_ns_, reply_ns_, busy_}; }
  void put_back(const PathView&, uint16_t, const Memory& memory) {
    now_ns_ = memory.now_ns;
    reply_ns_ = memory.reply_ns;
    busy_ = memory.busy;
  }
  Reason reason(const PathView& view, const Packet& packet, uint16_t set,
                MemberIndex member) const {
    const Token token = step_of(view, packet, set);
    if (token.step == Step::stray) return Reason::hash;
    if (flows_.find(packet.order_hash) == nullptr) return Reason::begins;
    return token.flow->member() == member ? Reason::keeps : Reason::leaves;
  }
  void select_burst(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control);
  // Mixed with the flow: several flows may be moved before the next draw is taken.
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    const MemberMask among = view.live(set) & ~tried;
    const uint64_t word = mix64(packet.order_hash ^ draws_.peek());
    const MemberIndex quiet = draw_quiet(view, set, among, word);
    return quiet != kNone ? quiet : random_of(among, static_cast<uint32_t>(word));
  }
  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token& token);

  // What the other end is told and tells.
  void dress(Voice& voice, std::span<Dressing> burst);
  bool dress_briefly(Voice& voice, std::span<Packet* const> burst, std::span<const uint16_t> sets,
                     std::span<uint32_t> briefs) const;
  void on_frames(Voice& voice, std::span<HeardFrame> frames);
  Instant next_deadline() const { return stage_.answers_since(); }
  void on_timers(Voice& voice);
  FlowStage* stage(StagePlace place) { return place == StagePlace::to_hosts ? &stage_ : nullptr; }

  void rebase(const Rebase& rebase) {
    for (Instant& until : speaks_until_) rebase.shift(until);
    for (Instant& until : busy_until_) rebase.shift(until);
  }
  FlowTableUse flow_table(Instant, size_t from, size_t count) const {
    return flows_.use(from, count);
  }
  PathKnowledge knowledge(Instant now, uint16_t set, MemberIndex member) const {
    const Instant until = busy_until_[first_[set] + member];
    return {.busy = now < until ? until - now : Duration{}};
  }

 private:
  static uint32_t wire_ns(Duration time) {
    return static_cast<uint32_t>(std::min<int64_t>(time.ns(), INT32_MAX));
  }
  static TailStage::Plan plan_of(const Parameters& parameters, Duration busy) {
    return {.flows = static_cast<size_t>(parameters.flows),
            .queues = static_cast<uint16_t>(parameters.queues),
            .octets = parameters.held.count(),
            .slack = parameters.slack,
            .wait = parameters.wait,
            .notice = busy / 2};
  }

  // A notice is half a round trip old when it comes, and its path cannot be better sooner.
  void learn(Duration base_rtt) {
    if (!reply_) reply_ns_ = wire_ns(base_rtt);
    if (!busy_is_given_) busy_ = std::max(marking_, base_rtt);
  }
  bool is_silent(const Flow& flow) const { return now_ns_ - flow.last_ns > inactive_ns_; }
  bool is_late(const Flow& flow) const {
    return flow.phase() == Phase::asking && now_ns_ - flow.since_ns > reply_ns_;
  }
  bool speaks(const PathView& view, uint16_t set) const { return view.now() < speaks_until_[set]; }
  bool is_busy(const PathView& view, uint16_t set, MemberIndex member) const {
    return view.now() < busy_until_[first_[set] + member];
  }
  [[gnu::noinline]] Token first_step(const PathView& view, const Packet& packet,
                                     uint16_t set) const;
  [[gnu::noinline]] Token next_step(const PathView& view, const Packet& packet, uint16_t set,
                                    Flow& flow) const;
  Token anew(const PathView& view, uint16_t set, Flow& flow, MemberIndex otherwise) const;
  Token step_of(const PathView& view, const Packet& packet, uint16_t set) const {
    if (packet.has(kPacketShim)) return stray(view, packet, set);
    Flow* flow = flows_.find(packet.order_hash);
    return flow == nullptr ? first_step(view, packet, set) : next_step(view, packet, set, *flow);
  }
  Token stray(const PathView& view, const Packet& packet, uint16_t set) const {
    return {.member = hashed(packet, view.live(set)), .step = Step::stray};
  }
  // The same for all packets of the flow.
  MemberIndex hashed(const Packet& packet, MemberMask live) const {
    return random_of(live, static_cast<uint32_t>(mix64(packet.order_hash ^ salt_)));
  }
  bool has_arrived(const PathView& view, const Flow& flow) const;
  MemberIndex draw_quiet(const PathView& view, uint16_t set, MemberMask among, uint64_t word) const;
  uint16_t set_to(LeafId leaf) const {
    return leaf.index() < set_of_leaf_.size() ? set_of_leaf_[leaf.index()] : kNoSet;
  }
  void hear_of_flow(Voice& voice, const HeardFrame& frame);
  bool hear_of_path(const HeardFrame& frame, Instant now);
  static constexpr uint16_t kNoSet = UINT16_MAX;

  uint16_t apart_;  // Packet::flags of those that go by ECMP
  uint64_t salt_;
  std::optional<Duration> reply_;
  uint32_t reply_ns_;
  uint32_t inactive_ns_;
  uint32_t long_ns_;  // whatever was on the way has arrived
  uint32_t now_ns_ = 0;
  Duration inactive_;
  bool busy_is_given_;
  bool learns_;       // reply_ns_ or busy_
  Duration marking_;  // what the shortest queue that ECN marks takes
  Duration busy_;
  Draws draws_;
  std::vector<PathSet> sets_;          // a reload takes those of the snapshot away
  std::vector<uint32_t> first_;        // by set: of its first member in busy_until_
  std::vector<uint16_t> set_of_leaf_;  // the first that leads there
  std::vector<uint16_t> next_alike_;   // by set: another that leads there
  std::vector<Instant> speaks_until_;  // by set
  std::vector<Instant> busy_until_;
  Flows flows_;
  TailStage stage_;
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

Conweave::Conweave(const SelectorInit& init, const Parameters& parameters)
    : apart_(init.control_by_scheme ? kPacketShimControl : kPacketRoceControl),
      salt_(seed_of(init.seed, init.switch_id)),
      reply_(parameters.reply),
      reply_ns_(wire_ns(parameters.reply.value_or(8_us))),
      inactive_ns_(wire_ns(parameters.inactive)),
      long_ns_(wire_ns(parameters.inactive * kLongSilences)),
      inactive_(parameters.inactive),
      busy_is_given_(parameters.busy.has_value()),
      learns_(!reply_ || !busy_is_given_),
      marking_(longest_hop(init)),
      busy_(parameters.busy.value_or(marking_)),
      draws_(stream_of(init)),
      sets_(init.sets.begin(), init.sets.end()),
      next_alike_(init.sets.size(), kNoSet),
      speaks_until_(init.sets.size()),
      flows_(static_cast<size_t>(parameters.flows)),
      stage_(plan_of(parameters, busy_)) {
  for (size_t set = init.sets.size(); set-- != 0;) {
    const size_t leaf = init.sets[set].leaf.index();
    if (leaf >= set_of_leaf_.size()) set_of_leaf_.resize(leaf + 1, kNoSet);
    next_alike_[set] = std::exchange(set_of_leaf_[leaf], static_cast<uint16_t>(set));
  }
  for (const PathSet& set : init.sets) {
    first_.push_back(static_cast<uint32_t>(busy_until_.size()));
    busy_until_.resize(busy_until_.size() + set.count);
  }
}

// Of two that are drawn the first that is not busy.
MemberIndex Conweave::draw_quiet(const PathView& view, uint16_t set, MemberMask among,
                                 uint64_t word) const {
  if (among == 0) return kNone;
  for (const auto bits : {static_cast<uint32_t>(word >> 32), static_cast<uint32_t>(word)}) {
    const MemberIndex member = random_of(among, bits);
    if (!is_busy(view, set, member)) return member;
  }
  return kNone;
}

Conweave::Token Conweave::anew(const PathView& view, uint16_t set, Flow& flow,
                               MemberIndex otherwise) const {
  const MemberIndex quiet = draw_quiet(view, set, view.live(set), mix64(draws_.peek()));
  return {.flow = &flow,
          .member = quiet != kNone ? quiet : otherwise,
          .step = Step::begin,
          .drew = true};
}

Conweave::Token Conweave::first_step(const PathView& view, const Packet& packet,
                                     uint16_t set) const {
  Flow* room = flows_.find_room(packet.order_hash, [&](const Flow& flow) {
    return is_silent(flow) && has_arrived(view, flow);
  });
  if (room == nullptr) return stray(view, packet, set);
  const MemberIndex home = hashed(packet, view.live(set));
  if (flows_.is_crowded(packet.order_hash))
    return {.flow = room, .member = home, .step = Step::begin};
  return anew(view, set, *room, home);
}

Conweave::Token Conweave::next_step(const PathView& view, const Packet& packet, uint16_t set,
                                    Flow& flow) const {
  if (flow.set != set) return stray(view, packet, set);
  const MemberIndex member = flow.member();
  const MemberMask live = view.live(set);
  if (!contains(live, member)) return anew(view, set, flow, hashed(packet, live));
  Token token{.flow = &flow, .member = member};
  const bool silent = is_silent(flow);
  if (silent && has_arrived(view, flow)) return anew(view, set, flow, member);
  if (flow.phase() == Phase::settled || (silent && flow.phase() == Phase::asking)) {
    token.step = Step::ask;
  } else if (is_late(flow) && speaks(view, set)) {
    token.next = draw_quiet(view, set, live & ~bit_of(member), mix64(draws_.peek()));
    token.drew = true;
    if (token.next != kNone) token.step = Step::move;
  }
  return token;
}

// All that the flow has sent. Of its tail it is not known: that went by a path that was left.
bool Conweave::has_arrived(const PathView& view, const Flow& flow) const {
  const auto silence = Duration::nanoseconds(now_ns_ - flow.last_ns);
  if (now_ns_ - flow.last_ns > long_ns_) return true;
  if (flow.phase() == Phase::moved || view.paths() == nullptr) return false;
  // To the nanosecond.
  return view.paths()->arrived_before(flow.set, flow.member()) > view.now() - silence + 1_ns;
}

void Conweave::commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
                      const Token& token) {
  draws_.take(token.drew);
  if (token.step == Step::stray) {
    const bool placeless = !packet.has(kPacketShim) && flows_.find(packet.order_hash) == nullptr;
    if (placeless) {
      flows_.crowd(packet.order_hash);
      view.report_placeless(1);
    }
    packet.note = 0;
    return;
  }
  Flow& flow = *token.flow;
  if (flow.tag != Flows::tag_of(packet.order_hash)) {
    flow.tag = Flows::tag_of(packet.order_hash);
    flow.set = set;
  }
  flow.last_ns = now_ns_;
  if (member != token.member) {  // by whoever stands around us
    flow.begin_epoch(member, now_ns_);
  } else if (token.step == Step::move) {
    flow.go_by(token.next, Phase::moved);
    flow.since_ns = now_ns_ & kTailTime;
    packet.note = flow.epoch() | kTailBit | flow.since_ns;
    return;
  } else if (token.step != Step::go_on) {
    flow.begin_epoch(member, now_ns_);
  }
  packet.note = flow.note();
}

// propose() and commit() of each. A flow goes on as it does, or asks again, by arithmetic and not
// by a branch: whether it was silent is what no predictor can know. Whether all of it has arrived
// is asked in steps of time; where it may have, propose() knows.
void Conweave::select_burst(const PathView& view, std::span<Packet* const> burst,
                            std::span<const uint16_t> set_of, const ByEcmp& control) {
  const PathSet* const sets = view.sets().data();
  const MemberMask* const live_of = view.live();
  // Here, so that what is written of flows need not be thought to change it.
  const Flows::Finder flows = flows_.finder();
  const Instant* const speaks_until = speaks_until_.data();
  const Instant now = view.now();
  const uint32_t now_ns = now_ns_;
  const uint32_t inactive_ns = inactive_ns_;
  const uint32_t reply_ns = reply_ns_;
  const uint32_t long_ns = long_ns_;
  const bool in_steps = view.paths() != nullptr && view.sets().size() <= PathArrivals::kRows;
  const PathArrivals::Reader arrivals =
      in_steps ? view.paths()->arrivals().reader() : PathArrivals::Reader();
  const uint64_t step = PathArrivals::step_of(now);
  for (size_t i = 0; i < burst.size(); ++i) {
    Packet& packet = *burst[i];
    const uint16_t set = set_of[i];
    Flow& flow = *flows.likeliest(packet.order_hash);
    const MemberIndex member = flow.member();
    const Phase phase = flow.phase();
    const uint32_t silence = now_ns - flow.last_ns;
    const uint64_t ago = in_steps ? arrivals.ago(set, member, step) : 0;
    const uint64_t steps = (uint64_t{silence} * 1'000 >> PathArrivals::kStepBits) + 1;
    const unsigned silent = silence > inactive_ns ? 1 : 0;
    const unsigned may_be_new = silent & ((silence > long_ns ? 1u : 0u) | (ago <= steps ? 1u : 0u));
    const bool asks = (phase == Phase::settled) | ((silent != 0) & (phase == Phase::asking));
    const bool late = (phase == Phase::asking) & (now_ns - flow.since_ns > reply_ns) & !asks;
    const bool stays = (flow.tag == Flows::tag_of(packet.order_hash)) & (flow.set == set) &
                       contains(live_of[set], member) & !control.has(packet) &
                       !packet.has(kPacketShim) & (may_be_new == 0) &
                       !(late & (now < speaks_until[set]));
    if (!stays) [[unlikely]] {
      assign(packet, sets[set], select_alone(*this, view, packet, set, control));
      continue;
    }
    flow.ask_if(asks, now_ns);
    flow.last_ns = now_ns;
    packet.note = flow.note();
    assign(packet, sets[set], member);
  }
}

void Conweave::dress(Voice&, std::span<Dressing> burst) {
  for (Dressing& dressing : burst) {
    const uint32_t note = dressing.packet->note;
    if ((dressing.packet->flags & apart_) != 0 || note == 0) continue;
    ShimFields& fields = dressing.fields;
    fields.written = kFieldEpoch;
    fields.epoch = note & kEpochBits;
    if ((note & (kTailBit | kReroutedBit)) == 0) [[likely]]
      continue;
    fields.written |= kFieldTail;
    fields.tail = (note & kTailBit) != 0;
    fields.rerouted = !fields.tail;
    fields.tail_sent_ns = note & kTailTime;
  }
}

// Where no flow has moved.
bool Conweave::dress_briefly(Voice&, std::span<Packet* const> burst, std::span<const uint16_t>,
                             std::span<uint32_t> briefs) const {
  uint32_t notes = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    const uint32_t note = (burst[i]->flags & apart_) != 0 ? 0 : burst[i]->note;
    notes |= note;
    briefs[i] = brief_epoch(note & kEpochBits);
  }
  return (notes & (kTailBit | kReroutedBit)) == 0;
}

void Conweave::on_frames(Voice& voice, std::span<HeardFrame> frames) {
  const Instant now = voice.view().now();
  for (const HeardFrame& frame : frames) {
    if (frame.message.shim.kind == ShimKind::clear)
      hear_of_flow(voice, frame);
    else if (!hear_of_path(frame, now) && frame.here)
      voice.disbelieve(frame.port);
  }
}

// Whose flow it is its shard knows.
void Conweave::hear_of_flow(Voice& voice, const HeardFrame& frame) {
  constexpr uint32_t kSoon = 1 << 16;  // ns from the choice to the shim
  const Shim& shim = frame.message.shim;
  const Instant now = voice.view().now();
  for (uint16_t set = set_to(shim.source_leaf); set != kNoSet; set = next_alike_[set])
    speaks_until_[set] = now + inactive_ * kAnswersLately;
  Flow* flow = flows_.find(frame.message.order_hash);
  if (flow == nullptr) return;
  const bool of_epoch = sets_[flow->set].leaf == shim.source_leaf && flow->epoch() == shim.epoch;
  const bool asked = of_epoch && shim.flags == kRequestAnswered;
  if (of_epoch && shim.flags == kTailAnswered && flow->phase() == Phase::moved &&
      shim.echoed_ns == flow->since_ns)
    return flow->settle();
  if (asked && flow->phase() == Phase::moved) return;  // as late as was thought
  if (!asked || flow->phase() != Phase::asking || shim.echoed_ns - flow->since_ns > kSoon)
    return voice.disbelieve(frame.port);
  if (PathRecord::wire_time(now) - flow->since_ns <= reply_ns_) flow->settle();
}

// False: it says nothing of a path of ours.
bool Conweave::hear_of_path(const HeardFrame& frame, Instant now) {
  if (frame.message.reason != NotifyReason::path_busy) return false;
  bool known = false;
  for (uint16_t set = set_to(frame.message.shim.source_leaf); set != kNoSet; set = next_alike_[set])
    for (size_t i = 0; i < sets_[set].count; ++i)
      if (sets_[set].members[i].path == frame.message.shim.feedback_path) {
        busy_until_[first_[set] + i] = now + busy_;
        known = true;
      }
  return known;
}

// Each by a path that its flow's hash has drawn: frames of a flow keep their order.
void Conweave::on_timers(Voice& voice) {
  const PathView view = voice.view();
  for (const ShimControl& message : stage_.answers()) {
    const uint16_t set = set_to(message.shim.destination_leaf);
    if (set == kNoSet || view.live(set) == 0) continue;
    const auto bits =
        static_cast<uint32_t>(mix64(message.order_hash ^ message.shim.feedback_path.index()));
    const MemberIndex member = random_of(view.live(set), bits);
    Utterance utterance{.message = message, .path = {set, member}};
    utterance.message.shim.path = view.set(set).members[member].path;
    (void)voice.send(utterance);
  }
  stage_.clear_answers();
}

}  // namespace

EDDY_SCHEME(conweave, Conweave)

}  // namespace eddy::lb
