// Flowcut switching: a flow takes another path only when nothing of it is on its way, and a flow
// whose path has become slow is stopped at its source until that is so.
//
// The source leaf numbers a flow's packets; the egress leaf acknowledges them (FlowcutAcks). With
// nothing in flight the next packet takes the port with the least waiting, one that is not paused
// before one that is. With something in flight the flow stays, whatever happens, unless its port is
// down. An acknowledgement brings a round trip, which is divided by the least one over as many
// hops; when the moving average of that is above `ratio` the flow is drained: its host is told to
// stop it, or by PFC all of its priority group, and when all has arrived to go on, by another port.
// A flow of which nothing was heard for `age` is over, if its path is proven to have delivered what
// was sent after it, or much later. With mode: full each switch on the way chooses so, too, and
// acknowledgements go back the way that their packets came. Owner: the selector's shard. Octets: as
// FlowcutTable and FlowcutAcks. Cost: a line of the table a packet, and all ports of a path set
// where nothing is in flight. Source: reference A.12; docs/schemes/flowcut.md.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "lb/agents/ack_stage.h"
#include "lb/agents/flowcut_acks.h"
#include "lb/agents/host_pauses.h"
#include "lb/draws.h"
#include "lb/flowcuts.h"
#include "lb/schemes/scheme.h"
#include "net/byte_order.h"
#include "net/measure/slow_paths.h"

namespace eddy::lb {
namespace {

using namespace literals;

enum class FlowcutMode : uint8_t { ingress, full };
constexpr std::array<std::string_view, 2> kModeNames = {"ingress", "full"};
enum class Drain : uint8_t { flow, none, pfc };
constexpr std::array<std::string_view, 3> kDrainNames = {"flow", "none", "pfc"};
enum class AckAt : uint8_t { enqueue, transmit };
constexpr std::array<std::string_view, 2> kAckAtNames = {"enqueue", "transmit"};

class FlowcutScheme {
 public:
  static constexpr std::string_view kSummary =
      "a flow moves when nothing of it is in flight, to the port with the least waiting; a slow "
      "one "
      "is stopped until then";
  static constexpr bool kPromisesOrder = true;
  static constexpr Speech kSpeech = {.shim = ShimNeed::every,
                                     .timers = true,
                                     .fields = kFieldSequence,
                                     .arrivals = true,
                                     .makes = kind_bit(ShimKind::flowcut_ack) |
                                              kind_bit(ShimKind::flow_xoff) |
                                              kind_bit(ShimKind::flow_xon),
                                     .hears = kind_bit(ShimKind::flowcut_ack),
                                     .overhears = kind_bit(ShimKind::flowcut_ack),
                                     .pauses = true,
                                     .line_percent = 50};

  struct Token {
    uint32_t place = FlowcutTable::kNowhere;  // of the packet's flow
    bool begins = false;                      // a flowcut does
    bool crowded = false;                     // there is no place for it
  };
  struct Parameters {
    FlowcutMode mode = FlowcutMode::ingress;
    int64_t ratio_percent = 400;
    int64_t alpha_percent = 12;
    int64_t gradient_percent = 0;
    Duration relearn = 100_ms;
    Duration age = 1_ms;
    Drain drain = Drain::flow;
    Duration stop = 1_ms;
    AckAt ack_at = AckAt::enqueue;
    int64_t ack_packets = 4;
    Duration ack_wait = 2_us;
    int64_t flows = 65'536;
  };
  static constexpr auto own_parameters() {
    return std::array{
        ranged<&Parameters::age>(
            "age", 10_us, 10_s,
            {"a flow of which nothing was heard for so long is over, once its path is proven to "
             "deliver",
             "reference A.12"}),
        choice<&Parameters::drain>(
            "drain", kDrainNames,
            {"flow: hosts are told to stop a flow; pfc: PFC stops all that the host sends of its "
             "priority group; none: it goes on, and moves when it happens to pause",
             "reference A.12"}),
        ranged<&Parameters::stop>(
            "stop", 10_us, 65_ms,
            {"a host goes on by itself after this, or PFC lets it", "reference 1.8"}),
        choice<&Parameters::ack_at>(
            "ack_at", kAckAtNames,
            {"a packet is acknowledged when it has come to its host's leaf, or when it has left to "
             "the host, so that a host's full port drains flows, too",
             "reference A.12"}),
        ranged<&Parameters::ack_packets>(
            "ack_packets", 1, 1'000,
            {"packets of a flow that one frame acknowledges, at most", "reference A.12"}),
        ranged<&Parameters::ack_wait>(
            "ack_wait", 0_us, 1_ms, {"how long a frame waits for more of them", "reference A.12"}),
        ranged<&Parameters::flows>(
            "flows", 64, 16'777'216,
            {"flows with packets in flight that are remembered, 29 octets each; others go by "
             "their hash",
             "reference A.12"})};
  }
  static constexpr auto parameters() {
    using P = Parameters;
    return joined(std::array{choice<&P::mode>(
                      "mode", kModeNames,
                      {"which switches choose so: the one that the host is at, or each on the way",
                       "reference A.12"})},
                  slow_path_parameters<&P::ratio_percent, &P::alpha_percent, &P::gradient_percent,
                                       &P::relearn>(),
                  own_parameters());
  }

  FlowcutScheme(const SelectorInit& init, const Parameters& parameters);

  Speech speech() const {
    Speech speech = kSpeech;
    if (!full_) speech.overhears = 0;
    speech.arrivals = stage_ == nullptr;
    speech.pauses = by_pfc_;
    return speech;
  }

  FlowLines flow_lines() const { return flows_.lines(); }
  void prepare(const PathView& view, std::span<Packet* const>) {
    tick_ = FlowcutTable::tick_of(view.now());
  }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    if (packet.has(kPacketShim) && carried(packet) == kShimUnnumbered) [[unlikely]]
      return {by_hash(packet, view.live(set))};
    const uint32_t place = flows_.find(packet.order_hash);
    if (place != FlowcutTable::kNowhere) [[likely]] {
      const Flowcut& flow = flows_.at(place);
      if (!flow.is_empty() && contains(view.live(set), flow.member) &&
          (tick_ - flow.used <= age_ || !is_over(view, place, packet.queue))) [[likely]]
        return {flow.member, {place}};
    }
    return begin(view, packet, set, place);
  }

  Reason reason(const PathView& view, const Packet& packet, uint16_t set, MemberIndex) const {
    if (packet.has(kPacketShim) && carried(packet) == kShimUnnumbered) return Reason::hash;
    return propose(view, packet, set).token.begins ? Reason::begins : Reason::keeps;
  }
  // Mixed with the flow: several flows may be moved before the next draw is taken.
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    const auto random = static_cast<uint32_t>(mix64(packet.order_hash ^ draws_.peek()));
    return least(view, packet.queue, set, view.live(set) & ~tried, random).member;
  }

  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token& token) {
    packet.note = kShimUnnumbered;
    if (token.place == FlowcutTable::kNowhere) [[unlikely]]
      return note_placeless(view, packet, token);
    if (token.begins) [[unlikely]]
      start(packet, set, token);
    Flowcut& flow = flows_.at(token.place);
    flow.member = member;
    flow.used = tick_;
    if (packet.has(kPacketShim)) [[unlikely]]
      return pass(flow, carried(packet));
    const uint16_t number = number_after(flow.given);
    if (number == flow.acked) [[unlikely]]
      return flow.set(Flowcut::kOverrun);
    flow.given = number;
    packet.note = number;
  }

  // Its agent.
  void dress(Voice&, std::span<Dressing> burst) const {
    for (Dressing& dressing : burst) {
      const Packet& packet = *dressing.packet;
      if ((packet.flags & apart_) != 0 || packet.note == kShimUnnumbered) continue;
      dressing.fields.written = kFieldSequence;
      dressing.fields.sequence = static_cast<uint16_t>(packet.note);
    }
  }
  bool dress_briefly(Voice&, std::span<Packet* const> burst, std::span<const uint16_t>,
                     std::span<uint32_t> briefs) const {
    for (size_t i = 0; i < burst.size(); ++i) {
      const bool apart = (burst[i]->flags & apart_) != 0;
      briefs[i] = brief_sequence(apart ? kShimUnnumbered : static_cast<uint16_t>(burst[i]->note));
    }
    return true;
  }
  void arrived(Voice& voice, std::span<const Arrival> burst) { acks_.arrived(voice, burst); }
  FlowStage* stage(StagePlace place) {
    return place == StagePlace::to_hosts ? stage_.get() : nullptr;
  }
  Instant next_deadline() const { return std::min(acks_.next_deadline(), pauses_.next_deadline()); }
  void on_timers(Voice& voice) {
    acks_.on_timers(voice);
    pauses_.on_timers(voice);
  }
  void on_frames(Voice& voice, std::span<HeardFrame> burst) {
    for (HeardFrame& frame : burst)
      if (frame.message.shim.kind == ShimKind::flowcut_ack) hear(voice, frame);
  }

  void rebase(const Rebase& rebase) {
    acks_.rebase(rebase);
    pauses_.rebase(rebase);
  }
  FlowTableUse flow_table(Instant, size_t from, size_t count) const {
    return {flows_.capacity(), flows_.used(from, count)};
  }

 private:
  struct Least {
    MemberIndex member;
    bool tied;
  };

  // The number that a packet from another leaf has, where this switch goes by it.
  uint16_t carried(const Packet& packet) const {
    if (!full_) return kShimUnnumbered;
    constexpr size_t kFlags = 1, kNumber = 14;
    const uint8_t* shim = packet.data() + packet.l2_len - kShimHeader;
    return (shim[kFlags] & kShimTolerableDelay) != 0 ? kShimUnnumbered : load_be16(shim + kNumber);
  }
  MemberIndex by_hash(const Packet& packet, MemberMask live) const {
    return random_of(live, static_cast<uint32_t>(mix64(packet.order_hash ^ seed_)));
  }
  [[gnu::noinline]] bool is_over(const PathView& view, uint32_t place, QueueId queue) const;
  [[gnu::noinline]] Proposal<Token> begin(const PathView& view, const Packet& packet, uint16_t set,
                                          uint32_t place) const;
  Least least(const PathView& view, QueueId queue, uint16_t set, MemberMask among,
              uint32_t random) const;
  [[gnu::noinline]] void start(const Packet& packet, uint16_t set, const Token& token);
  [[gnu::noinline]] void note_placeless(const PathView& view, const Packet& packet,
                                        const Token& token);
  static void pass(Flowcut& flow, uint16_t number) {
    if (numbers_between(flow.given, number) <= kShimUnnumbered / 2) flow.given = number;
  }

  void hear(Voice& voice, HeardFrame& frame);
  void judge(Voice& voice, uint32_t place, const HeardFrame& frame, uint32_t rtt_ns);
  void tell_host(Voice& voice, uint32_t place, uint64_t order_hash, ShimKind what);

  // Of the ageing time: what no proof can be had of is over after so many.
  static constexpr uint32_t kForsaken = 64;
  static constexpr uint32_t kLongestTrip = 1u << 30;  // ns; none is believed that is longer

  bool full_;
  bool drains_;
  bool by_pfc_;
  uint16_t apart_;  // Packet::flags of those that this scheme does not choose for
  SlowPaths slow_paths_;
  uint32_t tick_ = 0;
  uint32_t age_;       // ticks
  uint32_t forsaken_;  // likewise
  uint32_t stop_ticks_;
  uint16_t stop_us_;
  Duration stop_;
  uint64_t seed_;
  Draws draws_;
  LeastTimes least_times_;
  std::vector<uint32_t> octet_time_;  // by port, in 2^-16 ns
  FlowcutTable flows_;
  FlowcutAcks acks_;
  std::unique_ptr<AckStage> stage_;  // ack_at: transmit
  HostPauses pauses_;
};

FlowcutScheme::FlowcutScheme(const SelectorInit& init, const Parameters& parameters)
    : full_(parameters.mode == FlowcutMode::full),
      drains_(parameters.drain != Drain::none),
      by_pfc_(parameters.drain == Drain::pfc),
      apart_(init.control_by_scheme ? kPacketShimControl : kPacketRoceControl),
      slow_paths_(parameters.ratio_percent, parameters.alpha_percent, parameters.gradient_percent),
      age_(FlowcutTable::ticks_of(parameters.age)),
      forsaken_(FlowcutTable::ticks_of(parameters.age * kForsaken)),
      stop_ticks_(FlowcutTable::ticks_of(parameters.stop)),
      stop_us_(static_cast<uint16_t>(parameters.stop.ps() / 1'000'000)),
      stop_(parameters.stop),
      seed_(seed_of(init.seed, init.switch_id)),
      draws_(stream_of(init)),
      least_times_(FlowcutTable::ticks_of(parameters.relearn)),
      flows_(static_cast<size_t>(parameters.flows)),
      acks_({.packets = parameters.ack_packets,
             .wait = parameters.ack_wait,
             .back_by_port = full_,
             .after_line = parameters.ack_at == AckAt::transmit}),
      stage_(parameters.ack_at == AckAt::transmit
                 ? std::make_unique<AckStage>(acks_, init.sets, init.lines)
                 : nullptr),
      pauses_(by_pfc_) {
  for (const PortLine& line : init.lines) {
    constexpr int64_t kBits = int64_t{8} * 1'000'000'000 << 16;
    octet_time_.push_back(static_cast<uint32_t>(
        std::min<int64_t>(kBits / std::max<int64_t>(line.rate.bps(), 1), UINT32_MAX)));
  }
}

// Nothing was heard of it for longer than `age`. What stands behind a pause is not lost; a stamp
// that came back says what the path has delivered.
bool FlowcutScheme::is_over(const PathView& view, uint32_t place, QueueId queue) const {
  const Flowcut& flow = flows_.at(place);
  const uint32_t idle = tick_ - flow.used;
  if (idle <= age_) return false;
  if (view.port(view.set(flow.path_set).members[flow.member].port).paused(queue)) return false;
  if (idle > forsaken_) return true;
  if (view.paths() == nullptr) return false;
  const Instant arrived = view.paths()->arrived_before(flow.path_set, flow.member, queue);
  const int64_t steps = (view.now().ps() >> FlowcutTable::kTickShift) - idle + 1;
  return arrived.ps() > steps << FlowcutTable::kTickShift;
}

// `place`: of the flow, if it is known.
Proposal<FlowcutScheme::Token> FlowcutScheme::begin(const PathView& view, const Packet& packet,
                                                    uint16_t set, uint32_t place) const {
  const MemberMask live = view.live(set);
  MemberMask among = live;
  if (place == FlowcutTable::kNowhere) {
    place = flows_.room(packet.order_hash,
                        [&](uint32_t other) { return is_over(view, other, packet.queue); });
    if (place == FlowcutTable::kNowhere)
      return {by_hash(packet, live), {.place = place, .crowded = true}};
    // It may be one that went by its hash a moment ago.
    if (flows_.was_crowded(packet.order_hash, tick_, forsaken_))
      return {by_hash(packet, live), {.place = place, .begins = true}};
  } else if (flows_.at(place).has(Flowcut::kShuns)) {
    const MemberMask others = live & ~bit_of(flows_.at(place).member);
    if (others != 0) among = others;
  }
  const Least chosen = least(view, packet.queue, set, among, draws_.peek());
  view.report_tie(chosen.tied);
  return {chosen.member, {.place = place, .begins = true}};
}

FlowcutScheme::Least FlowcutScheme::least(const PathView& view, QueueId queue, uint16_t set,
                                          MemberMask among, uint32_t random) const {
  constexpr int kPaused = 40;  // above all that can wait
  uint64_t lowest = ~uint64_t{0};
  MemberMask equals = 0;
  for (MemberMask left = among; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    const PortSignals& port = view.port(view.set(set).members[member].port);
    const uint64_t rank = uint64_t{port.paused(queue)} << kPaused | port.backlog_from(queue);
    if (rank > lowest) continue;
    equals = bit_of(member) | (rank == lowest ? equals : 0);
    lowest = rank;
  }
  return {random_of(equals, random), (equals & (equals - 1)) != 0};
}

// Numbers go on where they were, so that what is late of an earlier flowcut is known to be so.
void FlowcutScheme::start(const Packet& packet, uint16_t set, const Token& token) {
  if (flows_.find(packet.order_hash) != token.place) {
    flows_.settle(packet.order_hash, token.place);
    flows_.at(token.place).given = static_cast<uint16_t>(draws_.peek() % kShimUnnumbered);
  }
  Flowcut& flow = flows_.at(token.place);
  FlowcutPast& past = flows_.past(token.place);
  if (packet.has(kPacketShim)) {
    const uint16_t number = carried(packet);
    flow.given = number == 0 ? kShimUnnumbered - 1 : static_cast<uint16_t>(number - 1);
  }
  flow.acked = flow.given;
  flow.begin(packet.pg);
  flow.path_set = set;
  past.average = past.last = kNormOne;
  past.gradient = 0;
  past.port = packet.ingress_port;
  draws_.take(true);
}

void FlowcutScheme::note_placeless(const PathView& view, const Packet& packet, const Token& token) {
  if (!token.crowded) return;
  flows_.note_crowd(packet.order_hash, tick_);
  view.report_placeless(1);
}

void FlowcutScheme::hear(Voice& voice, HeardFrame& frame) {
  const Shim& shim = frame.message.shim;
  const uint32_t place = flows_.find(frame.message.order_hash);
  // Of several shards each hears it, and one knows the flow.
  if (place == FlowcutTable::kNowhere) {
    if (frame.here && frame.for_us && voice.proof_lag() == Duration{}) voice.disbelieve(frame.port);
    return;
  }
  Flowcut& flow = flows_.at(place);
  const uint16_t number = shim.sequence();
  const uint16_t steps = number == kShimUnnumbered ? 0 : numbers_between(flow.acked, number);
  const Instant now = voice.view().now();
  const uint32_t age = PathRecord::wire_time(now) - shim.echoed_ns;
  const bool late = steps == 0 || steps > flow.in_flight();
  const bool impossible = frame.for_us && (age > kLongestTrip || shim.hold_ns > age);
  if (late || impossible) return voice.disbelieve(frame.port);
  tick_ = FlowcutTable::tick_of(now);
  flow.acked = number;
  flow.used = tick_;
  if (frame.for_us) return judge(voice, place, frame, age - shim.hold_ns);
  const Utterance on{.message = frame.message, .by_path = false, .port = flows_.past(place).port};
  frame.stops = frame.here && voice.send(on);
}

void FlowcutScheme::judge(Voice& voice, uint32_t place, const HeardFrame& frame, uint32_t rtt_ns) {
  Flowcut& flow = flows_.at(place);
  FlowcutPast& past = flows_.past(place);
  const PathView view = voice.view();
  const size_t hops = frame.message.shim.feedback_congestion;
  const PortId out = view.set(flow.path_set).members[flow.member].port;
  const uint64_t on_lines =
      hops * std::min<uint64_t>(frame.message.value, UINT16_MAX) * octet_time_[out.index()] >> 16;
  const auto adjusted = on_lines < rtt_ns ? static_cast<uint32_t>(rtt_ns - on_lines) : 1u;
  const uint32_t least = least_times_.take(hops, adjusted, tick_);
  const uint64_t hash = frame.message.order_hash;
  if (flow.is_empty()) {
    const bool drained = flow.has(Flowcut::kDrains);
    flow.begin(flow.group());
    if (drained) flow.set(Flowcut::kShuns);
    past.average = past.last = kNormOne;
    past.gradient = 0;
    if (!drained) return;
    past.mark = tick_ + FlowcutTable::ticks_of(Duration::nanoseconds(2 * int64_t{rtt_ns}));
    if (by_pfc_) pauses_.go_on(voice, past.port, flow.group());
    return tell_host(voice, place, hash, ShimKind::flow_xon);
  }
  Trend trend{past.average, past.last, past.gradient};
  const bool slow = slow_paths_.take(trend, norm_of(adjusted, least));
  past.average = trend.average;
  past.last = trend.last;
  past.gradient = trend.gradient;
  const bool drains = flow.has(Flowcut::kDrains);
  const bool told_long_ago = drains && tick_ - past.mark >= stop_ticks_;
  const bool rested = static_cast<int32_t>(tick_ - past.mark) >= 0 || past.mark == 0;
  const bool has_choice = count_of(view.live(flow.path_set)) > 1;
  if (!drains_ || !(told_long_ago || (!drains && slow && rested && has_choice))) return;
  if (by_pfc_) pauses_.stop(voice, past.port, flow.group(), view.now() + stop_, drains);
  flow.set(Flowcut::kDrains);
  past.mark = tick_;
  tell_host(voice, place, hash, ShimKind::flow_xoff);
}

void FlowcutScheme::tell_host(Voice& voice, uint32_t place, uint64_t order_hash, ShimKind what) {
  if (by_pfc_) return;
  Utterance told{.by_path = false, .port = flows_.past(place).port};
  told.message.shim.kind = what;
  told.message.order_hash = order_hash;
  told.message.hold_us = what == ShimKind::flow_xoff ? stop_us_ : uint16_t{0};
  (void)voice.send(told);
}

}  // namespace

EDDY_SCHEME(flowcut, FlowcutScheme)

}  // namespace eddy::lb
